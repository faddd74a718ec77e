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

/// A tensor of pseudo-random data that `seed` fixes: small whole numbers and quarters, now and then a special one.
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

/// A call of make_leaf.
struct LeafKind {
  DType dtype = DType::float32;
  Shape shape;
  std::uint32_t seed = 0;
};
/// While it lives, notes the calls of make_leaf in this thread.
class LeafNotes {
 public:
  LeafNotes();
  ~LeafNotes();
  LeafNotes(const LeafNotes&) = delete;
  std::vector<LeafKind> kinds;
};
/// While it lives, make_leaf gives these tensors in this thread, one after the other, and in_memory leaves its pending.
class LeavesFrom {
 public:
  explicit LeavesFrom(std::span<const Tensor> leaves);
  ~LeavesFrom();
  LeavesFrom(const LeavesFrom&) = delete;
};

/// x, realised; as it is while a LeavesFrom lives.
Tensor in_memory(const Tensor& x);

/// "{2, 3}"
std::string braces(const Ints& ints);

}  // namespace oriel::testing
