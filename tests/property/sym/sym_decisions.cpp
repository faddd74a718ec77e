// Conditions that the decision procedures refute have no solution, and the solutions that they find are right. All
// values are tried.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "oriel/error.hpp"
#include "property/sym/questions.hpp"
#include "support/fixed_seed.hpp"
#include "sym/linear.hpp"
#include "sym/parse.hpp"
#include "sym/program.hpp"
#include "sym/refute.hpp"

namespace {

[[maybe_unused]] const bool fixed = oriel::test::fix_seed();

using namespace oriel;
using namespace oriel::test;
using sym::Expr;
using sym::Interval;

constexpr int kSymbols = 2;

}  // namespace

TEST_CASE("a linear system that contradicts itself has no solution") {
  CHECK(rc::check([](const std::vector<int>& choices) {
    Tape tape(choices);
    constexpr std::size_t kVariables = 3;
    constexpr std::int64_t kEnd = 5;  // all variables are in [-5, 5]
    sym::LinearSystem system;
    for (std::uint32_t v = 0; v < kVariables; ++v) {
      system.require_not_negative({kEnd, {{v, 1}}});
      system.require_not_negative({kEnd, {{v, -1}}});
    }
    std::vector<std::pair<sym::LinearForm, bool>> rows;
    for (std::int64_t k = tape.next(4); k >= 0; --k) {
      sym::LinearForm form{tape.next(21) - 10, {}};
      for (std::uint32_t v = 0; v < kVariables; ++v) {
        if (const std::int64_t c = tape.next(9) - 4; c != 0) form.terms.emplace_back(v, c);
      }
      const bool equality = tape.next(3) == 0;
      rows.emplace_back(form, equality);
      if (equality) {
        system.require_zero(form);
      } else {
        system.require_not_negative(form);
      }
    }
    std::size_t solutions = 0;
    for_each_values(Values(kVariables, -kEnd), Values(kVariables, kEnd), [&](const Values& values) {
      for (const auto& [form, equality] : rows) {
        std::int64_t sum = form.constant;
        for (const auto& [v, c] : form.terms) sum += c * values[v];
        if (equality ? sum != 0 : sum < 0) return;
      }
      ++solutions;
    });
    RC_CLASSIFY(solutions == 0, "no solution");
    RC_CLASSIFY(system.contradicts(), "refuted");
    if (system.contradicts()) RC_ASSERT(solutions == 0u);
  }));
}

TEST_CASE("conditions: what is refuted has no values, what is found satisfies them, and small boxes are decided") {
  CHECK(rc::check([](const std::vector<int>& choices) {
    Tape tape(choices);
    const std::int64_t lo = tape.next(4) - 1;
    const std::int64_t hi = lo + 5;
    std::vector<Tree> trees;
    for (std::int64_t k = tape.next(3); k >= 0; --k) trees.push_back(condition_tree(tape, kSymbols, 1));
    sym::Pool pool;
    std::vector<Expr> conditions;
    try {
      for (const Tree& tree : trees) {
        conditions.push_back(sym::parse(pool, text_of(tree), [&](auto name) { return pool.symbol(name, {lo, hi}); }));
        RC_LOG() << text_of(tree) << '\n';
      }
    } catch (const ArgumentError&) {
      return;
    }
    std::size_t satisfying = 0;
    std::size_t undefined = 0;
    for_each_values(Values(kSymbols, lo), Values(kSymbols, hi), [&](const Values& values) {
      bool all = true;
      for (const Tree& tree : trees) {
        const auto value = value_of(tree, values);
        if (!value) {
          ++undefined;
          return;
        }
        all &= *value != 0;
      }
      satisfying += all ? 1 : 0;
    });
    const auto boxes = sym::search_boxes(conditions);
    RC_CLASSIFY(satisfying == 0, "no values");
    RC_CLASSIFY(sym::contradicts(conditions), "refuted");
    if (sym::contradicts(conditions)) RC_ASSERT(satisfying == 0u);
    if (boxes.verdict == sym::Search::Verdict::none) RC_ASSERT(satisfying == 0u);
    if (satisfying > 0) RC_ASSERT(boxes.verdict == sym::Search::Verdict::found);
    // If a divisor may be 0, the canonical form may have a value where the text has none.
    if (undefined == 0) RC_ASSERT((boxes.verdict == sym::Search::Verdict::found) == (satisfying > 0));
    if (boxes.verdict == sym::Search::Verdict::found) {
      sym::Program program(conditions);
      for (const auto& outcome : program.run(boxes.values)) RC_ASSERT(outcome.is(1));
    }
  }));
}

TEST_CASE("consequences hold wherever the inequality does") {
  CHECK(rc::check([](const std::vector<int>& choices) {
    Tape tape(choices);
    const std::int64_t lo = tape.next(4) - 1;
    const std::int64_t hi = lo + 6;
    const Tree tree = number_tree(tape, kSymbols, 3);
    sym::Pool pool;
    Expr e = nullptr;
    try {
      e = sym::parse(pool, text_of(tree), [&](auto name) { return pool.symbol(name, {lo, hi}); });
    } catch (const ArgumentError&) {
      return;
    }
    RC_LOG() << text_of(tree);
    const std::vector<Expr> found = sym::consequences(e);
    RC_CLASSIFY(!found.empty());
    const auto value = [](Expr of, const Values& values) {
      sym::Program program(of);
      Values inputs;
      for (const Expr variable : program.variables()) inputs.push_back(values[std::size_t(variable->name[1] - '0')]);
      return program.run(inputs)[0];
    };
    for_each_values(Values(kSymbols, lo), Values(kSymbols, hi), [&](const Values& values) {
      const auto premise = value(e, values);
      if (premise.fault != sym::Outcome::Fault::none || premise.value < 0) return;
      for (const Expr consequence : found) {
        const auto conclusion = value(consequence, values);
        RC_ASSERT(conclusion.fault != sym::Outcome::Fault::none || conclusion.value >= 0);
      }
    });
  }));
}
