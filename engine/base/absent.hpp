// The error of parts of the library that a build leaves out. Headers are the same in every build.
#pragma once

#include <string>
#include <string_view>

#include "oriel/error.hpp"

namespace oriel::base {

/// Throws the error of a call that needs `part`, in the plural, which only the profile full has (meson's option
/// profile).
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_absent(std::string_view operation, std::string_view part) {
  throw ArgumentError(
      operation,
      "this build of Oriel has no " + std::string(part) +
          ": they are left out of the profile small, and where an option says so; the profile full (meson setup "
          "-Dprofile=full, which is the default) has them");
}

}  // namespace oriel::base
