// Breaks every invariant of a loop program once.
#include <doctest/doctest.h>

#include <memory>

#include "../backend/programs.hpp"
#include "codegen/contraction.hpp"

namespace verify_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// A valid program: a sum over rows is divided by the row's maximum and stored; then the sum is subtracted from each
/// element, in halves.
LoopProgram sound() {
  Builder k({4});
  k.p.name = "k";
  const auto i0 = k.argument(DType::float32, 40);
  const auto o0 = k.argument(DType::float32, 4, true);
  const auto o1 = k.argument(DType::float16, 40, true);
  k.stage({10});
  const ValueId x = k.load(true, i0, ShapeTracker(Shape{4, 10}));                               // v0, a0
  const ValueId y = k.op(true, Op::Abs, DType::float32, x);                                     // v1
  const ValueId sum = k.reduce(Op::Sum, x);                                                     // v2
  const ValueId most = k.reduce(Op::ReduceMax, y);                                              // v3
  k.store(false, k.op(false, Op::Div, DType::float32, sum, most), o0, ShapeTracker(Shape{4}));  // v4, a1
  k.stage({10});
  const ValueId z = k.load(true, i0, ShapeTracker(Shape{4, 10}));            // v5, a2
  const ValueId d = k.op(true, Op::Sub, DType::float32, z, sum);             // v6
  const ValueId less = k.op(true, Op::Lt, DType::bool_, d, z);               // v7
  const ValueId chosen = k.op(true, Op::Where, DType::float32, less, d, z);  // v8
  k.p.stages[1].body.back().from = DType::float32;
  const ValueId c = k.constant(true, graph::Scalar::of_float(DType::float32, 2));  // v9
  const ValueId i = k.position(true, Code::Index, ShapeTracker(Shape{4, 10}));     // v10, a3
  const ValueId v = k.position(true, Code::Valid, ShapeTracker(Shape{4, 10}));     // v11, a4
  const ValueId n = k.op(true, Op::Cast, DType::float32, i);                       // v12
  const ValueId w = k.op(true, Op::Not, DType::bool_, v);                          // v13
  k.op(true, Op::IsNan, DType::bool_, n);                                          // v14
  k.op(true, Op::Bitcast, DType::int32, c);                                        // v15
  k.op(true, Op::Shl, DType::int64, i, i);                                         // v16
  static_cast<void>(w);
  const ValueId half = k.round(true, DType::float16, chosen);     // v17
  k.store(true, half, o1, ShapeTracker(Shape{4, 10}).flip({1}));  // a5
  return k.p;
}

/// The verifier's message for the valid program after one change.
template <class Change>
std::string message(Change change) {
  LoopProgram p = sound();
  change(p);
  try {
    codegen::verify(p);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "accepted";
}

Instr& body(LoopProgram& p, std::size_t stage, std::size_t i) { return p.stages[stage].body[i]; }

}  // namespace

TEST_CASE("a sound program passes") {
  CHECK_NOTHROW(codegen::verify(sound()));
  CHECK_NOTHROW(codegen::verify(LoopProgram{}));
}

TEST_CASE("what a program is must be what its accesses say") {
  const std::string wrong = "verify: kernel k: the form is not what the loops and accesses say";
  // The program has rows; each of these is what a schedule or a lowering with a mistake would leave there.
  REQUIRE(std::holds_alternative<codegen::Rows>(sound().form));
  for (const codegen::Form& form :
       {codegen::Form(codegen::Elementwise{}), codegen::Form(codegen::PlainReduction{1}),
        codegen::Form(codegen::Rows{7}), codegen::Form(codegen::Contraction{}), codegen::Form(codegen::Windows{}),
        codegen::Form(codegen::Parts{}), codegen::Form(codegen::Sort{})})
    CHECK(message([&](auto& p) { p.form = form; }) == wrong);
  // A product of matrices; afterwards one of its factors is also read along the other factor's rows.
  Builder k({4, 6});
  k.p.name = "k";
  const auto a = k.argument(DType::float32, 20), b = k.argument(DType::float32, 30);
  const auto out = k.argument(DType::float32, 24, true);
  k.stage({5});
  const ShapeTracker left(View::make({4, 6, 5}, {5, 0, 1})), right(View::make({4, 6, 5}, {0, 5, 1}));
  const ValueId x = k.load(true, a, left), y = k.load(true, b, right);
  k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, x, y)), out, ShapeTracker(Shape{4, 6}));
  REQUIRE(std::holds_alternative<codegen::Contraction>(k.p.form));
  CHECK(codegen::to_string(std::get<codegen::Contraction>(k.p.form)) == "batch 1, 4 x 6 x 5");
  CHECK_NOTHROW(codegen::verify(k.p));
  k.p.accesses[1].remap(left);
  CHECK_THROWS_WITH(codegen::verify(k.p), wrong.c_str());
}

TEST_CASE("a wrong decision of the schedule is found") {
  using schedule::ReductionSource;
  const std::string wrong = "verify: kernel k: stage 0: Sum of v0 sums no product";
  for (const ReductionSource source : {ReductionSource::Product, ReductionSource::ConvertedProduct})
    CHECK(message([&](auto& p) { p.stages[0].reductions[0].source = source; }) == wrong);
  CHECK(message([](auto& p) { p.online = true; }) ==
        "verify: kernel k: no softmax runs with a running maximum and sum there");
  // A sum of squares is a product, whose factors change along the same loops. It is not converted.
  Builder k({4});
  const auto a = k.argument(DType::float32, 20), out = k.argument(DType::float32, 4, true);
  k.stage({5});
  const ValueId x = k.load(true, a, ShapeTracker(Shape{4, 5}));
  k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, x, x)), out, ShapeTracker(Shape{4}));
  CHECK_NOTHROW(codegen::verify(k.p));
  k.p.stages[0].reductions[0].source = ReductionSource::ConvertedProduct;
  CHECK_THROWS_WITH(codegen::verify(k.p), "verify: kernel test: stage 0: Sum of v1 sums no product");
}

TEST_CASE("extents, values, arguments") {
  CHECK(message([](auto& p) { p.outer[0] = -1; }) == "verify: kernel k: the outer extents (-1) hold a negative one");
  CHECK(message([](auto& p) {
          p.stages[1].inner = {2, -5};
        }) == "verify: kernel k: stage 1: the inner extents (2, -5) hold a negative one");
  CHECK(message([](auto& p) { p.values[3] = DType::float16; }) ==
        "verify: kernel k: v3 has dtype float16; values are never halves, they are held as float32");
  CHECK(message([](auto& p) { p.arguments[1].elements = -4; }) == "verify: kernel k: argument 1 has -4 elements");
}

TEST_CASE("accesses") {
  CHECK(message([](auto& p) { p.accesses[1].buffer = 3; }) == "verify: kernel k: access a1: buffer 3 of 3 arguments");
  CHECK(message([](auto& p) { p.accesses[1].dtype = DType::int32; }) ==
        "verify: kernel k: access a1: dtype int32 on argument 1 of dtype float32");
  CHECK(message([](auto& p) { p.arguments[0].elements = 39; }) ==
        "verify: kernel k: access a0: positions 0 to 39 leave the 39 elements of argument 0");
  CHECK(message([](auto& p) { p.accesses[1].remap(ShapeTracker(View::make({4}, {-1}, 2))); }) ==
        "verify: kernel k: access a1: positions -1 to 2 leave the 4 elements of argument 1");
  // What a mask keeps out is not touched.
  CHECK(message([](auto& p) { p.accesses[1].remap(ShapeTracker(View::make({4}, {2}, -2, {{1, 3}}))); }) == "accepted");
}

TEST_CASE("the access of a gather says which buffer is read, never where") {
  const auto gathered = [](const ShapeTracker& tracker) {
    Builder k({4});
    const auto in = k.argument(DType::float32, 20);
    const auto at = k.argument(DType::int64, 4);
    const auto out = k.argument(DType::float32, 4, true);
    k.stage();
    Instr gather;
    gather.code = Code::Gather;
    gather.dtype = gather.from = DType::float32;
    gather.a = k.load(false, at, ShapeTracker(Shape{4}));
    gather.result = k.value(DType::float32);
    gather.aux = k.access(in, DType::float32, tracker);
    k.store(false, k.add(false, gather), out, ShapeTracker(Shape{4}));
    return k.p;
  };
  CHECK_NOTHROW(codegen::verify(gathered(ShapeTracker(Shape{1}).expand({4}))));
  for (const ShapeTracker& moves :
       {ShapeTracker(Shape{4}), ShapeTracker(View::make({4}, {0}, 7)), ShapeTracker(Shape{2}).pad({{1, 1}})}) {
    CHECK_THROWS_WITH_AS(codegen::verify(gathered(moves)),
                         "verify: kernel test: stage 0, outer instruction 1: Gather through access a1, which is not of "
                         "position 0 everywhere",
                         InternalError);
  }
}

TEST_CASE("order and levels") {
  CHECK(message([](auto& p) { body(p, 0, 1).a = 1; }) ==
        "verify: kernel k: stage 0, body instruction 1: operand a reads v1 before it is defined");
  CHECK(message([](auto& p) { body(p, 0, 1).a = 2; }) ==
        "verify: kernel k: stage 0, body instruction 1: operand a reads v2 before it is defined");
  CHECK(message([](auto& p) { p.stages[0].reductions[1].input = 2; }) ==
        "verify: kernel k: stage 0, reduction 1: operand a reads v2 before it is defined");
  // A reduction that no stage computes.
  CHECK(message([](auto& p) { p.stages[0].reductions.clear(); }) ==
        "verify: kernel k: stage 0, outer instruction 0: operand a reads v2 before it is defined");
  CHECK(message([](auto& p) { p.stages[0].outer[0].b = 1; }) ==
        "verify: kernel k: stage 0, outer instruction 0: operand b reads v1, which lives in the body of stage 0");
  // A row keeps the value of an earlier stage at the same inner point.
  CHECK(message([](auto& p) { body(p, 1, 1).b = 0; }) == "accepted");
  CHECK(message([](auto& p) {
          p.orientation = Orientation::Outer;
          body(p, 1, 1).b = 0;
        }) == "verify: kernel k: stage 1, body instruction 1: operand b reads v0, which lives in the body of stage 0");
  CHECK(message([](auto& p) { p.stages[1].reductions.push_back({.op = Op::Sum, .input = 1, .result = 99}); }) ==
        "verify: kernel k: stage 1, reduction 0: it gathers v1, which lives in the body of stage 0");
  Builder k({4});
  const auto i0 = k.argument(DType::float32, 40);
  k.stage({10});
  const ValueId x = k.load(true, i0, ShapeTracker(Shape{4, 10}));
  k.reduce(Op::Sum, x);
  k.stage({5, 2});
  k.op(true, Op::Abs, DType::float32, x);
  CHECK_THROWS_WITH_AS(codegen::verify(k.p),
                       "verify: kernel test: stage 1, body instruction 0: operand a reads v0, which lives in the body "
                       "of stage 0",
                       InternalError);
  CHECK(message([](auto& p) { body(p, 0, 1).a = 99; }) ==
        "verify: kernel k: stage 0, body instruction 1: operand a is value 99 of 18");
  CHECK(message([](auto& p) { body(p, 0, 1).a = kNoValue; }) ==
        "verify: kernel k: stage 0, body instruction 1: operand a is value -1 of 18");
  CHECK(message([](auto& p) { body(p, 0, 1).result = 18; }) ==
        "verify: kernel k: stage 0, body instruction 1: result is value 18 of 18");
  CHECK(message([](auto& p) { body(p, 0, 1).result = 0; }) ==
        "verify: kernel k: stage 0, body instruction 1: v0 is defined a second time");
  CHECK(message([](auto& p) { body(p, 0, 1).b = 0; }) ==
        "verify: kernel k: stage 0, body instruction 1: operand b (v0) is one too many");
  CHECK(message([](auto& p) { body(p, 1, 1).c = 2; }) ==
        "verify: kernel k: stage 1, body instruction 1: operand c (v2) is one too many");
  CHECK(message([](auto& p) { body(p, 0, 0).a = 2; }) ==
        "verify: kernel k: stage 0, body instruction 0: operand a (v2) is one too many");
}

TEST_CASE("reductions") {
  CHECK(message([](auto& p) { p.stages[0].reductions[0].op = Op::Add; }) ==
        "verify: kernel k: stage 0, reduction 0: Add is no reduction");
  CHECK(message([](auto& p) { p.stages[0].reductions[0].dtype = DType::bfloat16; }) ==
        "verify: kernel k: stage 0, reduction 0: Sum of dtype bfloat16; values are never halves");
  CHECK(message([](auto& p) { p.stages[0].reductions[0].dtype = DType::bool_; }) ==
        "verify: kernel k: stage 0, reduction 0: Sum of bool; it takes any dtype but bool");
  CHECK(message([](auto& p) { p.stages[0].reductions[0].dtype = DType::int32; }) ==
        "verify: kernel k: stage 0, reduction 0: operand a (v0) has dtype float32; int32 is expected");
}

TEST_CASE("dtypes of elementwise ops") {
  CHECK(message([](auto& p) { body(p, 1, 1).op = Op::Sum; }) ==
        "verify: kernel k: stage 1, body instruction 1: Sum is no elementwise op");
  CHECK(message([](auto& p) { body(p, 1, 1).op = Op::And; }) ==
        "verify: kernel k: stage 1, body instruction 1: And of float32; it takes integers and bool");
  CHECK(message([](auto& p) { body(p, 1, 1).op = Op::Shl; }) ==
        "verify: kernel k: stage 1, body instruction 1: Shl of float32; it takes integers");
  CHECK(message([](auto& p) { body(p, 1, 11).op = Op::Div; }) ==
        "verify: kernel k: stage 1, body instruction 11: Div of int64; it takes floats");
  CHECK(message([](auto& p) { body(p, 1, 8).op = Op::Neg; }) ==
        "verify: kernel k: stage 1, body instruction 8: Neg of bool; it takes any dtype but bool");
  CHECK(message([](auto& p) { body(p, 1, 1).from = DType::float16; }) ==
        "verify: kernel k: stage 1, body instruction 1: Sub from float16; it takes float32");
  CHECK(message([](auto& p) { body(p, 1, 1).dtype = DType::float16; }) ==
        "verify: kernel k: stage 1, body instruction 1: Sub to float16; arithmetic gives float32, and Round a half");
  CHECK(message([](auto& p) { body(p, 1, 7).dtype = DType::float16; }) ==
        "verify: kernel k: stage 1, body instruction 7: Cast to float16; arithmetic gives float32, and Round a half");
  CHECK(message([](auto& p) { body(p, 1, 1).dtype = DType::float64; }) ==
        "verify: kernel k: stage 1, body instruction 1: Sub of float32 gives the same, not float64");
  CHECK(message([](auto& p) { body(p, 1, 2).dtype = DType::float32; }) ==
        "verify: kernel k: stage 1, body instruction 2: Lt gives bool, not float32");
  CHECK(message([](auto& p) { body(p, 1, 3).a = 6; }) ==
        "verify: kernel k: stage 1, body instruction 3: operand a (v6) has dtype float32; bool is expected");
  CHECK(message([](auto& p) { body(p, 1, 3).c = 7; }) ==
        "verify: kernel k: stage 1, body instruction 3: operand c (v7) has dtype bool; float32 is expected");
  CHECK(message([](auto& p) { body(p, 1, 10).dtype = DType::int64; }) ==
        "verify: kernel k: stage 1, body instruction 10: Bitcast from float32 to int64; their widths differ");
  CHECK(message([](auto& p) { p.values[6] = DType::float64; }) ==
        "verify: kernel k: stage 1, body instruction 1: result v6 is declared float64; the instruction gives float32");
}

TEST_CASE("loads, stores, positions, constants, roundings") {
  CHECK(message([](auto& p) { body(p, 0, 0).aux = 6; }) ==
        "verify: kernel k: stage 0, body instruction 0: Load through access 6 of 6");
  CHECK(message([](auto& p) { body(p, 0, 0).aux = 1; }) ==
        "verify: kernel k: stage 0, body instruction 0: access a1 has shape (4); the loops here are (4, 10)");
  CHECK(message([](auto& p) { p.stages[0].outer[1].aux = 5; }) ==
        "verify: kernel k: stage 0, outer instruction 1: access a5 has shape (4, 10); the loops here are (4)");
  CHECK(message([](auto& p) { body(p, 0, 0).aux = 3; }) ==
        "verify: kernel k: stage 0, body instruction 0: Load through access a3, which has no buffer");
  CHECK(message([](auto& p) { body(p, 0, 0).from = DType::int32; }) ==
        "verify: kernel k: stage 0, body instruction 0: Load from int32 to float32 of an access of dtype float32");
  CHECK(message([](auto& p) { body(p, 1, 5).dtype = DType::int32; }) ==
        "verify: kernel k: stage 1, body instruction 5: Index gives int64, not int32");
  CHECK(message([](auto& p) { body(p, 1, 6).dtype = DType::int32; }) ==
        "verify: kernel k: stage 1, body instruction 6: Valid gives bool, not int32");
  CHECK(message([](auto& p) { body(p, 1, 4).aux = 1; }) ==
        "verify: kernel k: stage 1, body instruction 4: constant 1 of 1");
  CHECK(message([](auto& p) { body(p, 1, 4).dtype = DType::int8; }) ==
        "verify: kernel k: stage 1, body instruction 4: constant 0 is float32; the instruction gives int8");
  CHECK(message([](auto& p) { body(p, 1, 12).from = DType::float32; }) ==
        "verify: kernel k: stage 1, body instruction 12: Round to float32; it takes float16 and bfloat16");
  CHECK(message([](auto& p) { body(p, 1, 12).dtype = DType::float16; }) ==
        "verify: kernel k: stage 1, body instruction 12: Round gives float32, not float16");
  CHECK(message([](auto& p) { body(p, 1, 13).from = DType::int16; }) ==
        "verify: kernel k: stage 1, body instruction 13: Store from int16 to float32 of an access of dtype float16");
  CHECK(message([](auto& p) { p.arguments[2].output = false; }) ==
        "verify: kernel k: stage 1, body instruction 13: Store to argument 2, which is no output");
  CHECK(message([](auto& p) { body(p, 1, 13).result = 0; }) ==
        "verify: kernel k: stage 1, body instruction 13: Store has a result, v0");
}

TEST_CASE("calls of the host") {
  const auto program = [](bool batched, std::initializer_list<Shape> shapes) {
    LoopProgram p;
    p.name = "k";
    codegen::Hosting host;
    host.function = std::make_shared<graph::HostFunction>(
        "f", [](const HostCall&) {}, HostOptions{.batched = batched});
    for (const Shape& shape : shapes) {
      host.shapes.push_back(shape);
      p.arguments.push_back({DType::float32, numel(shape), host.shapes.size() == shapes.size(), "a"});
    }
    p.hosting = host;
    p.form = codegen::Host{};
    return p;
  };
  CHECK_NOTHROW(codegen::verify(program(true, {{2, 3}, {2, 1}, {2}})));
  CHECK_NOTHROW(codegen::verify(program(false, {{2, 3}, {7, 1}})));
  CHECK_THROWS_WITH_AS(codegen::verify(program(true, {{2, 3}, {7, 1}})),
                       "verify: kernel k: host function: argument 0 has not the batches of the result", InternalError);
  CHECK_THROWS_WITH_AS(codegen::verify(program(true, {{}, {1}})),
                       "verify: kernel k: host function: argument 0 has not the batches of the result", InternalError);
}

}  // namespace verify_test
