// Einstein's summation: parsing, the order of the pairs, and their sums of products.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "base/by_use.hpp"
#include "functions/contraction.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/products.hpp"
#include "schedule/contraction_order.hpp"
#include "sym/decide.hpp"

namespace oriel {

namespace api {

namespace {

Op sum_of(DType dtype) { return dtype == DType::bool_ ? Op::ReduceMax : Op::Sum; }

/// x with an axis for each label of `all`, in this order; of extent 1 for those that it lacks.
Value aligned(const Labelled& x, const std::vector<int>& all) {
  Ints order;
  Shape shape;
  for (const int label : all) {
    const auto at = std::find(x.labels.begin(), x.labels.end(), label);
    if (at == x.labels.end()) {
      shape.push_back(1);
      continue;
    }
    const auto d = static_cast<std::size_t>(at - x.labels.begin());
    order.push_back(d);
    shape.push_back(x.value.shape()[d]);
  }
  return x.value.permute(order).reshape(shape);
}

}  // namespace

Labelled summed(const Labelled& x, const std::vector<int>& kept) {
  Ints gone;
  std::vector<int> rest;
  for (std::size_t d = 0; d < x.labels.size(); ++d) {
    if (holds(kept, x.labels[d]))
      rest.push_back(x.labels[d]);
    else
      gone.push_back(d);
  }
  const Value sum = gone.empty() ? x.value : x.value.reduce(sum_of(x.value.dtype()), gone).drop(gone);
  if (rest == kept) return {sum, kept};
  Ints order;
  for (const int label : kept) order.push_back(std::find(rest.begin(), rest.end(), label) - rest.begin());
  return {sum.permute(order), kept};
}

Labelled contract(const Labelled& a, const Labelled& b, const std::vector<int>& kept) {
  by_use::small_products();
  // A label of one operand alone that is summed goes first: it is no part of the product.
  const auto needed = [&](const Labelled& x, const Labelled& other) {
    std::vector<int> labels;
    for (const int label : x.labels)
      if (holds(kept, label) || holds(other.labels, label)) labels.push_back(label);
    return labels;
  };
  const Labelled left = summed(a, needed(a, b)), right = summed(b, needed(b, a));
  std::vector<int> all = kept;
  for (const int label : left.labels)
    if (!holds(all, label)) all.push_back(label);
  const Ints gone = axes_from(kept.size(), all.size());
  const Value product = aligned(left, all) * aligned(right, all);
  if (gone.empty()) return {product, kept};
  return {product.reduce(sum_of(product.dtype()), gone).drop(gone), kept};
}

}  // namespace api

using api::Access;
using api::Call;
using api::Labelled;
using api::Value;
using schedule::ContractionOrder;
using schedule::LabelExtents;

namespace {

/// Letters are their characters. An axis of `...` that is k places before its end is -1 - k.
struct Equation {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

class EquationParser {
 public:
  EquationParser(std::string_view equation, std::span<const Tensor> operands) : tensors_(operands) {
    for (const char c : equation)
      if (c != ' ') text_ += c;
  }

  Equation parse() {
    const std::size_t arrow = text_.find("->");
    const std::string_view whole = text_;
    std::string_view left = whole.substr(0, arrow);
    Equation out;
    for (std::size_t k = 0;; ++k) {
      const std::size_t comma = left.find(',');
      if (k >= tensors_.size()) fail(fmt::format("it names more than the {} operands", tensors_.size()));
      out.operands.push_back(term(left.substr(0, comma), static_cast<std::int64_t>(tensors_[k].rank()), k));
      if (comma == std::string_view::npos) break;
      left = left.substr(comma + 1);
    }
    if (out.operands.size() != tensors_.size())
      fail(fmt::format("it names {} operands, but {} came", out.operands.size(), tensors_.size()));
    out.result = arrow == std::string_view::npos ? implicit() : explicit_result(whole.substr(arrow + 2));
    return out;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw ArgumentError("einsum", fmt::format("\"{}\": {}", text_, why));
  }

 private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  std::vector<int> term(std::string_view text, std::int64_t rank, std::size_t operand) {
    std::vector<int> labels;
    std::int64_t letters = 0;
    bool dots = false;
    for (const char c : text) letters += is_letter(c) ? 1 : 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (is_letter(text[i])) {
        labels.push_back(text[i]);
        ++count_[text[i]];
      } else if (text.substr(i, 3) == "..." && !dots) {
        dots = true;
        i += 2;
        const std::int64_t hidden = rank - letters;
        for (std::int64_t k = hidden; k-- > 0;) labels.push_back(static_cast<int>(-1 - k));
        hidden_ = std::max(hidden_, hidden);
      } else {
        fail(fmt::format("'{}' at place {} of operand {} is no letter", text[i], i, operand));
      }
    }
    if (static_cast<std::int64_t>(labels.size()) != rank) {
      fail(fmt::format("operand {} has {} axes, but {}{} are named", operand, rank, letters, dots ? " or more" : ""));
    }
    return labels;
  }

  std::vector<int> dots() const {
    std::vector<int> labels;
    for (std::int64_t k = hidden_; k-- > 0;) labels.push_back(static_cast<int>(-1 - k));
    return labels;
  }

  std::vector<int> implicit() const {
    std::vector<int> labels = dots();
    for (const auto& [letter, count] : count_)
      if (count == 1) labels.push_back(letter);
    return labels;
  }

  std::vector<int> explicit_result(std::string_view text) const {
    std::vector<int> labels;
    bool dotted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (is_letter(text[i])) {
        if (!count_.contains(text[i])) fail(fmt::format("no operand has the letter '{}' of the result", text[i]));
        if (api::holds(labels, text[i])) fail(fmt::format("the result names '{}' twice", text[i]));
        labels.push_back(text[i]);
      } else if (text.substr(i, 3) == "..." && !dotted) {
        dotted = true;
        i += 2;
        for (const int label : dots()) labels.push_back(label);
      } else {
        fail(fmt::format("'{}' of the result is no letter", text[i]));
      }
    }
    return labels;
  }

  std::string text_;
  std::span<const Tensor> tensors_;
  std::map<int, int> count_;
  std::int64_t hidden_ = 0;  // the most axes that ... stands for
};

/// Takes the diagonal of axes with one label.
Labelled without_repeats(const Call& call, const Tensor& tensor, std::vector<int> labels, Site site) {
  Tensor x = tensor;
  for (std::size_t a = 0; a < labels.size(); ++a) {
    for (std::size_t b = a + 1; b < labels.size();) {
      if (labels[a] != labels[b]) {
        ++b;
        continue;
      }
      if (x.shape()[a] != x.shape()[b]) {
        throw ArgumentError("einsum",
                            fmt::format("axes of extents {} and {} of {} have one letter; they must be equal",
                                        to_string(x.shape()[a]), to_string(x.shape()[b]), to_string(tensor.shape())));
      }
      x = diagonal(Operand(x, site), 0, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
      // The diagonal becomes the last axis.
      const int label = labels[a];
      labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(b));
      labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(a));
      labels.push_back(label);
      b = a + 1;
    }
  }
  return {Value(call, Access::node(x)), std::move(labels)};
}

/// The order of the pairs, by cost. Sizes without a hint count as 64.
std::vector<ContractionOrder::Step> order_of(const std::vector<Labelled>& operands, const std::vector<int>& result) {
  std::vector<int> all;
  for (const Labelled& x : operands)
    for (const int label : x.labels)
      if (!api::holds(all, label)) all.push_back(label);
  std::vector<LabelExtents> extents;
  for (const Labelled& x : operands) {
    LabelExtents& of = extents.emplace_back(all.size(), 0);
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      const auto label = static_cast<std::size_t>(std::find(all.begin(), all.end(), x.labels[d]) - all.begin());
      of[label] = static_cast<double>(sym::hint(x.value.shape()[d]).value_or(64));
    }
  }
  std::vector<bool> kept;
  kept.reserve(all.size());
  for (const int label : all) kept.push_back(api::holds(result, label));
  return schedule::contraction_order(extents, kept, operands[0].value.dtype(), std::numeric_limits<double>::infinity())
      .steps;
}

void check_extents(const std::vector<Labelled>& operands, const EquationParser& parser) {
  std::map<int, SymInt> extents;
  for (const Labelled& x : operands) {
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      const SymInt n = x.value.shape()[d];
      const auto [at, added] = extents.emplace(x.labels[d], n);
      if (added) continue;
      const auto common = sym::broadcast(at->second, n, "einsum");
      if (!common) {
        const std::string letter = x.labels[d] > 0 ? std::string(1, static_cast<char>(x.labels[d])) : "...";
        parser.fail(fmt::format("'{}' has the extents {} and {}", letter, to_string(at->second), to_string(n)));
      }
      at->second = *common;
    }
  }
}

}  // namespace

Tensor einsum(std::string_view equation, ListOf<Tensor> operands, Site site) {
  const Call call("einsum", site);
  if (operands.empty()) throw ArgumentError("einsum", "no operands came; give at least one");
  EquationParser parser(equation, operands);
  const Equation parsed = parser.parse();
  DType dtype = operands[0].dtype();
  for (const Tensor& t : operands) dtype = promote(dtype, t.dtype());
  std::vector<Labelled> rest;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    Labelled x = without_repeats(call, operands[k], parsed.operands[k], site);
    x.value = x.value.to(api::sums_of(dtype));
    rest.push_back(std::move(x));
  }
  check_extents(rest, parser);
  for (const auto& pair : order_of(rest, parsed.result)) {
    const std::size_t first = pair.first;
    const std::size_t second = pair.second;
    // What the result or another operand still needs is kept.
    std::vector<int> kept;
    const bool last = rest.size() == 2;
    const auto keep = [&](int label) {
      if (api::holds(kept, label)) return;
      bool needed = api::holds(parsed.result, label);
      for (std::size_t k = 0; !needed && k < rest.size(); ++k) {
        if (k == first || k == second) continue;
        needed = api::holds(rest[k].labels, label);
      }
      if (needed) kept.push_back(label);
    };
    if (last) {
      kept = parsed.result;
    } else {
      for (const int label : rest[first].labels) keep(label);
      for (const int label : rest[second].labels) keep(label);
    }
    Labelled product = contract(rest[first], rest[second], kept);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(second));
    rest[first] = std::move(product);
  }
  return summed(rest[0], parsed.result).value.to(dtype).tensor();
}

}  // namespace oriel
