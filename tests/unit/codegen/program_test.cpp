// Hashes, equality and texts of loop programs.
#include <doctest/doctest.h>

#include <functional>

#include "../backend/programs.hpp"

namespace program_test {

using namespace oriel;
using namespace oriel::test;

namespace {

LoopProgram scaled_sum() {
  Builder k({6});
  k.p.name = "scaled_sum";
  const auto i0 = k.argument(DType::float32, 40);
  const auto o0 = k.argument(DType::float16, 6, true);
  k.stage({10});
  const ValueId x = k.load(true, i0, ShapeTracker(Shape{4, 10}).pad({{1, 1}, {0, 0}}));
  const ValueId c = k.constant(true, graph::Scalar::of_float(DType::float32, 2.5));
  const ValueId p = k.constant(true, graph::Scalar::of_float(DType::float32, 7), 3);
  const ValueId scaled = k.op(true, Op::Mul, DType::float32, k.op(true, Op::Mul, DType::float32, x, c), p);
  const ValueId sum = k.reduce(Op::Sum, scaled);
  const ValueId half = k.round(false, DType::float16, sum);
  k.store(false, half, o0, ShapeTracker(Shape{6}).flip({0}));
  k.p.flops = 180;
  k.p.bytes = 172;
  return k.p;
}

}  // namespace

TEST_CASE("text names loops, arguments, accesses and instructions") {
  CHECK(to_string(scaled_sum()) ==
        "kernel scaled_sum\n"
        "  orientation inner, 180 operations, 172 bytes\n"
        "arguments\n"
        "  in0: float32[40]\n"
        "  out1: float16[6], output\n"
        "accesses\n"
        "  a0: in0[o0*10 + r0 - 10] if o0 >= 1 && o0 < 5    " +
            scaled_sum().accesses[0].stack_text() +
            "\n"
            "  a1: out1[5 - o0]    " +
            scaled_sum().accesses[1].stack_text() +
            "\n"
            "for each o0 < 6\n"
            "  stage 0\n"
            "    for each r0 < 10\n"
            "      v0 : float32 = Load a0\n"
            "      v1 : float32 = Const 2.5\n"
            "      v2 : float32 = Const parameter 3\n"
            "      v3 : float32 = Mul v0 v1\n"
            "      v4 : float32 = Mul v3 v2\n"
            "      v5 : float32 = Sum of v4 over the inner points\n"
            "    then\n"
            "    v6 : float32 = Round v5 to float16\n"
            "    Store v6 to a1\n");
}

TEST_CASE("positions, validity, casts and a kernel without loops as text") {
  Builder k({});
  k.stage();
  const ValueId i = k.position(false, Code::Index, ShapeTracker(Shape{}));
  k.position(false, Code::Valid, ShapeTracker(Shape{}));
  k.op(false, Op::Cast, DType::float64, i);
  const std::string text = to_string(k.p);
  CHECK(text.find("  a0: position[0]    ():()\n") != std::string::npos);
  CHECK(text.find("for each kernel\n") != std::string::npos);
  CHECK(text.find("v0 : int64 = Index a0\n") != std::string::npos);
  CHECK(text.find("v1 : bool = Valid a1\n") != std::string::npos);
  CHECK(text.find("v2 : float64 = Cast v0 from int64\n") != std::string::npos);
}

TEST_CASE("names, counts and a parameter's number are not part of a program's identity") {
  const LoopProgram a = scaled_sum();
  LoopProgram b = scaled_sum();
  b.name = "other";
  b.arguments[0].name = "x";
  b.flops = 0;
  b.bytes = 0;
  b.constants[1].value = graph::Scalar::of_float(DType::float32, -1);
  CHECK(same_program(a, b));
  CHECK(hash_value(a) == hash_value(b));
}

TEST_CASE("everything else is part of a program's identity") {
  const LoopProgram a = scaled_sum();
  const std::vector<std::function<void(LoopProgram&)>> changes = {
      [](LoopProgram& p) { p.outer[0] = 7; },
      [](LoopProgram& p) { p.orientation = Orientation::Outer; },
      [](LoopProgram& p) { p.stages[0].inner[0] = 11; },
      [](LoopProgram& p) { p.stages[0].body[3].op = Op::Add; },
      [](LoopProgram& p) { p.stages[0].body[3].b = 0; },
      [](LoopProgram& p) { p.stages[0].body.pop_back(); },
      [](LoopProgram& p) { p.stages[0].reductions[0].op = Op::Prod; },
      [](LoopProgram& p) { p.stages[0].outer[0].from = DType::bfloat16; },
      [](LoopProgram& p) { p.stages.emplace_back(); },
      [](LoopProgram& p) { p.accesses[1].remap(ShapeTracker(Shape{6})); },
      [](LoopProgram& p) { p.accesses[1].buffer = 0; },
      [](LoopProgram& p) { p.arguments[0].elements = 41; },
      [](LoopProgram& p) { p.arguments[0].output = true; },
      [](LoopProgram& p) { p.constants[0].value = graph::Scalar::of_float(DType::float32, 3); },
      [](LoopProgram& p) { p.constants[1].parameter = 2; },
      [](LoopProgram& p) { p.values.push_back(DType::int8); },
  };
  for (std::size_t c = 0; c < changes.size(); ++c) {
    CAPTURE(c);
    LoopProgram b = scaled_sum();
    changes[c](b);
    CHECK(!same_program(a, b));
    CHECK(hash_value(a) != hash_value(b));
  }
}

}  // namespace program_test
