// The calls that led to a place in the library, and the line of the user's program among them.
#pragma once

#include <array>
#include <cstddef>

#include "oriel/site.hpp"

namespace oriel::base {

/// The return addresses of the innermost calls of this thread.
struct CallFrames {
  static constexpr std::size_t kMost = 32;
  std::array<void*, kMost> addresses;
  std::size_t count = 0;

  /// Takes a few microseconds.
  static CallFrames here() noexcept;
};

/// The line of the innermost call from outside of this library, headers of the system left out. Unknown if the program
/// or library that made this call has no debug information, if addr2line (of binutils) is not installed, and in setuid
/// programs. The file's name is never freed. The first question about an address runs addr2line, which takes
/// milliseconds. Thread safety: any thread.
Site user_line(const CallFrames& frames);

}  // namespace oriel::base
