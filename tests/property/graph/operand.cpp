#include "operand.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "oriel/oriel.hpp"
#include "support/guarded.hpp"

namespace oriel::testing {

namespace {

using Extents = std::vector<std::int64_t>;
using Index = std::vector<std::int64_t>;

// The most elements that the memory of an operand may have. A step that needs more is skipped.
constexpr std::int64_t kMostBelow = 40000;

template <class T>
Tensor adopted(const Extents& shape, const std::vector<double>& values, test::Guarded::Side side) {
  auto memory = std::make_shared<test::Guarded>(values.size() * sizeof(T), side);
  T* const data = static_cast<T*>(memory->data());
  for (std::size_t k = 0; k < values.size(); ++k) {
    if constexpr (std::is_arithmetic_v<T>) {
      data[k] = static_cast<T>(values[k]);
    } else {
      data[k] = T(static_cast<float>(values[k]));
    }
  }
  return Tensor::adopt(data, to_shape(shape), [memory](T*) {});
}

Tensor adopted(DType dtype, const Extents& shape, const std::vector<double>& values, test::Guarded::Side side) {
  switch (dtype) {
    case DType::int8:
      return adopted<std::int8_t>(shape, values, side);
    case DType::int16:
      return adopted<std::int16_t>(shape, values, side);
    case DType::int32:
      return adopted<std::int32_t>(shape, values, side);
    case DType::int64:
      return adopted<std::int64_t>(shape, values, side);
    case DType::uint8:
      return adopted<std::uint8_t>(shape, values, side);
    case DType::uint16:
      return adopted<std::uint16_t>(shape, values, side);
    case DType::uint32:
      return adopted<std::uint32_t>(shape, values, side);
    case DType::uint64:
      return adopted<std::uint64_t>(shape, values, side);
    case DType::float16:
      return adopted<float16_t>(shape, values, side);
    case DType::bfloat16:
      return adopted<bfloat16_t>(shape, values, side);
    case DType::float64:
      return adopted<double>(shape, values, side);
    default:
      return adopted<float>(shape, values, side);
  }
}

/// Element i of the result is the element of x at `from` if `place(i, from)` returns true, else 0.
template <class F>
Dense picked(const Dense& x, const Extents& shape, F&& place) {
  Dense out{shape, std::vector<double>(static_cast<std::size_t>(count(shape)))};
  Index at(shape.size(), 0);
  Index from(x.shape.size(), 0);
  for (double& value : out.values) {
    if (place(at, from)) {
      std::int64_t position = 0;
      for (std::size_t d = 0; d < from.size(); ++d) position = position * x.shape[d] + from[d];
      value = x.values[static_cast<std::size_t>(position)];
    }
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return out;
}

class OperandMaker {
 public:
  explicit OperandMaker(std::uint32_t seed) : random_(seed) {}

  Viewed make(const Extents& shape, DType dtype, std::span<const ViewStep> steps) {
    if (steps.empty()) return leaf(shape, dtype);
    const ViewStep& step = steps.front();
    const auto below = steps.subspan(1);
    if (shape.empty()) return leaf(shape, dtype);
    const std::size_t axis = step.dice[0] % shape.size();
    switch (step.kind % kViewKinds) {
      case 0:
        return flipped(shape, dtype, below, axis);
      case 1:
        return stepped(shape, dtype, below, axis, step);
      case 2:
        return expanded(shape, dtype, below, axis);
      case 3:
        return padded(shape, dtype, below, axis, step);
      case 4:
        return swapped(shape, dtype, below, axis, step.dice[1] % shape.size());
      case 5:
        return shifted(shape, dtype, below, axis, step);
      case 6:
        return split(shape, dtype, below, axis);
      case 7:
        return joined(shape, dtype, below, axis);
      case 8:
        return windowed(shape, dtype, below, axis, step);
      case 9:
        return selected(shape, dtype, below, axis, step);
      case 10:
        return computed(make(shape, dtype, below), dtype, step);
      case 11:
        return converted(shape, dtype, below, step);
      case 12:
        return gathered(shape, dtype, below, axis, step);
      case 13:
      case 14:  // a step of the memory of 0 or less along the last axes, most often
        return step.dice[1] % 2 == 0
                   ? flipped(shape, dtype, below, shape.size() - 1 - step.dice[0] % 2 % shape.size())
                   : expanded(shape, dtype, below, shape.size() - 1 - step.dice[0] % 2 % shape.size());
      case 15:
        return flipped(shape, dtype, below, axis);
      default:
        return transposed(shape, dtype, below);
    }
  }

  Viewed leaf(const Extents& shape, DType dtype) {
    const std::int64_t n = count(shape);
    const auto side = random_() % 3 == 0 ? test::Guarded::Side::Begin : test::Guarded::Side::End;
    const bool within = random_() % 3 == 0;
    const auto before = static_cast<std::int64_t>(within ? random_() % 20 : 0);
    const auto behind = static_cast<std::int64_t>(within ? random_() % 20 : 0);
    std::vector<double> values(static_cast<std::size_t>(n + before + behind));
    for (double& v : values) v = number(dtype);
    Dense model{shape, {values.begin() + before, values.end() - behind}};
    std::string text = fmt::format("{} ({}) {} a page", name(dtype), fmt::join(shape, ", "),
                                   side == test::Guarded::Side::End ? "at the end of" : "at the beginning of");
    if (!within) return {adopted(dtype, shape, values, side), std::move(model), std::move(text)};
    const Tensor storage = adopted(dtype, {n + before + behind}, values, side);
    return {storage.shrink({{before, before + n}}).reshape(to_shape(shape)), std::move(model),
            fmt::format("{}, {} elements before it and {} behind", text, before, behind)};
  }

 private:
  static bool fits(const Extents& shape) { return count(shape) <= kMostBelow; }

  double number(DType dtype) {
    const auto k = static_cast<double>(random_() % 9);
    return is_unsigned(dtype) ? std::floor(k / 2) : k - 4;
  }

  template <class Move, class Place>
  static Viewed moved(const Viewed& x, const Extents& shape, const std::string& text, Move&& move, Place&& place) {
    return {move(x.tensor), picked(x.model, shape, place), x.text + "; " + text};
  }

  Viewed flipped(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis) {
    return moved(
        make(shape, dtype, below), shape, fmt::format("flip {}", axis),
        [&](const Tensor& t) { return flip(t, static_cast<std::int64_t>(axis)); },
        [&](const Index& i, Index& from) {
          from = i;
          from[axis] = shape[axis] - 1 - i[axis];
          return true;
        });
  }

  Viewed stepped(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis,
                 const ViewStep& step) {
    constexpr std::int64_t kSteps[] = {-1, 2, -2, 3, -3};
    const std::int64_t by = kSteps[step.dice[1] % std::size(kSteps)];
    const std::int64_t away = std::abs(by);
    const auto low = static_cast<std::int64_t>(step.dice[2]) % away;
    Extents source = shape;
    source[axis] = low + (shape[axis] - 1) * away + 1 + static_cast<std::int64_t>(step.dice[2] / 3) % away;
    if (shape[axis] == 0 || !fits(source)) return make(shape, dtype, below);
    const std::int64_t first = by > 0 ? low : low + (shape[axis] - 1) * away;
    return moved(
        make(source, dtype, below), shape, fmt::format("axis {} from {} by {}", axis, first, by),
        [&](const Tensor& t) {
          std::vector<Slice> slices(shape.size());
          slices[axis].start = first;
          slices[axis].step = by;
          return slice(t, slices);
        },
        [&](const Index& i, Index& from) {
          from = i;
          from[axis] = first + i[axis] * by;
          return true;
        });
  }

  Viewed expanded(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis) {
    Extents source = shape;
    source[axis] = 1;
    return moved(
        make(source, dtype, below), shape, fmt::format("expand {}", axis),
        [&](const Tensor& t) { return expand(t, to_shape(shape)); },
        [&](const Index& i, Index& from) {
          from = i;
          from[axis] = 0;
          return true;
        });
  }

  Viewed padded(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis,
                const ViewStep& step) {
    const auto low = static_cast<std::int64_t>(step.dice[1] % 3);
    const auto high = static_cast<std::int64_t>(step.dice[2] % 3);
    if (shape[axis] <= low + high) return make(shape, dtype, below);
    Extents source = shape;
    source[axis] -= low + high;
    return moved(
        make(source, dtype, below), shape, fmt::format("pad {} by {}, {}", axis, low, high),
        [&](const Tensor& t) {
          Ranges around(shape.size(), Range{0, 0});
          around[axis] = {low, high};
          return pad(t, around);
        },
        [&](const Index& i, Index& from) {
          from = i;
          from[axis] -= low;
          return from[axis] >= 0 && from[axis] < source[axis];
        });
  }

  Viewed swapped(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t a, std::size_t b) {
    Extents source = shape;
    std::swap(source[a], source[b]);
    return moved(
        make(source, dtype, below), shape, fmt::format("transpose {}, {}", a, b),
        [&](const Tensor& t) { return transpose(t, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)); },
        [&](const Index& i, Index& from) {
          from = i;
          std::swap(from[a], from[b]);
          return true;
        });
  }

  // Stores columns before rows, for any rank.
  Viewed transposed(const Extents& shape, DType dtype, std::span<const ViewStep> below) {
    if (shape.size() < 2) return make(shape, dtype, below);
    return swapped(shape, dtype, below, shape.size() - 2, shape.size() - 1);
  }

  Viewed shifted(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis,
                 const ViewStep& step) {
    const auto low = static_cast<std::int64_t>(step.dice[1] % 4);
    Extents source = shape;
    source[axis] += low + static_cast<std::int64_t>(step.dice[2] % 4);
    if (!fits(source)) return make(shape, dtype, below);
    return moved(
        make(source, dtype, below), shape, fmt::format("axis {} from {} on", axis, low),
        [&](const Tensor& t) {
          Ranges ranges;
          for (const std::int64_t n : shape) ranges.push_back({0, n});
          ranges[axis] = {low, low + shape[axis]};
          return shrink(t, ranges);
        },
        [&](const Index& i, Index& from) {
          from = i;
          from[axis] += low;
          return true;
        });
  }

  static Viewed reshaped(Viewed x, const Extents& shape) {
    x.model.shape = shape;
    return {reshape(x.tensor, to_shape(shape)), std::move(x.model),
            fmt::format("{}; reshape ({})", x.text, fmt::join(shape, ", "))};
  }

  Viewed split(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis) {
    std::int64_t factor = 2;
    while (factor < shape[axis] && shape[axis] % factor != 0) ++factor;
    if (factor >= shape[axis]) return make(shape, dtype, below);
    Extents source = shape;
    source[axis] /= factor;
    source.insert(source.begin() + static_cast<std::ptrdiff_t>(axis) + 1, factor);
    return reshaped(make(source, dtype, below), shape);
  }

  Viewed joined(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis) {
    if (axis + 1 >= shape.size()) return make(shape, dtype, below);
    Extents source = shape;
    source[axis] *= source[axis + 1];
    source.erase(source.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    return reshaped(make(source, dtype, below), shape);
  }

  // Two neighbouring axes are windows of one axis.
  Viewed windowed(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis,
                  const ViewStep& step) {
    if (axis + 1 >= shape.size() || shape[axis] == 0 || shape[axis + 1] == 0) return make(shape, dtype, below);
    const auto by = static_cast<std::int64_t>(1 + step.dice[1] % 2);
    Extents source = shape;
    source[axis] = (shape[axis] - 1) * by + shape[axis + 1];
    source.erase(source.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    return moved(
        make(source, dtype, below), shape, fmt::format("windows {} by {}", axis, by),
        [&](const Tensor& t) {
          const Tensor windows = unfold(t, static_cast<std::int64_t>(axis), shape[axis + 1], by);
          Ints order(shape.size());
          std::iota(order.begin(), order.end(), std::int64_t{0});
          for (std::size_t d = axis + 1; d < order.size(); ++d)
            order[d] = d == axis + 1 ? SymInt(static_cast<std::int64_t>(shape.size()) - 1)
                                     : SymInt(static_cast<std::int64_t>(d) - 1);
          return permute(windows, order);
        },
        [&](const Index& i, Index& from) {
          for (std::size_t d = 0; d < from.size(); ++d) from[d] = i[d <= axis ? d : d + 1];
          from[axis] = i[axis] * by + i[axis + 1];
          return true;
        });
  }

  Viewed selected(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis,
                  const ViewStep& step) {
    const auto among = static_cast<std::int64_t>(2 + step.dice[1] % 2);
    const auto at = static_cast<std::int64_t>(step.dice[2]) % among;
    Extents source = shape;
    source.insert(source.begin() + static_cast<std::ptrdiff_t>(axis), among);
    if (!fits(source)) return make(shape, dtype, below);
    return moved(
        make(source, dtype, below), shape, fmt::format("number {} along {}", at, axis),
        [&](const Tensor& t) { return select(t, static_cast<std::int64_t>(axis), at); },
        [&](const Index& i, Index& from) {
          for (std::size_t d = 0; d < from.size(); ++d) from[d] = d == axis ? at : i[d < axis ? d : d - 1];
          return true;
        });
  }

  // A factor that is computed, not only loaded.
  static Viewed computed(Viewed x, DType dtype, const ViewStep& step) {
    if (is_unsigned(dtype) || step.dice[1] % 2 == 0) {
      for (double& v : x.model.values) v = std::max(v, 1.0);
      return {maximum(x.tensor, 1), std::move(x.model), x.text + "; maximum with 1"};
    }
    for (double& v : x.model.values) v = -v;
    return {-x.tensor, std::move(x.model), x.text + "; negated"};
  }

  Viewed converted(const Extents& shape, DType dtype, std::span<const ViewStep> below, const ViewStep& step) {
    constexpr DType kSigned[] = {DType::int8, DType::float16, DType::float32, DType::int64, DType::bfloat16};
    constexpr DType kUnsigned[] = {DType::uint8, DType::uint32};
    const DType from = is_unsigned(dtype) ? kUnsigned[step.dice[1] % std::size(kUnsigned)]
                                          : kSigned[step.dice[1] % std::size(kSigned)];
    Viewed x = make(shape, from, below);
    return {x.tensor.to(dtype), std::move(x.model), fmt::format("{}; to {}", x.text, name(dtype))};
  }

  // Reads entries at positions in memory. Positions outside give 0.
  Viewed gathered(const Extents& shape, DType dtype, std::span<const ViewStep> below, std::size_t axis,
                  const ViewStep& step) {
    Extents source = shape;
    source[axis] = 1 + static_cast<std::int64_t>(step.dice[1] % 40);
    if (!fits(source)) return make(shape, dtype, below);
    const std::int64_t n = source[axis];
    const Viewed index = make_positions({shape[axis]}, -n - 1, n + 1, step.dice[2]);
    return moved(
        make(source, dtype, below), shape, fmt::format("take along {} at {}", axis, index.text),
        [&](const Tensor& t) { return take(t, index.tensor, static_cast<std::int64_t>(axis)); },
        [&](const Index& i, Index& from) {
          from = i;
          const auto at = static_cast<std::int64_t>(index.model.values[static_cast<std::size_t>(i[axis])]);
          from[axis] = at < 0 ? at + n : at;
          return from[axis] >= 0 && from[axis] < n;
        });
  }

  std::mt19937 random_;
};

}  // namespace

double Dense::at(std::initializer_list<std::int64_t> index) const {
  std::int64_t position = 0;
  std::size_t d = 0;
  for (const std::int64_t i : index) position = position * shape[d++] + i;
  return values[static_cast<std::size_t>(position)];
}

std::int64_t count(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Shape to_shape(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }

Viewed make_operand(const std::vector<std::int64_t>& shape, DType dtype, std::span<const ViewStep> steps,
                    std::uint32_t seed) {
  return OperandMaker(seed).make(shape, dtype, steps);
}

Viewed make_positions(const std::vector<std::int64_t>& shape, std::int64_t least, std::int64_t end,
                      std::uint32_t seed) {
  std::mt19937 random(seed);
  Dense model{shape, std::vector<double>(static_cast<std::size_t>(count(shape)))};
  for (double& v : model.values)
    v = static_cast<double>(least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end - least)));
  const DType dtype = random() % 2 == 0 ? DType::int32 : DType::int64;
  const Tensor tensor = adopted(dtype, shape, model.values, test::Guarded::Side::End);
  return {tensor, std::move(model), fmt::format("{} positions from {} to {}", name(dtype), least, end - 1)};
}

}  // namespace oriel::testing
