#include "api/position_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "api/gathering.hpp"
#include "api/host_call.hpp"
#include "base/fork_lock.hpp"
#include "graph/position_check.hpp"
#include "oriel/error.hpp"
#include "runtime/key.hpp"
#include "sym/decide.hpp"

namespace oriel::api {

namespace {

constexpr std::int64_t kMostRead = 4096;  // elements that a call reads itself: more are left to the work's threads
constexpr int kDeepest = 8;               // operations of an expression
constexpr std::string_view kFromEnd = "end", kFromStart = "start";

/// What positions of an axis look like, without its extent.
struct Counting {
  std::size_t axis;
  bool from_end;

  std::int64_t least(std::int64_t extent) const { return from_end ? -extent : 0; }
};

[[noreturn]] void refuse(std::string_view operation, std::int64_t position, std::int64_t extent, const Counting& c) {
  const std::string valid =
      extent == 0 ? "it has none" : fmt::format("valid are {} to {}", c.least(extent), extent - 1);
  throw IndexError(operation,
                   fmt::format("index {} is out of range for axis {} of size {}; {}", position, c.axis, extent, valid));
}

Counting counting(const IndexedAxis& axis) { return {axis.axis, axis.from_end}; }

template <class T>
constexpr Reach kAll{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
constexpr Reach kAny = kAll<std::int64_t>;  // also of uint64, whose greatest values count as the greatest int64

Reach reach_of(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return {0, 1};
    case DType::int8:
      return kAll<std::int8_t>;
    case DType::uint8:
      return kAll<std::uint8_t>;
    case DType::int16:
      return kAll<std::int16_t>;
    case DType::uint16:
      return kAll<std::uint16_t>;
    case DType::int32:
      return kAll<std::int32_t>;
    case DType::uint32:
      return kAll<std::uint32_t>;
    case DType::uint64:
      return {0, kAny.greatest};
    default:
      return kAny;
  }
}

Reach joined(Reach a, Reach b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }

Reach reach_of(const NodePtr& node, int depth);

/// Of what is computed from the sources, before it is narrowed to the dtype.
Reach computed(const graph::Node& node, const graph::Node::Sources& sources, int depth) {
  const auto of = [&](std::size_t k) { return reach_of(sources[k], depth + 1); };
  const auto exact = [](bool overflows, Reach r) { return overflows ? kAny : r; };
  switch (node.op) {
    case Op::Min: {
      const Reach a = of(0), b = of(1);
      return {std::min(a.least, b.least), std::min(a.greatest, b.greatest)};
    }
    case Op::Max: {
      const Reach a = of(0), b = of(1);
      return {std::max(a.least, b.least), std::max(a.greatest, b.greatest)};
    }
    case Op::Where:
      return joined(of(1), of(2));
    case Op::Remainder: {
      const Reach divisor = of(1);
      return divisor.least > 0 ? Reach{0, divisor.greatest - 1} : kAny;
    }
    case Op::Add: {
      const Reach a = of(0), b = of(1);
      Reach r{};
      const bool low = __builtin_add_overflow(a.least, b.least, &r.least);
      const bool high = __builtin_add_overflow(a.greatest, b.greatest, &r.greatest);
      return exact(low || high, r);
    }
    case Op::Sub: {
      const Reach a = of(0), b = of(1);
      Reach r{};
      const bool low = __builtin_sub_overflow(a.least, b.greatest, &r.least);
      const bool high = __builtin_sub_overflow(a.greatest, b.least, &r.greatest);
      return exact(low || high, r);
    }
    case Op::ArgSort: {
      const SymInt n = node.shape.back();
      return n.is_symbolic() ? Reach{0, kAny.greatest} : Reach{0, std::max<std::int64_t>(n.value() - 1, 0)};
    }
    case Op::Cast:
    case Op::Sort:
    case Op::Copy:
      return is_floating(sources[0]->dtype) ? kAny : of(0);
    default:
      if (!graph::is_movement(node.op)) return kAny;
      return joined(of(0), {0, 0});  // padding and masks are 0
  }
}

Reach reach_of(const NodePtr& node, int depth) {
  const Reach all = reach_of(node->dtype);
  if (depth > kDeepest || !is_integer(node->dtype)) return all;
  if (node->realized()) return all;
  if (node->op == Op::Const) {
    const auto* number = std::get_if<graph::Scalar>(&node->arg);
    return number != nullptr && number->i >= all.least ? Reach{number->i, number->i} : all;
  }
  if (node->op == Op::Iota) {
    const SymInt n = numel(node->shape);
    return n.is_symbolic() ? Reach{0, all.greatest} : Reach{0, std::max<std::int64_t>(n.value() - 1, 0)};
  }
  const graph::Node::Sources sources = node->lazy_sources();
  if (sources.empty()) return all;  // realised meanwhile
  const Reach found = computed(*node, sources, depth);
  return found.least >= all.least && found.greatest <= all.greatest ? found : all;  // else it wraps
}

/// The first of these that is no position; null if all are.
template <class T>
const T* first_outside(const T* x, std::int64_t n, const IndexedAxis& axis) {
  const std::int64_t extent = axis.extent.value(), least = counting(axis).least(extent);
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::min();
  for (std::int64_t i = 0; i < n; ++i) {  // in vector instructions
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  if (std::cmp_greater_equal(low, least) && std::cmp_less(high, extent)) return nullptr;
  const T* const found = std::find_if(x, x + n, [&](T p) {
    return (std::cmp_less(p, least) || std::cmp_greater_equal(p, extent)) &&
           !(axis.ignored && std::cmp_equal(p, *axis.ignored));
  });
  return found == x + n ? nullptr : found;
}

template <class T>
void check(const Call& call, const void* data, std::int64_t n, const IndexedAxis& axis) {
  const T* const bad = first_outside(static_cast<const T*>(data), n, axis);
  if (bad == nullptr) return;
  const bool large = std::cmp_greater(*bad, kAny.greatest);
  refuse(call.operation(), large ? kAny.greatest : static_cast<std::int64_t>(*bad), axis.extent.value(),
         counting(axis));
}

void check_elements(const Call& call, const graph::Node& index, std::int64_t n, const IndexedAxis& axis) {
  const void* const data = index.buffer->data();
  switch (index.dtype) {
    case DType::int8:
      return check<std::int8_t>(call, data, n, axis);
    case DType::uint8:
      return check<std::uint8_t>(call, data, n, axis);
    case DType::int16:
      return check<std::int16_t>(call, data, n, axis);
    case DType::uint16:
      return check<std::uint16_t>(call, data, n, axis);
    case DType::int32:
      return check<std::int32_t>(call, data, n, axis);
    case DType::uint32:
      return check<std::uint32_t>(call, data, n, axis);
    case DType::uint64:
      return check<std::uint64_t>(call, data, n, axis);
    default:
      return check<std::int64_t>(call, data, n, axis);
  }
}

/// The node whose elements those of `node` are, in another order or repeated.
NodePtr elements_of(NodePtr node) {
  while (!node->realized() && graph::is_movement(node->op)) {
    const graph::Elements kept = graph::row(node->op).elements;
    if (kept != graph::Elements::Renamed && kept != graph::Elements::Repeated) break;
    graph::Node::Sources sources = node->lazy_sources();
    if (sources.empty()) break;  // realised meanwhile
    node = std::move(sources[0]);
  }
  return node;
}

/// May a call read these elements at once? Then they are in memory of the host.
bool readable(const graph::Node& index) {
  if (!index.realized() || runtime::is_placeholder(*index.buffer)) return false;
  if (index.buffer->allocator() != nullptr && !index.buffer->allocator()->on_host()) return false;
  const SymInt n = numel(index.shape);
  return !n.is_symbolic() && n.value() <= kMostRead;
}

/// The function for one operation and axis.
graph::HostFunctionPtr function_of(std::string_view operation, const Counting& c) {
  static auto& known = *new std::map<std::string, graph::HostFunctionPtr, std::less<>>;
  std::string saved =
      fmt::format("{}:{}:{}:{}", graph::kPositionCheck, operation, c.axis, c.from_end ? kFromEnd : kFromStart);
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::settings));
  graph::HostFunctionPtr& function = known[saved];
  if (function != nullptr) return function;
  const auto run = [name = std::string(operation), c](const HostCall& h) {
    const auto number = [&](std::size_t k) { return h.operands[k].elements<const std::int64_t>().front(); };
    const std::int64_t least = number(0), greatest = number(1), extent = number(2);
    h.result.elements<std::uint8_t>().front() = 1;
    if (least > greatest) return;  // of no elements
    if (least < c.least(extent)) refuse(name, least, extent, c);
    if (greatest >= extent) refuse(name, greatest, extent, c);
  };
  return function = std::make_shared<graph::HostFunction>(std::string(graph::kPositionCheck), run,
                                                          HostOptions{.nanoseconds = 10}, saved);
}

}  // namespace

Reach reach_of(const NodePtr& node) { return reach_of(node, 0); }

void check_integers(const Call& call, DType dtype) {
  if (is_integer(dtype)) return;
  throw DTypeError(call.operation(), fmt::format("positions are integers, not {}", name(dtype)));
}

Bounds checked_now(const Call& call, const NodePtr& index, const IndexedAxis& axis, Bounds bounds) {
  check_integers(call, index->dtype);
  if (bounds == Bounds::zero || sym::known(numel(index->shape) == 0).value_or(false)) return Bounds::zero;
  // A call of the host would be planned for each set of sizes, where one plan serves them all.
  if (axis.extent.is_symbolic() || numel(index->shape).is_symbolic()) return Bounds::zero;
  const Reach reach = reach_of(index);
  const std::int64_t extent = axis.extent.value();
  if (reach.least >= counting(axis).least(extent) && reach.greatest < extent) return Bounds::zero;
  if (reach.least == reach.greatest && reach.least != axis.ignored)
    refuse(call.operation(), reach.least, extent, counting(axis));
  const NodePtr known = elements_of(index);
  if (!readable(*known)) return bounds;
  runtime::check_present(*known);
  check_elements(call, *known, numel(known->shape).value(), axis);
  return Bounds::zero;
}

NodePtr position_check(const Call& call, NodePtr index, const IndexedAxis& axis) {
  if (axis.ignored) {
    index = raw_positions(call, Access::tensor(index));
    const NodePtr none = position_number(call, 0, *index);
    const NodePtr skipped = call.binary(Op::Eq, index, position_number(call, *axis.ignored, *index));
    index = call.where(skipped, none, index);
  }
  Ints all(index->shape.size());
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = d;
  const auto end = [&](Op op) {  // reduced in the index's own dtype, which may be short
    NodePtr x = all.empty() ? index : call.reshape(call.reduce(op, index, all), {});
    return raw_positions(call, Access::tensor(std::move(x)));
  };
  NodePtr least = end(Op::ReduceMin), greatest = end(Op::ReduceMax);
  NodePtr extent = position_number(call, axis.extent, *least);
  return called_on_host(call, function_of(call.operation(), counting(axis)),
                        {std::move(least), std::move(greatest), std::move(extent)}, {}, DType::bool_);
}

NodePtr and_checked(const Call& call, NodePtr condition, const NodePtr& index, const IndexedAxis& axis, Bounds bounds) {
  if (bounds == Bounds::zero) return condition;
  const Shape shape = condition->shape;
  return call.binary(Op::And, std::move(condition), call.broadcast(position_check(call, index, axis), shape));
}

graph::HostFunctionPtr position_check_function(std::string_view saved) {
  const auto part = [&] {
    const std::size_t end = std::min(saved.find(':'), saved.size());
    const std::string_view out = saved.substr(0, end);
    saved.remove_prefix(std::min(end + 1, saved.size()));
    return out;
  };
  if (part() != graph::kPositionCheck) return nullptr;
  const std::string_view operation = part(), digits = part(), from = part();
  Counting c{0, from == kFromEnd};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), c.axis);
  if (error != std::errc() || end != digits.data() + digits.size() || operation.empty()) return nullptr;
  return c.from_end || from == kFromStart ? function_of(operation, c) : nullptr;
}

}  // namespace oriel::api
