#include "schedule/rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "graph/build.hpp"
#include "graph/fold.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "schedule/factored_sums.hpp"
#include "view/stacks/index_maps.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;
using graph::Scalar;
using Result = std::optional<EntryId>;

namespace {

bool is_value(const Arena& a, EntryId id, double value) {
  const Entry& e = a[id];
  if (!e.is_const() || e.parameter >= 0) return false;
  const Scalar& s = e.scalar();
  return s.as_double() == value && !(value == 0 && std::signbit(s.as_double()));
}
bool is_negative_zero(const Arena& a, EntryId id) {
  const Entry& e = a[id];
  return e.is_const() && e.parameter < 0 && is_floating(e.dtype) && e.scalar().f == 0 && std::signbit(e.scalar().f);
}
bool floating(const Entry& e) { return is_floating(e.dtype); }

// For commutative ops: the other operand, if one operand is a constant of this value.
Result beside(const Arena& a, const Entry& e, double value) {
  if (is_value(a, e.source[1], value)) return e.source[0];
  if (is_value(a, e.source[0], value)) return e.source[1];
  return std::nullopt;
}

// The bits of a function of floats depend on the instruction set that runs the kernel, so they are not known here.
Result fold_constants(Arena& a, const Entry& e) {
  std::array<Scalar, 3> values;
  for (int k = 0; k < e.arity; ++k) {
    const Entry& s = a[e.source[k]];
    if (!s.is_const() || s.parameter >= 0) return std::nullopt;
    values[static_cast<std::size_t>(k)] = s.scalar();
  }
  if (graph::row(e.op).functor == ops::FunctorKind::Function && is_floating(values[0].dtype)) return std::nullopt;
  return a.make_const(graph::evaluate(e.op, e.dtype, std::span(values.data(), e.arity)), e.shape());
}

Result add_zero(Arena& a, const Entry& e) {
  if (!floating(e)) return beside(a, e, 0);
  // x + 0 turns -0 into 0; x + -0 is x.
  if (is_negative_zero(a, e.source[1])) return e.source[0];
  if (is_negative_zero(a, e.source[0])) return e.source[1];
  return std::nullopt;
}
// x op n, for the number n that changes nothing.
template <int kNumber>
Result right_is(Arena& a, const Entry& e) {
  return is_value(a, e.source[1], kNumber) ? Result(e.source[0]) : std::nullopt;
}
template <int kNumber>
Result either_is(Arena& a, const Entry& e) {
  return beside(a, e, kNumber);
}
Result zero(Arena& a, const Entry& e) { return a.make_const(Scalar::of_int(e.dtype, 0), e.shape()); }
Result sub_self(Arena& a, const Entry& e) {
  return floating(e) || e.source[0] != e.source[1] ? std::nullopt : zero(a, e);  // inf - inf is NaN
}
Result mul_zero(Arena& a, const Entry& e) {
  return floating(e) || !beside(a, e, 0) ? std::nullopt : zero(a, e);  // NaN * 0 is NaN
}
Result integer_div_one(Arena& a, const Entry& e) { return floating(e) ? std::nullopt : right_is<1>(a, e); }
Result pow_two(Arena& a, const Entry& e) {
  // The product is correctly rounded, which is what pow aims at.
  if (!is_value(a, e.source[1], 2)) return std::nullopt;
  return a.make(Op::Mul, e.dtype, e.shape(), {}, std::array{e.source[0], e.source[0]});
}
Result same_operands(Arena&, const Entry& e) { return e.source[0] == e.source[1] ? Result(e.source[0]) : std::nullopt; }
Result involution(Arena& a, const Entry& e) {
  const Entry& s = a[e.source[0]];
  return s.op == e.op ? Result(s.source[0]) : std::nullopt;
}
Result idempotent(Arena& a, const Entry& e) { return a[e.source[0]].op == e.op ? Result(e.source[0]) : std::nullopt; }
Result integer_rounding(Arena&, const Entry& e) { return floating(e) ? std::nullopt : Result(e.source[0]); }
Result and_true(Arena& a, const Entry& e) { return e.dtype == DType::bool_ ? beside(a, e, 1) : std::nullopt; }
Result where_constant(Arena& a, const Entry& e) {
  if (is_value(a, e.source[0], 1)) return e.source[1];
  if (is_value(a, e.source[0], 0)) return e.source[2];
  return std::nullopt;
}
Result where_same(Arena&, const Entry& e) { return e.source[1] == e.source[2] ? Result(e.source[1]) : std::nullopt; }
Result where_not(Arena& a, const Entry& e) {
  const Entry& c = a[e.source[0]];
  if (c.op != Op::Not) return std::nullopt;
  return a.make(Op::Where, e.dtype, e.shape(), {}, std::array{c.source[0], e.source[2], e.source[1]});
}

bool holds_every(DType wide, DType narrow) {  // every value of `narrow` survives a trip through `wide`
  if (wide == narrow || narrow == DType::bool_) return true;
  if (is_integer(narrow) && is_integer(wide)) {
    const bool un = is_unsigned(narrow), uw = is_unsigned(wide);
    return un == uw ? itemsize(wide) >= itemsize(narrow) : (un && itemsize(wide) > itemsize(narrow));
  }
  if (is_floating(narrow) && is_floating(wide)) return itemsize(wide) > itemsize(narrow);
  if (is_integer(narrow) && wide == DType::float64) return itemsize(narrow) <= 4;
  if (is_integer(narrow) && wide == DType::float32) return itemsize(narrow) <= 2;
  return false;
}
Result cast_same(Arena& a, const Entry& e) {
  return a[e.source[0]].dtype == e.dtype ? Result(e.source[0]) : std::nullopt;
}
Result cast_back(Arena& a, const Entry& e) {
  const Entry& s = a[e.source[0]];
  if (s.op != Op::Cast) return std::nullopt;
  const EntryId origin = s.source[0];
  return a[origin].dtype == e.dtype && holds_every(s.dtype, e.dtype) ? Result(origin) : std::nullopt;
}

// A Mark with a number keeps what is computed from it apart from what is computed from its source.
Result mark_nothing(Arena&, const Entry& e) {
  return std::holds_alternative<graph::TagPtr>(e.node->arg) ? Result(e.source[0]) : std::nullopt;
}

// A movement that reads each element where it lies.
Result moves_nothing(Arena& a, const Entry& e) {
  const Shape& from = a[e.source[0]].shape();
  const auto map = graph::movement(e.op).map;
  if (!graph::known_same(from, e.shape())) return std::nullopt;
  if (map != nullptr && !is_identity(map(from, graph::move_of(*e.node)), from)) return std::nullopt;
  return e.source[0];
}
// Two movements that read axis by axis: the source, if they cancel out, or one movement, if they are of one op and it
// has an argument for both. What is padded and then cut off again is not read, but a pad of what was cut reads zeros.
Result two_movements(Arena& a, const Entry& e) try {
  const Entry& s = a[e.source[0]];
  if (!graph::is_axis_movement(s.op)) return std::nullopt;
  const EntryId base = s.source[0];
  const Shape& from = a[base].shape();
  if (graph::keeps_positions(e.op)) {
    if (e.op != s.op) return std::nullopt;
    return a.make(e.op, e.dtype, e.shape(), {}, std::array{base});
  }
  if (graph::keeps_positions(s.op)) return std::nullopt;
  // Index maps are made only for pairs that may become one: most pairs are of two ops and give another shape.
  if (e.op != s.op && !graph::known_same(from, e.shape())) return std::nullopt;
  const graph::IndexMap inner = graph::movement(s.op).map(from, graph::move_of(*s.node));
  const graph::IndexMap outer = graph::movement(e.op).map(s.shape(), graph::move_of(*e.node));
  if (outer.pads && !inner.pads) return std::nullopt;
  const graph::IndexMap both = graph::composed(outer, inner);
  const auto inside = [](const graph::AxisRead& read) { return identical(read.start, 0); };
  if (!outer.pads && is_identity(both, from) && (!inner.pads || std::ranges::all_of(both.axes, inside))) return base;
  if (e.op != s.op) return std::nullopt;
  std::optional<graph::Arg> argument = graph::argument_of(e.op, from, both);
  if (!argument) return std::nullopt;
  return a.make(e.op, e.dtype, e.shape(), *std::move(argument), std::array{base});
} catch (const OverflowError&) {  // steps of steps beyond 2^63
  return std::nullopt;
}

// Each kernel that reads a value walks all movements above the value, one by one. In a long chain every sixteen
// movements become the views that they merge to, so kernels that read the chain at different heights walk less.
Result long_chain(Arena& a, const Entry& e) {
  constexpr std::size_t kMovements = 16;
  constexpr std::size_t kMostViews = 4;
  if (e.movements % kMovements != 0) return std::nullopt;
  std::array<const graph::Node*, kMovements> movements{e.node};
  EntryId base = e.source[0];
  for (std::size_t k = 1; k < kMovements; ++k) {
    movements[k] = a[base].node;
    base = a[base].source[0];
  }
  if (numel(a[base].shape()) == 0) return std::nullopt;
  ShapeTracker map(a[base].shape());
  for (std::size_t k = kMovements; k-- > 0;) map = graph::moved(map, *movements[k]);
  map = map.simplify();
  if (detail::view_count(map) > kMostViews) return std::nullopt;
  for (std::shared_ptr<const View>& view : detail::raw_views(map)) {
    const Shape& shape = view->shape;
    base = a.make(Op::RawView, e.dtype, shape, std::move(view), std::array{base});
  }
  return base;
}

Result copy_copy(Arena& a, const Entry& e) {
  const Entry& s = a[e.source[0]];
  if (s.op != Op::Copy) return std::nullopt;
  const EntryId origin = s.source[0];
  return a.device(origin) == *e.device ? origin : a.make_copy(origin, *e.device);
}
// A copy transfers every element of its source's memory. So a movement that keeps all of them is applied after the
// copy, where it costs nothing.
Result copy_movement(Arena& a, const Entry& e) {
  const Entry s = a[e.source[0]];
  if (!graph::is_movement(s.op) || s.op == Op::Format || numel(a[s.source[0]].shape()) > numel(s.shape()))
    return std::nullopt;
  const EntryId source = a.make_copy(s.source[0], *e.device);
  return a.make(s.op, s.dtype, s.shape(), s.node->arg, std::array{source});
}

// Within an op, tried from the top, after folding and before what holds for all movements.
constexpr Rule kRules[] = {
    {"x+0 -> x", Op::Add, add_zero},
    {"x-0 -> x", Op::Sub, right_is<0>},
    {"x-x -> 0 (integers)", Op::Sub, sub_self},
    {"x*1 -> x", Op::Mul, either_is<1>},
    {"x*0 -> 0 (integers)", Op::Mul, mul_zero},
    {"x/1 -> x", Op::Div, right_is<1>},
    {"x//1 -> x (integers)", Op::FloorDiv, integer_div_one},
    {"x//1 -> x (integers)", Op::TruncDiv, integer_div_one},
    {"x^1 -> x", Op::Pow, right_is<1>},
    {"x^2 -> x*x", Op::Pow, pow_two},
    {"min(x,x) -> x", Op::Min, same_operands},
    {"max(x,x) -> x", Op::Max, same_operands},
    {"x&x -> x", Op::And, same_operands},
    {"x&0 -> 0", Op::And, mul_zero},
    {"x&true -> x", Op::And, and_true},
    {"x|x -> x", Op::Or, same_operands},
    {"x|0 -> x", Op::Or, either_is<0>},
    {"x^^0 -> x", Op::Xor, either_is<0>},
    {"x^^x -> 0", Op::Xor, sub_self},
    {"x<<0 -> x", Op::Shl, right_is<0>},
    {"x>>0 -> x", Op::Shr, right_is<0>},
    {"-(-x) -> x", Op::Neg, involution},
    {"~~x -> x", Op::Not, involution},
    {"abs(abs(x)) -> abs(x)", Op::Abs, idempotent},
    {"floor(integer) -> integer", Op::Floor, integer_rounding},
    {"ceil(integer) -> integer", Op::Ceil, integer_rounding},
    {"round(integer) -> integer", Op::Round, integer_rounding},
    {"trunc(integer) -> integer", Op::Trunc, integer_rounding},
    {"where(constant) -> side", Op::Where, where_constant},
    {"where(c,x,x) -> x", Op::Where, where_same},
    {"where(!c,x,y) -> where(c,y,x)", Op::Where, where_not},
    {"cast(x) -> x", Op::Cast, cast_same},
    {"cast back -> x", Op::Cast, cast_back},
    {kFactoredSum, Op::Sum, factor_sum},
    {"mark(x) -> x", Op::Mark, mark_nothing},
    {"copy(copy) -> copy", Op::Copy, copy_copy},
    {"copy(movement) -> movement(copy)", Op::Copy, copy_movement},
};

// All rules, those of one op beside each other.
struct Groups {
  std::array<Rule, std::size(kRules) + 3 * graph::kOpCount> all{};
  std::size_t count = 0;
  std::array<std::pair<std::size_t, std::size_t>, graph::kOpCount> of{};
  constexpr Groups() {
    for (const graph::OpRow& row : graph::kOpTable) {
      const std::size_t first = count;
      // Not comparisons: one of constants is beside a check of positions, and "x&0 -> 0" would leave out the check.
      const bool folds = !ops::gives_bool(row.op) &&
                         (row.functor != ops::FunctorKind::Function || row.rule != ops::DTypeRule::Floating);
      if (row.op_class == ops::OpClass::Elementwise && folds) all[count++] = {"fold", row.op, fold_constants};
      for (const Rule& rule : kRules)
        if (rule.op == row.op) all[count++] = rule;
      if (graph::is_movement(row.op) && row.op != Op::Format) {
        if (graph::is_axis_movement(row.op)) {
          all[count++] = {"movement(same) -> x", row.op, moves_nothing};
          all[count++] = {"movement(movement) -> movement", row.op, two_movements};
        }
        all[count++] = {"16 movements -> views", row.op, long_chain};
      }
      of[static_cast<std::size_t>(row.op)] = {first, count - first};
    }
  }
};
constexpr Groups kGroups;

}  // namespace

std::span<const Rule> rules() { return {kGroups.all.data(), kGroups.count}; }

std::span<const Rule> rules_for(Op op) {
  const auto [first, count] = kGroups.of[static_cast<std::size_t>(op)];
  return {kGroups.all.data() + first, count};
}

}  // namespace oriel::schedule
