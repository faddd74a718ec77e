// Every elementwise op over every dtype, compared with the same op on one scalar at a time.
#include <doctest/doctest.h>

#include <algorithm>

#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace element_test {

using namespace oriel;
using namespace oriel::test;

namespace {

// Special values of each dtype and some ordinary numbers.
std::vector<Word> interesting(DType dtype) {
  return with_type(dtype, [](auto zero) {
    using T = decltype(zero);
    std::vector<Word> words;
    const auto add = [&](T t) { words.push_back(put(t)); };
    if constexpr (std::is_same_v<T, bool>) {
      add(false);
      add(true);
    } else if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      for (const T t :
           {Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1), static_cast<T>(Limits::min() + 1)}) {
        add(t);
      }
      for (int i = -9; i < 10; ++i) add(static_cast<T>(i));
      for (int i : {31, 32, 33, 63, 64, 100, -64}) add(static_cast<T>(i));
    } else {
      using Limits = std::numeric_limits<T>;
      for (const T t : {T(0),
                        Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::min(),
                        Limits::denorm_min(),
                        Limits::max(),
                        T(0.5),
                        T(1),
                        T(1.5),
                        T(2.5),
                        T(0.49999997),
                        T(3),
                        T(1e-3),
                        T(100.25),
                        T(88.7),
                        T(104),
                        T(1e5),
                        T(8388609),
                        T(2147483648.0),
                        T(9.3e18),
                        T(1e30)}) {
        add(t);
        add(-t);
      }
    }
    return words;
  });
}

// The difference in units in the last place of the nearer result; 0 for equal numbers and for two NaNs.
template <class T>
double ulps(T got, T want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e9;
  if (got == want) return 0;
  if (std::isinf(got) || std::isinf(want)) return 1e9;
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::fabs(got - want) / std::ldexp(T(1), exponent - std::numeric_limits<T>::digits));
}

struct Operands {
  Bytes a;
  Bytes b;
  Bytes c;
};

/// Every special number with every other.
Operands grid(Op op, DType from) {
  const std::vector<Word> some = interesting(from);
  const int arity = graph::row(op).arity;
  const auto m = static_cast<std::int64_t>(some.size());
  const std::int64_t n = arity == 1 ? m : m * m;
  Operands o{Bytes(op == Op::Where ? DType::bool_ : from, n), Bytes(from, n), Bytes(from, n)};
  for (std::int64_t i = 0; i < n; ++i) {
    const Word x = some[static_cast<std::size_t>(i % m)];
    const Word y = some[static_cast<std::size_t>(i / m)];
    write_element(o.a, i, op == Op::Where ? Word((i * 7 / 3) & 1) : x);
    write_element(o.b, i, op == Op::Where ? x : y);
    write_element(o.c, i, y);
  }
  return o;
}

/// Special and ordinary numbers in a random order, rotated by `transposed` places: the result of a lane must not depend
/// on the other lanes.
Operands mixed(Op op, DType from, std::int64_t transposed) {
  constexpr std::int64_t n = 1600;
  const std::vector<Word> some = interesting(from);
  std::mt19937_64 random(7);
  const Bytes ordinary = random_bytes(from, n, 3);
  const auto draw = [&](std::int64_t i) {
    const auto which = random();
    return which % 3 == 0 ? read_element(ordinary, i) : some[static_cast<std::size_t>(which / 3 % some.size())];
  };
  Operands o{Bytes(op == Op::Where ? DType::bool_ : from, n), Bytes(from, n), Bytes(from, n)};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = (i + transposed) % n;
    const Word x = draw(i);
    write_element(o.a, at, op == Op::Where ? Word(random() & 1) : x);
    write_element(o.b, at, draw((i + 1) % n));
    write_element(o.c, at, draw((i + 2) % n));
  }
  return o;
}

Bytes check_op(backend::Backend& device, Op op, DType from, DType to, const Operands& operands) {
  const auto& [a, b, c] = operands;
  const int arity = graph::row(op).arity;
  const std::int64_t n = a.elements();
  Bytes got(to, n);
  const Bytes want(to, n);
  Builder k({n});
  const ShapeTracker flat(Shape{n});
  const auto in0 = k.argument(a.dtype(), n);
  const auto in1 = k.argument(from, n);
  const auto in2 = k.argument(from, n);
  const auto out = k.argument(to, n, true);
  k.stage();
  const ValueId va = k.load(false, in0, flat);
  const ValueId vb = arity > 1 ? k.load(false, in1, flat) : kNoValue;
  const ValueId vc = arity > 2 ? k.load(false, in2, flat) : kNoValue;
  const ValueId v = k.op(false, op, to, va, vb, vc);
  k.store(false, v, out, flat);
  run(device, k.p, {&a, &b, &c, &got});
  interpret(k.p, {&a, &b, &c, &want});
  int bad = 0;
  for (std::int64_t i = 0; i < n && bad < 5; ++i) {
    const Word g = read_element(got, i);
    const Word w = read_element(want, i);
    bool fine = g == w;
    if (is_floating(to)) {
      const bool single = to == DType::float32;
      const double error = single ? ulps(get<float>(g), get<float>(w)) : ulps(get<double>(g), get<double>(w));
      fine = graph::row(op).error.float32 != 0
                 ? error <= 4
                 : error == 0 && (g == w || w != put(0.0) || op == Op::Max || op == Op::Min);
    }
    if (!fine) ++bad;
    INFO(graph::name(op), " of ", name(from), " to ", name(to), " at ", i, ": got ", g, ", want ", w);
    CHECK(fine);
  }
  return got;
}

}  // namespace

TEST_CASE("every elementwise op agrees with its scalar meaning") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    backend::eigen::EigenBackend device({1, 0, level});
    for (const graph::OpRow& row : graph::kOpTable) {
      if (row.op_class != graph::OpClass::Elementwise) continue;
      for (const DType from : register_dtypes()) {
        if (!takes(row.op, from)) continue;
        if (row.op == Op::Cast) {
          for (const DType to : register_dtypes()) check_op(device, row.op, from, to, grid(row.op, from));
        } else if (row.op == Op::Bitcast) {
          for (const DType to : register_dtypes()) {
            if (itemsize(to) == itemsize(from)) check_op(device, row.op, from, to, grid(row.op, from));
          }
        } else {
          const bool test = row.rule == graph::DTypeRule::Compare || row.rule == graph::DTypeRule::FloatTest;
          check_op(device, row.op, from, test ? DType::bool_ : from, grid(row.op, from));
        }
      }
    }
  }
}

TEST_CASE("every elementwise op, where NaN, infinities, zeros, subnormal and ordinary numbers stand in any order") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    backend::eigen::EigenBackend device({1, 0, level});
    for (const graph::OpRow& row : graph::kOpTable) {
      if (row.op_class != graph::OpClass::Elementwise || row.rule == graph::DTypeRule::Convert) continue;
      for (const DType from : register_dtypes()) {
        if (!takes(row.op, from)) continue;
        const bool test = row.rule == graph::DTypeRule::Compare || row.rule == graph::DTypeRule::FloatTest;
        const DType to = test ? DType::bool_ : from;
        const Bytes got = check_op(device, row.op, from, to, mixed(row.op, from, 0));
        const std::int64_t transposed = 37;
        const Bytes again = check_op(device, row.op, from, to, mixed(row.op, from, transposed));
        std::int64_t differ = 0;
        for (std::int64_t i = 0; i < got.elements(); ++i)
          differ += read_element(got, i) != read_element(again, (i + transposed) % got.elements());
        INFO(row.name, " of ", name(from));
        CHECK(differ == 0);
      }
    }
  }
}

TEST_CASE("halves are widened, rounded and narrowed to nearest even") {
  for (const std::string& level : isa_levels()) {
    backend::eigen::EigenBackend device({1, 0, level});
    for (const DType half : {DType::float16, DType::bfloat16}) {
      CAPTURE(level);
      CAPTURE(name(half));
      const std::int64_t n = 65536;
      Bytes in(half, n);
      for (std::int64_t i = 0; i < n; ++i) in.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
      Bytes wide(DType::float32, n);
      Bytes same(half, n);
      Bytes third(DType::float32, n);
      Bytes bits(DType::int16, n);
      const ShapeTracker flat(Shape{n});
      Builder k({n});
      const auto i0 = k.argument(half, n);
      const auto o0 = k.argument(DType::float32, n, true);
      const auto o1 = k.argument(half, n, true);
      const auto o2 = k.argument(DType::float32, n, true);
      const auto o3 = k.argument(DType::int16, n, true);
      k.stage();
      const ValueId x = k.load(false, i0, flat);
      k.store(false, x, o0, flat);
      k.store(false, x, o1, flat);
      const ValueId c = k.constant(false, graph::Scalar::of_float(DType::float32, 1.0 / 3.0));
      k.store(false, k.round(false, half, k.op(false, Op::Mul, DType::float32, x, c)), o2, flat);
      Instr cast;
      cast.op = Op::Bitcast;
      cast.from = half;
      cast.dtype = DType::int16;
      cast.result = k.value(DType::int16);
      cast.a = x;
      k.store(false, k.add(false, cast), o3, flat);
      run(device, k.p, {&in, &wide, &same, &third, &bits});
      int bad = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const float value = half_value(static_cast<std::uint16_t>(i), half);
        if (std::isnan(value)) {
          bad += !std::isnan(wide.as<float>()[i]) || !std::isnan(third.as<float>()[i]);
          continue;
        }
        bad += put(wide.as<float>()[i]) != put(value);
        bad += same.as<std::uint16_t>()[i] != i;
        bad += put(third.as<float>()[i]) != put(to_half(value * (1.0F / 3.0F), half));
        bad += static_cast<std::uint16_t>(bits.as<std::int16_t>()[i]) != i;
      }
      CHECK(bad == 0);
    }
  }
}

TEST_CASE("an element's bits do not depend on its place in a tile") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    backend::eigen::EigenBackend device({1, 0, level});
    for (const Op op :
         {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tan, Op::Tanh, Op::Erf, Op::Rsqrt}) {
      const std::int64_t n = 2100;
      Bytes in = random_bytes(DType::float32, n, 3);
      const auto result = [&](std::int64_t first, std::int64_t count) {
        Bytes out(DType::float32, count);
        Builder k({count});
        const auto i0 = k.argument(DType::float32, n);
        const auto o0 = k.argument(DType::float32, count, true);
        k.stage();
        const ValueId x = k.load(false, i0, ShapeTracker(View::make({count}, {1}, first)));
        k.store(false, k.op(false, op, DType::float32, x), o0, ShapeTracker(Shape{count}));
        run(device, k.p, {&in, &out});
        return out;
      };
      const Bytes whole = result(0, n);
      for (const std::int64_t first : {1, 5, 17, 1023}) {
        for (const std::int64_t count : {1, 3, 15, 16, 100, 1030}) {
          const Bytes part = result(first, count);
          CHECK(std::memcmp(part.data(), whole.as<float>() + first, part.bytes()) == 0);
        }
      }
    }
  }
}

TEST_CASE("constants: fixed, given at launch, and more of them than registers are kept for") {
  backend::eigen::EigenBackend device({1, 0, ""});
  const std::int64_t n = 1500;
  const ShapeTracker flat(Shape{n});
  Bytes in = random_bytes(DType::float32, n, 9);
  Bytes got(DType::float32, n);
  const Bytes want(DType::float32, n);
  Builder k({n});
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, n, true);
  k.stage();
  ValueId x = k.load(false, i0, flat);
  for (int i = 0; i < 100; ++i) {
    const ValueId c = k.constant(false, graph::Scalar::of_float(DType::float32, i), i % 10 == 0 ? i / 10 : -1);
    x = k.op(false, i % 2 == 0 ? Op::Add : Op::Max, DType::float32, x, c);
  }
  k.store(false, x, o0, flat);
  for (const double base : {2.0, -7.5}) {
    std::vector<graph::Scalar> parameters;
    for (int i = 0; i < 10; ++i) parameters.push_back(graph::Scalar::of_float(DType::float32, base * i));
    run(device, k.p, {&in, &got}, parameters);
    interpret(k.p, {&in, &want}, parameters);
    CHECK(got.same_bits(want));
  }
  CHECK_THROWS_WITH_AS(run(device, k.p, {&in, &got}), "launch: kernel test takes 10 scalars; got 0", InternalError);
}

}  // namespace element_test
