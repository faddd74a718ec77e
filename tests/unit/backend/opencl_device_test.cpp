// OpenCL devices: their descriptions, their memory, and errors if there is none.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "backend/backend.hpp"
#include "opencl_device.hpp"
#include "oriel/oriel.hpp"

namespace opencl_device_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

cl_int no_platforms(cl_uint, cl_platform_id*, cl_uint* count) {
  if (count != nullptr) *count = 0;
  return -1001;
}

}  // namespace

TEST_CASE("a loader without a platform is a DeviceError that says what to install") {
  opencl::Api api;
  api.clGetPlatformIDs = no_platforms;
  opencl::Options options;
  options.api = &api;
  CHECK_THROWS_WITH_AS(
      opencl::OpenClBackend(0, options),
      "opencl: the OpenCL loader finds no device: install a driver, say PoCL (Debian: pocl-opencl-icd)", DeviceError);
}

TEST_CASE("devices are listed, opened once, and a number too many is refused") {
  if (!has_opencl()) return;
  const std::vector<Device> all = devices();
  CHECK(std::find(all.begin(), all.end(), Device::opencl(0)) != all.end());
  CHECK(&backend::backend_for(Device::opencl(0)) == &backend::backend_for(Device::opencl(0)));
  CHECK_THROWS_AS(backend::backend_for(Device::opencl(255)), DeviceError);
  opencl::OpenClBackend device(0);
  CHECK(device.details().find("units") != std::string::npos);
  CHECK(device.table().units >= 1);
  CHECK(device.capabilities().max_arguments * 8 <= static_cast<int>(device.table().argument_bytes));
}

TEST_CASE("blocks go back to a pool and are handed out again") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0);
  const auto allocator = device.allocator();
  { const mem::Buffer first(allocator, 100000); }
  CHECK(allocator->statistics().pooled >= 100000);
  { const mem::Buffer again(allocator, 100000); }
  CHECK(allocator->statistics().requests == 2);
  CHECK(allocator->statistics().system_allocations == 1);
  allocator->trim(0);
  CHECK(allocator->statistics().pooled == 0);
  CHECK_THROWS_AS(mem::Buffer(allocator, std::size_t{1} << 60), MemoryError);
}

TEST_CASE("the host's memory is used where it lies if it is aligned, and copied if not") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0);
  auto* data = static_cast<float*>(std::aligned_alloc(4096, 4096));
  for (int i = 0; i < 1024; ++i) data[i] = static_cast<float>(i);
  int deleted = 0;
  {
    const auto there = device.wrap(data, 4096, [&](void*) { ++deleted; });
    const auto copied = device.wrap(data + 1, 4092 - 4, {});
    float got[2] = {};
    device.allocator()->read(copied->data(), got, 8);
    CHECK(got[0] == 1);
    CHECK(got[1] == 2);
    if (device.table().unified_memory) {
      CHECK(static_cast<backend::items::Block*>(there->data())->host == data);
      CHECK(deleted == 0);
      CHECK(there->writable());
    }
    CHECK(static_cast<backend::items::Block*>(copied->data())->host == nullptr);
    const auto lent = device.wrap(data, 4096, {});
    if (device.table().unified_memory) CHECK_FALSE(lent->writable());
  }
  CHECK(deleted == 1);
  std::free(data);
}

TEST_CASE("tensors on an OpenCL device: built, read, written, and what eigen gives") {
  if (!has_opencl()) return;
  const auto work = [] {
    const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    Tensor y = exp(x * 0.25f) + sum(x, {1}, true);
    y += 1.0f;
    return concat({y, y.flip(0)}, 1).to_vector<float>();
  };
  const std::vector<float> want = work();
  set_default_device(Device::opencl(0));
  const std::vector<float> got = work();
  set_default_device(Device::eigen());
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-6));
}

TEST_CASE("one kernel at growing and falling sizes, none waited for") {
  if (!has_opencl()) return;
  set_default_device(Device::opencl(0));
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<Tensor> made;
    for (const std::int64_t n : {3, 700, 5000, 40, 90000, 3, 1}) {
      made.push_back(full({n}, 2.0F).realize() * 3.0F);
      made.back().realize();
    }
    for (const Tensor& t : made) {
      for (const float v : t.to_vector<float>()) REQUIRE(v == 6.0F);
    }
  }
  set_default_device(Device::eigen());
}

TEST_CASE("synchronize waits for what was sent") {
  if (!has_opencl()) return;
  const Device there = Device::opencl(0);
  Tensor x = full({1 << 16}, 0.5F).to(there).realize();
  synchronize(there);
  const auto seconds = [](const auto& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // Long enough that what is left to wait for after synchronize is less in spite of other programs on the machine.
  for (int k = 0; k < 3; ++k) x = (sin(x) + tan(x) + atan2(x, 3)).realize();  // builds the kernel
  synchronize(there);
  double waited = 0;
  double read = 0;
  for (int turn = 0; turn < 5; ++turn) {
    for (int k = 0; k < 40; ++k) x = (sin(x) + tan(x) + atan2(x, 3)).realize();
    waited += seconds([&] { synchronize(there); });
    read += seconds([&] { static_cast<void>(x.to_vector<float>()); });
  }
  CHECK(read < waited);
  synchronize();  // the default device
  CHECK_THROWS_AS(synchronize(Device::opencl(200)), DeviceError);
}

// The thread sanitizer does not support a fork in a process with several threads.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("children that are forked while another thread is at work on the device are told, and compute on the CPU") {
  if (!has_opencl()) return;
  const Tensor there = full({1000}, 1.0F).to(Device::opencl(0)).realize();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (std::int64_t n = 1; !stop; n = n % 7 + 1)
      sum(there * there + full({n, 1}, 2.0F).to(Device::opencl(0))).realize();
  });
  int good = 0;
  for (int k = 0; k < 20; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool refused = false;
      try {
        static_cast<void>((there + 1).to_vector<float>());
      } catch (const DeviceError&) {
        refused = true;
      }
      static_cast<void>(memory(Device::opencl(0)));
      _exit(refused && sum(Tensor::of<float>({1, 2, 3})).item<float>() == 6 ? 0 : 1);
    }
    int status = -1;
    if (waitpid(child, &status, 0) == child && status == 0) ++good;
  }
  stop = true;
  other.join();
  CHECK(good == 20);
}
#endif

TEST_CASE("a forked child is told that its parent's device is none of its own, and computes on the CPU") {
  if (!has_opencl()) return;
  const Tensor there = Tensor::of<float>({1, 2, 3}).to(Device::opencl(0)).realize();
  const Tensor pending = there + 1;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // kills a child that hangs
    const auto refused = [](const auto& call) {
      try {
        call();
        return false;
      } catch (const DeviceError& e) {
        return std::string(e.what()).find("before this process was forked") != std::string::npos;
      }
    };
    const bool good = refused([&] { there.to_vector<float>(); }) && refused([&] { pending.to_vector<float>(); }) &&
                      refused([] { Tensor::of<float>({4}).to(Device::opencl(0)).realize(); }) &&
                      refused([] { synchronize(Device::opencl(0)); }) && refused([] {
                        const Context context;
                        const ContextScope scope(context);
                        Tensor::of<float>({4}).to(context.device(Device::opencl(0))).realize();
                      }) &&
                      sum(Tensor::of<float>({1, 2, 3})).item<float>() == 6;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(pending.to_vector<float>() == std::vector<float>{2, 3, 4});
}

TEST_CASE("rows of halves that start between vectors are read where they lie") {
  if (!has_opencl()) return;
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    CAPTURE(name(dtype));
    for (const std::int64_t n : {3, 15, 17, 33}) {
      const Tensor x = iota({3, n}).to(dtype).realize().to(Device::opencl(0)).realize();
      CHECK(argmax(x, 1).to_vector<std::int64_t>() == std::vector<std::int64_t>(3, n - 1));
      CHECK(argmin(x, 1).to_vector<std::int64_t>() == std::vector<std::int64_t>(3, 0));
      const Tensor part = x.reshape({-1}).shrink({{1, 3 * n - 1}});
      Tensor written = part;
      written.assign(part * 2);
      const std::vector<float> got = x.to(DType::float32).reshape({-1}).to_vector<float>();
      for (std::int64_t i = 0; i < 3 * n; ++i)
        CHECK(got[static_cast<std::size_t>(i)] == static_cast<float>(i == 0 || i == 3 * n - 1 ? i : 2 * i));
    }
  }
}

TEST_CASE("in long chains of halves roundings are called, and give the CPU's bits") {
  if (!has_opencl()) return;
  std::vector<float> numbers(300);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.37F * static_cast<float>(i % 50) - 9;
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    for (const int steps : {8, 48}) {
      CAPTURE(name(dtype));
      CAPTURE(steps);
      const auto chain = [&](Device device) {
        const Tensor x = Tensor::from(numbers, {100, 3}).to(dtype).to(device).realize();
        const Tensor y = (x * 0.7F).realize();
        Tensor sum = x;
        for (int k = 0; k < steps; ++k) sum = sum * 0.9F + y;
        return sum;
      };
      const Tensor there = chain(Device::opencl(0));
      const std::string source = explain(there).kernels.back().source;
      CHECK((source.find("__attribute__((noinline))") != std::string::npos) == (steps > 32));
      CHECK(there.to(DType::float32).to_vector<float>() ==
            chain(Device::eigen()).to(DType::float32).to_vector<float>());
    }
  }
}

TEST_CASE("divisions of unsigned integers have no test that is always false") {
  if (!has_opencl()) return;
  const Tensor x = Tensor::of<std::uint32_t>({7, 8, 9}).to(Device::opencl(0)).realize();
  const Tensor y = Tensor::of<std::uint32_t>({2, 0, 4}).to(Device::opencl(0)).realize();
  for (const Tensor& result :
       {remainder(x, y), floor_divide(x, y), fmod(x, y), trunc_divide(x, y), pow(x, y), x >> y, x << y}) {
    const std::string source = explain(result).kernels.back().source;
    CAPTURE(source);
    CHECK(source.find("|| 0 ") == std::string::npos);  // PoCL prints "1 warning generated." for it
  }
  CHECK(remainder(x, y).to_vector<std::uint32_t>() == std::vector<std::uint32_t>{1, 0, 1});
}

TEST_CASE("divisions and sines beside lanes of 0/0 and infinities, as the driver's optimiser leaves them") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  for (const DType dtype : {DType::float32, DType::float64}) {
    if (dtype == DType::float64 && !device.table().fp64) continue;
    CAPTURE(name(dtype));
    // First five elements, so that the lanes of 0/0 fill their vector; then a mixture.
    for (const std::int64_t n : {5, 67}) {
      Builder k({n});
      const auto i0 = k.argument(dtype, n);
      const auto i1 = k.argument(dtype, n);
      const ShapeTracker t(Shape{n});
      k.stage();
      const ValueId a = k.load(false, i0, t);
      const ValueId b = k.load(false, i1, t);
      const Op ops[] = {Op::Fmod, Op::Remainder, Op::FloorDiv, Op::TruncDiv, Op::Sin, Op::Cos, Op::Tan};
      for (const Op op : ops)
        k.store(false, k.op(false, op, dtype, a, graph::row(op).arity > 1 ? b : kNoValue), k.argument(dtype, n, true),
                t);
      std::vector<Bytes> want;
      for (const codegen::Argument& argument : k.p.arguments) want.emplace_back(argument.dtype, n);
      const double special[] = {0.0, INFINITY, NAN, 6, 1e-45, 0.7, -INFINITY, 1};
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = n == 5 ? 6 : special[static_cast<std::size_t>(i * 5 % 8)];
        const double y = n == 5 ? 0.7 : special[static_cast<std::size_t>(i * i % 7)];
        write_element(want[0], i, dtype == DType::float64 ? put(x) : put(static_cast<float>(x)));
        write_element(want[1], i, dtype == DType::float64 ? put(y) : put(static_cast<float>(y)));
      }
      std::vector<Bytes> got(want);
      std::vector<const Bytes*> want_there, got_there;
      for (std::size_t i = 0; i < want.size(); ++i) {
        want_there.push_back(&want[i]);
        got_there.push_back(&got[i]);
      }
      interpret(k.p, want_there);
      run_there(device, k.p, got_there);
      for (std::size_t o = 0; o < std::size(ops); ++o) {
        for (std::int64_t i = 0; i < n; ++i) {
          const auto value = [&](const Bytes& from) {
            return dtype == DType::float64 ? from.as<double>()[i] : static_cast<double>(from.as<float>()[i]);
          };
          const double w = value(want[o + 2]);
          const double g = value(got[o + 2]);
          const double allowed = o < 4 ? 0 : 8 * (dtype == DType::float64 ? 2.3e-16 : 1.2e-7) * std::fabs(w) + 1e-38;
          INFO(graph::name(ops[o]), " at ", i, " of ", n, ": got ", g, ", want ", w);
          CHECK((std::isnan(w) ? std::isnan(g) : w == g || std::fabs(w - g) <= allowed));
        }
      }
    }
  }
}

}  // namespace opencl_device_test
