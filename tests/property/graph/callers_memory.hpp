// Memory of the caller for leaves of random programs.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/guarded.hpp"

namespace oriel::testing {

/// Memory that a tensor borrows or adopts, between inaccessible pages, with a copy of its elements.
struct CallersMemory {
  CallersMemory(const void* elements, std::size_t bytes, test::Guarded::Side side, bool was_adopted)
      : guarded(bytes, side),
        elements_before(static_cast<const unsigned char*>(elements),
                        static_cast<const unsigned char*>(elements) + bytes),
        adopted(was_adopted) {
    if (bytes != 0) std::memcpy(guarded.data(), elements, bytes);
  }

  /// Call this when no tensor over the memory exists any more. Returns an error text, or an empty string if programs
  /// without writes left the memory unchanged and the deleter of adopted memory ran once.
  std::string fault() const {
    if (!elements_before.empty() && std::memcmp(guarded.data(), elements_before.data(), elements_before.size()) != 0)
      return "the caller's memory was written";
    if (!guarded.intact()) return "bytes beside the caller's memory were written";
    if (deletions != (adopted ? 1 : 0)) return "the deleter ran " + std::to_string(deletions) + " times";
    return "";
  }

  test::Guarded guarded;
  std::vector<unsigned char> elements_before;
  bool adopted;
  int deletions = 0;
};
using CallersMemories = std::vector<std::shared_ptr<CallersMemory>>;

/// The first fault of all memories; empty if there is none.
inline std::string fault_of(const CallersMemories& memories) {
  for (const auto& memory : memories)
    if (std::string fault = memory->fault(); !fault.empty()) return fault;
  return "";
}

}  // namespace oriel::testing
