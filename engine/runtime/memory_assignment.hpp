// Assigns memory to each stored value of a schedule: in an output, over a leaf, in a temporary of its own, or in the
// temporary of another value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/key.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

/// Bytes of a value's elements; 0 if a size is a symbol. Throws OverflowError if they do not fit 63 bits.
/// @{
std::int64_t bytes_of(const schedule::Entry& entry);
std::int64_t bytes_of(const Shape& shape, DType dtype);
/// @}

/// The leaves of a key by their buffers.
class LeafNumbers {
 public:
  explicit LeafNumbers(const Key& key);
  std::int32_t of(const mem::Buffer* buffer) const { return number_.at(buffer); }

 private:
  std::unordered_map<const mem::Buffer*, std::int32_t> number_;
};

/// Assigns memory kernel by kernel, in running order.
class MemoryAssignment {
 public:
  /// `plan` holds its outputs, and its graph holds the donations of memory. Sets which outputs reuse the memory of
  /// leaves.
  MemoryAssignment(Plan& plan, const LeafNumbers& leaves);
  /// Gives temporaries to the outputs of the kernel at `step` that are not outputs of the plan.
  void store(const schedule::Kernel& kernel, std::size_t step);
  /// The arguments of the kernel at `step`.
  ArgumentSource source(const codegen::Binding& binding, std::size_t step);
  /// The memory of the temporaries.
  schedule::MemoryPlan memory() const;
  /// How long each temporary lives, and the value that is its first one.
  /// @{
  const std::vector<schedule::Lifetime>& lifetimes() const noexcept { return lifetimes_; }
  const std::vector<schedule::EntryId>& first_values() const noexcept { return first_values_; }
  /// @}

 private:
  void place_writes();
  void place_taken();
  std::int32_t& temporary_at(schedule::EntryId entry, std::size_t step);

  Plan& plan_;
  const LeafNumbers& leaves_;
  std::vector<std::int32_t> output_;          // the output that is an entry, or whose memory it uses; -1 for none
  std::vector<schedule::EntryId> memory_of_;  // the first entry in the memory of each entry
  std::vector<std::int32_t> temporary_;       // of the entries that memory_of_ names; -1 before it is stored
  std::vector<schedule::Lifetime> lifetimes_;
  std::vector<schedule::EntryId> first_values_;
  std::int64_t taken_bytes_ = 0;  // bytes that values in memory of others would take
};

}  // namespace oriel::runtime
