// Keys, bits, and the distributions that one formula of uniform numbers gives.
#include "functions/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/parts.hpp"
#include "formula/interpolation.hpp"
#include "formula/room.hpp"
#include "graph/fold.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace api {

using graph::Scalar;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of a number a bool, of a value where it is.
template <class T>
auto inside(Domain domain, const T& x) -> decltype(x < kInfinity) {
  using std::abs;
  switch (domain) {
    case Domain::Finite:
      return abs(x) < kInfinity;
    case Domain::NotNegative:
      return (x >= 0) & (x < kInfinity);
    case Domain::Positive:
      return (x > 0) & (x < kInfinity);
    case Domain::Share:
      return (x >= 0) & (x <= 1);
    case Domain::Mean:
      return (x >= 0) & (x <= 0x1p53);
    default:
      return x == x;
  }
}

const char* wanted(Domain domain) {
  switch (domain) {
    case Domain::Finite:
      return "a finite number";
    case Domain::NotNegative:
      return "a finite number >= 0";
    case Domain::Positive:
      return "a finite number > 0";
    case Domain::Share:
      return "a number in [0, 1]";
    case Domain::Mean:
      return "a number in [0, 2^53]";
    default:
      return "a number";
  }
}

double least_normal(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::min()
                                 : static_cast<double>(std::numeric_limits<float>::min());
}

Device drawing_device(const Key& key, std::initializer_list<const Operand*> operands) {
  for (const Operand* x : operands)
    if (const Tensor* const tensor = Access::tensor(*x)) return tensor->device();
  return key.bits().device();
}

}  // namespace

Draw::Draw(std::string_view operation, const Key& key, Shape shape, Site site,
           std::initializer_list<const Operand*> operands)
    : call_(operation, site),
      shape_(std::move(shape)),
      device_(drawing_device(key, operands)),
      key_(call_, Access::node(key.bits().to(device_, site))) {}

Value Draw::positions() const {
  return {call_, graph::bitcast(graph::iota(shape_, device_, call_.origin()), DType::uint64, call_.origin())};
}

Value Draw::words(const Value& counter, Words which) const {
  // The bits of a domain are above those of all counters.
  const Value at = which == Words::First ? counter : counter | integer_like(counter, static_cast<std::uint64_t>(which));
  return at.binary(Op::Philox, key_);
}

Value Draw::parameter(const Operand& x, DType dtype, const char* what, Domain domain, std::optional<DType> held) const {
  if (Access::tensor(x) == nullptr && !Access::is_symbolic(x)) {
    const double number = Access::value(x);
    const DType holder = held.value_or(dtype);
    const bool beyond = std::isfinite(number) && std::isinf(Scalar::of_float(holder, number).f);
    if (!inside(domain, number) || beyond) {
      throw ArgumentError(call_.operation(), fmt::format("{} is {}; give {}{}", what, Access::text(x), wanted(domain),
                                                         beyond ? fmt::format(" of {}", name(holder)) : ""));
    }
    const double kept = domain == Domain::Positive ? std::max(number, least_normal(dtype)) : number;
    return {call_, graph::constant(Scalar::of_float(dtype, kept), shape_, device_, call_.origin())};
  }
  const Value own(call_, Access::tensor(x) != nullptr ? call_.node(x) : call_.node(x, dtype, {}, device_));
  Value v = own.to(dtype);
  if (domain == Domain::Positive) v = where(own > 0, max(v, least_normal(dtype)), v);
  return where(inside(domain, v), v, std::numeric_limits<double>::quiet_NaN()).broadcast(shape_);
}

DType Draw::computed(DType dtype) const {
  if (!is_floating(dtype)) throw DTypeError(call_.operation(), fmt::format("gives floats, not {}", name(dtype)));
  return wide_dtype(dtype);
}

Value integer_like(const Value& value, std::uint64_t integer) {
  const Scalar number = Scalar::of_int(value.dtype(), static_cast<std::int64_t>(integer));
  return {value.call(), graph::constant(number, value.shape(), value.device(), value.call().origin())};
}

Value unit(const Value& words, DType dtype, DType wide) {
  if (wide == DType::float64) return words.binary(Op::Shr, 11).to(DType::int64).to(wide) * 0x1p-53;
  const int bits = dtype == DType::float16 ? 11 : dtype == DType::bfloat16 ? 8 : 24;
  return words.binary(Op::Shr, 64 - bits).to(DType::int32).to(wide) * std::ldexp(1.0, -bits);
}

Value unit_above_zero(const Value& words, DType wide) {
  if (wide == DType::float64) return words.binary(Op::Shr, 11).to(DType::int64).to(wide) * 0x1p-53 + 0x1p-53;
  return words.binary(Op::Shr, 33).to(DType::int32).to(wide) * 0x1p-31 + 0x1p-32;
}

Value normals(const Draw& draw, const Value& counter, DType wide) {
  const Value first = draw.words(counter);
  const Value radius = sqrt(log(unit_above_zero(first, wide)) * -2);
  // An angle from -pi to pi, of the low word, or of a word of 64 bits.
  const Value turn = wide == DType::float64 ? draw.words(counter, Words::Second).to(DType::int64).to(wide) * 0x1p-64
                                            : first.to(DType::int32).to(wide) * 0x1p-32;
  return radius * sin(turn * (2 * std::numbers::pi));
}

}  // namespace api

using api::Access;
using api::Call;
using api::Domain;
using api::Draw;
using api::Op;
using api::Value;
using api::Words;
using graph::NodePtr;
using graph::Scalar;

namespace {

/// The number of a key that is known; in a trace, or of a key that was computed, there is none.
const Scalar* known_key(const Key& key) {
  const NodePtr node = Access::node(key.bits());
  return node->op == Op::Const ? std::get_if<Scalar>(&node->arg) : nullptr;
}

Tensor key_tensor(const Call& call, std::uint64_t bits, Device device) {
  return Access::tensor(
      graph::constant(Scalar::of_int(DType::uint64, static_cast<std::int64_t>(bits)), {}, device, call.origin()));
}

/// The key at a counter of another key.
Key derived(const Draw& draw, const Key& key, std::uint64_t counter, Words which, Site site) {
  const auto at = static_cast<std::int64_t>(counter | static_cast<std::uint64_t>(which));
  if (const Scalar* const known = known_key(key)) {
    const Scalar operands[] = {Scalar::of_int(DType::uint64, at), *known};
    const auto bits = static_cast<std::uint64_t>(graph::evaluate(Op::Philox, DType::uint64, operands).i);
    return Key(key_tensor(draw.call(), bits, draw.device()), site);
  }
  return Key(draw.words(integer_like(draw.positions(), counter), which).tensor(), site);
}

constexpr std::uint64_t kFolded = (std::uint64_t{1} << 60) - 1;

void check_order(const Call& call, SymInt low, SymInt high) {
  if (low < high) return;
  throw ArgumentError(call.operation(),
                      fmt::format("{} to {} holds no integer; give low < high", to_string(low), to_string(high)));
}

/// floor(x * n / 2^64): the high word of the product of two uint64. `few`: n <= 2^32.
Value high_product(const Value& x, const Value& n, bool few) {
  const Value mask = integer_like(x, 0xffffffff);
  const auto high = [](const Value& word) { return word.binary(Op::Shr, 32); };
  const Value x_high = high(x), x_low = x & mask;
  if (few) return high(x_high * n + high(x_low * n));
  const Value n_high = high(n), n_low = n & mask;
  const Value middle = x_high * n_low + high(x_low * n_low);
  return x_high * n_high + high(middle) + high(x_low * n_high + (middle & mask));
}

}  // namespace

Key::Key(std::uint64_t seed, Site site) : bits_(key_tensor(Call("Key", site), seed, default_device())) {}

Key::Key(const Tensor& bits, Site site) : bits_(bits) {
  base::need<base::kRandom>("Key");
  const Call call("Key", site);
  if (bits.dtype() != DType::uint64)
    throw DTypeError("Key", fmt::format("bits are {}; give a uint64, as bits() does", name(bits.dtype())));
  if (bits.rank() != 0)
    throw ShapeError("Key", fmt::format("bits have shape {}; give one number without axes", to_string(bits.shape())));
}

std::array<Key, 2> split(const Key& key, Site site) {
  base::need<base::kRandom>("split");
  const Draw draw("split", key, {}, site);
  return {derived(draw, key, 0, Words::Split, site), derived(draw, key, 1, Words::Split, site)};
}

std::vector<Key> split(const Key& key, std::int64_t count, Site site) {
  base::need<base::kRandom>("split");
  const Draw draw("split", key, {}, site);
  if (count < 0) throw ArgumentError("split", fmt::format("{} keys; give a number >= 0", count));
  return api::with_room(draw.call(), count, api::kPieceBytes, "keys", [&] {
    std::vector<Key> keys;
    keys.reserve(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k)
      keys.push_back(derived(draw, key, static_cast<std::uint64_t>(k), Words::Split, site));
    return keys;
  });
}

Key fold_in(const Key& key, const Operand& data) {
  base::need<base::kRandom>("fold_in");
  const Site site = Access::site(data);
  const Draw draw("fold_in", key, {}, site, {&data});
  const DType dtype = Access::default_dtype(data);
  if (!is_integer(dtype)) throw DTypeError("fold_in", fmt::format("data is {}; give an integer", name(dtype)));
  if (Access::tensor(data) == nullptr && !Access::is_symbolic(data)) {
    const auto number = static_cast<std::uint64_t>(Access::number(data, DType::int64, "fold_in").i);
    return derived(draw, key, number & kFolded, Words::Fold, site);
  }
  const Value value(draw.call(), draw.call().node(data, DType::int64, {}, draw.device()));
  if (!value.shape().empty())
    throw ShapeError("fold_in", fmt::format("data has shape {}; give one without axes", to_string(value.shape())));
  const Value counter = value.to(DType::uint64);
  return Key(draw.words(counter & integer_like(counter, kFolded), Words::Fold).tensor(), site);
}

Tensor random_bits(const Key& key, const Shape& shape, Site site) {
  base::need<base::kRandom>("random_bits");
  return Draw("random_bits", key, shape, site).words().tensor();
}

Tensor uniform(const Key& key, const Shape& shape, const Operand& low, const Operand& high, DType dtype) {
  base::need<base::kRandom>("uniform");
  const Draw draw("uniform", key, shape, Access::site(low), {&low, &high});
  const DType wide = draw.computed(dtype);
  const Value u = api::unit(draw.words(), dtype, wide);
  const bool plain = Access::tensor(low) == nullptr && Access::tensor(high) == nullptr;
  if (plain && Access::value(low) == 0 && Access::value(high) == 1) return u.to(dtype).tensor();
  const Value from = draw.parameter(low, wide, "low", Domain::Finite, dtype);
  const Value to = draw.parameter(high, wide, "high", Domain::Finite, dtype);
  if (plain && Access::value(low) > Access::value(high)) {
    throw ArgumentError("uniform",
                        fmt::format("low is {} and high {}; give low <= high", Access::text(low), Access::text(high)));
  }
  // A width beyond the range of floats is never computed.
  const Value width = to - from;
  const Value drawn = where(api::is_finite(width), from + u * width, from * (1 - u) + to * u);
  return where(from <= to, drawn, std::numeric_limits<double>::quiet_NaN()).to(dtype).tensor();
}

Tensor randint(const Key& key, const Shape& shape, SymInt low, SymInt high, DType dtype, Site site) {
  base::need<base::kRandom>("randint");
  const Draw draw("randint", key, shape, site);
  const Call& call = draw.call();
  if (!is_integer(dtype)) throw DTypeError("randint", fmt::format("gives integers, not {}", name(dtype)));
  check_order(call, low, high);
  const bool known = !low.is_symbolic() && !high.is_symbolic();
  if (known) {
    (void)Access::number(Operand(low, site), dtype, "randint");
    (void)Access::number(Operand(high - 1, site), dtype, "randint");
  }
  const Value words = draw.words();
  const auto size = [&](SymInt n) {
    return Value(call, graph::size_constant(n, DType::int64, {}, draw.device(), call.origin())).broadcast(shape);
  };
  const auto finish = [&](const Value& place) { return (place.to(DType::int64) + size(low)).to(dtype).tensor(); };
  // The difference wraps to a number below 2^64.
  const Value n = (size(high) - size(low)).to(DType::uint64);
  constexpr std::uint64_t few = std::uint64_t{1} << 32;
  if (known && static_cast<std::uint64_t>(high.value()) - static_cast<std::uint64_t>(low.value()) <= few)
    return finish(high_product(words, n, true));
  // For a large n a second word stands below the first: floor((first * 2^64 + second) * n / 2^128).
  const Value below = high_product(draw.words(draw.positions(), Words::Second), n, false);
  const Value carries = (words * n + below < below) & (integer_like(n, few) < n);
  return finish(high_product(words, n, false) + carries.to(DType::uint64));
}

Tensor bernoulli(const Key& key, const Shape& shape, const Operand& p) {
  base::need<base::kRandom>("bernoulli");
  const Draw draw("bernoulli", key, shape, Access::site(p), {&p});
  const DType wide = Access::default_dtype(p) == DType::float64 ? DType::float64 : DType::float32;
  const Value share = draw.parameter(p, wide, "p", Domain::Share);
  return (api::unit(draw.words(), wide, wide) < share).tensor();
}

Tensor dropout(const Key& key, const Operand& x, double p) {
  base::need<base::kRandom>("dropout");
  const Call call("dropout", x);
  const Value v(call, call.node(x));
  const DType dtype = v.dtype();
  const Draw draw("dropout", key, v.shape(), Access::site(x), {&x});
  const DType wide = draw.computed(dtype);
  if (!(p >= 0 && p <= 1)) throw ArgumentError("dropout", fmt::format("p is {}; give a number in [0, 1]", p));
  if (p == 0) return v.tensor();
  if (p == 1) return v.like(0).tensor();
  const Value kept = api::unit(draw.words(), DType::float32, DType::float32) >= p;
  return where(kept, v.to(wide) * (1 / (1 - p)), 0).to(dtype).tensor();
}

Tensor normal(const Key& key, const Shape& shape, const Operand& mean, const Operand& deviation, DType dtype) {
  base::need<base::kRandom>("normal");
  const Draw draw("normal", key, shape, Access::site(mean), {&mean, &deviation});
  const DType wide = draw.computed(dtype);
  const Value z = normals(draw, draw.positions(), wide);
  const bool plain = Access::tensor(mean) == nullptr && Access::tensor(deviation) == nullptr;
  if (plain && Access::value(mean) == 0 && Access::value(deviation) == 1) return z.to(dtype).tensor();
  const Value middle = draw.parameter(mean, wide, "mean", Domain::Finite);
  const Value spread = draw.parameter(deviation, wide, "deviation", Domain::NotNegative);
  return (middle + spread * z).to(dtype).tensor();
}

Tensor exponential(const Key& key, const Shape& shape, const Operand& mean, DType dtype) {
  base::need<base::kRandom>("exponential");
  const Draw draw("exponential", key, shape, Access::site(mean), {&mean});
  const DType wide = draw.computed(dtype);
  const Value e = -log(api::unit_above_zero(draw.words(), wide));
  if (Access::tensor(mean) == nullptr && Access::value(mean) == 1) return e.to(dtype).tensor();
  return (draw.parameter(mean, wide, "mean", Domain::NotNegative) * e).to(dtype).tensor();
}

}  // namespace oriel
