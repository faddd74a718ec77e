// The modes in which nothing is learnt. Mode::trace: every SymBool records its condition once, evaluated at the hints.
// Mode::quick: each condition is recorded once, unless canonical form and ranges decide it.
#include <doctest/doctest.h>

#include "unit/sym/environments.hpp"

namespace sym_trace_test {

using namespace oriel;
using test::guard_texts;
using test::Strings;

namespace {
constexpr ShapeEnv::Options kTrace{.mode = ShapeEnv::Mode::trace};
}

TEST_CASE("the memory is that of the object") {
  ShapeEnv env(kTrace);
  const SymInt s = env.symbol("s", 5);
  const SymBool once = s > 3;
  CHECK(bool(once));
  CHECK(bool(once));
  const SymBool copy = once;
  CHECK(bool(copy));
  CHECK(guard_texts(env) == Strings{"s > 3"});
  CHECK(bool(s > 3));
  CHECK(guard_texts(env) == Strings{"s > 3", "s > 3"});
}

TEST_CASE("nothing is replaced or implied") {
  ShapeEnv env(kTrace);
  const SymInt s = env.symbol("s", 5);
  CHECK(bool(s == 5));
  CHECK(to_string(env.simplify(s + 1)) == "s + 1");
  CHECK(bool(s > 2));
  CHECK_FALSE(bool(s == 4));
  CHECK(guard_texts(env) == Strings{"s == 5", "s > 2", "s != 4"});
}

TEST_CASE("constants and joined conditions") {
  ShapeEnv env(kTrace);
  const SymInt s = env.symbol("s", 5);
  CHECK(bool(s == s));
  CHECK(bool((s > 3) & (s < 9)));
  CHECK((s + 1).value() == 6);
  CHECK(guard_texts(env) == Strings{"s > 3 and s < 9", "s + 1 == 6"});
}

TEST_CASE("quick: what canonical form and ranges do not tell is a guard, once") {
  ShapeEnv env(ShapeEnv::Options{.mode = ShapeEnv::Mode::quick});
  const SymInt s = env.symbol("s", 12, {2, {}}), t = env.symbol("t", 4, {2, {}});
  CHECK(bool(s >= 2));
  CHECK(bool(s * t >= 4));
  CHECK(guard_texts(env).empty());
  CHECK(bool(s == 3 * t));
  CHECK(bool(s == 3 * t));
  CHECK_FALSE(bool(s != 3 * t));
  CHECK(env.known(s == 3 * t) == true);
  CHECK(env.known(s != 3 * t) == false);
  CHECK(guard_texts(env) == Strings{"s == 3*t"});
  // Nothing is learnt from it: s % 3 is not known.
  CHECK(env.known(s % 3 == 0) == std::nullopt);
  CHECK(bool(s % 3 == 0));
  CHECK((s + t).value() == 16);
  CHECK(guard_texts(env) == Strings{"s == 3*t", "s % 3 == 0", "s + t == 16"});
}

}  // namespace sym_trace_test
