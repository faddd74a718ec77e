// What explain and dumps show of kernels on an OpenCL device: options, the compiler's log, sizes, and the device's
// times.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "opencl_device.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "support/temporary_folder.hpp"

namespace opencl_inspect_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct OpenClDefault {
  OpenClDefault() { set_default_device(Device::opencl(0)); }
  ~OpenClDefault() {
    profile::stop();
    set_dump_directory({});
    set_default_device(Device::eigen());
  }
};

Tensor rows() { return sum(exp(Tensor::from(std::vector<float>(60, 0.5F), {6, 10}) * 1.375F), 1); }

cl_command_queue_properties asked = 0;
const opencl::Api* system_calls = nullptr;
cl_command_queue make_queue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int* e) {
  asked |= p;
  return system_calls->clCreateCommandQueue(c, d, p, e);
}

LoopProgram copy(std::int64_t n) {
  Builder k({n});
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, n, true);
  k.stage();
  k.store(false, k.load(false, i0, ShapeTracker(Shape{n})), o0, ShapeTracker(Shape{n}));
  return k.p;
}

}  // namespace

TEST_CASE("explain tells source, options, log and sizes, and times once launches were timed") {
  if (!has_opencl()) return;
  const OpenClDefault device;
  runtime::clear_caches();
  Explanation e = explain(rows());
  REQUIRE(e.kernels.size() == 1);
  CHECK(has(e.kernels[0].source, "__kernel __attribute__((reqd_work_group_size("));
  CHECK(has(e.kernels[0].source, "// Build options: -cl-std=CL1.2"));
  CHECK(e.kernels[0].report.empty());
  CHECK(rows().to_vector<float>().size() == 6);
  e = explain(rows());
  const std::string& report = e.kernels[0].report;
  CHECK((has(report, "build log: ") || has(report, "build log:\n") || has(report, "found in the disk cache")));
  CHECK(has(report, "build options: -cl-std=CL1.2"));
  CHECK(has(report, "items in groups of"));
  CHECK_FALSE(has(report, "timed by the device"));
  CHECK(has(e.str(Detail::views), "build options: -cl-std=CL1.2"));
  CHECK_FALSE(has(e.str(), "build options"));
  profile::start();
  for (int turn = 0; turn < 2; ++turn) CHECK(rows().to_vector<float>().size() == 6);
  profile::stop();
  e = explain(rows());
  CHECK(has(e.kernels[0].report, "; 2 launches timed by the device: last "));
  CHECK(rows().to_vector<float>().size() == 6);
  CHECK(has(explain(rows()).kernels[0].report, "; 2 launches timed by the device: last "));
}

TEST_CASE("a dump holds the source, and what the device told once the schedule has run") {
  if (!has_opencl()) return;
  const OpenClDefault device;
  const TemporaryFolder folder;
  runtime::clear_caches();
  set_dump_directory(folder.path());
  CHECK(rows().to_vector<float>().size() == 6);
  std::ostringstream report;
  report << std::ifstream(folder.path() + "/s000_device.txt").rdbuf();
  CHECK(has(report.str(), "build options: -cl-std=CL1.2"));
  CHECK(has(report.str(), "; 1 launch timed by the device: last "));
  bool source = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    source = source || entry.path().extension() == ".cl";
  CHECK(source);
}

TEST_CASE("the queue has no clock until a launch is timed") {
  if (!has_opencl()) return;
  std::string why_not;
  system_calls = opencl::system_api(why_not);
  opencl::Api shim = *system_calls;
  shim.clCreateCommandQueue = make_queue;
  opencl::Options options = opencl_options();
  options.api = &shim;
  asked = 0;
  opencl::OpenClBackend device(0, options);
  const Bytes in = random_bytes(DType::float32, 50, 1), got(DType::float32, 50);
  run_there(device, copy(50), {&in, &got});
  CHECK((asked & CL_QUEUE_PROFILING_ENABLE) == 0);
  device.time_launches(true);
  const Bytes again(DType::float32, 50);
  run_there(device, copy(50), {&in, &again});
  CHECK((asked & CL_QUEUE_PROFILING_ENABLE) != 0);
  CHECK(again.same_bits(in));
}

TEST_CASE("further build options reach the compiler, and the source tells them") {
  if (!has_opencl()) return;
  setenv("ORIEL_OPENCL_OPTIONS", "-cl-opt-disable", 1);
  opencl::OpenClBackend device(0, opencl_options());
  unsetenv("ORIEL_OPENCL_OPTIONS");
  const LoopProgram p = copy(5);
  const std::string first = device.source(p).substr(0, device.source(p).find('\n'));
  CHECK(has(first, " -cl-opt-disable"));
  const opencl::OpenClBackend usual(0, opencl_options());
  CHECK_FALSE(has(usual.source(p), "-cl-opt-disable"));
  setenv("ORIEL_OPENCL_OPTIONS", "-no-such-option", 1);
  opencl::OpenClBackend wrong(0, opencl_options());
  unsetenv("ORIEL_OPENCL_OPTIONS");
  const std::vector<std::shared_ptr<const backend::Kernel>> kernels{wrong.compile(p)};
  CHECK_THROWS_AS(wrong.prepare(kernels), DeviceError);
}

}  // namespace opencl_inspect_test
