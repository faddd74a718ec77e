// Every elementwise op over every dtype, in rendered sources.
#include "library.hpp"

#include <algorithm>

namespace element_test {

using namespace oriel;
using namespace oriel::test;

namespace {

// Special values of each dtype and some ordinary numbers.
std::vector<Word> interesting(DType dtype) {
  return with_type(dtype, [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    std::vector<Word> words;
    if constexpr (std::is_same_v<T, bool>) {
      words = {0, 1};
    } else if constexpr (std::is_integral_v<T>) {
      for (const T t : {Limits::min(), Limits::max(), static_cast<T>(Limits::min() + 1)}) words.push_back(put(t));
      for (const int i : {-64, -9, -2, -1, 0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100})
        words.push_back(put(static_cast<T>(i)));
    } else {
      for (const T t : {T(0), T(0.5), T(1), T(1.5), T(2.5), T(3), T(1e-3), T(100.25), T(88.7), T(1e5), T(8388609),
                        T(2147483648.0), T(9.3e18), T(1e30), Limits::infinity(), Limits::quiet_NaN(), Limits::max()}) {
        words.push_back(put(t));
        words.push_back(put(-t));
      }
    }
    return words;
  });
}

template <class T>
bool near(T got, T want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) == std::isnan(want);
  if (got == want) return true;
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return std::fabs(got - want) <= 6 * std::ldexp(T(1), exponent - std::numeric_limits<T>::digits);
}

struct Pairs {
  Bytes a;
  Bytes b;
  Bytes choice;
};
Pairs pairs(DType dtype) {
  const std::vector<Word> some = interesting(dtype);
  const auto m = static_cast<std::int64_t>(some.size());
  Pairs p{Bytes(dtype, m * m), Bytes(dtype, m * m), Bytes(DType::bool_, m * m)};
  for (std::int64_t i = 0; i < m * m; ++i) {
    write_element(p.a, i, some[static_cast<std::size_t>(i % m)]);
    write_element(p.b, i, some[static_cast<std::size_t>(i / m)]);
    write_element(p.choice, i, Word((i * 7 / 3) & 1));
  }
  return p;
}

/// One kernel with these ops, each with an output of its own.
Sample sample_of(DType dtype, const std::vector<Op>& ops) {
  const Pairs p = pairs(dtype);
  const std::int64_t n = p.a.elements();
  const ShapeTracker flat(Shape{n});
  Builder k({n});
  k.p.name = "ops_" + std::string(name(dtype));
  const auto in0 = k.argument(dtype, n);
  const auto in1 = k.argument(dtype, n);
  const auto in2 = k.argument(DType::bool_, n);
  k.stage();
  const ValueId a = k.load(false, in0, flat);
  const ValueId b = k.load(false, in1, flat);
  const ValueId c = k.load(false, in2, flat);
  for (const Op op : ops) {
    const auto rule = graph::row(op).rule;
    const bool test = rule == graph::DTypeRule::Compare || rule == graph::DTypeRule::FloatTest;
    const DType to = test ? DType::bool_ : dtype;
    const int arity = graph::row(op).arity;
    const ValueId v = arity == 3 ? k.op(false, op, to, c, a, b) : k.op(false, op, to, a, arity > 1 ? b : kNoValue);
    if (arity == 3) k.p.stages.back().outer.back().from = dtype;
    k.store(false, v, k.argument(to, n, true), flat);
  }
  const auto agree = [dtype, ops](std::size_t output, std::int64_t, Word got, Word want) {
    const Op op = ops[output];
    const auto rule = graph::row(op).rule;
    if (rule == graph::DTypeRule::Compare || rule == graph::DTypeRule::FloatTest) return got == want;
    const bool inexact = graph::row(op).error.float32 != 0;
    if (inexact && dtype == DType::float32) return near(get<float>(got), get<float>(want));
    if (inexact && dtype == DType::float64) return near(get<double>(got), get<double>(want));
    // Either zero may count as the larger one.
    if (op == Op::Min || op == Op::Max) {
      if (dtype == DType::float32 && get<float>(got) == get<float>(want)) return true;
      if (dtype == DType::float64 && get<double>(got) == get<double>(want)) return true;
    }
    return same_number(dtype, got, want);
  };
  return {k.p, {p.a, p.b, p.choice}, {}, agree};
}

}  // namespace

TEST_CASE("every elementwise op over every dtype, alone and in a large kernel") {
  std::vector<Sample> samples;
  for (const DType dtype : register_dtypes()) {
    std::vector<Op> ops;
    for (const graph::OpRow& row : graph::kOpTable) {
      if (row.op_class == graph::OpClass::Elementwise && row.rule != graph::DTypeRule::Convert && takes(row.op, dtype))
        ops.push_back(row.op);
    }
    samples.push_back(sample_of(dtype, ops));
    // The same ops in kernels that are so small that each value has a name.
    if (dtype != DType::float32 && dtype != DType::int8) continue;
    for (std::size_t first = 0; first < ops.size(); first += 16) {
      const std::size_t last = std::min(ops.size(), first + 16);
      samples.push_back(sample_of(
          dtype, {ops.begin() + static_cast<std::ptrdiff_t>(first), ops.begin() + static_cast<std::ptrdiff_t>(last)}));
    }
  }
  check_samples(samples);
}

TEST_CASE("casts between all dtypes, bitcasts between those of a width") {
  std::vector<Sample> samples;
  for (const DType from : register_dtypes()) {
    const Bytes a = pairs(from).a;
    const std::int64_t n = a.elements();
    const ShapeTracker flat(Shape{n});
    Builder k({n});
    k.p.name = "casts_" + std::string(name(from));
    const auto in0 = k.argument(from, n);
    k.stage();
    const ValueId x = k.load(false, in0, flat);
    for (const DType to : register_dtypes()) {
      k.store(false, k.op(false, Op::Cast, to, x), k.argument(to, n, true), flat);
      if (itemsize(to) != itemsize(from)) continue;
      k.store(false, k.op(false, Op::Bitcast, to, x), k.argument(to, n, true), flat);
    }
    samples.push_back({k.p, {a}, {}, {}});
  }
  check_samples(samples);
}

TEST_CASE("halves are widened, rounded, narrowed and read as bits") {
  std::vector<Sample> samples;
  for (const DType half : {DType::float16, DType::bfloat16}) {
    const std::int64_t n = 65536;
    Bytes in(half, n);
    Bytes bits(DType::int16, n);
    for (std::int64_t i = 0; i < n; ++i) {
      in.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
      bits.as<std::int16_t>()[i] = static_cast<std::int16_t>(i * 3);
    }
    const ShapeTracker flat(Shape{n});
    Builder k({n});
    k.p.name = std::string(name(half));
    const auto i0 = k.argument(half, n);
    const auto i1 = k.argument(DType::int16, n);
    k.stage();
    const ValueId x = k.load(false, i0, flat);
    k.store(false, x, k.argument(DType::float32, n, true), flat);
    const ValueId c = k.constant(false, graph::Scalar::of_float(DType::float32, 1.0 / 3.0));
    const ValueId third = k.round(false, half, k.op(false, Op::Mul, DType::float32, x, c));
    k.store(false, third, k.argument(half, n, true), flat.flip({0}));
    const ValueId as_bits = k.op(false, Op::Bitcast, DType::int16, x);
    k.p.stages[0].outer.back().from = half;
    // NaNs may have any bits.
    const ValueId number = k.op(false, Op::Eq, DType::bool_, x, x);
    const ValueId none = k.constant(false, graph::Scalar::of_int(DType::int16, 0));
    const ValueId chosen = k.op(false, Op::Where, DType::int16, number, as_bits, none);
    k.p.stages[0].outer.back().from = DType::int16;
    k.store(false, chosen, k.argument(DType::int16, n, true), flat);
    const ValueId back = k.op(false, Op::Bitcast, half, k.load(false, i1, flat));
    k.store(false, back, k.argument(DType::float32, n, true), flat);
    samples.push_back({k.p, {in, bits}, {}, {}});
  }
  check_samples(samples);
}

TEST_CASE("numbers in the program and numbers given at launch, of every dtype") {
  std::vector<Sample> samples;
  for (const DType dtype : register_dtypes()) {
    Builder k({3});
    k.p.name = "numbers_" + std::string(name(dtype));
    std::vector<graph::Scalar> parameters;
    k.stage();
    const ShapeTracker flat(Shape{3});
    for (const Word w : interesting(dtype)) {
      graph::Scalar s;
      s.dtype = dtype;
      if (dtype == DType::float32) {
        s.f = static_cast<double>(get<float>(w));
      } else if (dtype == DType::float64) {
        s.f = get<double>(w);
      } else {
        s = with_type(dtype, [&](auto zero) {
          return graph::Scalar::of_int(dtype, static_cast<std::int64_t>(get<decltype(zero)>(w)));
        });
      }
      k.store(false, k.constant(false, s), k.argument(dtype, 3, true), flat);
      const auto parameter = static_cast<std::int32_t>(parameters.size());
      parameters.push_back(s);
      const ValueId given = k.constant(false, graph::Scalar::of_int(dtype, 0), parameter);
      k.store(false, k.op(false, Op::Max, dtype, given, given), k.argument(dtype, 3, true), flat);
    }
    samples.push_back({k.p, {}, parameters, {}});
  }
  check_samples(samples);
}

}  // namespace element_test
