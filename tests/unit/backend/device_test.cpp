// The registry of devices, the null device, and settings.
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>

#include "backend/eigen/tile/threads.hpp"
#include "backend/null/backend.hpp"
#include "memory/host.hpp"
#include "programs.hpp"
#include "support/isa_levels.hpp"

namespace device_test {

using namespace oriel;
using namespace oriel::test;

TEST_CASE("the registry makes each device once and refuses those it lacks") {
  CHECK(&backend::backend_for(Device::eigen()) == &backend::backend_for(Device::eigen()));
  CHECK(backend::backend_for(Device::null()).device() == Device::null());
  CHECK_THROWS_AS(backend::backend_for(Device::opencl(255)), DeviceError);
  CHECK_THROWS_AS(backend::backend_for({DeviceKind::eigen, 1}), DeviceError);
}

TEST_CASE("the null device counts and computes nothing") {
  backend::null::NullBackend device;
  Builder k({4});
  k.stage();
  const auto kernel = device.compile(k.p);
  device.launch(*kernel, {}, {});
  device.launch(*kernel, {}, {});
  CHECK(device.compiled() == 1);
  CHECK(device.launched() == 2);
  const mem::Buffer huge(device.allocator(), std::size_t{1} << 50);
  CHECK(huge.data() != nullptr);
  CHECK(huge.device() == Device::null());
  char byte = 0;
  CHECK_THROWS_WITH_AS(device.allocator()->read(huge.data(), &byte, 1),
                       "read: 1 bytes from the null device, which computes nothing; use eigen for results",
                       DeviceError);
  CHECK_THROWS_AS(device.allocator()->allocate(std::numeric_limits<std::size_t>::max()), MemoryError);
}

// The sanitizers' runtimes end a process that cannot start a thread.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("where the system gives fewer threads than are wanted, or none, all is done by those and the caller") {
  for (const int room : {0, 200}) {  // MiB of address space; a thread's stack usually takes 8
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(30);  // kills a child that hangs
      std::ifstream statm("/proc/self/statm");
      rlim_t pages = 0;
      statm >> pages;
      const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (static_cast<rlim_t>(room) << 20);
      const rlimit limit{most, most};
      if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
      std::array<std::atomic<int>, 1000> done{};
      {
        backend::eigen::Threads threads(600);
        for (int round = 0; round < 3; ++round) threads.run(1000, [&](std::int64_t task) { ++done.at(task); });
      }
      _exit(std::all_of(done.begin(), done.end(), [](const auto& n) { return n == 3; }) ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CAPTURE(room);
    CHECK(status == 0);
  }
}
#endif

TEST_CASE("settings that are none are refused") {
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend({1, 0, "sse9"}),
                       "ORIEL_ISA: got \"sse9\"; accepted are baseline, avx2, avx512 and neon", ArgumentError);
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend({1, 20, ""}),
                       "eigen: a tile of 20 elements; accepted are multiples of 16", ArgumentError);
  setenv("ORIEL_THREADS", "many", 1);
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend(),
                       "ORIEL_THREADS: got \"many\"; accepted is a whole number from 1 to 1024", ArgumentError);
  setenv("ORIEL_THREADS", "3", 1);
  CHECK(backend::eigen::EigenBackend().capabilities().threads == 3);
  unsetenv("ORIEL_THREADS");
}

TEST_CASE("ORIEL_ISA chooses among the instruction sets, and the device says which one it has") {
  const char* const set = std::getenv("ORIEL_ISA");
  const std::string before = set == nullptr ? "" : set;
  for (const std::string& level : isa_levels()) {
    setenv("ORIEL_ISA", level.c_str(), 1);
    backend::eigen::EigenBackend device({2, 0, ""});
    CHECK(device.capabilities().description == "CPU, 2 threads, " + level);
    CHECK(device.details().find("CPU, 2 threads, " + level + " of those built, ") == 0);
  }
  setenv("ORIEL_ISA", "fastest", 1);
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend(),
                       "ORIEL_ISA: got \"fastest\"; accepted are baseline, avx2, avx512 and neon", ArgumentError);
  // If ORIEL_ISA is not set, the best level of this machine is used.
  unsetenv("ORIEL_ISA");
  CHECK(backend::eigen::EigenBackend({1, 0, ""}).capabilities().description == "CPU, 1 thread, " + isa_levels().back());
  if (!before.empty()) setenv("ORIEL_ISA", before.c_str(), 1);
}

TEST_CASE("an op that a dtype lacks is refused, naming the kernel") {
  backend::eigen::EigenBackend device({1, 0, ""});
  Builder k({4});
  const auto i0 = k.argument(DType::int32, 4);
  k.stage();
  k.op(false, Op::Exp, DType::int32, k.load(false, i0, ShapeTracker(Shape{4})));
  CHECK_THROWS_WITH_AS(device.compile(k.p), "compile: kernel test on eigen: no Exp of int32", DeviceError);
}

}  // namespace device_test
