// The registry, the null device, settings, and the host's memory.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

#include "backend/null/backend.hpp"
#include "memory/host.hpp"
#include "programs.hpp"

using namespace oriel;
using namespace oriel::test;

TEST_CASE("the registry makes each device once and refuses those it lacks") {
  CHECK(&backend::backend_for(Device::eigen()) == &backend::backend_for(Device::eigen()));
  CHECK(backend::backend_for(Device::null()).device() == Device::null());
  CHECK_THROWS_WITH_AS(backend::backend_for({DeviceKind::opencl, 1}),
                       "backend: this build has no device opencl:1; it has eigen and null", DeviceError);
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
  const memory::Buffer huge(device.allocator(), std::size_t{1} << 50);
  CHECK(huge.data() != nullptr);
  CHECK(huge.device() == Device::null());
  char byte = 0;
  CHECK_THROWS_WITH_AS(device.allocator()->read(huge.data(), &byte, 1),
                       "read: 1 bytes from the null device, which computes nothing; use eigen for results",
                       DeviceError);
  CHECK_THROWS_AS(device.allocator()->allocate(std::numeric_limits<std::size_t>::max()), MemoryError);
}

TEST_CASE("settings that are none are refused") {
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend({1, 0, "sse9"}),
                       "ORIEL_ISA: got \"sse9\"; accepted are baseline, avx2 and avx512", ArgumentError);
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend({1, 20, ""}),
                       "eigen: a tile of 20 elements; accepted are multiples of 16", ArgumentError);
  setenv("ORIEL_THREADS", "many", 1);
  CHECK_THROWS_WITH_AS(backend::eigen::EigenBackend(),
                       "ORIEL_THREADS: got \"many\"; accepted is a whole number from 1 to 1024", ArgumentError);
  setenv("ORIEL_THREADS", "3", 1);
  CHECK(backend::eigen::EigenBackend().capabilities().threads == 3);
  unsetenv("ORIEL_THREADS");
}

TEST_CASE("an op that a dtype lacks is refused, naming the kernel") {
  backend::eigen::EigenBackend device({1, 0, ""});
  Builder k({4});
  const auto i0 = k.argument(DType::int32, 4);
  k.stage();
  k.op(false, Op::Exp, DType::int32, k.load(false, i0, ShapeTracker(Shape{4})));
  CHECK_THROWS_WITH_AS(device.compile(k.p), "compile: kernel test on eigen: no Exp of int32", DeviceError);
}

TEST_CASE("released blocks are handed out again") {
  const auto pool = memory::make_host_allocator();
  void* a = pool->allocate(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  const memory::PoolStatistics one = pool->statistics();
  CHECK(one.live >= 1064);
  CHECK(one.pooled == 0);
  pool->release(a, 1000);
  CHECK(pool->statistics().live == 0);
  CHECK(pool->statistics().pooled == one.live);
  CHECK(pool->allocate(1001) == a);
  CHECK(pool->statistics().system_allocations == 1);
  pool->release(a, 1001);
  pool->trim();
  CHECK(pool->statistics().pooled == 0);
  CHECK(pool->statistics().peak == one.live);
  pool->reset_peak();
  CHECK(pool->statistics().peak == 0);
}

TEST_CASE("every size gets its bytes, its slack and its alignment; live and pooled add up") {
  const auto pool = memory::make_host_allocator();
  for (std::size_t bytes = 0; bytes < 5000; bytes += 1 + bytes / 7) {
    char* data = static_cast<char*>(pool->allocate(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    std::memset(data, 1, (bytes + 63) / 64 * 64);
    pool->release(data, bytes);
    CHECK(pool->statistics().live == 0);
  }
  for (const std::size_t bytes : {std::size_t{1} << 20, (std::size_t{5} << 20) + 3, std::size_t{40} << 20}) {
    char* data = static_cast<char*>(pool->allocate(bytes));
    data[0] = data[bytes - 1] = 1;
    pool->release(data, bytes);
  }
  pool->trim();
  CHECK(pool->statistics().pooled == 0);
}

TEST_CASE("the pool keeps within its limit, and trims to what is asked") {
  const auto pool = memory::make_host_allocator();
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(pool->allocate(100000));
  const std::size_t each = pool->statistics().live / 10;
  pool->set_pool_limit(3 * each);
  for (void* block : blocks) pool->release(block, 100000);
  CHECK(pool->statistics().pooled == 3 * each);
  pool->trim(each);
  CHECK(pool->statistics().pooled == each);
}

TEST_CASE("more memory than there is: an error that names the size, and a smaller request works") {
  const auto pool = memory::make_host_allocator();
  pool->release(pool->allocate(100), 100);
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 62, std::size_t{1} << 46}) {
    try {
      pool->allocate(bytes);
      FAIL("no error");
    } catch (const MemoryError& error) {
      const std::string text = error.what();
      CHECK(text.find("allocate: no memory for " + std::to_string(bytes) + " bytes on eigen; the machine has ") == 0);
    }
  }
  void* data = pool->allocate(100);
  CHECK(data != nullptr);
  pool->release(data, 100);
}

TEST_CASE("buffers: owned, borrowed, with a deleter; versions") {
  const auto pool = memory::make_host_allocator();
  {
    const memory::Buffer owned(pool, 4096);
    CHECK_FALSE(owned.borrowed());
    CHECK(owned.bytes() == 4096);
    CHECK(pool->statistics().live > 0);
    const int source = 7;
    int back = 0;
    owned.allocator()->write(owned.data(), &source, sizeof source);
    owned.allocator()->read(owned.data(), &back, sizeof back);
    CHECK(back == 7);
  }
  CHECK(pool->statistics().live == 0);
  int deleted = 0;
  float numbers[4] = {};
  {
    memory::Buffer with(Device::eigen(), numbers, sizeof numbers, [&](void* p) { deleted += p == numbers; });
    CHECK(with.borrowed());
    CHECK(with.version() == 0);
    with.bump_version();
    CHECK(with.version() == 1);
    CHECK(deleted == 0);
  }
  CHECK(deleted == 1);
  const memory::Buffer borrowed(Device::eigen(), numbers, sizeof numbers, {});
  CHECK(borrowed.data() == numbers);
}

TEST_CASE("the pool serves several threads") {
  const auto pool = memory::make_host_allocator();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 1; i < 500; ++i) {
        void* data = pool->allocate(i * 10);
        std::memset(data, 1, i * 10);
        pool->release(data, i * 10);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(pool->statistics().live == 0);
}
