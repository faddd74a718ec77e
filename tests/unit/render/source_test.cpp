// The texts of rendered sources: what they say, how long they grow, and that they never change.
#include "library.hpp"

namespace source_test {

using namespace oriel;
using namespace oriel::test;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Sample chain(int length) {
  const std::int64_t n = 1000;
  Builder k({n});
  k.p.name = "chain";
  const auto i0 = k.argument(DType::float32, n);
  k.stage();
  const ValueId x = k.load(false, i0, ShapeTracker(Shape{n}));
  ValueId y = x;
  for (int i = 0; i < length; ++i) {
    const ValueId other = i % 7 == 0 ? k.constant(false, graph::Scalar::of_float(DType::float32, i % 50)) : x;
    const Op op = i % 5 == 0 ? Op::Max : i % 3 == 0 ? Op::Sub : Op::Add;
    y = k.op(false, op, DType::float32, y, other);
  }
  k.store(false, y, k.argument(DType::float32, n, true), ShapeTracker(Shape{n}));
  return {k.p, {random_bytes(DType::float32, n, 4)}, {}, {}};
}

}  // namespace

TEST_CASE("a chain of 10,000 instructions renders, compiles and runs") {
  std::vector<Sample> samples;
  samples.push_back(chain(10000));
  check_samples(samples);
}

TEST_CASE("a small kernel reads like the program") {
  Builder k({16, 300});
  k.p.name = "scale-and-shift";
  const auto i0 = k.argument(DType::float32, 280 * 16);
  const auto o0 = k.argument(DType::float32, 300 * 16, true);
  k.stage();
  const ValueId x = k.load(false, i0, ShapeTracker(Shape{16, 280}).pad({{0, 0}, {10, 10}}));
  const ValueId c = k.constant(false, graph::Scalar::of_float(DType::float32, 2.5));
  const ValueId y = k.op(false, Op::Mul, DType::float32, x, c);
  k.store(false, y, o0, ShapeTracker(Shape{16, 300}));
  const std::string text = source::cpp::render(k.p);
  CHECK(holds(text, "// Kernel scale-and-shift\n"));
  CHECK(holds(text, "// Outer loops: o0 < 16, o1 < 300\n"));
  CHECK(holds(text, "// arguments[0] in0: float32[4480]\n"));
  CHECK(holds(text, "// arguments[1] out1: float32[4800], written\n"));
  CHECK(holds(text, "// in0[o0*280 + o1 - 10] if o1 >= 10 && o1 < 290  by "));
  CHECK(holds(text, "extern \"C\" "));
  CHECK(holds(text, "void scale_and_shift(void* const* arguments, const Scalar* parameters, Int first, Int last) {\n"));
  CHECK(holds(text, "constexpr float c0 = 2.5f;\n"));
  CHECK(holds(text, "const Int n = least(300 - o1, left);\n"));
  CHECK(holds(text, "const Segment s0 = segment(10, 290, o1, n);\n"));
  CHECK(holds(text, "const auto v0 = load_part(in0 + (o0*280 + o1 - 10), k, used, s0);\n"));
  CHECK(holds(text, "const auto v2 = v0 * c0;\n"));
  CHECK(holds(text, "store(out1 + (o0*300 + o1) + k, v2, used);\n"));
  // Only the helpers that are used are present.
  CHECK(!holds(text, "struct Max"));
  CHECK(!holds(text, "Eigen/"));
  CHECK(!holds(text, "cmath"));
  CHECK(!holds(text, "Reduction"));
  CHECK(!holds(text, "float16"));
  CHECK(!holds(text, "SpecialFunctions"));
}

TEST_CASE("divisions of floats with a rest are rendered as packets") {
  for (const auto& [op, text] : {std::pair{Op::FloorDiv, "packets<FloorDivs>("}, std::pair{Op::Fmod, "packets<Fmods>("},
                                 std::pair{Op::Remainder, "packets<Remainders>("}}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      Builder k({300});
      const auto in = k.argument(dtype, 300);
      k.stage();
      const ValueId x = k.load(false, in, ShapeTracker(Shape{300}));
      const ValueId y = k.constant(false, graph::Scalar::of_float(dtype, 0.7));
      k.store(false, k.op(false, op, dtype, x, y), k.argument(dtype, 300, true), ShapeTracker(Shape{300}));
      CHECK(holds(source::cpp::render(k.p), text));
    }
  }
}

TEST_CASE("the same program gives the same bytes, another program gives others") {
  for (const int length : {5, 400}) {
    CHECK(source::cpp::render(chain(length).program) == source::cpp::render(chain(length).program));
    CHECK(source::cpp::render(chain(length).program) != source::cpp::render(chain(length + 1).program));
  }
}

TEST_CASE("tiles are reused: a long chain keeps few of them") {
  const std::string text = source::cpp::render(chain(2000).program);
  CHECK(holds(text, "Tile<float> t1;"));
  CHECK(!holds(text, "Tile<float> t4;"));
}

TEST_CASE("a long loop is the last one where the last loop of the program is shorter than a packet") {
  Builder k({300, 2, 3});
  const auto i0 = k.argument(DType::float32, 1800);
  k.stage();
  k.store(false, k.load(false, i0, ShapeTracker(Shape{300, 3, 2}).permute({0, 2, 1})),
          k.argument(DType::float32, 1800, true), ShapeTracker(Shape{300, 2, 3}));
  const std::string text = source::cpp::render(k.p);
  CHECK(holds(text, "// Outer loops: o0 < 2, o1 < 3, o2 < 300\n"));
  CHECK(holds(text, "in0[o0 + o1*2 + (o2 + e)*6]"));
  k.p.outer = {40, 2, 3};
  for (codegen::Access& access : k.p.accesses) access.restrict({{0, 40}});
  CHECK(holds(source::cpp::render(k.p), "// Outer loops: o0 < 40, o1 < 2, o2 < 3\n"));
}

TEST_CASE("names that C++ would not take are changed, and stay apart") {
  Builder k({4});
  k.p.name = "2 x (a+b)";
  const auto i0 = k.argument(DType::float32, 4);
  const auto o0 = k.argument(DType::float32, 4, true);
  k.p.arguments[0].name = "int";
  k.p.arguments[1].name = "o0";
  k.stage();
  k.store(false, k.load(false, i0, ShapeTracker(Shape{4})), o0, ShapeTracker(Shape{4}));
  const std::string text = source::cpp::render(k.p);
  CHECK(holds(text, "void _2_x__a_b_("));
  CHECK(holds(text, "argument_int"));
  CHECK(holds(text, "argument_o0"));
}

TEST_CASE("a bitcast between the halves is refused") {
  Builder k({4});
  const auto i0 = k.argument(DType::float16, 4);
  k.stage();
  k.op(false, Op::Bitcast, DType::bfloat16, k.load(false, i0, ShapeTracker(Shape{4})));
  k.p.stages[0].outer.back().from = DType::float16;
  CHECK_THROWS_WITH_AS(source::cpp::render(k.p),
                       "render: a bitcast between float16 and bfloat16 needs an integer between them", InternalError);
}

}  // namespace source_test
