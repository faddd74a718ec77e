// An expression in canonical form has the value of the original expression wherever that is defined. Ranges enclose the
// values, and printed texts can be read back.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "oriel/error.hpp"
#include "property/sym/questions.hpp"
#include "support/fixed_seed.hpp"
#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"
#include "sym/program.hpp"

namespace {

[[maybe_unused]] const bool fixed = oriel::test::fix_seed();

using namespace oriel;
using namespace oriel::test;
using sym::Expr;
using sym::Interval;

constexpr int kSymbols = 3;

std::size_t index_of(Expr variable) { return static_cast<std::size_t>(variable->name[1] - '0'); }

std::int64_t evaluated(Expr e, const Values& values) {
  return sym::evaluate(e, [&](Expr variable) { return std::optional(values[index_of(variable)]); });
}

}  // namespace

TEST_CASE("canonical form keeps the value") {
  CHECK(rc::check([](const std::vector<int>& choices) {
    Tape tape(choices);
    const std::int64_t lo = tape.next(5) - 2;
    const bool condition = tape.next(2) == 1;
    const Tree tree = condition ? condition_tree(tape, kSymbols, 2) : number_tree(tape, kSymbols, 4);
    sym::Pool pool;
    const auto symbol = [&](std::string_view name) {
      return pool.symbol(name, Interval{lo, tape.ended() ? lo + 4 : Interval::kInfinity});
    };
    Expr e = nullptr;
    try {
      e = sym::parse(pool, text_of(tree), symbol);
    } catch (const ArgumentError&) {
      return;  // a divisor is 0 for all values
    }
    RC_LOG() << text_of(tree) << " is " << sym::to_string(e);
    RC_ASSERT(sym::parse(pool, sym::to_string(e), symbol) == e);
    const Interval range = sym::range(e, [&](Expr) { return std::optional(Interval{lo, lo + 3}); });
    Expr without = nullptr;
    try {
      without = sym::substitute(e, {{symbol("s0"), sym::add(sym::mul(symbol("s1"), 2), 1)}});
    } catch (const ArgumentError&) {  // a divisor has become 0
      return;
    }
    for_each_values(Values(kSymbols, lo), Values(kSymbols, lo + 3), [&](const Values& values) {
      const auto expected = value_of(tree, values);
      if (!expected) return;
      RC_ASSERT(evaluated(e, values) == *expected);
      RC_ASSERT(range.contains(*expected));
      RC_ASSERT(e->bounds.contains(*expected));
      // Replaces s0 by 2*s1 + 1 if that is within the bounds of s0.
      Values replaced = values;
      replaced[0] = 2 * values[1] + 1;
      if (replaced[0] < lo || (tape.ended() && replaced[0] > lo + 4)) return;
      if (const auto other = value_of(tree, replaced)) RC_ASSERT(evaluated(without, values) == *other);
    });
  }));
}

TEST_CASE("equal sums are one expression in whatever order they are built") {
  CHECK(rc::check([](const std::vector<int>& choices, std::uint32_t seed) {
    Tape tape(choices);
    sym::Pool pool;
    const auto symbol = [&](std::string_view name) { return pool.symbol(name); };
    std::vector<Expr> terms;
    for (int k = 0; k < 6; ++k) {
      const Tree tree = number_tree(tape, kSymbols, 2);
      try {
        terms.push_back(sym::parse(pool, text_of(tree), symbol));
      } catch (const ArgumentError&) {
      }
    }
    Expr forward = pool.constant(0);
    for (const Expr term : terms) forward = sym::add(forward, term);
    for (std::size_t k = terms.size(); k > 1; --k) std::swap(terms[k - 1], terms[(seed >> k) % k]);
    Expr backward = pool.constant(0);
    for (const Expr term : terms) backward = sym::add(term, backward);
    RC_ASSERT(forward == backward);
    for (const Expr term : terms) backward = sym::sub(backward, term);
    RC_ASSERT(backward->is_constant(0));
  }));
}
