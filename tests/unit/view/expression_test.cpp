// Printed expressions, read back by a small evaluator of C arithmetic and compared with the table.
#include <doctest/doctest.h>

#include <cctype>

#include "generators.hpp"
#include "oracle.hpp"

namespace expression_test {

using oriel::ShapeTracker;
using oriel::View;

namespace {

/// Evaluates +, -, *, /, %, comparisons and && over i0, i1, .. with C's precedence. && does not evaluate its right side
/// if its left side is false. Quotients and remainders of negative numbers fail the test.
class Evaluator {
 public:
  Evaluator(const std::string& text, const oracle::Index& index) : text_(text), index_(index) {}

  std::int64_t run() {
    const std::int64_t value = conjunction(true);
    skip();
    if (at_ != text_.size()) FAIL("cannot read '" << text_ << "' at " << at_);
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(const std::string& token) {
    skip();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }

  std::int64_t conjunction(bool live) {
    std::int64_t value = comparison(live);
    while (take("&&")) {
      const std::int64_t right = comparison(live && value != 0);
      value = value != 0 && right != 0 ? 1 : 0;
    }
    return value;
  }
  std::int64_t comparison(bool live) {
    const std::int64_t left = sum(live);
    if (take(">=")) return left >= sum(live) ? 1 : 0;
    if (take("<")) return left < sum(live) ? 1 : 0;
    return left;
  }
  std::int64_t sum(bool live) {
    std::int64_t value = product(live);
    while (true) {
      if (take("+")) {
        value += product(live);
      } else if (take("- ")) {
        value -= product(live);
      } else {
        return value;
      }
    }
  }
  std::int64_t product(bool live) {
    std::int64_t value = factor(live);
    while (true) {
      if (take("*")) {
        value *= factor(live);
      } else if (take("/") || take("%")) {
        const bool quotient = text_[at_ - 1] == '/';
        const std::int64_t right = factor(live);
        if (live && (value < 0 || right <= 0))
          FAIL("division of " << value << " by " << right << " in '" << text_ << "'");
        value = quotient ? value / right : value % right;
      } else {
        return value;
      }
    }
  }
  std::int64_t factor(bool live) {
    if (take("(")) {
      const std::int64_t value = sum(live);
      if (!take(")")) FAIL("unclosed parenthesis in '" << text_ << "'");
      return value;
    }
    if (take("-")) return -factor(live);
    if (take("i")) return index_[static_cast<std::size_t>(number())];
    return number();
  }
  std::int64_t number() {
    std::int64_t value = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      value = value * 10 + (text_[at_++] - '0');
    }
    if (at_ == start) FAIL("a number is missing in '" << text_ << "' at " << at_);
    return value;
  }

  const std::string& text_;
  const oracle::Index& index_;
  std::size_t at_ = 0;
};

void check_expressions(const ShapeTracker& tracker) {
  const std::string index = tracker.index_expression();
  const std::string valid = tracker.valid_expression();
  for (const oracle::Index& i : oracle::indices(tracker.shape())) {
    const oracle::Position expected = oracle::evaluate(tracker.views(), i);
    const bool holds = Evaluator(valid, i).run() != 0;
    if (holds != expected.has_value()) FAIL(tracker.str() << " is not valid where '" << valid << "' says");
    if (holds && Evaluator(index, i).run() != *expected) FAIL(tracker.str() << " is not at '" << index << "'");
  }
}

}  // namespace

TEST_CASE("expressions of random stacks agree with the table") {
  generators::Generator generator(31, 40);
  for (int k = 0; k < 12'000; ++k) {
    const auto tracker = ShapeTracker::from_views(generator.movement_stack(static_cast<std::size_t>(1 + k % 4)));
    check_expressions(tracker);
    check_expressions(tracker.simplify());
  }
  for (int k = 0; k < 12'000; ++k) {
    const auto [outer, inner] = k % 2 == 0 ? generator.raw_pair() : generator.accident_pair();
    const View stack[] = {inner, outer};
    check_expressions(ShapeTracker::from_views(stack));
  }
}

TEST_CASE("one view needs neither quotient nor remainder") {
  const ShapeTracker tracker = ShapeTracker({2, 6}).pad({{1, 1}, {0, 0}}).reshape({4, 2, 3}).flip({1});
  CHECK(tracker.index_expression() == "i0*6 - i1*3 + i2 - 3");
  CHECK(tracker.valid_expression() == "i0 >= 1 && i0 < 3");
  CHECK(ShapeTracker({3, 4}).index_expression() == "i0*4 + i1");
  CHECK(ShapeTracker({3, 4}).valid_expression() == "1");
  CHECK(ShapeTracker({4}).flip({0}).index_expression() == "3 - i0");
  CHECK(ShapeTracker({1, 1}).index_expression() == "0");
}

TEST_CASE("bounds show quotients and remainders away") {
  // The stack is deliberately not simplified: the expression itself finds that no digit carries.
  const View split[] = {View::contiguous({6, 4}), View::contiguous({3, 2, 4})};
  CHECK(ShapeTracker::from_views(split).index_expression() == "i0*8 + i1*4 + i2");
  const View columns[] = {View::contiguous({4, 6}).permute({1, 0}), View::contiguous({24})};
  CHECK(ShapeTracker::from_views(columns).index_expression() == "(i0%4)*6 + i0/4");
  const View rows[] = {View::make({6, 4}, {1, 6}), View::make({6, 2}, {4, 1}, 1)};
  CHECK(ShapeTracker::from_views(rows).index_expression() == "i0 + i1*6 + 6");
}

TEST_CASE("a common factor leaves the quotient") {
  const View stack[] = {View::make({3, 8}, {100, 1}), View::make({12}, {2})};
  CHECK(ShapeTracker::from_views(stack).index_expression() == "(i0%4)*2 + (i0/4)*100");
}

TEST_CASE("a condition on several axes stays one comparison") {
  const ShapeTracker tracker = ShapeTracker({5}).pad({{1, 0}}).reshape({2, 3}).permute({1, 0});
  CHECK(tracker.valid_expression() == "i0 + i1*3 >= 1");
  CHECK(tracker.index_expression() == "i0 + i1*3 - 1");
}

TEST_CASE("nothing valid is the condition 0") {
  CHECK(ShapeTracker({2}).pad({{0, 2}}).shrink({{2, 4}}).valid_expression() == "0");
  CHECK(ShapeTracker({2}).pad({{0, 2}}).shrink({{2, 4}}).index_expression() == "0");
  CHECK(ShapeTracker({0, 2}).valid_expression() == "0");
}

}  // namespace expression_test
