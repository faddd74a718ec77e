// Builds trees from expressions, and from trees with some variables fixed.
#include <algorithm>
#include <limits>
#include <optional>

#include "lang/index/index.hpp"

namespace oriel::lang {
namespace {

using detail::Int;

constexpr std::size_t kMaxNodes = 4096;

/// Appends nodes and folds linear and constant expressions.
class Builder {
 public:
  explicit Builder(IndexTree& tree) : tree_(tree) {}

  std::int32_t linear(Linear value) {
    IndexNode node;
    node.linear = std::move(value);
    return push(std::move(node));
  }
  std::int32_t constant(std::int64_t value) {
    Linear linear_value;
    linear_value.constant = value;
    return linear(std::move(linear_value));
  }
  std::int32_t read(Interval range) {
    IndexNode node;
    node.kind = IndexKind::Read;
    node.range = range;
    tree_.reads = true;
    return push(std::move(node));
  }

  const Linear* as_linear(std::int32_t id) const {
    const IndexNode& node = tree_.at(id);
    return node.kind == IndexKind::Linear ? &node.linear : nullptr;
  }
  std::optional<std::int64_t> as_constant(std::int32_t id) const {
    const Linear* value = as_linear(id);
    if (value == nullptr || !value->terms.empty()) return {};
    return value->constant;
  }

  std::int32_t sum(std::int32_t a, std::int32_t b, std::int64_t factor) {
    if (as_linear(a) != nullptr && as_linear(b) != nullptr) return linear(add(*as_linear(a), *as_linear(b), factor));
    if (factor != 1) b = product(b, constant(factor));
    return make(IndexKind::Add, a, b);
  }

  std::int32_t product(std::int32_t a, std::int32_t b) {
    if (const auto x = as_constant(a); x && as_linear(b) != nullptr) return linear(scale(*as_linear(b), *x));
    if (const auto x = as_constant(b); x && as_linear(a) != nullptr) return linear(scale(*as_linear(a), *x));
    return make(IndexKind::Mul, a, b);
  }

  std::int32_t binary(IndexKind kind, std::int32_t a, std::int32_t b) {
    if (kind == IndexKind::Add) return sum(a, b, 1);
    if (kind == IndexKind::Mul) return product(a, b);
    const auto x = as_constant(a);
    const auto y = as_constant(b);
    if (kind == IndexKind::Div && y == 1) return a;
    if (x && y && !((kind == IndexKind::Div || kind == IndexKind::Mod) && *y == 0)) {
      switch (kind) {
        case IndexKind::Div:
          return constant((Int(*x) / Int(*y)).value());
        case IndexKind::Mod:
          return constant(euclid(*x, *y));
        case IndexKind::Min:
          return constant(std::min(*x, *y));
        case IndexKind::Max:
          return constant(std::max(*x, *y));
        case IndexKind::Less:
          return constant(*x < *y ? 1 : 0);
        case IndexKind::Equal:
          return constant(*x == *y ? 1 : 0);
        case IndexKind::And:
          return constant(*x != 0 && *y != 0 ? 1 : 0);
        default:
          return constant(*x != 0 || *y != 0 ? 1 : 0);
      }
    }
    return make(kind, a, b);
  }

  std::int32_t negation(std::int32_t a) {
    if (const auto x = as_constant(a)) return constant(*x == 0 ? 1 : 0);
    return make(IndexKind::Not, a, -1);
  }

  std::int32_t select(std::int32_t condition, std::int32_t a, std::int32_t b) {
    if (const auto c = as_constant(condition)) return *c != 0 ? a : b;
    IndexNode node;
    node.kind = IndexKind::Select;
    node.condition = condition;
    node.left = a;
    node.right = b;
    return push(std::move(node));
  }

  /// Makes the node the last one, which is the root.
  void finish(std::int32_t root) {
    if (root == tree_.root()) return;
    IndexNode copy = tree_.at(root);
    tree_.nodes.push_back(std::move(copy));
  }

 private:
  std::int32_t make(IndexKind kind, std::int32_t a, std::int32_t b) {
    IndexNode node;
    node.kind = kind;
    node.left = a;
    node.right = b;
    return push(std::move(node));
  }
  std::int32_t push(IndexNode node) {
    tree_.nodes.push_back(std::move(node));
    return tree_.root();
  }

  IndexTree& tree_;
};

Interval range_of(DType dtype) {
  const auto bits = static_cast<int>(8 * itemsize(dtype));
  if (dtype == DType::bool_) return {0, 1};
  if (is_unsigned(dtype)) {
    return {0, bits == 64 ? Interval::kHighest : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1)};
  }
  if (bits == 64) return Interval::all();
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return {-half, half - 1};
}

class Translator {
 public:
  Translator(const Program& program, std::span<const std::int64_t> sizes, IndexTree& tree)
      : p_(program), sizes_(sizes), tree_(tree), b_(tree) {}

  std::int32_t run(ExprId id) {
    const Expr& expr = p_.definition[id];
    if (tree_.nodes.size() > kMaxNodes || ++steps_ > kMaxNodes) {
      fail(p_.source(), ErrorKind::Parse, expr.span, "the index expression is too long");
    }
    if (is_floating(expr.dtype)) return b_.read(Interval::all());
    switch (expr.kind) {
      case ExprKind::Integer:
        return b_.constant(expr.integer);
      case ExprKind::Size:
        return b_.constant(sizes_[static_cast<std::size_t>(expr.id)]);
      case ExprKind::Index: {
        Linear value;
        value.terms.emplace_back(expr.id, 1);
        return b_.linear(std::move(value));
      }
      case ExprKind::Let:
        return run(expr.args[0]);
      case ExprKind::Select: {
        const std::int32_t condition = truth(expr.args[0]);
        const std::int32_t yes = run(expr.args[1]);
        return b_.select(condition, yes, run(expr.args[2]));
      }
      case ExprKind::Cast:
        return cast(expr);
      case ExprKind::Operation:
        return operation(expr);
      default:
        return b_.read(range_of(expr.dtype));
    }
  }

 private:
  std::int32_t truth(ExprId id) {
    if (p_.definition[id].dtype == DType::bool_) return run(id);
    const std::int32_t value = run(id);
    return b_.negation(b_.binary(IndexKind::Equal, value, b_.constant(0)));
  }

  std::int32_t cast(const Expr& expr) {
    const DType from = p_.definition[expr.args[0]].dtype;
    if (is_floating(from)) return b_.read(range_of(expr.dtype));
    if (expr.dtype == DType::bool_) return truth(expr.args[0]);
    const std::int32_t value = run(expr.args[0]);
    if (itemsize(expr.dtype) >= 4 && !is_unsigned(expr.dtype)) return value;  // indices are far smaller than 32 bits
    if (itemsize(expr.dtype) == 8) return value;
    const Interval range = range_of(expr.dtype);
    const std::int64_t period = range.hi - range.lo + 1;
    const std::int32_t moved = b_.sum(value, b_.constant(-range.lo), 1);
    return b_.sum(b_.binary(IndexKind::Mod, moved, b_.constant(period)), b_.constant(range.lo), 1);
  }

  std::int32_t operation(const Expr& expr) {
    const bool logical = expr.op == Operator::And || expr.op == Operator::Or || expr.op == Operator::Not;
    if (expr.op == Operator::Not) return b_.negation(truth(expr.args[0]));
    if (expr.op == Operator::Neg) return b_.product(run(expr.args[0]), b_.constant(-1));
    for (const ExprId argument : expr.args) {
      if (is_floating(p_.definition[argument].dtype)) return b_.read({0, 1});  // a comparison of floats
    }
    const std::int32_t x = logical ? truth(expr.args[0]) : run(expr.args[0]);
    const std::int32_t y = logical ? truth(expr.args[1]) : run(expr.args[1]);
    switch (expr.op) {
      case Operator::Add:
        return b_.sum(x, y, 1);
      case Operator::Sub:
        return b_.sum(x, y, -1);
      case Operator::Mul:
        return b_.product(x, y);
      case Operator::Div:
      case Operator::Mod:
        if (b_.as_constant(y) == 0) {
          fail(p_.source(), ErrorKind::Overflow, expr.span, "an index expression divides by zero");
        }
        return b_.binary(expr.op == Operator::Div ? IndexKind::Div : IndexKind::Mod, x, y);
      case Operator::Min:
        return b_.binary(IndexKind::Min, x, y);
      case Operator::Max:
        return b_.binary(IndexKind::Max, x, y);
      case Operator::Lt:
        return b_.binary(IndexKind::Less, x, y);
      case Operator::Gt:
        return b_.binary(IndexKind::Less, y, x);
      case Operator::Le:
        return b_.negation(b_.binary(IndexKind::Less, y, x));
      case Operator::Ge:
        return b_.negation(b_.binary(IndexKind::Less, x, y));
      case Operator::Eq:
        return b_.binary(IndexKind::Equal, x, y);
      case Operator::Ne:
        return b_.negation(b_.binary(IndexKind::Equal, x, y));
      case Operator::And:
        return b_.binary(IndexKind::And, x, y);
      default:
        return b_.binary(IndexKind::Or, x, y);
    }
  }

  const Program& p_;
  std::span<const std::int64_t> sizes_;
  IndexTree& tree_;
  Builder b_;
  std::size_t steps_ = 0;
};

}  // namespace

IndexTree index_tree(const Program& program, ExprId expression, std::span<const std::int64_t> sizes) {
  IndexTree tree;
  Translator translator(program, sizes, tree);
  const std::int32_t root = translator.run(expression);
  Builder(tree).finish(root);
  return tree;
}

std::int64_t size_value(const Program& program, ExprId expression, std::span<const std::int64_t> sizes) {
  return index_tree(program, expression, sizes).evaluate({});
}

IndexTree IndexTree::substitute(std::span<const Interval> box) const {
  IndexTree out;
  Builder b(out);
  std::vector<std::int32_t> place(nodes.size(), -1);
  const auto moved = [&](std::int32_t id) { return id < 0 ? -1 : place[static_cast<std::size_t>(id)]; };
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const IndexNode& node = nodes[k];
    if (node.kind == IndexKind::Linear) {
      Linear value;
      value.constant = node.linear.constant;
      for (const auto& [variable, coefficient] : node.linear.terms) {
        const Interval range = box[static_cast<std::size_t>(variable)];
        if (range.bounded() && range.hi - range.lo == 1) {
          value.constant = (Int(value.constant) + Int(coefficient) * range.lo).value();
        } else {
          value.terms.emplace_back(variable, coefficient);
        }
      }
      place[k] = b.linear(std::move(value));
    } else if (node.kind == IndexKind::Read) {
      place[k] = b.read(node.range);
    } else if (node.kind == IndexKind::Select) {
      place[k] = b.select(moved(node.condition), moved(node.left), moved(node.right));
    } else if (node.kind == IndexKind::Not) {
      place[k] = b.negation(moved(node.left));
    } else {
      place[k] = b.binary(node.kind, moved(node.left), moved(node.right));
    }
  }
  b.finish(place.back());
  return out;
}

}  // namespace oriel::lang
