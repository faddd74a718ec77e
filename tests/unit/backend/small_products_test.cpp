// Many small matrices are multiplied side by side. Their results have the bits that the tile machine computes element
// by element, for all shapes, views, dtypes, instruction sets and numbers of threads.
#include "backend/eigen/products/small_plan.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "backend/eigen/run.hpp"
#include "contraction_cases.hpp"

namespace small_products_test {

using namespace oriel;
using namespace oriel::test;
using backend::eigen::Plan;

namespace {

std::vector<Bytes> run_on(const Case& c, const Plan& plan, int threads) {
  std::vector<Bytes> out;
  for (const auto& [dtype, n] : c.outputs) out.emplace_back(dtype, n);
  std::vector<void*> arguments;
  for (const Bytes& b : c.inputs) arguments.push_back(b.data());
  for (const Bytes& b : out) arguments.push_back(b.data());
  const graph::Scalar parameters[] = {graph::Scalar::of_float(DType::float64, 2)};
  backend::eigen::Threads team(threads);
  backend::eigen::run_plan(plan, team, arguments, parameters, nullptr);
  return out;
}

/// Compares both paths of the tile machine. Returns how many instruction sets multiplied side by side.
int check_bits(const Case& c) {
  // Numbers whose sums depend on the order.
  for (const Bytes& b : c.inputs) std::memcpy(b.data(), random_bytes(b.dtype(), b.elements(), 7).data(), b.bytes());
  codegen::verify(c.program);
  int taken = 0;
  for (const std::string& isa : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(isa.c_str());
    const std::shared_ptr<const Plan> plan = backend::eigen::make_plan(c.program, table, 0);
    if (plan->path != backend::KernelPath::SmallProducts) continue;
    ++taken;
    const std::shared_ptr<Plan> by_element = backend::eigen::make_tile_plan(c.program, table, 0);
    by_element->path = backend::KernelPath::Reductions;
    const std::vector<Bytes> want = run_on(c, *by_element, 1);
    for (const int threads : {1, 3}) {
      const std::vector<Bytes> got = run_on(c, *plan, threads);
      for (std::size_t k = 0; k < want.size(); ++k) {
        CAPTURE(isa);
        CAPTURE(threads);
        CAPTURE(k);
        const bool same = got[k].same_bits(want[k]);
        if (!same) INFO(to_string(c.program));
        REQUIRE(same);
      }
    }
  }
  return taken;
}

int level_count() { return static_cast<int>(isa_levels().size()); }

struct Sizes {
  std::int64_t batches, rows, columns, depth;
};

/// A product of matrices that lie one behind the other in memory, or transposed.
Case plain(DType dtype, const Sizes& s, bool left_transposed, bool right_transposed) {
  Case c;
  const auto& [batches, rows, columns, depth] = s;
  c.inputs.emplace_back(dtype, batches * rows * depth);
  c.inputs.emplace_back(dtype, batches * columns * depth);
  c.outputs.push_back({dtype, batches * rows * columns});
  Builder k({batches, rows, columns});
  const auto i0 = k.argument(dtype, batches * rows * depth);
  const auto i1 = k.argument(dtype, batches * columns * depth);
  const auto o0 = k.argument(dtype, batches * rows * columns, true);
  const Shape all{batches, rows, columns, depth};
  k.stage({depth});
  const Ints left = left_transposed ? Ints{rows * depth, 1, 0, rows} : Ints{rows * depth, depth, 0, 1};
  const Ints right = right_transposed ? Ints{columns * depth, 0, depth, 1} : Ints{columns * depth, 0, 1, columns};
  const ValueId a = k.load(true, i0, ShapeTracker(View::make(all, left)));
  const ValueId b = k.load(true, i1, ShapeTracker(View::make(all, right)));
  const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, dtype, a, b));
  k.store(false, sum, o0, ShapeTracker(Shape{batches, rows, columns}));
  c.program = k.p;
  return c;
}

/// A view of memory along these axes of `all`: in any order, some backwards, some with gaps. Its stride is 0 along the
/// other axes, and sometimes along the first one. `elements` receives the elements of the memory.
ShapeTracker any_view(const Shape& all, std::vector<std::size_t> axes, bool may_repeat, std::mt19937& random,
                      std::int64_t& elements) {
  std::vector<std::int64_t> strides(all.size(), 0);
  if (random() % 2 == 0) std::shuffle(axes.begin(), axes.end(), random);
  std::int64_t offset = 0;
  elements = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const std::size_t d = axes[k];
    const std::int64_t extent = all[d].value();
    if (may_repeat && d == 0 && random() % 8 == 0) continue;
    const bool backwards = random() % 8 == 0;
    strides[d] = backwards ? -elements : elements;
    if (backwards) offset += (extent - 1) * elements;
    elements *= extent + (random() % 6 == 0 ? 1 : 0);
  }
  Ints list;
  for (const std::int64_t s : strides) list.push_back(s);
  return ShapeTracker(View::make(all, list, offset).canonical());
}

/// A random product of small matrices over random views.
Case viewed(unsigned seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](std::int64_t n) { return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  const DType dtypes[] = {DType::float32, DType::float64, DType::float32, DType::int32, DType::int8};
  const DType dtype = dtypes[random() % std::size(dtypes)];
  const bool two = random() % 3 == 0;  // loops over the batch
  Case c;
  const std::int64_t first = two ? up_to(7) + 1 : up_to(60) + 7, second = two ? up_to(7) + 3 : 1;
  const std::int64_t rows = up_to(9), columns = up_to(9), depth = 1 + up_to(random() % 6 == 0 ? 70 : 9);
  const Shape all{first, second, rows, columns, depth};
  Builder k({first, second, rows, columns});
  std::int64_t a_elements = 0, b_elements = 0, out_elements = 0;
  const ShapeTracker a = any_view(all, {0, 1, 2, 4}, true, random, a_elements);
  const ShapeTracker b = any_view(all, {0, 1, 4, 3}, false, random, b_elements);
  const ShapeTracker out = any_view({first, second, rows, columns}, {0, 1, 2, 3}, false, random, out_elements);
  const auto i0 = k.argument(dtype, a_elements), i1 = k.argument(dtype, b_elements);
  c.inputs.emplace_back(dtype, a_elements);
  c.inputs.emplace_back(dtype, b_elements);
  const std::uint32_t after = random() % 4;
  std::int32_t bias = -1;
  if (after == 0) {
    bias = k.argument(dtype, columns);
    c.inputs.emplace_back(dtype, columns);
  }
  const auto o0 = k.argument(dtype, out_elements, true);
  c.outputs.push_back({dtype, out_elements});
  k.stage({depth});
  const ValueId x = k.load(true, i0, a), y = k.load(true, i1, b);
  ValueId sum =
      k.reduce(Op::Sum, random() % 2 == 0 ? k.op(true, Op::Mul, dtype, x, y) : k.op(true, Op::Mul, dtype, y, x));
  if (after == 0) {
    const View row = View::make({first, second, rows, columns}, {0, 0, 0, 1}).canonical();
    sum = k.op(false, Op::Add, dtype, sum, k.load(false, bias, ShapeTracker(row)));
  } else if (after == 1) {
    sum = k.op(false, Op::Mul, dtype, sum, sum);
  }
  k.store(false, sum, o0, out);
  c.program = k.p;
  return c;
}

}  // namespace

TEST_CASE("every size up to what blocks take, with the bits of the tile machine") {
  int taken = 0, cases = 0;
  for (const std::int64_t n : {2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15}) {
    for (const std::int64_t batches : {8, 16, 37}) {
      for (const DType dtype : {DType::float32, DType::float64}) {
        CAPTURE(n);
        CAPTURE(batches);
        taken += check_bits(plain(dtype, {batches, n, n, n}, n % 2 == 0, n % 3 == 0));
        ++cases;
      }
    }
  }
  CHECK(taken == cases * level_count());
}

TEST_CASE("successive matrices of 2 x 2 are multiplied where they lie") {
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const std::int64_t batches : {8, 15, 16, 37, 1001}) {
      CAPTURE(name(dtype));
      CAPTURE(batches);
      const Case c = plain(dtype, {batches, 2, 2, 2}, false, false);
      if (dtype == DType::float32)
        CHECK(backend::eigen::EigenBackend({1, 0, ""}).method(c.program).find("where they lie") != std::string::npos);
      CHECK(check_bits(c) == level_count());
    }
  }
  const Case transposed = plain(DType::float32, {20, 2, 2, 2}, true, false);
  CHECK(backend::eigen::EigenBackend({1, 0, ""}).method(transposed.program).find("side by side") != std::string::npos);
}

TEST_CASE("successive vectors of up to four elements and squares are multiplied where they lie") {
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const std::int64_t n : {2, 3, 4, 5}) {
      for (const bool transposed : {false, true}) {
        for (const std::int64_t batches : {8, 15, 37, 1001}) {
          CAPTURE(name(dtype));
          CAPTURE(n);
          CAPTURE(transposed);
          CAPTURE(batches);
          const Case c = plain(dtype, {batches, 1, n, n}, false, transposed);
          const std::string method = backend::eigen::EigenBackend({1, 0, ""}).method(c.program);
          CHECK((method.find("where they lie") != std::string::npos) == (n <= 4));
          CHECK(check_bits(c) == level_count());
        }
      }
    }
  }
}

TEST_CASE("flat, narrow and deep matrices") {
  for (const Sizes& s : std::vector<Sizes>{{20, 1, 3, 2},
                                           {20, 3, 1, 2},
                                           {33, 2, 3, 31},
                                           {33, 3, 2, 32},
                                           {33, 3, 5, 33},
                                           {19, 2, 2, 64},
                                           {19, 2, 2, 100},
                                           {40, 2, 3, 257},
                                           {16, 30, 8, 3},
                                           {18, 4, 14, 2}}) {
    for (const bool transposed : {false, true}) {
      CAPTURE(s.columns);
      CAPTURE(s.depth);
      CAPTURE(transposed);
      const Case c = plain(DType::float32, s, transposed, transposed);
      const std::string method = backend::eigen::EigenBackend({1, 0, ""}).method(c.program);
      CAPTURE(method);
      const int here = check_bits(c);
      CHECK(here == level_count());
    }
  }
}

TEST_CASE("every dtype that multiplies, side by side") {
  int taken = 0, cases = 0;
  for (const DType dtype : register_dtypes()) {
    if (dtype == DType::bool_) continue;
    for (const Sizes& s : {Sizes{35, 3, 4, 5}, Sizes{50, 2, 2, 2}}) {
      taken += check_bits(plain(dtype, s, false, true));
      ++cases;
    }
  }
  CHECK(taken == cases * level_count());
}

TEST_CASE("random loops and views, with and without operations on the results") {
  int taken = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    taken += check_bits(viewed(seed));
  }
  CHECK(taken > 200 * level_count());
}

TEST_CASE("random factors that are computed or padded, most of which run element by element") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Generator g(seed + 500);
    std::vector<Loop> outer;
    const auto some = [&](Role role, std::int64_t most, std::int64_t extent) {
      for (std::int64_t n = 1 + g.below(most); n > 0; --n) outer.push_back({role, 1 + g.below(extent)});
    };
    some(Role::Batch, 2, 12);
    some(Role::Row, 2, 4);
    some(Role::Column, 2, 4);
    if (seed % 2 == 0) std::shuffle(outer.begin(), outer.end(), std::mt19937(seed));
    std::vector<std::int64_t> inner;
    for (std::int64_t n = 1 + g.below(2); n > 0; --n) inner.push_back(1 + g.below(9));
    CAPTURE(seed);
    check_bits(g.make(seed % 4 == 3 ? DType::float64 : DType::float32, outer, inner));
  }
}

TEST_CASE("a sum of products that are all -0 is 0") {
  Case c = plain(DType::float32, {20, 2, 2, 2}, false, false);
  for (std::int64_t i = 0; i < c.inputs[0].elements(); ++i) c.inputs[0].as<float>()[i] = -0.0F;
  for (std::int64_t i = 0; i < c.inputs[1].elements(); ++i) c.inputs[1].as<float>()[i] = 1;
  for (const std::string& isa : isa_levels()) {
    const auto plan = backend::eigen::make_plan(c.program, backend::isa::table(isa.c_str()), 0);
    REQUIRE(plan->path == backend::KernelPath::SmallProducts);
    const std::vector<Bytes> got = run_on(c, *plan, 1);
    for (std::int64_t i = 0; i < got[0].elements(); ++i) CHECK(!std::signbit(got[0].as<float>()[i]));
  }
}

TEST_CASE("what is read as bytes, and what runs after the sum in place") {
  const Sizes s{50, 3, 3, 3};
  Case c = plain(DType::float32, s, false, false);
  backend::eigen::EigenBackend device({1, 0, ""});
  CHECK(device.method(c.program) ==
        "contraction: batch 50, 3 x 3 x 3 (rows, columns, depth); 16 side by side, rows from in0, columns from in1");
  CHECK(device.paths(c.program).path == backend::KernelPath::SmallProducts);

  std::mt19937_64 random(3);
  const Bytes x = small_numbers(DType::float32, 450, random), y = small_numbers(DType::float32, 450, random);
  const Bytes residual = small_numbers(DType::float32, 450, random);
  Builder k({50, 3, 3});
  const auto i0 = k.argument(DType::float32, 450);
  const auto i1 = k.argument(DType::float32, 450);
  const auto i2 = k.argument(DType::float32, 450);
  const auto o0 = k.argument(DType::float32, 450, true);
  k.p.arguments.back().shares = i2;
  k.stage({3});
  const ValueId a = k.load(true, i0, ShapeTracker(View::make({50, 3, 3, 3}, {9, 3, 0, 1})));
  const ValueId b = k.load(true, i1, ShapeTracker(View::make({50, 3, 3, 3}, {9, 0, 1, 3})));
  const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b));
  const ShapeTracker t(Shape{50, 3, 3});
  k.store(false, k.op(false, Op::Add, DType::float32, sum, k.load(false, i2, t)), o0, t);
  const Bytes want(DType::float32, 450);
  interpret(k.p, {&x, &y, &residual, &want});
  for (const std::string& isa : isa_levels()) {
    for (const int threads : {1, 3}) {
      backend::eigen::EigenBackend each({threads, 0, isa});
      CHECK(each.paths(k.p).path == backend::KernelPath::SmallProducts);
      const Bytes both = residual;
      run(each, k.p, {&x, &y, &both, &both});
      CHECK(both.same_bits(want));
    }
  }
}

}  // namespace small_products_test
