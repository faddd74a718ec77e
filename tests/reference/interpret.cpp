#include "reference/interpret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "formula/call.hpp"
#include "reference/memory.hpp"

namespace oriel::reference {

using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

using Results = std::unordered_map<const Node*, Numbers>;

/// Where a movement's result comes from: index i of axis d is index i * factor + offset of an axis of the source.
struct Axis {
  std::size_t to;
  std::int64_t factor = 1, offset = 0;
};

std::vector<Axis> axes_of(const Node& node) {
  const Shape& from = node.sources[0]->shape;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < node.shape.size(); ++d) axes.push_back({.to = d});
  switch (node.op) {
    case Op::Permute:
      for (std::size_t d = 0; d < axes.size(); ++d)
        axes[d].to = static_cast<std::size_t>(std::get<Ints>(node.arg)[d].value());
      break;
    case Op::Expand:
      for (std::size_t d = 0; d < axes.size(); ++d) axes[d].factor = from[d] == node.shape[d] ? 1 : 0;
      break;
    case Op::Every:
      for (std::size_t d = 0; d < axes.size(); ++d) axes[d].factor = std::get<Ints>(node.arg)[d].value();
      break;
    case Op::Flip:
      for (const SymInt axis : std::get<Ints>(node.arg)) {
        const auto d = static_cast<std::size_t>(axis.value());
        axes[d] = {.to = d, .factor = -1, .offset = extent(from, d) - 1};
      }
      break;
    case Op::Shrink:
    case Op::Pad: {
      const Ranges& ranges = *std::get<std::shared_ptr<const Ranges>>(node.arg);
      for (std::size_t d = 0; d < axes.size(); ++d)
        axes[d].offset = node.op == Op::Shrink ? ranges[d].lo.value() : -ranges[d].lo.value();
      break;
    }
    default:
      throw std::logic_error("reference: not a movement");
  }
  return axes;
}

/// The result of a movement. Padding, and what lies outside a mask, is zero.
Numbers moved(const Node& node, const Numbers& source) {
  if (node.op == Op::Reshape || node.op == Op::Mark || node.op == Op::Format) return source;
  Numbers out(static_cast<std::size_t>(count(node.shape)));
  if (node.op == Op::RawView) {
    const View& view = *std::get<std::shared_ptr<const View>>(node.arg);
    each_index(node.shape, [&](std::int64_t k, const Index& index) {
      std::int64_t position = view.offset.value();
      for (std::size_t d = 0; d < index.size(); ++d) {
        if (view.masked() && (index[d] < view.mask[d].lo || index[d] >= view.mask[d].hi)) return;
        position += index[d] * view.strides[d].value();
      }
      out[static_cast<std::size_t>(k)] = source[static_cast<std::size_t>(position)];
    });
    return out;
  }
  const std::vector<Axis> axes = axes_of(node);
  const Shape& from = node.sources[0]->shape;
  const Index step = steps(from), extents = plain(from);
  each_index(node.shape, [&](std::int64_t k, const Index& index) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const Axis& axis = axes[d];
      const std::int64_t at = index[d] * axis.factor + axis.offset;
      if (at < 0 || at >= extents[axis.to]) return;
      position += at * step[axis.to];
    }
    out[static_cast<std::size_t>(k)] = source[static_cast<std::size_t>(position)];
  });
  return out;
}

/// The reduction that combines as a scatter does.
Op reduction_of(Op op) {
  switch (op) {
    case Op::ScatterSum:
      return Op::Sum;
    case Op::ScatterProd:
      return Op::Prod;
    case Op::ScatterMax:
      return Op::ReduceMax;
    default:
      return Op::ReduceMin;
  }
}

Numbers reduced(const Node& node, const Numbers& source) {
  const Shape& from = node.sources[0]->shape;
  Index step = steps(node.shape);
  for (const SymInt axis : std::get<Ints>(node.arg)) step[static_cast<std::size_t>(axis.value())] = 0;
  const auto groups = static_cast<std::size_t>(count(node.shape));
  const std::size_t each = groups == 0 ? 0 : source.size() / groups;
  Numbers gathered(source.size());  // the elements of each group, in order
  std::vector<std::size_t> taken(groups, 0);
  each_index(from, [&](std::int64_t k, const Index& index) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < index.size(); ++d) position += index[d] * step[d];
    const auto group = static_cast<std::size_t>(position);
    gathered[group * each + taken[group]++] = source[static_cast<std::size_t>(k)];
  });
  Numbers out;
  for (std::size_t group = 0; group < groups; ++group)
    out.push_back(reduce(node.op, node.dtype, std::span(gathered).subspan(group * each, each)));
  return out;
}

constexpr double kLeastError = 1e-300;  // an error below this marks a zero of unknown sign

// True if a precedes b in ascending order. A NaN is the largest. With `zeros`, -0 precedes 0.
bool before(DType dtype, const Number& a, const Number& b, bool zeros) {
  if (is_floating(dtype)) {
    if (std::isnan(a.f) || std::isnan(b.f)) return !std::isnan(a.f) && std::isnan(b.f);
    if (a.f == 0 && b.f == 0) return zeros && std::signbit(a.f) && !std::signbit(b.f);
    return a.f < b.f;
  }
  if (dtype == DType::uint64) return static_cast<std::uint64_t>(a.i) < static_cast<std::uint64_t>(b.i);
  return a.i < b.i;
}

// Sorted numbers have the largest error of their row. Positions of numbers that are no farther apart than this error
// are uncertain, because rounding decides their order.
Numbers sorted(const Node& node, const Numbers& source) {
  const DType dtype = node.sources[0]->dtype;
  const bool positions = node.op == Op::ArgSort;
  const bool descending = std::get<Ints>(node.arg)[0] == 1;
  const auto extent = static_cast<std::size_t>(node.shape.back().value());
  Numbers out;
  for (std::size_t first = 0; first < source.size(); first += extent) {
    const std::span<const Number> row(source.data() + first, extent);
    double error = 0;
    bool loose = false;
    for (const Number& n : row) {
      error = std::max(error, n.error);
      loose = loose || n.loose;
    }
    if (loose) {
      out.insert(out.end(), extent, Number::unknown());
      continue;
    }
    std::vector<std::size_t> order(extent);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return descending ? before(dtype, row[b], row[a], !positions) : before(dtype, row[a], row[b], !positions);
    });
    const auto close = [&](std::size_t k) {  // compares place k with the place before it
      return error > kLeastError && k > 0 && k < extent &&
             std::fabs(row[order[k]].f - row[order[k - 1]].f) <= 2 * error;
    };
    for (std::size_t k = 0; k < extent; ++k) {
      if (positions) {
        out.push_back(close(k) || close(k + 1) ? Number::unknown()
                                               : Number::integer(static_cast<std::int64_t>(order[k])));
        continue;
      }
      out.push_back(row[order[k]]);
      if (is_floating(dtype)) out.back().error = error;
    }
  }
  return out;
}

// Each element is the reduction of the elements up to it, whatever the order.
Numbers scanned(const Node& node, const Numbers& source) {
  const auto axis = static_cast<std::size_t>(std::get<Ints>(node.arg)[0].value());
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < node.shape.size(); ++d) inner *= static_cast<std::size_t>(extent(node.shape, d));
  const auto n = static_cast<std::size_t>(extent(node.shape, axis));
  Numbers out(source.size());
  for (std::size_t first = 0; first < source.size(); first += n * inner) {
    for (std::size_t i = 0; i < inner; ++i) {
      Numbers before;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = first + k * inner + i;
        before.push_back(source[at]);
        out[at] = reduce(node.op == Op::CumSum    ? Op::Sum
                         : node.op == Op::CumProd ? Op::Prod
                         : node.op == Op::CumMax  ? Op::ReduceMax
                                                  : Op::ReduceMin,
                         node.dtype, before);
      }
    }
  }
  return out;
}

Numbers recurred(const Node& node, const Numbers& a, const Numbers& b) {
  const auto axis = static_cast<std::size_t>(std::get<Ints>(node.arg)[0].value());
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < node.shape.size(); ++d) inner *= static_cast<std::size_t>(extent(node.shape, d));
  const auto n = static_cast<std::size_t>(extent(node.shape, axis));
  const bool restarts = std::get<Ints>(node.arg)[1] == static_cast<std::int64_t>(graph::Recursion::restarts);
  Numbers out = b;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (at / inner % n == 0) continue;
    const Number factor = a.size() == 1 ? a[0] : a[at];
    if (restarts && (is_floating(node.dtype) ? factor.f == 0 : factor.i == 0)) continue;
    const Number product = apply(Op::Mul, node.dtype, node.dtype, Numbers{factor, out[at - inner]});
    out[at] = apply(Op::Add, node.dtype, node.dtype, Numbers{product, b[at]});
  }
  return out;
}

/// One block after the other; each entry's elements in the order of their keys.
Numbers scattered(const Node& node, const Numbers& positions, const Numbers* values) {
  const Ints& arg = std::get<Ints>(node.arg);
  const auto axis = static_cast<std::size_t>(arg[0].value());
  const bool each = arg[1] == 1;
  std::int64_t inner = 1, rows = 1;
  for (std::size_t d = 0; d < node.shape.size(); ++d)
    if (d != axis) (d < axis ? rows : inner) *= extent(node.shape, d);
  const std::int64_t n = extent(node.shape, axis);
  const std::int64_t keys =
      static_cast<std::int64_t>(positions.size()) / (each ? std::max<std::int64_t>(1, rows * inner) : 1);
  std::vector<Numbers> gathered(static_cast<std::size_t>(count(node.shape)));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < keys; ++k) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t element = (row * keys + k) * inner + i;
        const Number& at = positions[static_cast<std::size_t>(each ? element : k)];
        if (at.loose) return Numbers(gathered.size(), Number::unknown());
        const std::int64_t entry = at.i < 0 ? at.i + n : at.i;
        if (entry < 0 || entry >= n) continue;
        gathered[static_cast<std::size_t>((row * n + entry) * inner + i)].push_back(
            values == nullptr                    ? Number::integer(k)
            : values->size() == 1 && arg[2] == 1 ? values->front()
                                                 : (*values)[static_cast<std::size_t>(element)]);
      }
    }
  }
  Numbers out;
  for (const Numbers& group : gathered) {
    if (node.op == Op::ScatterLast)
      out.push_back(group.empty() ? Number::integer(-1) : group.back());
    else
      out.push_back(reduce(reduction_of(node.op), node.dtype, group));
  }
  return out;
}

/// What the host function makes of all batches at once.
Numbers called(const Node& node, const Results& results) {
  std::vector<std::vector<std::uint64_t>> memory;  // room for elements of any dtype
  std::vector<std::vector<std::int64_t>> shapes;
  const auto array = [&](const Node& of) {
    memory.emplace_back(static_cast<std::size_t>(count(of.shape)));
    shapes.emplace_back();
    for (std::size_t d = 0; d < of.shape.size(); ++d) shapes.back().push_back(extent(of.shape, d));
  };
  for (const NodePtr& source : node.sources) array(*source);
  array(node);
  std::vector<HostArray> arrays;
  for (std::size_t k = 0; k <= node.sources.size(); ++k) {
    const Node& of = k < node.sources.size() ? *node.sources[k] : node;
    arrays.push_back({of.dtype, shapes[k], memory[k].data()});
    if (k == node.sources.size()) break;
    const Numbers& source = results.at(&of);
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (of.dtype == DType::float32)
        arrays[k].elements<float>()[i] = static_cast<float>(source[i].f);
      else if (of.dtype == DType::float64)
        arrays[k].elements<double>()[i] = source[i].f;
      else if (of.dtype == DType::int64)
        arrays[k].elements<std::int64_t>()[i] = source[i].i;
      else
        throw std::logic_error("reference: host functions of " + std::string(name(of.dtype)));
    }
  }
  const HostArray result = arrays.back();
  arrays.pop_back();
  const graph::HostFunction& function = *std::get<graph::HostFunctionPtr>(node.arg);
  function.run({arrays, result, 0});
  Numbers out = read_all(node.dtype, result.data, count(node.shape));
  // What an error of an operand makes of the result is not known. Batches do not depend on each other.
  const std::size_t batches = function.options.batched ? static_cast<std::size_t>(extent(node.shape, 0)) : 1;
  for (const NodePtr& source : node.sources) {
    const Numbers& numbers = results.at(source.get());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].error == 0 && !numbers[i].loose && !numbers[i].nan_too) continue;
      const std::size_t batch = i / (numbers.size() / batches), each = out.size() / batches;
      for (std::size_t k = batch * each; k < (batch + 1) * each; ++k) out[k] = Number::unknown();
    }
  }
  return out;
}

Numbers evaluate(const Node& node, const Results& results) {
  if (node.realized()) return read_buffer(node, *node.buffer);
  const std::int64_t n = count(node.shape);
  Numbers out;
  out.reserve(static_cast<std::size_t>(n));
  switch (graph::row(node.op).op_class) {
    case graph::OpClass::Leaf:
      for (std::int64_t k = 0; k < n; ++k) {
        if (node.op == Op::Iota) {
          out.push_back(Number::integer(k));
        } else {
          const graph::Scalar& value = std::get<graph::Scalar>(node.arg);
          out.push_back(is_floating(node.dtype) ? Number::floating(value.f) : Number::integer(value.i));
        }
      }
      return out;
    case graph::OpClass::Movement:
      return moved(node, results.at(node.sources[0].get()));
    case graph::OpClass::Write: {
      out = results.at(node.sources[0].get());
      const Numbers& value = results.at(node.sources[1].get());
      const auto* where = std::get_if<std::shared_ptr<const ShapeTracker>>(&node.arg);
      each_index(node.sources[1]->shape, [&](std::int64_t k, const Index& index) {
        const std::int64_t at = where != nullptr ? (*where)->at(index).value() : k;
        out[static_cast<std::size_t>(at)] = value[static_cast<std::size_t>(k)];
      });
      return out;
    }
    case graph::OpClass::Gather: {
      const Numbers& source = results.at(node.sources[0].get());
      for (const Number& at : results.at(node.sources[1].get())) {
        if (at.loose) {
          out.push_back(Number::unknown());
          continue;
        }
        const bool inside = at.i >= 0 && at.i < static_cast<std::int64_t>(source.size());
        out.push_back(inside ? source[static_cast<std::size_t>(at.i)] : Number{});
      }
      return out;
    }
    case graph::OpClass::Transfer:
      return results.at(node.sources[0].get());
    case graph::OpClass::Sort:
      return sorted(node, results.at(node.sources[0].get()));
    case graph::OpClass::Scan:
      if (node.op == Op::Recurrence)
        return recurred(node, results.at(node.sources[0].get()), results.at(node.sources[1].get()));
      return scanned(node, results.at(node.sources[0].get()));
    case graph::OpClass::Scatter:
      return scattered(node, results.at(node.sources[0].get()),
                       node.sources.size() > 1 ? &results.at(node.sources[1].get()) : nullptr);
    case graph::OpClass::Host:
      return called(node, results);
    case graph::OpClass::Elementwise: {
      const DType operand = node.sources.back()->dtype;
      Numbers operands(node.sources.size());
      std::vector<const Numbers*> sources;
      for (const NodePtr& source : node.sources) sources.push_back(&results.at(source.get()));
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::size_t s = 0; s < operands.size(); ++s) operands[s] = (*sources[s])[static_cast<std::size_t>(k)];
        out.push_back(apply(node.op, operand, node.dtype, operands));
      }
      return out;
    }
    case graph::OpClass::Reduce:
      return reduced(node, results.at(node.sources[0].get()));
  }
  return out;
}

}  // namespace

std::vector<Number> interpret(const graph::NodePtr& root) {
  Results results;
  std::vector<std::pair<const Node*, bool>> pending{{root.get(), false}};
  while (!pending.empty()) {
    const auto [node, ready] = pending.back();
    pending.pop_back();
    if (results.contains(node)) continue;
    if (ready || node->realized() || node->sources.empty()) {
      results.emplace(node, evaluate(*node, results));
      continue;
    }
    pending.emplace_back(node, true);
    for (const NodePtr& source : node->sources) pending.emplace_back(source.get(), false);
  }
  return std::move(results.at(root.get()));
}

std::vector<Number> interpret(const Tensor& tensor) { return interpret(detail::Access::node(tensor)); }

std::vector<Number> elements(const Tensor& tensor) {
  tensor.realize();
  const NodePtr node = detail::Access::node(tensor);
  return read_buffer(*node, *node->buffer);
}

std::string difference(const Tensor& tensor, const std::vector<Number>& want, const std::vector<Number>& got) {
  if (want.size() != got.size()) return fmt::format("{} elements, expected {}", got.size(), want.size());
  const DType dtype = tensor.dtype();
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (accepts(dtype, want[k], got[k])) continue;
    std::string where;
    const Index step = steps(tensor.shape());
    for (std::size_t d = 0; d < step.size(); ++d)
      where += fmt::format("{}{}", where.empty() ? "" : ", ",
                           static_cast<std::int64_t>(k) / step[d] % extent(tensor.shape(), d));
    if (is_floating(dtype)) {
      return fmt::format("element ({}) is {:.17g}, expected {:.17g} +- {:.3g}", where, got[k].f, want[k].f,
                         want[k].error);
    }
    return fmt::format("element ({}) is {}, expected {}", where, got[k].i, want[k].i);
  }
  return {};
}

}  // namespace oriel::reference
