// Makes each OpenCL call of a small program fail in turn. Each fault must be a DeviceError that loses no data and leaks
// nothing, and after which the program can go on.
#include <cstdlib>
#include <map>
#include <mutex>

#include "memory/disk_cache.hpp"
#include "opencl_device.hpp"
#include "oriel/oriel.hpp"

namespace opencl_faults_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

/// Replaces the driver: counts calls and handles, and makes one call fail.
struct Shim {
  opencl::Api real;
  opencl::Api table;
  std::mutex guard;
  long calls = 0;
  long fail_at = 0;  // 0: never
  bool lose_kernels = false;
  std::map<std::string, long> live;

  bool fault() {
    const std::lock_guard lock(guard);
    return ++calls == fail_at;
  }
  void count(const char* what, long by) {
    const std::lock_guard lock(guard);
    live[what] += by;
  }
  void begin(long fail) {
    const std::lock_guard lock(guard);
    calls = 0;
    fail_at = fail;
  }
};
Shim& shim() {
  static Shim& s = *new Shim;
  return s;
}

template <class T>
T made(const char* what, T object) {
  if (object != nullptr) shim().count(what, 1);
  return object;
}

const opencl::Api* install() {
  Shim& s = shim();
  if (s.table.clFinish != nullptr) return &s.table;
  std::string why_not;
  s.real = *opencl::system_api(why_not);
  opencl::Api& t = s.table = s.real;
  t.clCreateContext = [](auto p, auto n, auto d, auto f, auto u, cl_int* e) -> cl_context {
    if (shim().fault()) return *e = CL_DEVICE_NOT_AVAILABLE, nullptr;
    return made("context", shim().real.clCreateContext(p, n, d, f, u, e));
  };
  t.clCreateCommandQueue = [](auto c, auto d, auto p, cl_int* e) -> cl_command_queue {
    if (shim().fault()) return *e = CL_OUT_OF_RESOURCES, nullptr;
    return made("queue", shim().real.clCreateCommandQueue(c, d, p, e));
  };
  t.clCreateBuffer = [](auto c, auto f, auto n, auto h, cl_int* e) -> cl_mem {
    if (shim().fault()) return *e = CL_MEM_OBJECT_ALLOCATION_FAILURE, nullptr;
    return made("buffer", shim().real.clCreateBuffer(c, f, n, h, e));
  };
  t.clCreateProgramWithSource = [](auto c, auto n, auto text, auto l, cl_int* e) -> cl_program {
    if (shim().fault()) return *e = CL_OUT_OF_HOST_MEMORY, nullptr;
    return made("program", shim().real.clCreateProgramWithSource(c, n, text, l, e));
  };
  t.clCreateKernel = [](auto p, auto n, cl_int* e) -> cl_kernel {
    if (shim().fault()) return *e = CL_INVALID_KERNEL_NAME, nullptr;
    return made("kernel", shim().real.clCreateKernel(p, n, e));
  };
  t.clBuildProgram = [](auto p, auto n, auto d, auto o, auto f, auto u) -> cl_int {
    return shim().fault() ? CL_BUILD_PROGRAM_FAILURE : shim().real.clBuildProgram(p, n, d, o, f, u);
  };
  t.clSetKernelArg = [](auto k, auto i, auto n, auto v) -> cl_int {
    return shim().fault() ? CL_INVALID_ARG_VALUE : shim().real.clSetKernelArg(k, i, n, v);
  };
  t.clEnqueueReadBuffer = [](auto q, auto m, auto b, auto o, auto n, auto h, auto w, auto l, auto e) -> cl_int {
    return shim().fault() ? CL_OUT_OF_RESOURCES : shim().real.clEnqueueReadBuffer(q, m, b, o, n, h, w, l, e);
  };
  t.clEnqueueWriteBuffer = [](auto q, auto m, auto b, auto o, auto n, auto h, auto w, auto l, auto e) -> cl_int {
    return shim().fault() ? CL_OUT_OF_RESOURCES : shim().real.clEnqueueWriteBuffer(q, m, b, o, n, h, w, l, e);
  };
  t.clEnqueueNDRangeKernel = [](auto q, auto k, auto a, auto f, auto g, auto l, auto n, auto w, cl_event* e) -> cl_int {
    if (shim().fault()) return CL_OUT_OF_RESOURCES;
    const cl_int status = shim().real.clEnqueueNDRangeKernel(q, k, a, f, g, l, n, w, e);
    if (status == CL_SUCCESS) shim().count("event", 1);
    return status;
  };
  t.clFlush = [](auto q) -> cl_int { return shim().fault() ? CL_OUT_OF_RESOURCES : shim().real.clFlush(q); };
  t.clFinish = [](auto q) -> cl_int { return shim().fault() ? CL_DEVICE_NOT_AVAILABLE : shim().real.clFinish(q); };
  t.clGetEventInfo = [](auto e, auto what, auto n, void* value, auto size) -> cl_int {
    const cl_int status = shim().real.clGetEventInfo(e, what, n, value, size);
    if (shim().lose_kernels) *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
    return status;
  };
  t.clReleaseContext = [](auto o) { return shim().count("context", -1), shim().real.clReleaseContext(o); };
  t.clReleaseCommandQueue = [](auto o) { return shim().count("queue", -1), shim().real.clReleaseCommandQueue(o); };
  t.clReleaseMemObject = [](auto o) { return shim().count("buffer", -1), shim().real.clReleaseMemObject(o); };
  t.clReleaseProgram = [](auto o) { return shim().count("program", -1), shim().real.clReleaseProgram(o); };
  t.clReleaseKernel = [](auto o) { return shim().count("kernel", -1), shim().real.clReleaseKernel(o); };
  t.clReleaseEvent = [](auto o) { return shim().count("event", -1), shim().real.clReleaseEvent(o); };
  return &t;
}

std::string leaked() {
  std::string text;
  for (const auto& [what, count] : shim().live)
    if (count != 0) text += what + ": " + std::to_string(count) + " ";
  return text;
}

LoopProgram scaled_sum() {
  Builder k({2});
  const auto i0 = k.argument(DType::float32, 2 * 40000);
  const auto o0 = k.argument(DType::float32, 2, true);
  k.stage({40000});
  const ValueId r = k.reduce(Op::ReduceMax, k.load(true, i0, ShapeTracker(Shape{2, 40000})));
  k.store(false, r, o0, ShapeTracker(Shape{2}));
  return k.p;
}

}  // namespace

TEST_CASE("a device, its memory and kernels: a fault at each call") {
  if (!has_opencl()) return;
  opencl::Options options;
  options.api = install();
  mem::DiskCache none("");
  options.cache = &none;
  const LoopProgram p = scaled_sum();
  const Bytes in = random_bytes(DType::float32, 2 * 40000, 3);
  const Bytes want(DType::float32, 2);
  interpret(p, {&in, &want});
  bool through = false;
  long faults = 0;
  for (long n = 1; !through; ++n) {
    REQUIRE(n < 200);
    CAPTURE(n);
    shim().begin(n);
    try {
      opencl::OpenClBackend device(0, options);
      try {
        const Bytes got(DType::float32, 2);
        run_there(device, p, {&in, &got}, {}, true);
        CHECK(got.same_bits(want));
      } catch (const DeviceError&) {
        ++faults;
      }
      through = shim().calls < n;
      shim().begin(0);
      const Bytes again(DType::float32, 2);
      run_there(device, p, {&in, &again}, {}, true);
      CHECK(again.same_bits(want));
      const auto counts = device.allocator()->statistics();
      CHECK(counts.live == 0);
    } catch (const DeviceError&) {
      ++faults;  // the device was not opened
    }
    shim().begin(0);
    CHECK(leaked() == "");
  }
  CHECK(faults > 15);
}

TEST_CASE("a graph that spans devices: a fault at each call loses nothing and leaks nothing") {
  if (!has_opencl()) return;
  opencl::replace_system_api(install());
  shim().begin(0);
  {
    const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}).realize();
    const Tensor w = (x * 2.0f).to(Device::opencl(0)).realize();
    bool through = false;
    long faults = 0;
    for (long n = 1; !through; ++n) {
      REQUIRE(n < 200);
      CAPTURE(n);
      const std::size_t here = memory(Device::eigen()).live, there = memory(Device::opencl(0)).live;
      {
        // Copies there and back twice, with another kernel each time, so that something is built.
        Tensor there_first = (x + 1.0f).to(Device::opencl(0)) * w;
        for (long k = 0; k < n; ++k) there_first = maximum(there_first, w);
        const Tensor back = there_first.to(Device::eigen()) - x;
        const Tensor both = (sum(back, 1, true).to(Device::opencl(0)) + w).to(Device::eigen());
        shim().begin(n);
        try {
          realize({both, back});
        } catch (const DeviceError&) {
          ++faults;
          CHECK_FALSE(both.realized());
          shim().begin(0);
          realize({both, back});
        }
        through = shim().fail_at != 0 && shim().calls < n;
        shim().begin(0);
        CHECK(back.to_vector<float>() == std::vector<float>{3, 10, 21, 36, 55, 78});
        CHECK(both.to_vector<float>() == std::vector<float>{36, 38, 40, 177, 179, 181});
      }
      CHECK(memory(Device::eigen()).live == here);
      CHECK(memory(Device::opencl(0)).live == there);
    }
    CHECK(faults > 10);
    CHECK(x.to_vector<float>()[5] == 6);
    CHECK(w.to_vector<float>()[5] == 12);
    // The result of a kernel that failed unnoticed is not copied.
    const Tensor lost = (w + 100.0f).realize();
    (w + 100.0f).realize();
    shim().lose_kernels = true;
    const Tensor late = (w + 100.0f).realize();
    CHECK_THROWS_AS(synchronize(Device::opencl(0)), DeviceError);
    CHECK_THROWS_AS((late.to(Device::eigen()) + x).realize(), DeviceError);
    shim().lose_kernels = false;
    CHECK_THROWS_AS((late.to(Device::eigen()) + x).realize(), DeviceError);
    CHECK(((w + 100.0f).to(Device::eigen()) + x).to_vector<float>()[0] == 103);
  }
}

TEST_CASE("tensors: a fault at each call loses none") {
  if (!has_opencl()) return;
  opencl::replace_system_api(install());
  shim().begin(0);
  set_default_device(Device::opencl(0));
  {
    const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    const std::vector<float> want{-1, -4, -9, -16, -25, -36};
    bool through = false;
    long faults = 0;
    for (long n = 1; !through; ++n) {
      REQUIRE(n < 200);
      CAPTURE(n);
      // Uses another program each time, so that something is built.
      Tensor y = -(x * x);
      for (long k = 0; k < n; ++k) y = -(-(y + x) - x) - 2.0f * x;
      shim().begin(n);
      std::vector<float> got;
      try {
        got = y.to_vector<float>();
      } catch (const DeviceError&) {
        ++faults;
        shim().begin(0);
        got = y.to_vector<float>();
      }
      through = shim().fail_at != 0 && shim().calls < n;
      shim().begin(0);
      CHECK(got == want);
    }
    CHECK(faults > 5);
    // If a kernel fails unnoticed, every later read of its result reports the failure.
    (x + 100.0f).realize();  // the first run of a kernel is waited for
    const Tensor lost = (x + 100.0f).realize();
    shim().lose_kernels = true;
    CHECK_THROWS_AS(lost.to_vector<float>(), DeviceError);
    shim().lose_kernels = false;
    CHECK_THROWS_AS(lost.to_vector<float>(), DeviceError);
    CHECK((x + 100.0f).to_vector<float>()[0] == 101);
    CHECK(x.to_vector<float>()[5] == 6);
  }
  set_default_device(Device::eigen());
}

}  // namespace opencl_faults_test
