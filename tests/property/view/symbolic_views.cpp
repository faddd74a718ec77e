// The view algebra on symbolic sizes: for all values of the symbols that satisfy the guards, substituting the values in
// the symbolic result gives the result of the plain algebra on these values.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/case.hpp"
#include "oriel/error.hpp"
#include "oriel/shape_env.hpp"
#include "property/sym/questions.hpp"
#include "property/view/at_values.hpp"
#include "support/fixed_seed.hpp"
#include "sym/environment.hpp"
#include "sym/program.hpp"

namespace {

[[maybe_unused]] const bool fixed = oriel::test::fix_seed();

using namespace oriel;
using oriel::fuzz::Movement;
using oriel::graph::Takes;
using oriel::test::Tape;
using oriel::test::Values;

constexpr std::int64_t kMostEntries = 400;  // of a table that is compared

/// A chain of movements over symbols, and the results of the algebra.
struct Trace {
  ShapeEnv env;
  std::vector<SymInt> symbols;
  Values least;
  Values most;  // up to hint + 7
  Shape base;
  std::vector<Movement> movements;
  std::vector<ShapeTracker> stacks;  // after each movement
  std::vector<ShapeTracker> simple;
  std::vector<SymBool> guards;
};

class Maker {
 public:
  Maker(Tape& tape, Trace& trace) : tape_(tape), trace_(trace) {}

  void run() {
    for (std::int64_t k = 1 + tape_.next(3); k > 0; --k) {
      const std::int64_t lo = 2 - tape_.next(3);
      const std::int64_t hint = std::max(lo, std::int64_t{2}) + tape_.next(5);
      trace_.symbols.push_back(trace_.env.symbol("s" + std::to_string(trace_.symbols.size()), hint, {lo, {}}));
      trace_.least.push_back(lo);
      trace_.most.push_back(std::min(hint + 7, lo + 11));
    }
    for (std::int64_t k = 1 + tape_.next(3); k > 0; --k) trace_.base.push_back(extent());
    ShapeTracker tracker(trace_.base);
    for (std::int64_t k = 1 + tape_.next(5); k > 0; --k) {
      const Movement movement = next(tracker.shape());
      tracker = fuzz::apply(tracker, movement);  // throws if the movement does not fit, and the case ends
      trace_.movements.push_back(movement);
      trace_.stacks.push_back(tracker);
      trace_.simple.push_back(tracker.simplify());
      trace_.guards.clear();
      for (const auto& guard : trace_.env.guards()) trace_.guards.push_back(guard.condition);
    }
  }

 private:
  SymInt symbol() { return trace_.symbols[std::size_t(tape_.next(std::int64_t(trace_.symbols.size())))]; }

  SymInt extent() {
    switch (tape_.next(6)) {
      case 0:
        return 1 + tape_.next(4);
      case 1:
        return symbol() + 1;
      case 2:
        return 2 * symbol();
      default:
        return symbol();
    }
  }

  SymInt amount() {
    const std::int64_t choice = tape_.next(6);
    return choice < 3 ? SymInt(0) : choice < 5 ? SymInt(choice - 2) : symbol();
  }

  Movement next(const Shape& shape) {
    Movement m;
    m.kind = fuzz::kMovements[std::size_t(tape_.next(fuzz::kMovementKinds))];
    const auto rank = static_cast<std::int64_t>(shape.size());
    switch (graph::row(m.kind).takes) {
      case Takes::Order:
        for (std::int64_t d = 0; d < rank; ++d) m.ints.push_back(d);
        for (std::int64_t d = rank - 1; d > 0; --d)
          std::swap(m.ints[std::size_t(d)], m.ints[std::size_t(tape_.next(d + 1))]);
        break;
      case Takes::Axes:
        for (std::int64_t d = 0; d < rank; ++d) {
          if (tape_.next(2) == 0) m.ints.push_back(d);
        }
        break;
      case Takes::Pads:
        for (std::int64_t d = 0; d < rank; ++d) m.ranges.push_back({amount(), amount()});
        break;
      case Takes::Slices:
        for (const SymInt size : shape) m.ranges.push_back({amount(), size - amount()});
        break;
      case Takes::Extents:
        for (const SymInt size : shape) m.ints.push_back(identical(size, 1) ? extent() : size);
        break;
      case Takes::Numbers:
        for (std::size_t d = 0; d < shape.size(); ++d) m.ints.push_back(1 + tape_.next(3));
        break;
      default:
        m.ints = target(shape);
    }
    return m;
  }

  Shape target(const Shape& shape) {
    Shape out = shape;
    switch (tape_.next(6)) {
      case 0:
        return {numel(shape)};
      case 1:
        std::reverse(out.begin(), out.end());
        return out;
      case 2:
        out.insert(out.begin() + tape_.next(std::int64_t(out.size()) + 1), SymInt(1));
        return out;
      case 3:
        if (out.empty()) return out;
        out[0] = out[0] / 2;
        out.insert(out.begin() + 1, SymInt(2));
        return out;
      case 4: {
        SymInt rest = numel(shape);
        const SymInt last = extent();
        return {rest / last, last};
      }
      default:
        if (out.size() < 2) return out;
        out[1] = out[0] * out[1];
        out.erase(out.begin());
        return out;
    }
  }

  Tape& tape_;
  Trace& trace_;
};

/// Evaluates expressions for some values of the symbols.
class At : public test::AtValues {
 public:
  At(const Trace& trace, const Values& values) : AtValues(trace.symbols, values) {}

  using AtValues::operator();
  Ranges operator()(const Ranges& list) const {
    Ranges out;
    for (const Range& r : list) out.push_back({(*this)(r.lo), (*this)(r.hi)});
    return out;
  }
  /// Canonical, because a symbolic view keeps the strides of axes that may have extent 1.
  View operator()(const View& view) const {
    return View{(*this)(view.shape), (*this)(view.strides), (*this)(view.offset), (*this)(view.mask)}.canonical();
  }
  std::vector<View> operator()(const ShapeTracker& tracker) const {
    std::vector<View> out;
    for (const View& view : tracker.views()) out.push_back((*this)(view));
    return out;
  }
};

std::string text(const std::vector<View>& innermost_first) {
  std::string out;
  for (const View& view : innermost_first) out = view.str() + (out.empty() ? "" : " over " + out);
  return out;
}

/// Describes how the symbolic results differ from the plain ones for some values; empty if they do not differ.
std::string difference(const Trace& trace, const Values& values) {
  const At at(trace, values);
  std::vector<Movement> movements;
  try {
    for (const Movement& m : trace.movements) movements.push_back({m.kind, at(m.ints), at(m.ranges)});
  } catch (const ArgumentError&) {
    return {};  // the program itself divides by a size that is 0
  }
  try {
    ShapeTracker tracker(at(trace.base));
    for (std::size_t k = 0; k < trace.movements.size(); ++k) {
      tracker = fuzz::apply(tracker, movements[k]);
      const std::vector<View> stack = at(trace.stacks[k]);
      const std::vector<View> plain(tracker.views().begin(), tracker.views().end());
      if (stack != plain) return text(stack) + " instead of " + text(plain);
      const ShapeTracker simple = tracker.simplify();
      const ShapeTracker symbolic = ShapeTracker::from_views(at(trace.simple[k]));
      if (symbolic.single() && !(symbolic == simple)) return symbolic.str() + " instead of " + simple.str();
      if (numel(simple.shape()) <= kMostEntries && symbolic.table() != simple.table()) {
        return symbolic.str() + " has another map than " + simple.str();
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Values satisfied(const Trace& trace, const Values& values) {
  Values out;
  const At at(trace, values);
  for (const SymBool guard : trace.guards) {
    try {
      out.push_back(at.holds(guard));
    } catch (const Error&) {
      out.push_back(0);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("stacks over symbols are the plain ones for all values that satisfy the guards, and guards are needed") {
  std::size_t cases = 0;
  std::size_t guards = 0;
  std::size_t needless = 0;
  std::size_t unmerged = 0;
  std::size_t stacks = 0;
  std::map<std::string, int> examples;
  CHECK(rc::check([&](const std::vector<int>& choices) {
    ++cases;
    Tape tape(choices);
    Trace trace;
    try {
      Maker(tape, trace).run();
    } catch (const UserError&) {
      // The movement does not fit for the hints. The movements before it are still checked.
    }
    if (trace.stacks.empty()) return;
    RC_LOG() << "base " << to_string(trace.base) << "\n";
    for (const ShapeTracker& tracker : trace.stacks) RC_LOG() << tracker.str() << "\n";
    for (const SymBool guard : trace.guards) RC_LOG() << "guard " << to_string(guard) << "\n";
    RC_CLASSIFY(trace.guards.empty(), "no guards");
    std::vector<bool> needed(trace.guards.size(), false);
    test::for_each_values(trace.least, trace.most, [&](const Values& values) {
      const Values holds = satisfied(trace, values);
      const auto broken = std::count(holds.begin(), holds.end(), 0);
      if (broken > 1) return;
      if (broken == 0) {
        const std::string differs = difference(trace, values);
        if (!differs.empty()) {
          for (const std::int64_t v : values) RC_LOG() << v << " ";
          RC_FAIL("another result: " + differs);
        }
        return;
      }
      const auto which = static_cast<std::size_t>(std::find(holds.begin(), holds.end(), 0) - holds.begin());
      if (!needed[which]) needed[which] = !difference(trace, values).empty();
    });
    guards += trace.guards.size();
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (needed[k]) continue;
      ++needless;
      ++examples[to_string(trace.guards[k])];
    }
    ++stacks;
    unmerged += trace.simple.back().single() ? 0 : 1;
  }));
  for (const auto& [guard, count] : examples) std::cout << count << " times " << guard << "\n";
  std::cout << stacks << " stacks, " << unmerged << " of several views, " << guards << " guards, " << needless
            << " that no values up to hint + 7 need\n";
  // The number of cases is a setting (RC_PARAMS), so the counts are shares of it.
  CHECK(stacks * 12 > cases);
  CHECK(guards * 12 > cases);
  // The aim is that every guard is needed. With the fixed seed 4 of 72 are not, with others 1 % to 8 %. All of these
  // are statements on products and quotients of symbols that others imply, which the procedure that decides conditions
  // does not find: it does not divide by a common factor such as s0 - 1, nor put a quotient's exact value into other
  // terms.
  CHECK(needless * 10 <= guards);
}

TEST_CASE("splits of symbolic stacks are splits for all values that satisfy the guards") {
  std::size_t several = 0;
  std::size_t splits = 0;
  CHECK(rc::check([&](const std::vector<int>& choices) {
    Tape tape(choices);
    Trace trace;
    try {
      Maker(tape, trace).run();
    } catch (const UserError&) {
    }
    for (std::size_t k = 0; k < trace.stacks.size(); ++k) {
      const ShapeTracker& stack = trace.simple[k];
      several += stack.single() ? 0 : 1;
      const std::optional<Refinement> split = stack.refine();
      if (!split || stack.single()) continue;
      ++splits;
      trace.guards.clear();
      for (const auto& guard : trace.env.guards()) trace.guards.push_back(guard.condition);
      RC_LOG() << stack.str() << "\nsplit: " << split->view.str() << "\n";
      test::for_each_values(trace.least, trace.most, [&](const Values& values) {
        const Values holds = satisfied(trace, values);
        if (std::count(holds.begin(), holds.end(), 0) > 0) return;
        const At at(trace, values);
        const ShapeTracker plain = ShapeTracker::from_views(at(stack));
        RC_ASSERT(split->pieces.size() == plain.shape().size());
        for (std::size_t d = 0; d < split->pieces.size(); ++d)
          RC_ASSERT(numel(at(split->pieces[d])) == plain.shape()[d]);
        if (numel(plain.shape()) > kMostEntries) return;
        RC_ASSERT(ShapeTracker(at(split->view)).table() == plain.table());
      });
    }
  }));
  std::cout << several << " stacks of several views, " << splits << " are split\n";
  CHECK(splits * 8 > several);
}
