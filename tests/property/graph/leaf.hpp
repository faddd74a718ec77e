// Data for random programs, with the C++ text that makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "callers_memory.hpp"
#include "oriel/tensor.hpp"

namespace oriel::testing {

/// Pseudo-random data determined by `seed`: small whole numbers and quarters, sometimes special values.
/// A quarter of the leaves lie in page-aligned memory of the caller and an eighth in unaligned memory of the caller;
/// half of these are borrowed and half adopted. With `in_callers_memory`, all leaves lie there.
struct Leaf {
  Tensor tensor;
  std::string text;
  std::shared_ptr<CallersMemory> memory = nullptr;  // null if the tensor has memory of its own
};
Leaf make_leaf(DType dtype, const Shape& shape, std::uint32_t seed, bool in_callers_memory = false);

/// C++ code of the function `in_callers_memory` that the texts of leaves call.
extern const char* const kInCallersMemory;

/// The arguments of a call of make_leaf.
struct LeafKind {
  DType dtype = DType::float32;
  Shape shape;
  std::uint32_t seed = 0;
};
/// While it lives, records this thread's calls of make_leaf.
class LeafNotes {
 public:
  LeafNotes();
  ~LeafNotes();
  LeafNotes(const LeafNotes&) = delete;
  std::vector<LeafKind> kinds;
};
/// While it lives, make_leaf returns these tensors to this thread, one after the other, and in_memory leaves its
/// argument pending.
class LeavesFrom {
 public:
  explicit LeavesFrom(std::span<const Tensor> leaves);
  ~LeavesFrom();
  LeavesFrom(const LeavesFrom&) = delete;
};

/// Realises and returns x. While a LeavesFrom lives, returns x unchanged.
Tensor in_memory(const Tensor& x);

/// For example "{2, 3}".
std::string braces(const Ints& ints);

}  // namespace oriel::testing
