// Movements and reductions by einops' patterns. Alex Rogozhnikov, "Einops: Clear and Reliable Tensor Manipulations with
// Einstein-like Notation", ICLR 2022.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "base/parts.hpp"
#include "functions/contraction.hpp"
#include "oriel/error.hpp"
#include "oriel/products.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Value;

namespace {

/// The axes of one side, by labels: a group for each axis of the tensor.
using AxisGroups = std::vector<std::vector<int>>;

/// A pattern that fits a shape: every label is one elementary axis.
struct Pattern {
  Shape elementary;       // the left, without groups
  std::vector<int> left;  // its labels
  AxisGroups right;
  std::vector<SymInt> extents;  // by label

  std::vector<int> right_labels() const {
    std::vector<int> labels;
    for (const auto& group : right) labels.insert(labels.end(), group.begin(), group.end());
    return labels;
  }
  /// The extents of groups of labels.
  Shape joined(const AxisGroups& groups) const {
    Shape shape;
    for (const auto& group : groups) {
      SymInt extent = 1;
      for (const int label : group) extent *= extents[static_cast<std::size_t>(label)];
      shape.push_back(extent);
    }
    return shape;
  }
};

class PatternReader {
 public:
  PatternReader(const Call& call, std::string_view text, const Shape& shape, std::span<const NamedSize> sizes)
      : call_(call), text_(text), shape_(shape) {
    const std::size_t arrow = text.find("->");
    if (arrow == std::string_view::npos) fail("it has no \"->\" between the axes of x and those of the result");
    for (const NamedSize& given : sizes) {
      if (!sym::state_size(given.size) && given.size < 0)
        fail(fmt::format("{} is {}; sizes are >= 0", given.name, to_string(given.size)));
      known(label_of(given.name), given.size);
    }
    const std::size_t named = names_.size();
    AxisGroups left = side(text.substr(0, arrow), true);
    check_once(left, "left");
    match(left);
    for (const auto& group : left)
      for (const int label : group) pattern_.left.push_back(label);
    pattern_.right = side(text.substr(arrow + 2), false);
    check_once(pattern_.right, "right");
    const std::vector<int> right = pattern_.right_labels();
    for (std::size_t k = 0; k < named; ++k) {
      if (!api::holds(pattern_.left, static_cast<int>(k)) && !api::holds(right, static_cast<int>(k)))
        fail(fmt::format("it does not name {}, for which a size is given", names_[k]));
    }
    for (const int label : right) {
      if (!extents_[index(label)])
        fail(fmt::format("{} stands on the right alone; give its size", names_[index(label)]));
    }
    for (const auto& extent : extents_) pattern_.extents.push_back(extent.value_or(1));
    for (const int label : pattern_.left) pattern_.elementary.push_back(pattern_.extents[index(label)]);
  }

  Pattern pattern() && { return std::move(pattern_); }
  /// Throws if one side has labels that the other lacks.
  void need_all(bool of_left) const {
    const std::vector<int> right = pattern_.right_labels();
    for (const int label : of_left ? pattern_.left : right) {
      if (api::holds(of_left ? right : pattern_.left, label)) continue;
      fail(fmt::format("{} stands on the {} alone; {}", names_[index(label)], of_left ? "left" : "right",
                       of_left ? "reduce says how its elements are combined" : "repeat repeats elements"));
    }
  }

 private:
  static std::size_t index(int label) { return static_cast<std::size_t>(label); }
  [[noreturn]] void fail(const std::string& why) const {
    throw ArgumentError(call_.operation(), fmt::format("\"{}\": {}", text_, why));
  }

  /// Numbers are axes of their own. Axes of `...` have names that no program writes.
  int label_of(std::string_view name) {
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end()) return static_cast<int>(at - names_.begin());
    return add(std::string(name));
  }
  int add(std::string name, std::optional<SymInt> extent = {}) {
    names_.push_back(std::move(name));
    extents_.push_back(extent);
    return static_cast<int>(names_.size()) - 1;
  }
  void known(int label, SymInt extent) {
    std::optional<SymInt>& have = extents_[index(label)];
    if (have && *have != extent) {
      fail(fmt::format("{} has the extents {} and {}", names_[index(label)], to_string(*have), to_string(extent)));
    }
    have = extent;
  }

  AxisGroups side(std::string_view text, bool left) {
    AxisGroups groups;
    bool inside = false, dotted = false;
    const auto put = [&](int label) {
      if (!inside) groups.emplace_back();
      groups.back().push_back(label);
    };
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == ' ') {
        ++i;
      } else if (c == '(' || c == ')') {
        if (inside == (c == '(')) fail("parentheses do not match; a group holds names alone");
        inside = !inside;
        if (inside) groups.emplace_back();
        ++i;
      } else if (text.substr(i, 3) == "...") {
        if (dotted || (left && inside)) fail("\"...\" stands once, and on the left outside of parentheses");
        dotted = true;
        if (left) {
          dots_at_ = groups.size();
        } else {
          for (const int label : dots_) put(label);
        }
        i += 3;
      } else if (is_name(c)) {
        std::size_t end = i;
        while (end < text.size() && is_name(text[end])) ++end;
        const std::string_view name = text.substr(i, end - i);
        if (std::isdigit(static_cast<unsigned char>(c)) == 0)
          put(label_of(name));
        else if (const std::int64_t number = read_number(name); number != 1)
          put(add(std::string(name), SymInt(number)));
        else if (!inside)
          groups.emplace_back();
        i = end;
      } else {
        fail(fmt::format("'{}' is no part of a name", c));
      }
    }
    if (inside) fail("parentheses do not match; a group holds names alone");
    if (!left && !dotted && !dots_.empty()) fail("\"...\" stands on the left alone");
    return groups;
  }
  static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  std::int64_t read_number(std::string_view digits) const {
    std::int64_t number = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9' || number > 1'000'000'000) fail(fmt::format("{} is no name and no extent", digits));
      number = 10 * number + (c - '0');
    }
    return number;
  }

  void check_once(const AxisGroups& groups, const char* where) const {
    std::vector<int> seen;
    for (const auto& group : groups) {
      for (const int label : group) {
        if (api::holds(seen, label)) fail(fmt::format("{} stands twice on the {}", names_[index(label)], where));
        seen.push_back(label);
      }
    }
  }

  /// Finds the extents of the left in the shape.
  void match(AxisGroups& left) {
    const std::size_t rank = shape_.size(), count = left.size();
    if (dots_at_ ? rank < count : rank != count) {
      fail(fmt::format("it names {}{} axes of {}, which has {}", count, dots_at_ ? " or more" : "", to_string(shape_),
                       rank));
    }
    if (dots_at_) {
      for (std::size_t k = 0; k < rank - count; ++k) {
        dots_.push_back(add("...", shape_[*dots_at_ + k]));
        left.insert(left.begin() + static_cast<std::ptrdiff_t>(*dots_at_ + k), std::vector<int>{dots_.back()});
      }
    }
    for (std::size_t d = 0; d < rank; ++d) match_group(left[d], shape_[d], d);
  }

  void match_group(const std::vector<int>& group, SymInt extent, std::size_t axis) {
    std::optional<int> open;
    SymInt product = 1;
    for (const int label : group) {
      const std::optional<SymInt>& have = extents_[index(label)];
      if (have) {
        product *= *have;
      } else if (open) {
        fail(fmt::format("neither {} nor {} has a size; give one of them", names_[index(*open)], names_[index(label)]));
      } else {
        open = label;
      }
    }
    const bool fits = open ? bool(product != 0) && bool(extent % product == 0) : bool(product == extent);
    if (!fits) {
      fail(fmt::format("axis {} of {} has extent {}, which is no{} {}", axis, to_string(shape_), to_string(extent),
                       open ? " multiple of" : "t", to_string(product)));
    }
    if (open) known(*open, extent / product);
  }

  const Call& call_;
  std::string_view text_;
  const Shape& shape_;
  std::vector<std::string> names_;
  std::vector<std::optional<SymInt>> extents_;  // by label
  std::optional<std::size_t> dots_at_;
  std::vector<int> dots_;
  Pattern pattern_;
};

/// The axes of `from` in the order in which `to` names them.
Ints order_of(const std::vector<int>& from, const std::vector<int>& to) {
  Ints order;
  for (const int label : to) order.push_back(std::find(from.begin(), from.end(), label) - from.begin());
  return order;
}

}  // namespace

Tensor rearrange(const Operand& x, std::string_view pattern, ListOf<NamedSize> sizes) {
  base::need<base::kFurther>("rearrange");
  const Call call("rearrange", x);
  PatternReader reader(call, pattern, call.node(x)->shape, sizes);
  reader.need_all(true);
  reader.need_all(false);
  const Pattern p = std::move(reader).pattern();
  return call.view(x, [=](NodePtr node) {
    node = call.permute(call.reshape(std::move(node), p.elementary), order_of(p.left, p.right_labels()));
    return call.reshape(std::move(node), p.joined(p.right));
  });
}

Tensor reduce(const Operand& x, std::string_view pattern, Combine how, ListOf<NamedSize> sizes) {
  base::need<base::kFurther>("reduce");
  const Call call("reduce", x);
  const Value source(call, call.node(x));
  PatternReader reader(call, pattern, source.shape(), sizes);
  reader.need_all(false);
  const Pattern p = std::move(reader).pattern();
  const std::vector<int> right = p.right_labels();
  Ints gone;
  std::vector<int> kept;
  for (std::size_t d = 0; d < p.left.size(); ++d) {
    if (api::holds(right, p.left[d]))
      kept.push_back(p.left[d]);
    else
      gone.push_back(d);
  }
  const Tensor apart = source.reshape(p.elementary).tensor();
  const Operand operand(apart, Access::site(x));
  const Axes axes(gone);
  const Tensor reduced = how == Combine::sum    ? sum(operand, axes)
                         : how == Combine::mean ? mean(operand, axes)
                         : how == Combine::prod ? prod(operand, axes)
                         : how == Combine::amax ? max(operand, axes)
                                                : min(operand, axes);
  return Value(call, Access::node(reduced)).permute(order_of(kept, right)).reshape(p.joined(p.right)).tensor();
}

Tensor repeat(const Operand& x, const detail::PatternText& pattern, ListOf<NamedSize> sizes) {
  base::need<base::kFurther>("repeat");
  const Call call("repeat", x);
  const Value source(call, call.node(x));
  PatternReader reader(call, pattern.text, source.shape(), sizes);
  reader.need_all(true);
  const Pattern p = std::move(reader).pattern();
  // New axes stand in place with extent 1, and are then expanded.
  std::vector<int> old;
  Shape narrow, wide;
  for (const int label : p.right_labels()) {
    const SymInt extent = p.extents[static_cast<std::size_t>(label)];
    const bool is_new = !api::holds(p.left, label);
    if (!is_new) old.push_back(label);
    narrow.push_back(is_new ? SymInt(1) : extent);
    wide.push_back(extent);
  }
  return source.reshape(p.elementary)
      .permute(order_of(p.left, old))
      .reshape(narrow)
      .broadcast(wide)
      .reshape(p.joined(p.right))
      .tensor();
}

}  // namespace oriel
