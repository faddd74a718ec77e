#include "formula/position_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/element_types.hpp"
#include "base/fork_lock.hpp"
#include "formula/gathering.hpp"
#include "formula/host_call.hpp"
#include "graph/host_function.hpp"
#include "oriel/error.hpp"
#include "runtime/key.hpp"
#include "runtime/trace.hpp"
#include "sym/decide.hpp"

namespace oriel::api {

namespace {

constexpr std::int64_t kMostRead = 4096;  // elements that a call reads itself: more are left to the work's threads
constexpr int kDeepest = 8;               // operations of an expression
constexpr std::string_view kFromEnd = "end", kFromStart = "start";

template <class T>
constexpr Reach kAll{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
constexpr Reach kAny = kAll<std::int64_t>;  // also of uint64, whose greatest values count as the greatest int64

/// What positions of an axis look like, without its extent.
struct Counting {
  std::size_t axis;
  bool from_end;
  std::int64_t first;
  std::string read;

  std::int64_t least(std::int64_t extent) const { return from_end ? -extent : 0; }
};

/// A position in messages. Larger ones of uint64 are the largest int64 by now.
std::string shown(std::int64_t position, const Counting& c) {
  if (position == kAny.greatest) return fmt::format("{} or more", position);
  return fmt::format("{}", c.first + position);
}

[[noreturn]] void refuse(std::string_view operation, std::int64_t position, std::int64_t extent, const Counting& c) {
  const std::string valid = extent == 0
                                ? "it has none"
                                : fmt::format("valid are {} to {}", c.first + c.least(extent), c.first + (extent - 1));
  throw IndexError(operation, fmt::format("{}{}index {} is out of range for axis {} of size {}; {}", c.read,
                                          c.read.empty() ? "" : ": ", shown(position, c), c.axis, extent, valid));
}

Counting counting(const IndexedAxis& axis) { return {axis.axis, axis.from_end, axis.first, std::string(axis.read)}; }

Reach reach_of(DType dtype) {
  return base::with_element_type(dtype, []<class T>() -> Reach {
    if constexpr (std::same_as<T, bool>) return {0, 1};
    if constexpr (std::integral<T> && !std::same_as<T, std::uint64_t>) return kAll<T>;
    return std::same_as<T, std::uint64_t> ? Reach{0, kAny.greatest} : kAny;
  });
}

bool surely(SymBool condition) { return sym::known(condition).value_or(false); }

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
    if (const auto* number = std::get_if<graph::Scalar>(&node->arg))
      return number->i >= all.least ? Reach{number->i, number->i} : all;
    const SymInt size = std::get<Ints>(node->arg)[0];
    if (node->dtype != DType::int64) return all;
    return {surely(size >= 1) ? 1 : surely(size >= 0) ? 0 : all.least, all.greatest};
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

/// Is the node the number of a symbolic size that is at most `n`?
bool is_at_most(const graph::Node& node, SymInt n) {
  const auto* const size = node.op == Op::Const ? std::get_if<Ints>(&node.arg) : nullptr;
  return size != nullptr && node.dtype == DType::int64 && surely((*size)[0] <= n);
}

/// Is every integer of the node less than `extent`, whatever the sizes are?
bool below(const NodePtr& node, SymInt extent, int depth = 0) {
  const Reach reach = reach_of(node, depth);
  if (reach.greatest < kAny.greatest && surely(extent > reach.greatest)) return true;
  if (depth > kDeepest || node->realized() || !is_integer(node->dtype)) return false;
  if (node->op == Op::Iota) return surely(numel(node->shape) <= extent);
  if (node->op == Op::ArgSort) return surely(node->shape.back() <= extent);
  if (node->op == Op::Const) return is_at_most(*node, extent - 1);
  const graph::Node::Sources sources = node->lazy_sources();
  if (sources.empty()) return false;  // realised meanwhile
  const auto of = [&](std::size_t k) { return below(sources[k], extent, depth + 1); };
  switch (node->op) {
    case Op::Min:
      return of(0) || of(1);
    case Op::Max:
      return of(0) && of(1);
    case Op::Where:
      return of(1) && of(2);
    case Op::Remainder: {
      const Reach divisor = reach_of(sources[1], depth + 1);
      if (divisor.least <= 0) return false;
      return divisor.greatest < kAny.greatest ? surely(extent >= divisor.greatest) : is_at_most(*sources[1], extent);
    }
    case Op::Cast:  // a number >= 0 that wraps becomes smaller
      return is_integer(sources[0]->dtype) && reach_of(sources[0], depth + 1).least >= reach_of(node->dtype).least &&
             of(0);
    case Op::Sort:
    case Op::Copy:
      return of(0);
    default:
      return graph::is_movement(node->op) && surely(extent > 0) && of(0);  // padding and masks are 0
  }
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
  base::with_element_type(index.dtype, [&]<class T>() {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) check<T>(call, index.buffer->data(), n, axis);
  });
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

/// The number that rules make of a node, whatever its conditions and positions are.
std::optional<graph::Scalar> number_of(const NodePtr& node, int depth = 0) {
  if (node->realized() || depth > kDeepest) return {};
  if (node->op == Op::Const) {
    const auto* const number = std::get_if<graph::Scalar>(&node->arg);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }
  const graph::Node::Sources sources = node->lazy_sources();
  if (sources.empty()) return {};  // realised meanwhile
  if (node->op == Op::Gather || graph::is_movement(node->op)) return number_of(sources[0], depth + 1);
  if (node->op != Op::Where) return {};
  const std::optional<graph::Scalar> a = number_of(sources[1], depth + 1), b = number_of(sources[2], depth + 1);
  return a && a == b ? a : std::nullopt;
}

/// The function for one operation and axis.
graph::HostFunctionPtr function_of(std::string_view operation, const Counting& c) {
  static auto& known = *new std::map<std::string, graph::HostFunctionPtr, std::less<>>;
  std::string saved = fmt::format("{}:{}:{}:{}:{}:{}", graph::kPositionCheck, operation, c.axis,
                                  c.from_end ? kFromEnd : kFromStart, c.first, c.read);
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::settings));
  graph::HostFunctionPtr& function = known[saved];
  if (function != nullptr) return function;
  const auto run = [name = std::string(operation), c](const HostCall& h) {
    const auto number = [&](std::size_t k) { return h.operands[k].elements<const std::int64_t>().front(); };
    const std::int64_t least = number(0), greatest = number(1);
    const auto extent =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(number(2)) + static_cast<std::uint64_t>(greatest));
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

bool stays_inside(const NodePtr& index, const IndexedAxis& axis) {
  const std::int64_t least = reach_of(index).least;
  const bool starts_inside = axis.from_end ? least > kAny.least && surely(axis.extent >= -least) : least >= 0;
  return starts_inside && below(index, axis.extent);
}

Bounds checked_now(const Call& call, const NodePtr& index, const IndexedAxis& axis, Bounds bounds) {
  check_integers(call, index->dtype);
  if (bounds == Bounds::zero || surely(numel(index->shape) == 0)) return Bounds::zero;
  if (stays_inside(index, axis)) return Bounds::zero;
  if (axis.extent.is_symbolic()) return bounds;
  const Reach reach = reach_of(index);
  if (reach.least == reach.greatest && reach.least != axis.ignored)
    refuse(call.operation(), reach.least, axis.extent.value(), counting(axis));
  const NodePtr known = elements_of(index);
  if (!readable(*known)) {
    if (axis.extent != 0 || axis.ignored || !surely(numel(index->shape) > 0)) return bounds;
    throw IndexError(call.operation(), fmt::format("positions {} are out of range for axis {} of size 0; it has none",
                                                   to_string(index->shape), axis.axis));
  }
  runtime::check_present(*known);
  check_elements(call, *known, numel(known->shape).value(), axis);
  return Bounds::zero;
}

Bounds checked_for(const Call& call, const Shape& result, const NodePtr& index, const IndexedAxis& axis,
                   Bounds bounds) {
  bounds = checked_now(call, index, axis, bounds);
  if (bounds == Bounds::zero || !surely(numel(result) == 0)) return bounds;
  check_apart(call, position_check(call, index, axis));
  return Bounds::zero;
}

void check_apart(const Call& call, const NodePtr& check) {
  if (runtime::tracing())
    runtime::Trace::add_root(check);
  else
    realize({Access::tensor(check)}, call.origin().site);
}

NodePtr position_check(const Call& call, NodePtr index, const IndexedAxis& axis, NodePtr counts) {
  if (axis.ignored) {
    index = raw_positions(call, Access::tensor(index));
    counts = call.binary(Op::Ne, index, position_number(call, *axis.ignored, *index));
  }
  Ints all(index->shape.size());
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = d;
  // Reduced in the index's own dtype, which may be short. What does not count is as if it were not there.
  const auto end = [&](Op op, std::int64_t none) {
    NodePtr x = counts ? call.where(counts, index, position_number(call, none, *index)) : index;
    if (!all.empty()) x = call.reshape(call.reduce(op, std::move(x), all), {});
    return raw_positions(call, Access::tensor(std::move(x)));
  };
  NodePtr least = end(Op::ReduceMin, kAny.greatest), greatest = end(Op::ReduceMax, kAny.least);
  // The extent as what it has beyond the greatest: a number that arithmetic reads is none that a plan depends on.
  NodePtr beyond = call.binary(Op::Sub, position_number(call, axis.extent, *greatest), greatest);
  return called_on_host(call, function_of(call.operation(), counting(axis)),
                        {std::move(least), std::move(greatest), std::move(beyond)}, {}, DType::bool_);
}

bool is_number(const NodePtr& node) { return number_of(node).has_value(); }

NodePtr after_check(const Call& call, NodePtr value, const NodePtr& check) {
  const NodePtr condition = call.broadcast(check, value->shape);
  const std::optional<graph::Scalar> number = number_of(value);
  const NodePtr other = call.like(value, number && number->is_zero() ? 1 : 0);  // equal ones would need no condition
  return call.where(condition, std::move(value), other);
}

NodePtr checked_number(const Call& call, NodePtr read, const NodePtr& index, const IndexedAxis& axis, Bounds bounds) {
  if (!number_of(read) || checked_now(call, index, axis, bounds) == Bounds::zero) return read;
  return after_check(call, std::move(read), position_check(call, index, axis));
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
  const auto number = [&](auto& out) {
    const std::string_view digits = part();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (part() != graph::kPositionCheck) return nullptr;
  const std::string_view operation = part();
  Counting c{};
  if (operation.empty() || !number(c.axis)) return nullptr;
  const std::string_view from = part();
  c.from_end = from == kFromEnd;
  if ((!c.from_end && from != kFromStart) || !number(c.first)) return nullptr;
  c.read = saved;  // the rest, which may hold anything
  return function_of(operation, c);
}

}  // namespace oriel::api
