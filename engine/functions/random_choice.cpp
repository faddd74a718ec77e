// Random orders and choices: random numbers that are sorted, or looked up in running sums.
#include <fmt/format.h>

#include "base/parts.hpp"
#include "functions/random.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/order.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Domain;
using api::Draw;
using api::Op;
using api::Value;

namespace {

/// The positions 0 to n - 1 in random order.
Tensor ordered(const Draw& draw, Site site) {
  const Tensor bits = draw.words().to(DType::int64).tensor();
  return argsort(Operand(bits, site));
}

void check_count(const Call& call, SymInt n, std::int64_t least) {
  if (sym::state_size(n, call.operation())) return;
  if (n < least)
    throw ArgumentError(call.operation(), fmt::format("n is {}; give a number >= {}", to_string(n), least));
}

}  // namespace

Tensor permutation(const Key& key, SymInt n, Site site) {
  base::need<base::kRandom>("permutation");
  check_count(Call("permutation", site), n, 0);
  return ordered(Draw("permutation", key, {n}, site), site);
}

Tensor shuffle(const Key& key, const Operand& x, std::int64_t axis) {
  base::need<base::kRandom>("shuffle");
  const Call call("shuffle", x);
  const Site site = Access::site(x);
  const Value v(call, call.node(x));
  const std::size_t d = call.axis(axis, v.shape().size());
  const Draw draw("shuffle", key, {v.shape()[d]}, site, {&x});
  return take(x, ordered(draw, site), axis, Bounds::zero);
}

Tensor choice(const Key& key, SymInt n, const Shape& shape, bool replace, Site site) {
  base::need<base::kRandom>("choice");
  const Call call("choice", site);
  check_count(call, n, 1);
  if (replace) return api::renamed(call, [&] { return randint(key, shape, 0, n, DType::int64, site); });
  const SymInt count = numel(shape, "choice");
  if (count > n) {
    throw ArgumentError("choice", fmt::format("{} different ones of {}; give a smaller shape, or replace",
                                              to_string(count), to_string(n)));
  }
  const Tensor order = ordered(Draw("choice", key, {n}, site), site);
  return Value(call, Access::node(order)).shrink(0, 0, count).reshape(shape).tensor();
}

namespace {

/// Weights in float64. Rows of large or tiny ones are scaled by a power of two: no sum or quotient of them leaves the
/// range, or loses digits at its end.
Value in_middle(const Value& weights) {
  if (weights.dtype() != DType::float64) return weights.to(DType::float64);
  const Value largest = weights.reduce(Op::ReduceMax, {weights.shape().size() - 1});
  return weights * where(largest > 0x1p900, 0x1p-100, where(largest < 0x1p-900, 0x1p1000, largest.like(1)));
}

}  // namespace

Tensor multinomial(const Key& key, const Operand& weights, std::int64_t count, bool replace) {
  base::need<base::kRandom>("multinomial");
  const Call call("multinomial", weights);
  const Site site = Access::site(weights);
  const Value given(call, call.node(weights));
  const Shape& shape = given.shape();
  if (shape.empty()) throw ShapeError("multinomial", "weights () have no axis; give (.., n)");
  const SymInt n = shape.back();
  if (n == 0) throw ShapeError("multinomial", fmt::format("weights {} have no elements", to_string(shape)));
  if (count < 0 || (!replace && count > n)) {
    throw ArgumentError("multinomial", fmt::format("{} of {} {}; give a number from 0 to n, or replace", count,
                                                   to_string(n), replace ? "positions" : "different positions"));
  }
  const Value w = in_middle(given);
  if (!replace) {
    const Draw draw("multinomial", key, shape, site, {&weights});
    const Tensor races = (-log(api::unit_above_zero(draw.words(), DType::float64)) / w).tensor();
    const Tensor order = argsort(Operand(races, site));
    return Value(call, Access::node(order)).shrink(shape.size() - 1, 0, count).tensor();
  }
  Shape wanted = shape;
  wanted.back() = count;
  const Draw draw("multinomial", key, wanted, site, {&weights});
  const Tensor sums = cumsum(Operand(w.tensor(), site), -1);
  const Value total = Value(draw.call(), Access::node(sums)).shrink(shape.size() - 1, n - 1, n);
  const Tensor at = (api::unit(draw.words(), DType::float64, DType::float64) * total).tensor();
  const Tensor found = searchsorted(sums, Operand(at, site), true);
  // Sums that are 0, infinite or NaN have no element above `at`.
  return Value(call, Access::node(found)).binary(Op::Min, n - 1).tensor();
}

namespace {

/// -log(e) of exponential numbers e = -log(1 - w). Small w, which have more digits than those near 1, give the large
/// ones, on which a choice by the largest depends.
Value gumbels(const Draw& draw, DType wide) {
  const double most = wide == DType::float64 ? 1 - 0x1p-53 : 1 - 0x1p-24;
  return -log(-log1p(-min(api::unit_above_zero(draw.words(), wide), most)));
}

}  // namespace

Tensor gumbel(const Key& key, const Shape& shape, const Operand& location, const Operand& scale, DType dtype) {
  base::need<base::kRandom>("gumbel");
  const Draw draw("gumbel", key, shape, Access::site(location), {&location, &scale});
  const DType wide = draw.computed(dtype);
  const Value middle = draw.parameter(location, wide, "location", Domain::Finite);
  const Value spread = draw.parameter(scale, wide, "scale", Domain::NotNegative);
  return (middle + spread * gumbels(draw, wide)).to(dtype).tensor();
}

Tensor laplace(const Key& key, const Shape& shape, const Operand& mean, const Operand& scale, DType dtype) {
  base::need<base::kRandom>("laplace");
  const Draw draw("laplace", key, shape, Access::site(mean), {&mean, &scale});
  const DType wide = draw.computed(dtype);
  const Value words = draw.words(), size = -log(api::unit_above_zero(words, wide));
  // The last bit of a word, which `size` does not use, is the sign.
  const Value negative = (words & api::integer_like(words, 1)).to(DType::bool_);
  const Value middle = draw.parameter(mean, wide, "mean", Domain::Finite);
  const Value spread = draw.parameter(scale, wide, "scale", Domain::NotNegative);
  return (middle + spread * where(negative, -size, size)).to(dtype).tensor();
}

Tensor categorical(const Key& key, const Operand& logits, std::int64_t axis) {
  base::need<base::kRandom>("categorical");
  const Call call("categorical", logits);
  const Value given(call, call.node(logits));
  const DType wide = api::wide_dtype(api::floating_dtype(given.dtype()));
  const std::size_t d = call.axis(axis, given.shape().size());
  const Draw draw("categorical", key, given.shape(), Access::site(logits), {&logits});
  const Tensor races = (given.to(wide) + Value(call, gumbels(draw, wide).node())).tensor();
  return api::renamed(call, [&] { return argmax(Operand(races, Access::site(logits)), static_cast<std::int64_t>(d)); });
}

}  // namespace oriel
