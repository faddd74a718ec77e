// Short reductions whose operands are needed at several points run as instructions, with the bits of a reduction.
#include "codegen/unroll.hpp"

#include <doctest/doctest.h>

#include "backend/eigen/backend.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace unroll_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// The reduction over d of (x[i, d] - c[j, d])^2, or of x - c.
LoopProgram distances(DType dtype, Op reduction, std::int64_t rows, std::int64_t columns, Ints inner, bool squares) {
  Builder k({rows, columns});
  const std::int64_t terms = numel(inner).value();
  const auto x = k.argument(dtype, rows * terms);
  const auto c = k.argument(dtype, columns * terms);
  const DType value = register_dtype(dtype);
  const auto out = k.argument(dtype, rows * columns, true);
  k.stage(inner);
  Ints shape{rows, columns}, by_row{terms, 0}, by_column{0, terms};
  std::int64_t stride = terms;
  for (const SymInt n : inner) {
    stride /= n.value();
    shape.push_back(n);
    by_row.push_back(stride);
    by_column.push_back(stride);
  }
  const ValueId a = k.load(true, x, ShapeTracker(View{shape, by_row, 0, {}}));
  const ValueId b = k.load(true, c, ShapeTracker(View{shape, by_column, 0, {}}));
  ValueId d = dtype == DType::bool_ ? k.op(true, Op::Xor, value, a, b) : k.op(true, Op::Sub, value, a, b);
  if (squares) d = k.op(true, Op::Mul, value, d, d);
  const ValueId r = k.reduce(reduction, d);
  k.store(false, is_half(dtype) ? k.round(false, dtype, r) : r, out, ShapeTracker(Shape{rows, columns}));
  return k.p;
}

backend::eigen::Options on(const std::string& level) {
  backend::eigen::Options options;
  options.threads = 1;
  options.isa = level;
  return options;
}

}  // namespace

TEST_CASE("the bits are those of the reduction, for every reduction, dtype and number of terms") {
  for (const std::string& level : isa_levels()) {
    backend::eigen::EigenBackend device(on(level));
    for (const DType dtype :
         {DType::float32, DType::float64, DType::float16, DType::int8, DType::int64, DType::bool_}) {
      for (const Op op : reductions(dtype)) {
        for (const Ints& inner : {Ints{2}, Ints{3}, Ints{7}, Ints{8}, Ints{2, 3}, Ints{16}}) {
          INFO(level, " ", graph::name(op), " ", name(dtype), " ", to_string(inner));
          const LoopProgram p = distances(dtype, op, 37, 21, inner, false);
          const auto flat = codegen::unrolled(p);
          REQUIRE(flat);
          codegen::verify(*flat);
          CHECK(flat->stages.size() == 1);
          CHECK(flat->stages[0].inner.empty());
          Bytes x = random_bytes(dtype, p.arguments[0].elements.value(), 1);
          Bytes c = random_bytes(dtype, p.arguments[1].elements.value(), 2);
          const Bytes want(dtype, 37 * 21), got(dtype, 37 * 21);
          interpret(p, {&x, &c, &want});
          run(device, p, {&x, &c, &got});
          CHECK(got.same_bits(want));
        }
      }
    }
  }
}

TEST_CASE("rows that several stages walk: what a body kept, stores in a body, positions") {
  for (const std::string& level : isa_levels()) {
    backend::eigen::EigenBackend device(on(level));
    for (const DType dtype : {DType::float32, DType::float64, DType::int32}) {
      for (const std::int64_t terms : {3, 5, 7, 10, 15, 16}) {
        INFO(level, " ", name(dtype), " ", terms);
        constexpr std::int64_t rows = 77;
        Builder k({rows});
        const auto x = k.argument(dtype, rows * terms);
        const auto most = k.argument(DType::int64, rows, true);
        const auto rest = k.argument(dtype, rows * terms, true);
        const ShapeTracker row(Shape{rows, terms});
        const ShapeTracker number(View{{rows, terms}, {0, 1}, 0, {}});
        k.stage({terms});
        const ValueId a = k.load(true, x, row);
        const ValueId greatest = k.reduce(Op::ReduceMax, a);
        k.stage({terms});
        // The body of the second stage reads a, which the first one computed at the same point.
        const ValueId there = k.op(true, Op::Eq, DType::bool_, a, greatest);
        const ValueId at = k.position(true, Code::Index, number);
        const ValueId none = k.constant(true, graph::Scalar::of_int(DType::int64, terms));
        const ValueId where = k.op(true, Op::Where, DType::int64, there, at, none);
        const ValueId first = k.reduce(Op::ReduceMin, where);
        k.store(false, first, most, ShapeTracker(Shape{rows}));
        k.stage({terms});
        k.store(true, k.op(true, Op::Sub, dtype, k.load(true, x, row), greatest), rest, row);
        const auto flat = codegen::unrolled(k.p);
        REQUIRE(flat);
        codegen::verify(*flat);
        CHECK(flat->stages.size() == 1);
        Bytes in = random_bytes(dtype, rows * terms, 5);
        const Bytes want_most(DType::int64, rows), got_most(DType::int64, rows);
        const Bytes want_rest(dtype, rows * terms), got_rest(dtype, rows * terms);
        interpret(k.p, {&in, &want_most, &want_rest});
        run(device, k.p, {&in, &got_most, &got_rest});
        CHECK(got_most.same_bits(want_most));
        CHECK(got_rest.same_bits(want_rest));
      }
    }
  }
}

TEST_CASE("a stage without inner loops reduces one term, which later instructions and stages read") {
  for (const std::string& level : isa_levels()) {
    backend::eigen::EigenBackend device(on(level));
    for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::int32, DType::bool_}) {
      for (const Op op : reductions(dtype)) {
        for (const bool in_body : {false, true}) {
          INFO(level, " ", graph::name(op), " ", name(dtype), " ", in_body);
          constexpr std::int64_t rows = 77, terms = 3;
          const DType value = register_dtype(dtype);
          Builder k({rows});
          const auto x = k.argument(dtype, rows * terms);
          const auto y = k.argument(dtype, rows);
          const auto once = k.argument(value, rows, true);
          const auto rest = k.argument(value, rows * terms, true);
          const ShapeTracker row(Shape{rows, terms});
          k.stage({terms});
          const ValueId first = k.reduce(op, k.load(true, x, row));
          k.stage();
          const ValueId term = in_body ? k.load(true, y, ShapeTracker(Shape{rows})) : first;
          const ValueId second = k.reduce(op, term);
          k.store(false, k.op(false, Op::Max, value, first, second), once, ShapeTracker(Shape{rows}));
          k.stage({terms});
          k.store(true, k.op(true, Op::Max, value, k.load(true, x, row), second), rest, row);
          const auto flat = codegen::unrolled(k.p);
          REQUIRE(flat);
          codegen::verify(*flat);
          Bytes in = random_bytes(dtype, rows * terms, 5), beside = random_bytes(dtype, rows, 6);
          const Bytes want_once(value, rows), got_once(value, rows);
          const Bytes want_rest(value, rows * terms), got_rest(value, rows * terms);
          interpret(k.p, {&in, &beside, &want_once, &want_rest});
          run(device, k.p, {&in, &beside, &got_once, &got_rest});
          CHECK(got_once.same_bits(want_once));
          CHECK(got_rest.same_bits(want_rest));
        }
      }
    }
  }
}

TEST_CASE("a sum of negative zeros is zero") {
  backend::eigen::EigenBackend device(on(""));
  const LoopProgram p = distances(DType::float32, Op::Sum, 20, 20, {3}, false);
  const Bytes x(DType::float32, 60), c(DType::float32, 60), out(DType::float32, 400);
  std::fill_n(x.as<float>(), 60, -0.0F);
  std::fill_n(c.as<float>(), 60, 0.0F);
  run(device, p, {&x, &c, &out});
  CHECK(std::all_of(out.as<float>(), out.as<float>() + 400, [](float v) { return v == 0 && !std::signbit(v); }));
}

TEST_CASE("what is not unrolled: long rows, few points, products, rows that are read once") {
  CHECK(codegen::unrolled(distances(DType::float32, Op::Sum, 100, 100, {4}, true)));
  CHECK(!codegen::unrolled(distances(DType::float32, Op::Sum, 100, 100, {17}, true)));
  CHECK(!codegen::unrolled(distances(DType::float32, Op::Sum, 5, 6, {4}, true)));
  CHECK(codegen::unrolled_for_compilers(distances(DType::float32, Op::Sum, 100, 100, {8}, true)));
  CHECK(codegen::unrolled_for_compilers(distances(DType::float32, Op::Sum, 100, 8, {8}, true)));
  CHECK(!codegen::unrolled_for_compilers(distances(DType::float32, Op::Sum, 100, 8, {9}, true)));
  CHECK(!codegen::unrolled(distances(DType::float32, Op::Sum, 1000, 1, {4}, true)));
}

}  // namespace unroll_test
