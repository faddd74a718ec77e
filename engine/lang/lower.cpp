#include "lang/lower.hpp"

#include <algorithm>
#include <unordered_map>

#include "formula/position_check.hpp"
#include "graph/gather.hpp"
#include "lang/places.hpp"
#include "lang/statement_space.hpp"
#include "lang/uses.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::lang {

using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

/// Lowers one statement to nodes over its loops.
class StatementLowering {
 public:
  StatementLowering(const Program& program, const CheckedStatement& statement, const StatementSpace& space,
                    const std::vector<NodePtr>& tensors, Device device, const graph::Origin& origin, Bounds bounds)
      : d_(program.definition),
        s_(statement),
        space_(space),
        tensors_(tensors),
        device_(device),
        origin_(origin),
        bounds_(bounds) {
    for (std::size_t v = 0; v < s_.variables.size(); ++v) loops_.push_back(space.loop(v).size);
  }

  NodePtr run() {
    NodePtr value = value_as(s_.syntax->right, s_.value_dtype);
    value = reduced(std::move(value));
    if (s_.written != kNoExpr) {
      value = written(std::move(value));
    } else if (s_.updates) {
      NodePtr old = graph::cast(tensors_[static_cast<std::size_t>(s_.target)], s_.value_dtype, origin_);
      const Op combination = graph::row(reduction_of(s_.syntax->assignment)).combination;
      value = graph::binary(combination, std::move(old), std::move(value), origin_);
    }
    return graph::cast(std::move(value), s_.target_dtype, origin_);
  }

 private:
  // Reduces over all loops that are not left indices. float16 is summed in float32.
  NodePtr reduced(NodePtr value) const {
    if (s_.left == loops_.size()) return value;
    if (s_.written != kNoExpr && !reduced_first()) return value;
    Ints axes;
    Shape left;
    for (std::size_t v = 0; v < loops_.size(); ++v) {
      if (v < s_.left) {
        left.push_back(loops_[v]);
      } else {
        axes.push_back(v);
      }
    }
    const Op op = reduction_of(s_.syntax->assignment);
    const DType dtype = value->dtype;
    const bool wide = dtype == DType::float16 && (op == Op::Sum || op == Op::Prod);
    if (wide) value = graph::cast(std::move(value), DType::float32, origin_);
    value = graph::reduce(op, std::move(value), axes, origin_);
    return graph::cast(graph::reshape(std::move(value), left, origin_), dtype, origin_);
  }

  // A scatter combines all values where a loop that it reduces may have none.
  bool reduced_first() const {
    return std::all_of(loops_.begin() + static_cast<std::ptrdiff_t>(s_.left), loops_.end(),
                       [](SymInt size) { return sym::known(size >= 1).value_or(false); });
  }

  NodePtr constant(const Scalar& value) const { return graph::constant(value, loops_, device_, origin_); }

  // A literal takes the dtype of its context, so that 0.1 beside doubles is the double 0.1.
  NodePtr value_as(ExprId id, DType dtype) {
    const Expr& expr = d_[id];
    if (expr.kind == ExprKind::Let) return value_as(expr.args[0], dtype);
    if (expr.kind == ExprKind::Integer && dtype != DType::bool_) return constant(Scalar::of_int(dtype, expr.integer));
    if (expr.kind == ExprKind::Float && is_floating(dtype)) return constant(Scalar::of_float(dtype, expr.number));
    if (expr.kind == ExprKind::Operation && expr.op == Operator::Neg && !is_unsigned(dtype) && dtype != DType::bool_) {
      const ExprKind inner = d_[expr.args[0]].kind;
      if (inner == ExprKind::Float || inner == ExprKind::Integer) {
        if (inner == ExprKind::Integer || is_floating(dtype)) {
          return graph::unary(Op::Neg, value_as(expr.args[0], dtype), origin_);
        }
      }
    }
    return graph::cast(value(id), dtype, origin_);
  }

  NodePtr value(ExprId id) {
    const Expr& expr = d_[id];
    if (expr.kind == ExprKind::Let) return value(expr.args[0]);
    if (const auto found = values_.find(id); found != values_.end()) return found->second;
    NodePtr out = compute(id, expr);
    values_.emplace(id, out);
    return out;
  }

  NodePtr compute(ExprId id, const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Integer:
        return constant(Scalar::of_int(expr.dtype, expr.integer));
      case ExprKind::Float:
        return constant(Scalar::of_float(expr.dtype, expr.number));
      case ExprKind::Size:
        return graph::size_constant(space_.size(static_cast<std::size_t>(expr.id)), DType::int32, loops_, device_,
                                    origin_);
      case ExprKind::Index:
        return graph::cast(position(static_cast<std::size_t>(expr.id)), DType::int32, origin_);
      case ExprKind::Apply:
        return access(id);
      case ExprKind::Select:
        return graph::where(value_as(expr.args[0], DType::bool_), value_as(expr.args[1], expr.dtype),
                            value_as(expr.args[2], expr.dtype), origin_);
      case ExprKind::Cast:
        return value_as(expr.args[0], expr.dtype);
      case ExprKind::Call: {
        std::vector<NodePtr> arguments;
        for (const ExprId argument : expr.args) arguments.push_back(value_as(argument, expr.dtype));
        return call_builtin(static_cast<Builtin>(expr.id), arguments, origin_);
      }
      default:
        return operation(expr);
    }
  }

  // The index of one loop as an int64 node over all loops.
  NodePtr position(std::size_t v) {
    NodePtr out = graph::iota({loops_[v]}, device_, origin_);
    if (const SymInt first = space_.loop(v).lo; !identical(first, 0)) {
      NodePtr lo = graph::size_constant(first, DType::int64, {loops_[v]}, device_, origin_);
      out = graph::binary(Op::Add, std::move(out), std::move(lo), origin_);
    }
    Shape axis(loops_.size(), SymInt(1));
    axis[v] = loops_[v];
    return graph::expand(graph::reshape(std::move(out), axis, origin_), loops_, origin_);
  }

  NodePtr operation(const Expr& expr) {
    const ExprId a = expr.args[0];
    if (expr.op == Operator::Not) return graph::unary(Op::Not, value_as(a, DType::bool_), origin_);
    if (expr.op == Operator::Neg) return graph::unary(Op::Neg, value_as(a, expr.dtype), origin_);
    const ExprId b = expr.args[1];
    if (expr.op == Operator::And || expr.op == Operator::Or) {
      return graph::binary(expr.op == Operator::And ? Op::And : Op::Or, value_as(a, DType::bool_),
                           value_as(b, DType::bool_), origin_);
    }
    if (expr.dtype == DType::bool_ && expr.op != Operator::Min && expr.op != Operator::Max) return comparison(expr);
    NodePtr x = value_as(a, expr.dtype);
    NodePtr y = value_as(b, expr.dtype);
    switch (expr.op) {
      case Operator::Add:
        return graph::binary(Op::Add, std::move(x), std::move(y), origin_);
      case Operator::Sub:
        return graph::binary(Op::Sub, std::move(x), std::move(y), origin_);
      case Operator::Mul:
        return graph::binary(Op::Mul, std::move(x), std::move(y), origin_);
      case Operator::Div:
        return graph::binary(is_floating(expr.dtype) ? Op::Div : Op::FloorDiv, std::move(x), std::move(y), origin_);
      case Operator::Mod:  // Euclidean
        return graph::binary(Op::Remainder, std::move(x), graph::unary(Op::Abs, std::move(y), origin_), origin_);
      case Operator::Min:
        return graph::binary(Op::Min, std::move(x), std::move(y), origin_);
      default:
        return graph::binary(Op::Max, std::move(x), std::move(y), origin_);
    }
  }

  NodePtr comparison(const Expr& expr) {
    const DType dtype = promote_values(d_[expr.args[0]].dtype, d_[expr.args[1]].dtype);
    NodePtr x = value_as(expr.args[0], dtype);
    NodePtr y = value_as(expr.args[1], dtype);
    switch (expr.op) {
      case Operator::Lt:
        return graph::binary(Op::Lt, std::move(x), std::move(y), origin_);
      case Operator::Le:
        return graph::binary(Op::Le, std::move(x), std::move(y), origin_);
      case Operator::Gt:
        return graph::mirrored(graph::binary(Op::Lt, std::move(y), std::move(x), origin_));
      case Operator::Ge:
        return graph::mirrored(graph::binary(Op::Le, std::move(y), std::move(x), origin_));
      case Operator::Eq:
        return graph::binary(Op::Eq, std::move(x), std::move(y), origin_);
      default:
        return graph::binary(Op::Ne, std::move(x), std::move(y), origin_);
    }
  }

  NodePtr access(ExprId id) {
    const NodePtr& tensor = tensors_[static_cast<std::size_t>(d_[id].id)];
    if (std::optional<NodePtr> out = space_.read(id, tensor)) return *out;
    return gather(id, tensor);
  }

  // A gather: the element at the indices. If an index lies outside: an error where bounds are checked, else 0.
  NodePtr gather(ExprId id, const NodePtr& tensor) {
    const api::Call call(origin_.operation, origin_.site);
    Places at = places(call, id);
    NodePtr read = graph::gather_at(tensor, at.coordinates, std::move(at.inside), origin_);
    return after_checks(call, std::move(read), at.checks);
  }

  // The value, over the loops that are left of it, at its positions.
  NodePtr written(NodePtr value) {
    const api::Call call(origin_.operation, origin_.site);
    const auto target = static_cast<std::size_t>(s_.target);
    const Places at = places(call, s_.written);
    Shape shape;
    for (std::size_t d = 0; d < at.coordinates.size(); ++d) shape.push_back(space_.axis(target, d).size);
    if (sym::known(numel(shape) == 0).value_or(false))
      for (const NodePtr& check : at.checks) api::check_apart(call, check);
    NodePtr old;
    if (s_.updates) old = graph::cast(tensors_[target], s_.value_dtype, origin_);
    return write_at(call, s_.syntax->assignment, at, std::move(value), shape, std::move(old));
  }

  Places places(const api::Call& call, ExprId id) {
    const Expr& expr = d_[id];
    const auto number = [&](SymInt n) { return graph::size_constant(n, DType::int64, loops_, device_, origin_); };
    Places at;
    for (std::size_t d = 0; d < expr.args.size(); ++d) {
      const StatementSpace::Axis axis = space_.axis(static_cast<std::size_t>(expr.id), d);
      NodePtr index = value_as(expr.args[d], DType::int64);
      NodePtr moved = identical(axis.lo, 0) ? index : graph::binary(Op::Sub, index, number(axis.lo), origin_);
      at.coordinates.push_back(moved);
      if (space_.proved(id, d)) continue;
      NodePtr ok = graph::binary(Op::And, graph::binary(Op::Le, number(0), moved, origin_),
                                 graph::binary(Op::Lt, moved, number(axis.size), origin_), origin_);
      if (const NodePtr check = checked(call, id, d, moved, ok, axis)) {
        ok = graph::binary(Op::And, ok, graph::broadcast_to(check, loops_, origin_), origin_);
        at.checks.push_back(check);
      }
      at.inside = at.inside ? graph::binary(Op::And, at.inside, ok, origin_) : ok;
    }
    return at;
  }

  /// The check of one index, which counts from 0: null if there is none. `ok`: is it inside?
  NodePtr checked(const api::Call& call, ExprId id, std::size_t dimension, const NodePtr& index, const NodePtr& ok,
                  StatementSpace::Axis axis) {
    const std::string read = text(d_, id);
    const api::IndexedAxis indexed{.extent = axis.size,
                                   .axis = dimension,
                                   .from_end = false,
                                   .first = axis.lo.is_symbolic() ? 0 : axis.lo.value(),
                                   .read = read};
    if (bounds_ == Bounds::zero || api::stays_inside(index, indexed)) return nullptr;
    NodePtr bad;  // true where some use of the access takes the value
    LoopOrder loops(d_, loops_.size());
    loops.see(d_[id].args[dimension]);
    for (const AccessUse& use : s_.accesses) {
      if (use.expr != id || use.exists) continue;
      NodePtr here = graph::unary(Op::Not, ok, origin_);
      for (const Guard& guard : use.guards) {
        loops.see(guard.condition);
        NodePtr condition = value_as(guard.condition, DType::bool_);
        if (!guard.taken) condition = graph::unary(Op::Not, std::move(condition), origin_);
        here = graph::binary(Op::And, std::move(here), std::move(condition), origin_);
      }
      bad = bad ? graph::binary(Op::Or, bad, here, origin_) : here;
    }
    if (!bad) return nullptr;
    Ranges once = api::whole(loops_);  // along the loops on which neither the index nor a conditional depends
    for (std::size_t v = 0; v < loops_.size(); ++v)
      if (loops.place(v) < 0 && sym::known(loops_[v] >= 1).value_or(false)) once[v] = {0, 1};
    return api::position_check(call, call.shrink(index, once), indexed, call.shrink(std::move(bad), once));
  }

  const Definition& d_;
  const CheckedStatement& s_;
  const StatementSpace& space_;
  const std::vector<NodePtr>& tensors_;
  Device device_;
  const graph::Origin& origin_;
  Bounds bounds_;
  Shape loops_;
  std::unordered_map<ExprId, NodePtr> values_;
};

}  // namespace

Lowered lower(const Program& program, const Inference& inference, std::span<const NodePtr> arguments, Device device,
              const graph::Origin& origin, Bounds bounds, SizeValues* values) {
  Lowered out;
  std::vector<NodePtr> tensors(program.tensors.size());
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (program.tensors[k].input()) tensors[k] = arguments[static_cast<std::size_t>(program.tensors[k].parameter)];
  }
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const CheckedStatement& statement = program.statements[s];
    NodePtr& target = tensors[static_cast<std::size_t>(statement.target)];
    const graph::Origin here{origin.operation, program.site(statement, origin.site)};
    const StatementSpace space(program, inference, s, values, here);
    target = StatementLowering(program, statement, space, tensors, device, here, bounds).run();
  }
  for (const std::int32_t id : program.results) {
    NodePtr& result = tensors[static_cast<std::size_t>(id)];
    if (result->layout_class != graph::LayoutClass::RowMajor) {
      result = graph::format(std::move(result), MemoryFormat::contiguous, origin);
    }
    out.results.push_back(result);
  }
  return out;
}

}  // namespace oriel::lang
