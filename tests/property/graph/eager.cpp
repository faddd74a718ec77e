#include "eager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "leaf.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"

namespace oriel::testing {

std::int64_t wrap(DType dtype, std::int64_t value) {
  if (dtype == DType::int8) return static_cast<std::int8_t>(static_cast<std::uint8_t>(value));
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

std::vector<std::int64_t> Eager::values() const {
  std::vector<std::int64_t> out;
  for (const std::int64_t k : at) out.push_back((*storage)[static_cast<std::size_t>(k)]);
  return out;
}

Eager own(std::vector<std::int64_t> values, const Shape& shape, DType dtype) {
  Eager e;
  for (std::size_t k = 0; k < values.size(); ++k) e.at.push_back(static_cast<std::int64_t>(k));
  e.storage = std::make_shared<std::vector<std::int64_t>>(std::move(values));
  e.shape = shape;
  e.dtype = dtype;
  return e;
}

Eager moved(const Eager& x, const std::function<Tensor(const Tensor&)>& movement) {
  const Tensor picked = movement(iota(x.shape));
  Eager out = x;
  out.shape = picked.shape();
  out.at.clear();
  for (const reference::Number& n : reference::interpret(picked)) out.at.push_back(x.at[static_cast<std::size_t>(n.i)]);
  return out;
}

std::vector<std::int64_t> spread(const Eager& x, const Shape& shape) {
  return moved(x, [&](const Tensor& t) { return broadcast_to(t, shape); }).values();
}

std::optional<Movement> draw_movement(Dice& dice, const Shape& shape) {
  const std::size_t rank = shape.size();
  const std::size_t kind = dice.roll(11);
  const std::int64_t axis = static_cast<std::int64_t>(dice.roll(std::max<std::size_t>(rank, 1)));
  const std::int64_t extent = rank == 0 ? 1 : shape[static_cast<std::size_t>(axis)].value();
  const auto method = [](std::function<Tensor(const Tensor&)> f, std::string call) {
    return std::optional<Movement>({std::move(f), "", std::move(call)});
  };
  const auto function = [](std::function<Tensor(const Tensor&)> f, const char* name, const std::string& arguments) {
    return std::optional<Movement>({std::move(f), fmt::format("{}(", name), arguments + ")"});
  };
  switch (kind) {
    case 0:
      return method([](const Tensor& t) { return t.reshape({-1}); }, ".reshape({-1})");
    case 1:
      if (rank < 2) break;
      return method([](const Tensor& t) { return t.transpose(); }, ".transpose()");
    case 2:
      if (rank == 0) break;
      return method([=](const Tensor& t) { return t.flip(axis); }, fmt::format(".flip({})", axis));
    case 3:
    case 4: {
      if (rank == 0) break;
      const auto lo = static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(extent)));
      const auto hi = lo + 1 + static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(extent - lo)));
      Ranges ranges;
      std::string text;
      for (std::size_t d = 0; d < rank; ++d) {
        ranges.push_back(static_cast<std::int64_t>(d) == axis ? Range{lo, hi} : Range{0, shape[d]});
        text += fmt::format("{}{{{}, {}}}", d == 0 ? "" : ", ", ranges[d].lo.value(), ranges[d].hi.value());
      }
      return method([=](const Tensor& t) { return t.shrink(ranges); }, fmt::format(".shrink({{{}}})", text));
    }
    case 5: {
      if (rank == 0) break;
      const std::int64_t step = std::array<std::int64_t, 4>{2, -1, -2, 3}[dice.roll(4)];
      if (axis == 0)
        return method([=](const Tensor& t) { return t.slice({{.step = step}}); },
                      fmt::format(".slice({{{{.step = {}}}}})", step));
      return method(
          [=](const Tensor& t) {
            return t.slice({{}, {.step = step}});
          },
          fmt::format(".slice({{{{}}, {{.step = {}}}}})", step));
    }
    case 6: {
      if (rank == 0) break;
      const auto position = static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(extent)));
      return method([=](const Tensor& t) { return t.select(axis, position); },
                    fmt::format(".select({}, {})", axis, position));
    }
    case 7:
      if (rank < 2) break;
      return function([](const Tensor& t) { return diagonal(t); }, "diagonal", "");
    case 8:
      if (extent < 2 || rank == 0) break;
      return function([=](const Tensor& t) { return unfold(t, axis, 2, 1 + extent % 2); }, "unfold",
                      fmt::format(", {}, 2, {}", axis, 1 + extent % 2));
    case 9: {
      Shape grown = shape;
      grown.insert(grown.begin(), SymInt(2));
      return function([=](const Tensor& t) { return broadcast_to(t, grown); }, "broadcast_to", ", " + braces(grown));
    }
    default: {
      // Another shape with the same number of elements.
      const std::int64_t n = numel(shape).value();
      for (const std::int64_t part : {3, 2, 4})
        if (n % part == 0)
          return method(
              [=](const Tensor& t) {
                return t.reshape({part, -1});
              },
              fmt::format(".reshape({{{}, -1}})", part));
      break;
    }
  }
  return std::nullopt;
}

}  // namespace oriel::testing
