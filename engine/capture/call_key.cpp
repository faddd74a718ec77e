#include "capture/call_key.hpp"

#include <fmt/format.h>
#include <bit>

#include "base/context.hpp"
#include "capture/symbols.hpp"
#include "formula/call.hpp"
#include "graph/layout.hpp"
#include "graph/make.hpp"
#include "graph/movements.hpp"
#include "graph/sizes.hpp"
#include "oriel/error.hpp"
#include "oriel/settings.hpp"
#include "runtime/executor.hpp"
#include "runtime/key.hpp"
#include "runtime/trace.hpp"
#include "schedule/rule_switches.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::CapturedNames;
using detail::Cell;
using detail::packed;
using detail::unpacked;
using graph::LayoutClass;
using graph::Node;
using graph::Takes;
using Kind = FactName::Kind;

namespace {

/// Gathers only the values of the facts.
struct Values {
  static constexpr bool kBuilds = false;
  CallKey& key;
  void operator()(std::int64_t value, Kind /*kind*/, const char* /*what*/, std::size_t /*tensor*/,
                  std::int64_t /*index*/ = -1) {
    key.push_back(value);
  }
  void operator()(const Ints& ints, Kind kind, const char* what, std::size_t tensor) {
    for (const SymInt n : ints) (*this)(n.value(), kind, what, tensor);
  }
};

/// Gathers only the names of the facts. `what` contains a place for an index if there is one.
struct Names {
  static constexpr bool kBuilds = false;
  std::vector<FactName>& out;
  const CapturedNames& names;
  void operator()(std::int64_t /*value*/, Kind kind, const char* what, std::size_t tensor, std::int64_t index = -1) {
    std::string subject = tensor < names.tensors.size() ? names.tensors[tensor] : std::string();
    subject += what;
    if (index >= 0) subject += fmt::format("({})", index);
    out.push_back({kind, std::move(subject), tensor, static_cast<std::size_t>(index)});
  }
  void operator()(const Ints& ints, Kind kind, const char* what, std::size_t tensor) {
    for (std::size_t d = 0; d < ints.size(); ++d)
      (*this)(ints[d].value(), kind, what, tensor, static_cast<std::int64_t>(d));
  }
};

constexpr auto kNone = static_cast<std::size_t>(-1);

bool cuts(const Range& range, SymInt extent) { return range.lo != 0 || range.hi != extent; }

/// Rebuilds the movements with the symbols of their facts.
struct SymbolicViews {
  static constexpr bool kBuilds = true;
  const SizeSymbols& symbols;
  std::size_t next;                // the number of the next fact
  graph::NodePtr below = nullptr;  // what the next movement moves
  Ints got = {};                   // the sizes of the movement, in the order of its facts
  std::span<const graph::NodePtr> storages = {};
  std::vector<std::vector<graph::NodePtr>> made = {};  // for each tensor

  void begin(std::size_t storage) {
    below = storages[storage];
    made.emplace_back();
  }
  void operator()(std::int64_t value, Kind kind, const char* /*what*/, std::size_t /*tensor*/,
                  std::int64_t /*index*/ = -1) {
    if (kind == Kind::extent || kind == Kind::place) got.push_back(symbols.size(next, value));
    ++next;
  }
  void operator()(const Ints& ints, Kind /*kind*/, const char* /*what*/, std::size_t /*tensor*/) {
    next += ints.size();
  }

  void movement(const Node& like, const Shape& source) {
    Shape shape = below->shape;
    graph::Arg arg = like.arg;
    std::size_t k = 0;
    switch (graph::row(like.op).takes) {
      case Takes::Order:
      case Takes::Axes:
      case Takes::Numbers:
        shape = graph::movement(like.op).map(below->shape, graph::move_of(like)).shape;
        break;
      case Takes::Extents:
        for (std::size_t d = 0; d < shape.size(); ++d)
          if (source[d] == 1) shape[d] = got[k++];
        break;
      case Takes::Slices: {
        Ranges ranges = *std::get<std::shared_ptr<const Ranges>>(like.arg);
        for (std::size_t d = 0; d < shape.size(); ++d) {
          if (!cuts(ranges[d], source[d])) {
            ranges[d] = {0, shape[d]};
            continue;
          }
          ranges[d] = {got[k], got[k] + got[k + 1]};
          shape[d] = got[k + 1];
          k += 2;
        }
        arg = std::make_shared<const Ranges>(std::move(ranges));
        break;
      }
      case Takes::Target:
        shape = got;
        same_elements(below->shape, source, shape, like.shape);
        break;
      default:
        shape = like.shape;
    }
    below = graph::movement_like(like, std::move(below), shape, std::move(arg));
    made.back().push_back(below);
    got.clear();
  }

  /// Guards that both shapes have the same number of elements, group by group: (s0, 4) seen as (s1) states s1 == 4*s0.
  void same_elements(const Shape& a, const Shape& a_now, const Shape& b, const Shape& b_now) const {
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      SymInt x = 1, y = 1;
      std::int64_t x_now = 1, y_now = 1;
      const auto take = [](const Shape& shape, const Shape& now, std::size_t& at, SymInt& n, std::int64_t& n_now) {
        n = n * shape[at];
        n_now *= now[at++].value();
      };
      if (i < a.size()) take(a, a_now, i, x, x_now);
      while (x_now != y_now) {
        if (x_now < y_now ? i < a.size() : j == b.size())
          take(a, a_now, i, x, x_now);
        else
          take(b, b_now, j, y, y_now);
      }
      if (i == a.size())  // what is left are extents of 1
        while (j < b.size()) take(b, b_now, j, y, y_now);
      if (x.is_symbolic() || y.is_symbolic()) symbols.env().guard(x == y, Site::unknown());
    }
  }
};

/// Adds the facts of a movement of a tensor of shape `below`: its op, sizes, argument and strides. What follows from
/// `below` and these is no fact.
template <class Sink>
void say_movement(const Node& n, const Shape& below, std::size_t tensor, Sink& sink) {
  const auto say = [&](std::int64_t value) { sink(value, Kind::opaque, "'s movements", tensor); };
  const auto say_all = [&](const Ints& ints) {
    say(static_cast<std::int64_t>(ints.size()));
    for (const SymInt i : ints) say(i.value());
  };
  const auto say_ranges = [&](const Ranges& ranges) {
    say(static_cast<std::int64_t>(ranges.size()));
    for (const Range& range : ranges) {
      say(range.lo.value());
      say(range.hi.value());
    }
  };
  say(static_cast<std::int64_t>(n.op));
  switch (graph::row(n.op).takes) {
    case Takes::Order:
    case Takes::Axes:
    case Takes::Numbers:
      say_all(std::get<Ints>(n.arg));
      break;
    case Takes::Extents:
      for (std::size_t d = 0; d < below.size(); ++d)
        if (below[d] == 1) sink(n.shape[d].value(), Kind::extent, ".expand", tensor, static_cast<std::int64_t>(d));
      break;
    case Takes::Slices: {
      const Ranges& ranges = *std::get<std::shared_ptr<const Ranges>>(n.arg);
      for (std::size_t d = 0; d < below.size(); ++d) {
        const bool cut = cuts(ranges[d], below[d]);
        say(cut ? 1 : 0);
        if (!cut) continue;
        sink(ranges[d].lo.value(), Kind::place, ".slice.start", tensor, static_cast<std::int64_t>(d));
        sink(n.shape[d].value(), Kind::extent, ".slice.size", tensor, static_cast<std::int64_t>(d));
      }
      break;
    }
    case Takes::Target:
      say(static_cast<std::int64_t>(n.shape.size()));
      for (std::size_t d = 0; d < n.shape.size(); ++d)
        sink(n.shape[d].value(), Kind::extent, ".reshape", tensor, static_cast<std::int64_t>(d));
      break;
    default:
      say_all(n.shape);
      if (const auto* ints = std::get_if<Ints>(&n.arg)) {
        say_all(*ints);
      } else if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&n.arg)) {
        say_ranges(**ranges);
      } else if (const auto* view = std::get_if<std::shared_ptr<const View>>(&n.arg)) {
        say_all((*view)->strides);
        say((*view)->offset.value());
        say_ranges((*view)->mask);
      }
  }
  say(n.axis_strides ? 1 : 0);
  if (n.axis_strides) {
    for (const graph::AxisStride& axis : *n.axis_strides) {
      say(axis.constant.value());
      say(static_cast<std::int64_t>(axis.terms.size()));
      for (const graph::AxisStride::Term& term : axis.terms) {
        say(static_cast<std::int64_t>(term.axis));
        say(term.factor.value());
      }
    }
  }
  if constexpr (Sink::kBuilds) sink.movement(n, below);
}

Movements movements_of(detail::ViewCell& view, const graph::NodePtr& storage) {
  Movements out;
  if (find_movements(view.node(), storage.get(), out)) return out;
  // Apply the movements again to a placeholder, whose memory nobody reads.
  out.clear();
  const std::int64_t bytes = numel(storage->shape).value() * static_cast<std::int64_t>(itemsize(storage->dtype));
  const graph::NodePtr stand_in =
      graph::realized_node(graph::realized_kind(*storage), runtime::memoryless(storage->device, bytes));
  if (!find_movements(view.over(stand_in), stand_in.get(), out))
    throw InternalError("function", "a view does not lead to its storage");
  return out;
}

/// Adds the facts of a storage that is met for the first time. `is_view`: the tensor is a view of it.
template <class Sink>
void say_storage(const Node& n, std::size_t tensor, bool is_view, Sink& sink) {
  sink(static_cast<std::int64_t>(n.dtype), Kind::dtype, ".dtype", tensor);
  sink(static_cast<std::int64_t>(n.shape.size()), Kind::integer, is_view ? ".base.rank" : ".rank", tensor);
  sink(packed(n.device), Kind::device, ".device", tensor);
  const bool may_vary = n.layout_class == LayoutClass::RowMajor;
  sink(n.shape, may_vary ? Kind::size : Kind::integer, is_view ? ".base.size" : ".size", tensor);
  const char* const order_name = is_view ? ".base" : "";
  if (n.layout_class == LayoutClass::RowMajor) return sink(0, Kind::order, order_name, tensor);
  const Ints* memory = graph::memory_strides(n);
  const int order = (n.layout_class == LayoutClass::Ordered ? 1 : 2) + (memory != nullptr ? 2 : 0);
  sink(order, Kind::order, order_name, tensor);
  sink(n.found->layout.strides, Kind::integer, is_view ? ".base.stride" : ".stride", tensor);
  if (memory != nullptr) sink(*memory, Kind::integer, ".memory_stride", tensor);
}

template <class Sink>
void say_setting(const CapturedArguments& arguments, Sink& sink) {
  base::ContextState& context = base::current_context_state();
  sink(reinterpret_cast<std::intptr_t>(arguments.signature), Kind::opaque, "the argument types", kNone);
  sink(packed(base::default_device(context)), Kind::device, "default_device()", kNone);
  sink(static_cast<std::int64_t>(schedule::rules_version(context_of(arguments))), Kind::opaque,
       "the rules that are switched on", kNone);
  sink(static_cast<std::int64_t>(base::default_bounds(context)), Kind::integer, "default_bounds()", kNone);
}

template <class Sink>
void say_tensor(std::size_t k, Cell& cell, std::int64_t storage, bool first, const graph::NodePtr& node, Sink& sink) {
  sink(storage, Kind::storage, "", k);
  if (first) {
    runtime::check_present(*node);
    say_storage(*node, k, cell.view_cell() != nullptr, sink);
  }
  detail::ViewCell* const view = cell.view_cell();
  if (view == nullptr) return sink(0, Kind::integer, ".movements", k);
  const Movements movements = movements_of(*view, node);
  sink(static_cast<std::int64_t>(movements.size()), Kind::integer, ".movements", k);
  const Shape* below = &node->shape;
  for (std::size_t m = movements.size(); m-- > 0; below = &movements[m]->shape)
    say_movement(*movements[m], *below, k, sink);
}

template <class Sink>
void say_tensors(const CapturedArguments& arguments, const CapturedInputs& inputs, Sink& sink) {
  std::int64_t storages = 0;
  for (std::size_t k = 0; k < arguments.tensors.size(); ++k) {
    const std::int64_t storage = inputs.storage_of[k];
    const bool first = storage == storages;
    storages += first;
    if constexpr (Sink::kBuilds) sink.begin(static_cast<std::size_t>(storage));
    say_tensor(k, Access::cell(*arguments.tensors[k]), storage, first,
               inputs.storages[static_cast<std::size_t>(storage)].node, sink);
  }
}

/// Is the storage met for the first time?
bool meet(Cell& cell, CapturedInputs& inputs) {
  Cell* const storage = cell.storage();
  std::size_t i = 0;
  while (i < inputs.storages.size() && inputs.storages[i].cell != storage) ++i;
  inputs.storage_of.push_back(static_cast<std::int64_t>(i));
  if (i < inputs.storages.size()) return false;
  inputs.storages.push_back({storage, storage->node()});
  return true;
}

void realize_pending(const CapturedInputs& inputs) {
  std::vector<graph::NodePtr> pending;
  for (const CapturedInputs::Storage& s : inputs.storages)
    if (!s.node->realized()) pending.push_back(s.node);
  runtime::realize(pending);
}

}  // namespace

bool find_movements(graph::NodePtr node, const Node* storage, Movements& out) {
  while (node.get() != storage) {
    const Node::Sources sources = node->lazy_sources();
    if (sources.size() != 1) return false;
    out.push_back(std::move(node));
    node = sources[0];
  }
  return true;
}

std::uint16_t context_of(const CapturedArguments& arguments) {
  return arguments.tensors.empty() ? base::current_context_state().number()
                                   : Access::cell(*arguments.tensors.front()).device().context;
}

void gather(const CapturedArguments& arguments, CapturedInputs& inputs, CallKey& key) {
  Values sink{key};
  say_setting(arguments, sink);
  for (const std::int64_t value : arguments.values) key.push_back(value);
  bool pending = false;
  for (const Tensor* tensor : arguments.tensors)
    if (meet(Access::cell(*tensor), inputs)) pending = pending || !inputs.storages.back().node->realized();
  if (pending) realize_pending(inputs);
  say_tensors(arguments, inputs, sink);
}

std::vector<FactName> name_facts(const CapturedArguments& arguments, const CapturedInputs& inputs,
                                 const CapturedNames& names) {
  std::vector<FactName> out;
  Names sink{out, names};
  say_setting(arguments, sink);
  for (const CapturedNames::Value& value : names.values)
    out.push_back({value.floating ? Kind::floating : Kind::integer, value.name});
  say_tensors(arguments, inputs, sink);
  return out;
}

std::vector<std::vector<graph::NodePtr>> symbolic_views(const CapturedArguments& arguments,
                                                        const CapturedInputs& inputs, const SizeSymbols& symbols,
                                                        std::span<const graph::NodePtr> storages) {
  CallKey before;
  Values count{before};
  say_setting(arguments, count);
  SymbolicViews sink{.symbols = symbols, .next = before.size() + arguments.values.size(), .storages = storages};
  say_tensors(arguments, inputs, sink);
  return std::move(sink.made);
}

std::string FactName::text(std::int64_t value) const {
  switch (kind) {
    case Kind::opaque:
      return "another one";
    case Kind::integer:
    case Kind::size:
    case Kind::extent:
    case Kind::place:
      return fmt::format("{}", value);
    case Kind::floating:
      return fmt::format("{}", std::bit_cast<double>(value));
    case Kind::dtype:
      return std::string(name(static_cast<DType>(value)));
    case Kind::device:
      return unpacked(value).str();
    case Kind::storage:
      return fmt::format("storage {}", value);
    case Kind::order:
      return value == 0                 ? "row-major"
             : value == 1 || value == 3 ? "in row-major order, with gaps or with zero or negative strides"
                                        : "in another order";
  }
  return {};
}

std::string FactName::guard(std::int64_t value) const {
  if (kind == Kind::opaque) return subject + " as they were traced";
  if (kind == Kind::storage) return subject + " in " + text(value);
  if (kind == Kind::order) return subject + " is " + text(value);
  return subject + " == " + text(value);
}

std::vector<std::string> describe_inputs(const CapturedArguments& arguments, const CapturedInputs& inputs,
                                         const CapturedNames& names,
                                         const std::function<const Shape*(std::size_t storage)>& symbolic) {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < arguments.tensors.size(); ++k) {
    const Tensor& x = *arguments.tensors[k];
    const bool is_view = Access::cell(x).view_cell() != nullptr;
    const Shape* const shape = symbolic(k);
    std::string line = fmt::format("{}: {} {} on {}", names.tensors[k], name(x.dtype()),
                                   to_string(shape != nullptr ? *shape : x.shape()), x.device().str());
    if (const Layout layout = x.layout(); layout.strides != contiguous_strides(layout.shape))
      line += fmt::format(", strides {}", to_string(layout.strides));
    if (is_view) line += ", a view";
    for (std::size_t j = 0; j < k; ++j) {
      if (inputs.storage_of[j] != inputs.storage_of[k]) continue;
      line += ", of the storage of " + names.tensors[j];
      break;
    }
    lines.push_back(std::move(line));
  }
  for (std::size_t k = 0; k < names.numbers.size(); ++k)
    lines.push_back(fmt::format("{}: any {}", names.numbers[k], name(arguments.numbers[k].dtype)));
  for (std::size_t k = 0; k < names.values.size(); ++k)
    lines.push_back(fmt::format("{}: {}", names.values[k].name,
                                names.values[k].floating ? fmt::format("{}", std::bit_cast<double>(arguments.values[k]))
                                                         : fmt::format("{}", arguments.values[k])));
  return lines;
}

}  // namespace oriel::api
