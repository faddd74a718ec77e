// Which guards of a procedure stay: those on which its result rests.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "sym/needed.hpp"
#include "unit/sym/environments.hpp"

namespace sym_needed_test {

using namespace oriel;
using test::guard_texts;
using test::Strings;

namespace {

constexpr SymBounds kSize{2, {}};

/// The number that `work` finds, with the guards on which it rests.
template <class Work>
SymInt needed(SymInt any, const Work& work) {
  return sym::with_needed_guards(
      any.node(), work, [](SymInt n) { return std::vector<SymInt>{n}; },
      [](SymInt a, SymInt b) { return bool(a == b); });
}

}  // namespace

TEST_CASE("a branch whose sides agree takes no guard") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  const SymInt s1 = env.symbol("s1", 7, kSize);
  CHECK(to_string(needed(s0, [&] { return s0 > 3 ? s1 + 1 : 1 + s1; })) == "s1 + 1");
  CHECK(guard_texts(env).empty());
  // Where s0 is 3, s0*s1 is 3*s1.
  CHECK(to_string(needed(s0, [&] { return s0 == 3 ? 3 * s1 : s0 * s1; })) == "s0*s1");
  CHECK(guard_texts(env).empty());
}

TEST_CASE("a branch whose sides differ somewhere keeps its guard") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  const SymInt s1 = env.symbol("s1", 7, kSize);
  const auto work = [&] {
    if (s0 > 3) return s1;
    return s0 == 2 ? SymInt(1) : s1;
  };
  CHECK(to_string(needed(s0, work)) == "s1");
  CHECK(guard_texts(env) == Strings{"s0 > 3"});
}

TEST_CASE("of two reasons each of which suffices one stays") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  const SymInt s1 = env.symbol("s1", 7, kSize);
  const auto work = [&] {
    const bool first = s0 != 3;
    const bool second = s1 != 3;
    return first || second;
  };
  CHECK(sym::with_needed_guards(s0.node(), work));
  CHECK(guard_texts(env) == Strings{"s0 != 3"});
}

TEST_CASE("a guard that a taken one replaced comes back with it") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 9, kSize);
  CHECK(bool(s0 > 3));
  const auto work = [&] { return s0 > 5 ? SymInt(1) : SymInt(1); };
  CHECK(identical(needed(s0, work), 1));
  CHECK(guard_texts(env) == Strings{"s0 > 3"});
  CHECK_FALSE(env.known(s0 > 5));
  CHECK(env.known(s0 > 3) == true);
}

TEST_CASE("a guard stays that keeps a divisor in the result from 0") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, {0, {}});
  const auto work = [&] { return s0 == 0 ? SymInt(0) : 0 * (12 / s0) + 12 / s0; };
  CHECK(to_string(needed(s0, work)) == "12 // s0");
  CHECK(guard_texts(env) == Strings{"s0 != 0"});
}

TEST_CASE("a failure keeps its guards, and a trace all of them") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  const auto fails = [&]() -> SymInt {
    if (s0 > 3) throw ArgumentError("test", "s0 > 3");
    return s0;
  };
  CHECK_THROWS_AS(needed(s0, fails), ArgumentError);
  CHECK(guard_texts(env) == Strings{"s0 > 3"});
  // The next procedure starts anew.
  CHECK(to_string(needed(s0, [&] { return s0 > 4 ? s0 : 1 * s0; })) == "s0");
  CHECK(guard_texts(env) == Strings{"s0 > 3"});

  ShapeEnv trace({.mode = ShapeEnv::Mode::trace});
  const SymInt t = trace.symbol("t", 5, kSize);
  CHECK(to_string(needed(t, [&] { return t > 3 ? t : 1 * t; })) == "t");
  CHECK(guard_texts(trace) == Strings{"t > 3"});
}

TEST_CASE("a product of neighbours is even") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, {0, {}});
  const SymInt s1 = env.symbol("s1", 6, {0, {}});
  CHECK(env.known((s0 * s0 + s0) % 2 == 0) == true);
  CHECK(env.known(2 * ((s0 * s0 * s1 + s0 * s1) / 2) == s0 * s0 * s1 + s0 * s1) == true);
  CHECK(env.known(3 * ((s0 * s0 * s0 - s0) / 3) == s0 * s0 * s0 - s0) == true);
  CHECK_FALSE(env.known((s0 * s1 + s1) % 2 == 0));
  CHECK_FALSE(env.known((s0 * s0 + s0) % 4 == 0));
}

TEST_CASE("a symbol that too many guards name is fixed") {
  ShapeEnv env;
  env.environment().guards_per_symbol = 2;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  const SymInt s1 = env.symbol("s1", 7, kSize);
  CHECK(bool(s0 != 3));
  CHECK(bool(s0 < s1));
  CHECK(guard_texts(env) == Strings{"s0 != 3", "s0 < s1"});
  CHECK(bool(s0 % 2 == 1));
  CHECK(guard_texts(env) == Strings{"s0 < s1", "s0 == 5"});
  CHECK(identical(env.simplify(s0), 5));
  CHECK(env.simplify(s1).is_symbolic());
  // Guards that a procedure takes and gives back do not count.
  CHECK(to_string(needed(s1, [&] { return s1 != 9 && s1 != 11 && s1 != 13 ? s1 : 1 * s1; })) == "s1");
  CHECK(guard_texts(env) == Strings{"s0 < s1", "s0 == 5"});
}

}  // namespace sym_needed_test
