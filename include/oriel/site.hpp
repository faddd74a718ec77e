// A line of the user's program.
#pragma once

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

/// The line of the user's program that built a tensor. Errors name it, and explain() shows it. Functions take it as a
/// last, defaulted argument that callers leave out.
struct Site {
  const char* file;  ///< null if unknown
  int line;          ///< from 1

  /// A tag for the only constructor. Without it, {0, 3} and {} could convert to a Site as well as to a Shape.
  enum class Kind { line };
  /// A line of a file; use here().
  constexpr Site(Kind, const char* its_file, int its_line) noexcept : file(its_file), line(its_line) {}

  /// A site without a file, for nodes that no line of the program built.
  static constexpr Site unknown() noexcept { return Site(Kind::line, nullptr, 0); }
  /// As a default argument: the line of the call.
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return Site(Kind::line, file, line);
  }
};

namespace detail {

/// During its lifetime, errors that this thread throws name `site`. In nested calls the outermost site stays in force,
/// so errors name the user's line. With Nesting::inner the new site replaces it: for work that another line of the
/// program had built.
class CallSite {
 public:
  enum class Nesting { outer, inner };
  explicit CallSite(Site site, Nesting nesting = Nesting::outer) noexcept;
  ~CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  static Site current() noexcept;

 private:
  Site before_;
};

}  // namespace detail

}  // namespace oriel
