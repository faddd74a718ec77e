// A line of the user's program.
#pragma once

namespace oriel {

/// The line of the user's program that asked for a tensor; shown by faults that only appear when the work runs, and by
/// explain(). Functions take it as a last, defaulted argument that callers leave out.
struct Site {
  const char* file = nullptr;
  int line = 0;

  /// The place of the call in whose default argument this stands.
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace oriel
