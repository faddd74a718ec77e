// Contractions on an OpenCL device in each form: by blocks as on CPUs, and by groups as on GPUs. They are the random
// cases of the eigen device's tests, exact in any order of sums.
#include "contraction_cases.hpp"
#include "opencl_device.hpp"
#include "oriel/oriel.hpp"

namespace opencl_contraction_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

/// The kind of device that is simulated. Groups of 256, 64 and 16 items have different tiles.
struct Form {
  const char* name;
  const char* method;
  bool slow;  // PoCL takes seconds to build it
  void (*adjust)(opencl::DeviceTable&);
};
const Form kForms[] = {
    {"CPU", "blocks of", false, [](opencl::DeviceTable& t) { t.cpu = true; }},
    {"GPU", "results a group of 16 x 16", true,
     [](opencl::DeviceTable& t) { t.cpu = false, t.group_size = 256, t.units = 1; }},
    {"GPU, small groups", "results a group of 8 x 8", true,
     [](opencl::DeviceTable& t) { t.cpu = false, t.group_size = 64, t.units = 1; }},
    {"GPU, little memory", "results a group of 4 x 4", false,
     [](opencl::DeviceTable& t) { t.cpu = false, t.group_size = 16, t.local_memory = 2048; }},
};

opencl::Options options_of(const Form& form) {
  opencl::Options options = opencl_options();
  options.adjust = form.adjust;
  return options;
}

void check_there(opencl::OpenClBackend& device, const Case& c) {
  const std::vector<Bytes> want = meaning(c);
  std::vector<Bytes> got;
  for (const auto& [dtype, n] : c.outputs) got.emplace_back(dtype, n);
  std::vector<const Bytes*> arguments;
  for (const Bytes& b : c.inputs) arguments.push_back(&b);
  for (const Bytes& b : got) arguments.push_back(&b);
  const graph::Scalar parameters[] = {graph::Scalar::of_float(DType::float64, 2)};
  run_there(device, c.program, arguments, parameters);
  for (std::size_t k = 0; k < want.size(); ++k) {
    CAPTURE(k);
    CAPTURE(device.method(c.program));
    REQUIRE(got[k].same_bits(want[k]));
  }
}

// A simulator takes a second for work that a device does in a millisecond.
bool simulated() { return std::getenv("ORIEL_TEST_LANES") != nullptr; }

}  // namespace

TEST_CASE("around the edges of blocks, each dtype, in each form") {
  if (!has_opencl()) return;
  for (const Form& form : kForms) {
    opencl::OpenClBackend device(0, options_of(form));
    Generator g(11);
    int formed = 0;
    for (const DType dtype : register_dtypes()) {
      if (dtype == DType::bool_ || (dtype == DType::float64 && !device.table().fp64)) continue;
      const bool usual = dtype == DType::float32 || dtype == DType::int32;
      if (simulated() && !usual) continue;
      for (const auto& [rows, columns, depth] :
           std::vector<std::array<std::int64_t, 3>>{{24, 24, 16}, {33, 65, 17}, {130, 31, 40}, {64, 129, 33}}) {
        if (rows != 33 && (!usual || (form.slow && rows != 130))) continue;
        if (form.slow && !usual && dtype != DType::int8) continue;
        const Case c = g.make(dtype, {{Role::Row, rows}, {Role::Column, columns}}, {depth});
        CAPTURE(form.name);
        CAPTURE(name(dtype));
        CAPTURE(rows);
        formed += device.method(c.program).find(form.method) != std::string::npos ? 1 : 0;
        check_there(device, c);
      }
    }
    CAPTURE(form.name);
    CHECK(formed >= (simulated() ? 2 : 3));  // the others are better off with smaller groups
  }
}

TEST_CASE("random loops, views, prologues and epilogues, in each form") {
  if (!has_opencl()) return;
  for (const Form& form : kForms) {
    opencl::OpenClBackend device(0, options_of(form));
    for (unsigned seed = 0; seed < (form.slow ? 1u : simulated() ? 3u : 8u); ++seed) {
      Generator g(seed + 500);
      std::vector<Loop> outer;
      if (g.chance(50)) outer.push_back({Role::Batch, 2});
      for (const Role role : {Role::Row, Role::Column}) {
        outer.push_back({role, 5 + g.below(4)});
        if (g.chance(70))
          outer.push_back({role, 5 + g.below(3)});
        else
          outer.back().extent *= 6;
      }
      std::shuffle(outer.begin(), outer.end(), std::mt19937(seed));
      std::vector<std::int64_t> inner{4 + g.below(9)};
      if (g.chance(60))
        inner.push_back(4 + g.below(5));
      else
        inner.back() *= 4;
      CAPTURE(form.name);
      CAPTURE(seed);
      check_there(device, g.make(DType::float32, outer, inner));
    }
  }
}

TEST_CASE("each tile shape gives the same, whichever is picked") {
  if (!has_opencl()) return;
  for (const Form& form : {kForms[0], kForms[2]}) {
    const Case c = Generator(77).make(DType::float32, {{Role::Row, 70}, {Role::Column, 140}}, {50});
    opencl::Options options = options_of(form);
    const opencl::OpenClBackend table(0, options);
    const int shapes =
        source::items::render(c.program, source::opencl::dialect(), table.table(), options.render).shapes;
    CHECK(shapes > 1);
    for (int shape = 0; shape < shapes; ++shape) {
      options.render.shape = shape;
      opencl::OpenClBackend device(0, options);
      check_there(device, c);
    }
  }
}

TEST_CASE("products of halves are summed as float32, and the same bits come each time") {
  if (!has_opencl()) return;
  for (const Form& form : kForms) {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      if (form.slow && dtype == DType::bfloat16) continue;
      const std::int64_t rows = 40, columns = 36, depth = 300;
      Builder k({rows, columns});
      const auto i0 = k.argument(dtype, rows * depth);
      const auto i1 = k.argument(dtype, depth * columns);
      const auto o0 = k.argument(DType::float32, rows * columns, true);
      k.stage({depth});
      const ValueId a = k.load(true, i0, ShapeTracker(View::make({rows, columns, depth}, {depth, 0, 1})));
      const ValueId b = k.load(true, i1, ShapeTracker(View::make({rows, columns, depth}, {0, 1, columns})));
      k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b)), o0,
              ShapeTracker(Shape{rows, columns}));
      opencl::OpenClBackend device(0, options_of(form));
      const Bytes x = random_bytes(dtype, rows * depth, 1), y = random_bytes(dtype, depth * columns, 2);
      const Bytes want(DType::float32, rows * columns), got(DType::float32, rows * columns);
      const Bytes again(DType::float32, rows * columns);
      interpret(k.p, {&x, &y, &want});
      run_there(device, k.p, {&x, &y, &got});
      run_there(device, k.p, {&x, &y, &again});
      CAPTURE(form.name);
      CAPTURE(name(dtype));
      CHECK(worst_difference(want, got, 66.0 * static_cast<double>(depth)) < 1e-6);
      CHECK(got.same_bits(again));
    }
  }
}

TEST_CASE("sums and gates of products run by blocks, each over what the one before it stored") {
  if (!has_opencl() || simulated()) return;
  std::vector<float> numbers(96 * 96);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 11) - 5;
  const auto leaf = [&](Device device) { return Tensor::from(numbers, {96, 96}).to(device).realize(); };
  for (const bool gate : {false, true}) {
    const auto build = [&](Device device) {
      const Tensor a = leaf(device), b = leaf(device).transpose(), c = leaf(device).flip(1), d = leaf(device);
      return gate ? matmul(a, b) * relu(matmul(c, d)) : matmul(a, b) + matmul(c, d) + d;
    };
    const Tensor there = build(Device::opencl());
    const Explanation e = explain(there);
    REQUIRE(e.kernels.size() == 2);
    for (const ExplainedKernel& k : e.kernels) CHECK(k.method.find(" results a") != std::string::npos);
    CHECK(there.to_vector<float>() == build(Device::eigen()).to_vector<float>());
  }
}

// doctest runs the cases in the order of the file, so this one comes last.
TEST_CASE("in a language near Metal the programs of this source pass a compiler's syntax check") {
  if (has_opencl()) MetalUnit::instance().check();
}

}  // namespace opencl_contraction_test
