// Factors of products as kernels read them, kept from launch to launch while their memory is unchanged.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "memory/buffer.hpp"

namespace oriel::backend {

/// Copies of factors in the layout of a kernel, such as panels of a weight. A copy belongs to a buffer, to its version
/// and to a layout. It is made when the same version is asked for a second time: a factor that changes with each launch
/// is never kept. A copy goes when its buffer is written or freed. Thread safety: any thread.
class KeptFactors {
 public:
  using Copy = std::shared_ptr<const mem::Buffer>;
  struct Found {
    Copy copy;                  // null if there is none
    bool make = false;          // whether a copy is worth making
    std::uint64_t version = 0;  // of the memory; keep() takes it
  };
  /// `layout`: what distinguishes copies of one buffer.
  Found find(const mem::BufferPtr& memory, std::span<const std::int64_t> layout);
  /// Keeps a copy of the memory as it was at `version`.
  void keep(const mem::BufferPtr& memory, std::span<const std::int64_t> layout, std::uint64_t version, Copy copy);

  /// The number of copies and their bytes.
  struct Counts {
    std::size_t copies = 0;
    std::int64_t bytes = 0;
  };
  Counts counts() const;

 private:
  struct Slot {
    std::weak_ptr<mem::Buffer> memory;
    std::vector<std::int64_t> layout;
    std::uint64_t version = 0;
    Copy copy;
  };
  using Slots = std::unordered_multimap<const mem::Buffer*, Slot>;
  Slot* slot(const mem::BufferPtr& memory, std::span<const std::int64_t> layout);
  void forget_freed();

  mutable std::mutex mutex_;
  Slots slots_;
  std::size_t next_look_ = 16;  // slots at which freed buffers are looked for
};

/// An argument of a launch whose memory may stay the same from launch to launch.
struct StableArgument {
  std::size_t argument = 0;
  const mem::BufferPtr* memory = nullptr;
};

/// The stable arguments of a launch, where copies of them are kept, and the device's memory.
struct Keeping {
  KeptFactors& factors;
  std::shared_ptr<mem::Allocator> allocator;
  std::span<const StableArgument> arguments;

  /// The memory of an argument; null if it is not stable.
  const mem::BufferPtr* memory(std::int32_t argument) const noexcept {
    for (const StableArgument& a : arguments)
      if (static_cast<std::int32_t>(a.argument) == argument) return a.memory;
    return nullptr;
  }
};

}  // namespace oriel::backend
