// What exported sources check of the memory that a call hands over. Status is the one that their header declares; here
// it has the values that the check gives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel::source::cpp::text {
namespace {

enum class Status : int { ok, null_pointer, misaligned, overlapping };

// snippet memory_check:

/// What is handed over to run.
struct Memory {
  const void* data;
  std::size_t bytes;
  std::size_t alignment;
  bool written;
};

[[maybe_unused]] inline Status check(const Memory* all, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].bytes == 0) continue;
    if (all[i].data == nullptr) return Status::null_pointer;
    const auto begin = reinterpret_cast<std::uintptr_t>(all[i].data);
    if (begin % all[i].alignment != 0) return Status::misaligned;
    for (std::size_t k = 0; k < i; ++k) {
      const auto other = reinterpret_cast<std::uintptr_t>(all[k].data);
      const bool apart = all[k].bytes == 0 || begin + all[i].bytes <= other || other + all[k].bytes <= begin;
      if (!apart && (all[i].written || all[k].written)) return Status::overlapping;
    }
  }
  return Status::ok;
}

// end of snippets

}  // namespace
}  // namespace oriel::source::cpp::text
