// Finds launches that compute again what an earlier one has computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "graph/scalar.hpp"
#include "memory/buffer.hpp"

namespace oriel::runtime {

/// Gives contents of memory numbers. What a launch writes has a number that follows from its kernel, its numbers and
/// the contents that it reads, so equal computations from equal operands are found wherever they lie. Thread safety:
/// one thread at a time.
class Repeats {
 public:
  struct Operand {
    mem::BufferPtr buffer;
    bool written = false;
  };
  /// Takes in a launch of a kernel. Did an earlier launch compute the same? A launch that reads no memory never did.
  bool add(const void* kernel, std::span<const Operand> operands, std::span<const graph::Scalar> numbers);

 private:
  struct Contents {
    std::weak_ptr<const mem::Buffer> buffer;
    std::uint64_t version = 0;
    std::uint64_t number = 0;
  };
  std::uint64_t contents(const mem::BufferPtr& buffer);

  static constexpr std::size_t kMost = 1 << 16;  // of each table; then all is forgotten

  std::unordered_map<const mem::Buffer*, Contents> contents_;
  std::unordered_set<std::uint64_t> computed_;
  std::uint64_t next_ = 1;
};

}  // namespace oriel::runtime
