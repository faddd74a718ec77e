// A line of the user's program.
#pragma once

namespace oriel {

/// The line of the user's program that asked for a tensor; shown by faults that only appear when the work runs, and by
/// explain(). Functions take it as a last, defaulted argument that callers leave out.
struct Site {
  const char* file;
  int line;

  /// The only constructor asks for the kind of thing that it makes, or {0, 3} and {} could be a place as well as a
  /// shape.
  enum class Kind { line };
  constexpr Site(Kind, const char* its_file, int its_line) noexcept : file(its_file), line(its_line) {}

  static constexpr Site unknown() noexcept { return Site(Kind::line, nullptr, 0); }
  /// The place of the call in whose default argument this stands.
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return Site(Kind::line, file, line);
  }
};

namespace detail {

/// While it lives, errors that this thread throws name the line. A call inside of a call leaves the outer one's line,
/// so that it is always the user's; `inner` is for work that another line had asked for.
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
