// Layouts and joint iteration on symbolic sizes: for all values of the symbols that satisfy the guards, substituting
// the values in the symbolic answer gives the answer on these numbers.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/layout_conditions.hpp"
#include "oriel/shape_env.hpp"
#include "property/sym/questions.hpp"
#include "property/view/at_values.hpp"
#include "support/fixed_seed.hpp"
#include "view/layouts/iterate.hpp"
#include "view/layouts/layout.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace {

const bool fixed = oriel::test::fix_seed();

using namespace oriel;
using oriel::test::Tape;
using oriel::test::Values;

enum class Question { iteration, reduction, contiguous, channels_last, dense, like_channels_last, preserved, view };
constexpr std::int64_t kQuestions = 8;

struct Problem {
  ShapeEnv env;
  std::vector<SymInt> symbols;
  Values least;
  Values most;
  Question question = Question::iteration;
  std::vector<Layout> operands;
  Ints axes;     // of a reduction
  Shape target;  // of a view
};

/// An answer as numbers or expressions, and a word.
struct Answer {
  std::string word;
  std::vector<Ints> lists;
};

class Maker {
 public:
  Maker(Tape& tape, Problem& problem) : tape_(tape), problem_(problem) {}

  void run() {
    for (std::int64_t k = 1 + tape_.next(3); k > 0; --k) {
      const std::int64_t lo = 2 - tape_.next(3);
      const std::int64_t hint = std::max(lo, std::int64_t{2} - tape_.next(2)) + tape_.next(4);
      problem_.symbols.push_back(problem_.env.symbol("s" + std::to_string(problem_.symbols.size()), hint, {lo, {}}));
      problem_.least.push_back(lo);
      problem_.most.push_back(std::min(hint + 7, lo + 9));
    }
    problem_.question = static_cast<Question>(tape_.next(kQuestions));
    const bool four = problem_.question == Question::channels_last || problem_.question == Question::like_channels_last;
    const std::int64_t rank = four ? 4 : 1 + tape_.next(4);
    Shape shape;
    for (std::int64_t d = 0; d < rank; ++d) shape.push_back(extent());
    const std::int64_t operands = problem_.question == Question::iteration ? 1 + tape_.next(3) : 1;
    for (std::int64_t k = 0; k < operands; ++k) problem_.operands.push_back(operand(shape));
    for (std::int64_t d = 0; d < rank; ++d) {
      if (tape_.next(2) == 0) problem_.axes.push_back(d);
    }
    problem_.target = target(problem_.operands[0].shape);
  }

 private:
  SymInt symbol() { return problem_.symbols[std::size_t(tape_.next(std::int64_t(problem_.symbols.size())))]; }

  SymInt extent() {
    switch (tape_.next(6)) {
      case 0:
        return 1 + tape_.next(3);
      case 1:
        return symbol() + 1;
      default:
        return symbol();
    }
  }

  Shape target(Shape shape) {
    const std::size_t at = std::size_t(tape_.next(std::int64_t(shape.size()) + 1));
    switch (tape_.next(6)) {
      case 0:
        return {-1};
      case 1:
        shape.insert(shape.begin() + std::ptrdiff_t(at), SymInt(1));
        return shape;
      case 2:
        if (at + 1 >= shape.size()) return {-1, shape.empty() ? SymInt(1) : shape.back()};
        shape[at] = shape[at] * shape[at + 1];
        shape.erase(shape.begin() + std::ptrdiff_t(at) + 1);
        return shape;
      case 3:
        shape.insert(shape.begin() + std::ptrdiff_t(at), SymInt(2));
        shape.insert(shape.begin(), SymInt(-1));
        return shape.size() > 3 ? Shape{-1, 2} : shape;
      case 4:
        std::reverse(shape.begin(), shape.end());
        return shape;
      default:
        return {numel(shape)};
    }
  }

  /// Some axes of `shape` broadcast or written otherwise; strides dense in some order, or any.
  Layout operand(const Shape& common) {
    Shape shape = common;
    if (tape_.next(4) == 0) shape.erase(shape.begin());
    for (SymInt& size : shape) {
      const std::int64_t choice = tape_.next(10);
      if (choice == 0) size = 1;
      if (choice == 1) size = extent();
    }
    std::vector<std::size_t> order;
    for (std::size_t d = shape.size(); d-- > 0;) order.push_back(d);
    if (tape_.next(2) == 0) {
      for (std::size_t d = order.size(); d > 1; --d) std::swap(order[d - 1], order[std::size_t(tape_.next(int(d)))]);
    }
    Layout layout{shape, tape_.next(3) == 0 ? detail::strides_in_order(shape, order) : Ints(shape.size())};
    SymInt step = 1;
    for (const std::size_t d : order) {
      if (identical(layout.strides[d], 0)) layout.strides[d] = step;
      step *= sym_max(1, shape[d]);
    }
    for (SymInt& stride : layout.strides) {
      const std::int64_t choice = tape_.next(12);
      if (choice == 0) stride = symbol();
      if (choice == 1) stride = 0;
      if (choice == 2) stride = -stride;
      if (choice == 3) stride = 2 * stride;
    }
    return layout;
  }

  Tape& tape_;
  Problem& problem_;
};

Answer of_iteration(const detail::Iteration& it) {
  Answer answer{std::string(name(it.path)), {it.shape, it.order, it.loop_shape}};
  for (const auto* list : {&it.effective, &it.outputs, &it.loop_strides}) {
    for (const Ints& ints : *list) answer.lists.push_back(ints);
  }
  return answer;
}

std::string word(bool answer) { return answer ? "yes" : "no"; }

Answer solve(const Problem& problem, const std::vector<Layout>& operands, const Shape& target) {
  const Layout& first = operands[0];
  switch (problem.question) {
    case Question::iteration: {
      std::vector<const Layout*> pointers;
      for (const Layout& operand : operands) pointers.push_back(&operand);
      return of_iteration(detail::iterate(pointers));
    }
    case Question::reduction: {
      Ints axes;
      for (const SymInt axis : problem.axes) {
        if (axis < SymInt(std::int64_t(first.rank()))) axes.push_back(axis);
      }
      return of_iteration(detail::iterate_reduction(first, axes));
    }
    case Question::contiguous:
      return {word(first.is_contiguous()), {}};
    case Question::channels_last:
      return {word(first.is_contiguous(MemoryFormat::channels_last)), {}};
    case Question::dense:
      return {word(density(first)), {}};
    case Question::like_channels_last:
      return {std::string(name(first.suggest_memory_format())), {}};
    case Question::view: {
      const detail::StridedReshape reshaped = detail::strided_reshape(first, target);
      if (!reshaped) return {std::string(name(*reshaped.refusal)), {}};
      return {"", {reshaped.layout.shape, reshaped.layout.strides}};
    }
    default:
      return {"", {first.preserved().strides}};
  }
}

/// How the symbolic answer differs from that on the numbers; empty if it does not.
std::string difference(const Problem& problem, const Answer& symbolic, const Values& values) {
  const test::AtValues at(problem.symbols, values);
  std::vector<Layout> operands;
  for (const Layout& operand : problem.operands) operands.push_back({at(operand.shape), at(operand.strides)});
  try {
    const Answer plain = solve(problem, operands, at(problem.target));
    if (plain.word != symbolic.word) return symbolic.word + " instead of " + plain.word;
    if (plain.lists.size() != symbolic.lists.size()) return "another number of lists";
    for (std::size_t k = 0; k < plain.lists.size(); ++k) {
      const Ints got = at(symbolic.lists[k]);
      if (got != plain.lists[k]) {
        return "list " + std::to_string(k) + ": " + to_string(got) + " instead of " + to_string(plain.lists[k]);
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("answers on symbols are the plain ones for all values that satisfy the guards, and guards are needed") {
  std::size_t cases = 0;
  std::size_t answered = 0;
  std::size_t guards = 0;
  std::size_t needless = 0;
  std::map<std::string, int> examples;
  CHECK(rc::check([&](const std::vector<int>& choices) {
    ++cases;
    Tape tape(choices);
    Problem problem;
    Maker(tape, problem).run();
    RC_LOG() << "question " << int(problem.question) << "\n";
    for (const Layout& operand : problem.operands) RC_LOG() << operand.str() << "\n";
    Answer answer;
    try {
      answer = solve(problem, problem.operands, problem.target);
    } catch (const UserError&) {
      return;  // the shapes do not broadcast for the hints
    }
    ++answered;
    const auto taken = problem.env.guards();
    for (const auto& guard : taken) RC_LOG() << "guard " << guard.str() << "\n";
    std::vector<bool> needed(taken.size(), false);
    test::for_each_values(problem.least, problem.most, [&](const Values& values) {
      const test::AtValues at(problem.symbols, values);
      std::size_t broken = 0;
      std::size_t which = 0;
      for (std::size_t k = 0; k < taken.size(); ++k) {
        if (at.holds(taken[k].condition)) continue;
        ++broken;
        which = k;
      }
      if (broken > 1) return;
      const std::string differs = difference(problem, answer, values);
      if (broken == 1) {
        if (!differs.empty()) needed[which] = true;
      } else if (!differs.empty()) {
        for (const std::int64_t v : values) RC_LOG() << v << " ";
        RC_FAIL("another answer: " + differs);
      }
    });
    guards += taken.size();
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (needed[k]) continue;
      ++needless;
      ++examples[std::to_string(int(problem.question)) + ": " + taken[k].str()];
    }
  }));
  for (const auto& [guard, count] : examples) std::cout << count << " times " << guard << "\n";
  std::cout << answered << " answers, " << guards << " guards, " << needless << " that no values up to hint + 7 need\n";
  // The number of cases is a setting (RC_PARAMS), so the counts are shares of it.
  CHECK(answered * 2 > cases);
  CHECK(guards * 12 > cases);
  // Every guard is needed with the fixed seed. Of 1,500 cases of other seeds up to 2 % are not, where the procedure
  // that decides conditions gives up: a density that is the same for all sizes is one opaque condition, an equation
  // with a common factor (s1*(s0 + 1) == s0*(s0 + 1)) does not replace s1, and two inequalities (x >= y, x <= y) that
  // were asked one by one do not become one equation.
  if (fixed && cases <= 500) CHECK(needless == 0);
  CHECK(needless * 30 <= guards);
}
