// Chains of float arithmetic in one pass: they give the bits of the single operations and write nothing beside the
// tile. Stencils become one chain that reads memory in place.
#include <doctest/doctest.h>

#include <bit>
#include <random>

#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace chains_test {

using namespace oriel;
using namespace oriel::test;
using backend::isa::ChainLink;
using backend::isa::Link;

namespace {

constexpr std::int64_t kMost = 512;

template <class T>
struct alignas(64) Numbers {
  T x[kMost + 64];
};

/// Ordinary numbers and special ones alternate.
template <class T>
Numbers<T> numbers(unsigned seed) {
  std::mt19937 random(seed);
  const T edges[] = {0,
                     T(-0.0),
                     1,
                     T(-0.3),
                     std::numeric_limits<T>::denorm_min(),
                     std::numeric_limits<T>::max(),
                     std::numeric_limits<T>::infinity(),
                     -std::numeric_limits<T>::infinity(),
                     std::numeric_limits<T>::quiet_NaN()};
  Numbers<T> f;
  for (T& v : f.x) {
    const auto bits = static_cast<std::uint32_t>(random());
    v = bits % 4 == 0 ? edges[bits / 4 % std::size(edges)]
                      : std::ldexp(static_cast<T>(bits), -24 - static_cast<int>(bits % 20));
    if (bits % 8 == 1) v = -v;
  }
  return f;
}

template <class T>
bool same(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class T>
T larger(T a, T b) {
  return (a > b || a != a) ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return (a < b || a != a) ? a : b;
}

template <class T>
T after(Link op, T s, T x, T y) {
  const volatile T product = x * y;  // the product is rounded, not fused
  switch (op) {
    case Link::Add:
      return s + x;
    case Link::Subtract:
      return s - x;
    case Link::SubtractFrom:
      return x - s;
    case Link::Multiply:
      return s * x;
    case Link::Divide:
      return s / x;
    case Link::DivideInto:
      return x / s;
    case Link::Max:
      return larger(s, x);
    case Link::MaxOf:
      return larger(x, s);
    case Link::Min:
      return smaller(s, x);
    case Link::MinOf:
      return smaller(x, s);
    case Link::AddProduct:
      return s + product;
    case Link::SubtractProduct:
      return s - product;
    default:
      return product - s;
  }
}

constexpr int kLinkKinds = static_cast<int>(Link::SubtractFromProduct) + 1;

template <class T>
void check_chains(const std::string& level) {
  const auto chain = backend::isa::table(level.c_str()).chain[static_cast<int>(dtype_of<T>)];
  std::mt19937 random(9);
  const std::vector<Numbers<T>> in = {numbers<T>(1), numbers<T>(2), numbers<T>(3), numbers<T>(4)};
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t n = round < 300 ? round + 1 : static_cast<std::int64_t>(random() % kMost) + 1;
    const std::size_t shift = random() % 16;  // operands and results begin at any element
    std::vector<ChainLink> links(random() % 5 + 2);
    for (std::size_t l = 0; l + 1 < links.size(); ++l) {
      links[l].op = static_cast<Link>((static_cast<std::size_t>(round) + l * 5) % kLinkKinds);
      links[l].number = random() % 3 == 0;
      links[l].x = in[random() % 4].x + random() % 8;
      links[l].y = in[random() % 4].x + random() % 8;
    }
    links.back() = {Link::End, false, nullptr, nullptr};
    Numbers<T> out = numbers<T>(static_cast<unsigned>(round));
    const Numbers<T> before = out;
    const bool in_place = random() % 4 == 0;
    const T* first = in_place ? out.x + shift : in[0].x + random() % 8;
    std::vector<T> want(first, first + n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (const ChainLink& link : links) {
        if (link.op == Link::End) break;
        const bool product = link.op >= Link::AddProduct;
        const T* x = static_cast<const T*>(link.x);
        const T* y = static_cast<const T*>(link.y);
        T& s = want[static_cast<std::size_t>(i)];
        s = after(link.op, s, link.number && !product ? x[0] : x[i], link.number ? y[0] : y[i]);
      }
    }
    chain(out.x + shift, first, links.data(), n);
    bool right = true;
    for (std::int64_t i = 0; i < kMost + 64; ++i) {
      const std::int64_t at = i - static_cast<std::int64_t>(shift);
      right = right && same(out.x[i], at >= 0 && at < n ? want[static_cast<std::size_t>(at)] : before.x[i]);
    }
    CAPTURE(level);
    CAPTURE(round);
    REQUIRE(right);
  }
}

/// The inner part of an n x n picture, shifted by (y, x).
ShapeTracker shifted(std::int64_t n, std::int64_t y, std::int64_t x) {
  return ShapeTracker(Shape{n, n}).shrink({{1 + y, n - 1 + y}, {1 + x, n - 1 + x}});
}

}  // namespace

TEST_CASE("a chain gives the bits of its links one by one") {
  for (const std::string& level : isa_levels()) {
    check_chains<float>(level);
    check_chains<double>(level);
  }
}

TEST_CASE("a stencil is one chain that reads memory as it lies and writes its rows where they belong") {
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const std::int64_t n : {100, 131, 514}) {
      Builder k({n - 2, n - 2});
      const auto in = k.argument(dtype, n * n);
      const auto out = k.argument(dtype, (n - 2) * (n - 2), true);
      k.stage();
      ValueId sum = k.load(false, in, shifted(n, 0, 0));
      const std::int64_t places[][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
      for (const auto& p : places) sum = k.op(false, Op::Add, dtype, sum, k.load(false, in, shifted(n, p[0], p[1])));
      sum = k.op(false, Op::Mul, dtype, sum, k.constant(false, graph::Scalar::of_float(dtype, 0.2)));
      k.store(false, sum, out, ShapeTracker(Shape{n - 2, n - 2}));
      const Bytes x = random_bytes(dtype, n * n, 7);
      const Bytes want(dtype, (n - 2) * (n - 2));
      interpret(k.p, {&x, &want});
      for (const std::string& level : isa_levels()) {
        const auto plan = backend::eigen::make_tile_plan(k.p, backend::isa::table(level.c_str()), 0);
        REQUIRE(plan->chains.size() == 1);
        CHECK(plan->chains[0].items.size() == 5);
        CHECK(plan->stages[0].outer.size() == 7);  // five loads, the chain, the store
        for (const int threads : {1, 3}) {
          backend::eigen::EigenBackend device({threads, 0, level});
          Bytes got(dtype, (n - 2) * (n - 2));
          run(device, k.p, {&x, &got});
          CHECK(got.same_bits(want));
        }
      }
    }
  }
}

TEST_CASE("weighted sums take their products into the chain, and what is read twice stays a value") {
  const std::int64_t n = 100;
  const ShapeTracker flat(Shape{n});
  const auto chains = [&](bool twice) {
    Builder k({n});
    std::vector<ValueId> x;
    std::vector<Bytes> memory;
    for (unsigned i = 0; i < 4; ++i) {
      x.push_back(k.argument(DType::float32, n));
      memory.push_back(random_bytes(DType::float32, n, i));
    }
    const auto out = k.argument(DType::float32, n, true);
    k.stage();
    for (ValueId& v : x) v = k.load(false, v, flat);
    const auto add = [&](ValueId a, ValueId b) { return k.op(false, Op::Add, DType::float32, a, b); };
    const auto mul = [&](ValueId a, ValueId b) { return k.op(false, Op::Mul, DType::float32, a, b); };
    const ValueId first = mul(x[0], x[1]);
    const ValueId sum = add(first, mul(x[2], x[3]));
    const ValueId less = k.op(false, Op::Sub, DType::float32, mul(x[1], x[2]), sum);
    k.store(false, twice ? add(less, first) : less, out, flat);
    Bytes got(DType::float32, n);
    const Bytes want(DType::float32, n);
    backend::eigen::EigenBackend device({1, 0, ""});
    run(device, k.p, {&memory[0], &memory[1], &memory[2], &memory[3], &got});
    interpret(k.p, {&memory[0], &memory[1], &memory[2], &memory[3], &want});
    CHECK(got.same_bits(want));
    const auto plan = backend::eigen::make_tile_plan(k.p, backend::isa::table(), 0);
    std::vector<std::size_t> links;
    for (const auto& chain : plan->chains) links.push_back(chain.items.size());
    return links;
  };
  CHECK(chains(false) == std::vector<std::size_t>{3});  // x0 * x1; then + x2 * x3; then x1 * x2 minus that
  CHECK(chains(true) ==
        std::vector<std::size_t>{4});  // the first product is read elsewhere, so the chain begins at x2 * x3
}

}  // namespace chains_test
