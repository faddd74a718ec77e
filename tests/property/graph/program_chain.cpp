// Steps that make programs of several parts: products with a layer between them, and gathers of operands.
#include "builder.hpp"

namespace oriel::testing {

namespace {

constexpr std::int64_t kTable = 60;  // elements of the table that gathers read

/// Whole numbers in memory without special values: a row with a NaN would hide errors in its other elements.
Leaf plain_leaf(const Shape& shape, DType dtype, std::uint32_t seed) {
  const std::uint32_t factor = 2 * seed + 3;
  const Tensor tensor = (remainder(iota(shape) * factor + seed, 13) - 6).to(dtype);
  return {in_memory(tensor), fmt::format("Tensor((remainder(iota({}) * {} + {}, 13) - 6).to(DType::{}).realize())",
                                         braces(shape), factor, seed, name(dtype))};
}

}  // namespace

/// A tensor of this shape, gathered from a table in memory or from a value of the program. Positions lie in memory or
/// are computed; positions outside give 0.
Leaf Builder::picked(Dice& dice, const Shape& shape, DType dtype) {
  const std::uint32_t seed = dice.roll(1000);
  Leaf source = plain_leaf({kTable}, dtype, seed);
  if (dice.roll(3) == 0) {
    const std::size_t x = pick(dice);
    const Tensor& value = at(x);
    if (value.numel() > 0 && value.dtype() != DType::bool_)
      source = {where(isfinite(value), value, 1).to(dtype).reshape({-1}),
                fmt::format("where(isfinite({0}), {0}, 1).to(DType::{1}).reshape({{-1}})", v(x), name(dtype))};
  }
  const std::int64_t n = source.tensor.numel().value();
  const std::uint32_t factor = 1 + dice.roll(9);
  const std::string positions = fmt::format("remainder(iota({}) * {}, {}) - 1", braces(shape), factor, n + 2);
  const Tensor computed = remainder(iota(shape) * factor, n + 2) - 1;
  if (dice.roll(2) == 0) return {take(source.tensor, computed), fmt::format("take({}, {})", source.text, positions)};
  return {take(source.tensor, in_memory(computed)),
          fmt::format("take({}, Tensor(({}).realize()))", source.text, positions)};
}

// matmul(layer(matmul(q, k) + bias), v); some operands are gathered.
void Builder::chained(Dice& dice) {
  constexpr std::int64_t kRows[] = {64, 80, 65};
  constexpr std::int64_t kDepths[] = {8, 16};
  constexpr std::int64_t kKeys[] = {24, 32, 17, 36};
  constexpr std::int64_t kColumns[] = {20, 8, 24};
  const std::int64_t m = kRows[dice.roll(std::size(kRows))], depth = kDepths[dice.roll(std::size(kDepths))];
  const std::int64_t n = kKeys[dice.roll(std::size(kKeys))], e = kColumns[dice.roll(std::size(kColumns))];
  const DType dtype = dice.roll(4) == 0 ? DType::float64 : DType::float32;
  const auto operand = [&](const Shape& shape) {
    return dice.roll(5) == 0 ? picked(dice, shape, dtype) : plain_leaf(shape, dtype, dice.roll(1000));
  };
  const Leaf q = operand({m, depth}), k = operand({n, depth}), w = operand({n, e});
  Leaf x{matmul(q.tensor, k.tensor.transpose()) * 0.125,
         fmt::format("matmul({}, ({}).transpose()) * 0.125", q.text, k.text)};
  const auto add_to = [&](Leaf& to, const Leaf& more) {
    to = {to.tensor + more.tensor, fmt::format("{} + {}", to.text, more.text)};
  };
  if (dice.roll(2) == 0) add_to(x, picked(dice, {m, n}, dtype));
  switch (dice.roll(5)) {
    case 0:
      x = {x.tensor - max(x.tensor, -1, true),
           fmt::format("[](Tensor x) {{ return x - max(x, -1, true); }}({})", x.text)};
      break;
    case 1:
      x = {layer_norm(x.tensor), fmt::format("layer_norm({})", x.text)};
      break;
    case 2:
      x = {relu(x.tensor), fmt::format("relu({})", x.text)};
      break;
    default:
      x = {softmax(x.tensor), fmt::format("softmax({})", x.text)};
  }
  Leaf out{matmul(x.tensor, w.tensor), fmt::format("matmul({}, {})", x.text, w.text)};
  if (dice.roll(3) == 0) add_to(out, picked(dice, {m, e}, dtype));
  if (dice.roll(4) == 0) {
    const Leaf last = plain_leaf({e, 16}, dtype, dice.roll(1000));
    out = {matmul(softmax(out.tensor), last.tensor), fmt::format("matmul(softmax({}), {})", out.text, last.text)};
  }
  add(out);
}

}  // namespace oriel::testing
