// ORIEL_TUNE: the ways to distribute points are timed once and remembered on disk. Results stay within their error
// bounds.
#include <cstdlib>

#include "memory/disk_cache.hpp"
#include "opencl_device.hpp"
#include "oriel/error.hpp"
#include "support/temporary_folder.hpp"

namespace opencl_tune_test {

using namespace oriel;
using namespace oriel::test;
namespace items = oriel::backend::items;
namespace opencl = oriel::backend::opencl;

namespace {

LoopProgram columns_sum(std::int64_t rows, std::int64_t columns) {
  Builder k({columns}, Orientation::Outer);
  const auto i0 = k.argument(DType::float32, rows * columns);
  const auto o0 = k.argument(DType::float32, columns, true);
  k.stage({rows});
  const ValueId sum = k.reduce(Op::Sum, k.load(true, i0, ShapeTracker(Shape{rows, columns}).permute({1, 0})));
  const ValueId scale = k.constant(false, graph::Scalar::of_float(DType::float32, 1), 0);
  k.store(false, k.op(false, Op::Mul, DType::float32, sum, scale), o0, ShapeTracker(Shape{columns}));
  return k.p;
}

LoopProgram all_sum(std::int64_t n) {
  Builder k({1});
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, 1, true);
  k.stage({n});
  k.store(false, k.reduce(Op::Sum, k.load(true, i0, ShapeTracker(Shape{1, n}))), o0, ShapeTracker(Shape{1}));
  return k.p;
}

/// Runs the program on a device of its own and checks the result. Returns how many kernels had their ways timed.
int timed(mem::DiskCache& cache, const LoopProgram& p, bool tune = true) {
  opencl::Options options = opencl_options();
  options.cache = &cache;
  options.tune = tune;
  options.adjust = [](opencl::DeviceTable& t) { t.cpu = true; };
  opencl::OpenClBackend device(0, options);
  const Bytes in = random_bytes(DType::float32, p.arguments[0].elements.value(), 3);
  const Bytes want(DType::float32, p.arguments[1].elements.value()),
      got(DType::float32, p.arguments[1].elements.value());
  const graph::Scalar parameters[] = {graph::Scalar::of_float(DType::float64, 2)};
  interpret(p, {&in, &want}, parameters);
  run_there(device, p, {&in, &got}, parameters);
  CHECK(worst_difference(want, got, 16.2 * static_cast<double>(p.arguments[0].elements.value())) < 1e-6);
  device.programs().wait_for_exports();
  return device.choices().timed();
}

struct Environment {
  explicit Environment(const char* value) { setenv("ORIEL_TUNE", value, 1); }
  ~Environment() { unsetenv("ORIEL_TUNE"); }
};

}  // namespace

TEST_CASE("ways are timed once and remembered for the next process; not without being asked") {
  if (!has_opencl()) return;
  for (const LoopProgram& p : {columns_sum(40, 600), all_sum(70000)}) {
    const TemporaryFolder folder;
    mem::DiskCache cache(folder.path() + "/cache");
    CHECK(timed(cache, p, false) == 0);
    CHECK(timed(cache, p) == 1);
    CHECK(timed(cache, p) == 0);  // a new backend finds what a second process would find
    CHECK(timed(cache, p, false) == 0);
  }
}

TEST_CASE("what is remembered is what is launched and explained") {
  if (!has_opencl()) return;
  const TemporaryFolder folder;
  mem::DiskCache cache(folder.path() + "/cache");
  opencl::Options options = opencl_options();
  options.cache = &cache;
  options.tune = true;
  options.adjust = [](opencl::DeviceTable& t) { t.cpu = true; };
  opencl::OpenClBackend device(0, options);
  const LoopProgram p = columns_sum(40, 600);
  const std::string usual = device.method(p);
  items::RenderOptions other = options.render;
  other.shape = 1;
  REQUIRE(source::items::render(p, source::opencl::dialect(), device.table(), other).method != usual);
  items::Choices choices(cache, device.programs().context(), true);
  choices.remember(p, 3, 1);
  CHECK(device.method(p) == source::items::render(p, source::opencl::dialect(), device.table(), other).method);
  CHECK(device.choices().timed() == 0);
  CHECK(timed(cache, p) == 0);
}

TEST_CASE("an entry that is damaged, or of other ways, is timed anew") {
  if (!has_opencl()) return;
  const TemporaryFolder folder;
  mem::DiskCache cache(folder.path() + "/cache");
  const LoopProgram p = columns_sum(40, 600);
  CHECK(timed(cache, p) == 1);
  opencl::Options options = opencl_options();
  options.cache = &cache;
  const opencl::OpenClBackend device(0, options);
  const std::string context = const_cast<opencl::OpenClBackend&>(device).programs().context();
  for (const char* entry : {"", "shape", "shape 7 of 3", "shape -1 of 3", "shape 1 of 4", "shape 1 of 3 and more"}) {
    cache.put("choice\n" + context + codegen::to_string(p), entry);
    CAPTURE(entry);
    CHECK(items::Choices(cache, context, true).find(p, 3) == -1);
    CHECK(timed(cache, p) == 1);
  }
}

TEST_CASE("ORIEL_TUNE is 0 or 1") {
  {
    const Environment e("1");
    CHECK(items::tuning_wanted());
  }
  {
    const Environment e("0");
    CHECK_FALSE(items::tuning_wanted());
  }
  {
    const Environment e("");
    CHECK_FALSE(items::tuning_wanted());
  }
  const Environment e("yes");
  CHECK_THROWS_WITH_AS(items::tuning_wanted(), "ORIEL_TUNE: \"yes\" is neither 0 (off) nor 1 (time tile shapes once)",
                       ArgumentError);
  if (!has_opencl()) return;
  CHECK_THROWS_AS(opencl::OpenClBackend(0), ArgumentError);
}

}  // namespace opencl_tune_test
