// Host memory: the pool, its counters, how long it keeps blocks, and buffers.
#include "memory/host.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "../../support/temporary_folder.hpp"
#include "memory/machine.hpp"
#include "oriel/error.hpp"
#include "oriel/oriel.hpp"

namespace pool_test {

using namespace oriel;

namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Page faults of four turns. A sanitizer touches memory of its own now and then, so under one the fewest of three
// counts is taken.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kFaultCounts = 3;
#else
constexpr int kFaultCounts = 1;
#endif
template <class F>
long faults_of_turns(const F& turn) {
  long fewest = std::numeric_limits<long>::max();
  for (int count = 0; count < kFaultCounts; ++count) {
    const long before = page_faults();
    for (int i = 0; i < 4; ++i) turn();
    fewest = std::min(fewest, page_faults() - before);
  }
  return fewest;
}

struct Environment {
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  const char* name_;
};

}  // namespace

TEST_CASE("released blocks are handed out again") {
  const auto pool = mem::make_host_allocator();
  void* a = pool->allocate(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  const MemoryStatistics one = pool->statistics();
  CHECK(one.live >= 1064);
  CHECK(one.pooled == 0);
  pool->release(a, 1000);
  CHECK(pool->statistics().live == 0);
  CHECK(pool->statistics().pooled == one.live);
  CHECK(pool->allocate(1001) == a);
  CHECK(pool->statistics().system_allocations == 1);
  pool->release(a, 1001);
  pool->trim(0);
  CHECK(pool->statistics().pooled == 0);
  CHECK(pool->statistics().peak == one.live);
  pool->reset_peak();
  CHECK(pool->statistics().peak == 0);
}

TEST_CASE("every size gets its bytes, its slack and its alignment; live and pooled add up") {
  const auto pool = mem::make_host_allocator();
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
  pool->trim(0);
  CHECK(pool->statistics().pooled == 0);
}

TEST_CASE("size classes: four for each power of two, and the slack") {
  const auto pool = mem::make_host_allocator();
  const auto takes = [&](std::size_t bytes) {
    void* data = pool->allocate(bytes);
    const std::size_t live = pool->statistics().live;
    pool->release(data, bytes);
    return live - 64;
  };
  CHECK(takes(0) == 64);
  CHECK(takes(64) == 64);
  CHECK(takes(65) == 128);
  CHECK(takes(1024) == 1024);
  CHECK(takes(1025) == 1280);
  CHECK(takes(1100000) == 1310720);
  CHECK(takes(std::size_t{64} << 20) == std::size_t{64} << 20);
  CHECK(takes((std::size_t{64} << 20) + 1) == std::size_t{80} << 20);
  for (std::size_t bytes = 64; bytes < 3000000; bytes += 1 + bytes / 5) {
    const std::size_t size = takes(bytes);
    CHECK(size >= bytes);
    CHECK(size <= bytes + bytes / 4 + 64);
    CHECK(takes(size) == size);
  }
  CHECK(pool->statistics().live == 0);
  pool->trim(0);
  CHECK(pool->statistics().pooled == 0);
}

TEST_CASE("the pool keeps within its limit, and trims to what is asked") {
  const auto pool = mem::make_host_allocator();
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(pool->allocate(100000));
  const std::size_t each = pool->statistics().live / 10;
  MemoryOptions options = pool->options();
  options.pool_bytes = 3 * each;
  pool->set_options(options);
  for (void* block : blocks) pool->release(block, 100000);
  CHECK(pool->statistics().pooled == 3 * each);
  pool->trim(each);
  CHECK(pool->statistics().pooled == each);
}

TEST_CASE("more memory than there is: an error that names the size, and a smaller request works") {
  const auto pool = mem::make_host_allocator();
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
  const auto pool = mem::make_host_allocator();
  {
    const mem::Buffer owned(pool, 4096);
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
    mem::Buffer with(Device::eigen(), numbers, sizeof numbers, [&](void* p) { deleted += p == numbers; });
    CHECK(with.borrowed());
    CHECK(with.version() == 0);
    with.bump_version();
    CHECK(with.version() == 1);
    CHECK(deleted == 0);
  }
  CHECK(deleted == 1);
  const mem::Buffer borrowed(Device::eigen(), numbers, sizeof numbers, {});
  CHECK(borrowed.data() == numbers);
}

TEST_CASE("the pool serves several threads") {
  const auto pool = mem::make_host_allocator();
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

TEST_CASE("pooled blocks that nobody takes go back to the system by age, the others stay") {
  MemoryOptions options = mem::default_options();
  options.pool_seconds = 10;
  const auto pool = mem::make_host_allocator(options);
  void* old = pool->allocate(1000);
  void* young = pool->allocate(1000);
  void* other = pool->allocate(std::size_t{8} << 20);
  pool->release(old, 1000);
  const std::size_t each = pool->statistics().pooled;
  pool->pass_time(9);
  pool->release(young, 1000);
  CHECK(pool->statistics().pooled == 2 * each);
  pool->pass_time(4);
  pool->release(other, std::size_t{8} << 20);  // 13 seconds after the first, 4 after the second
  CHECK(pool->statistics().pooled > (std::size_t{8} << 20));
  CHECK(pool->allocate(1000) == young);
  pool->release(young, 1000);
  pool->pass_time(11);
  void* last = pool->allocate(100);
  pool->release(last, 100);
  CHECK(pool->statistics().pooled < each);
  CHECK(pool->statistics().pooled > 0);
}

TEST_CASE("a block that is taken again and again never ages; 0 seconds keep everything") {
  MemoryOptions options = mem::default_options();
  options.pool_seconds = 10;
  const auto pool = mem::make_host_allocator(options);
  for (int turn = 0; turn < 50; ++turn) {
    pool->release(pool->allocate(5000), 5000);
    pool->pass_time(5);
  }
  CHECK(pool->statistics().system_allocations == 1);
  CHECK(pool->statistics().requests == 50);
  options.pool_seconds = 0;
  pool->set_options(options);
  pool->pass_time(1e6);
  pool->release(pool->allocate(100), 100);
  pool->release(pool->allocate(5000), 5000);
  CHECK(pool->statistics().system_allocations == 2);
}

TEST_CASE("huge pages or not, blocks hold what is written and go back") {
  for (const HugePages pages : {HugePages::off, HugePages::advise, HugePages::reserved}) {
    MemoryOptions options = mem::default_options();
    options.huge_pages = pages;
    const auto pool = mem::make_host_allocator(options);
    const std::size_t bytes = (std::size_t{9} << 20) + 5;
    auto* data = static_cast<unsigned char*>(pool->allocate(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    std::memset(data, 7, (bytes + 63) / 64 * 64);
    CHECK(data[bytes - 1] == 7);
    pool->release(data, bytes);
    // Blocks that were allocated under one setting are released under another.
    options.huge_pages = HugePages::off;
    options.pool_bytes = 0;
    pool->set_options(options);
    CHECK(pool->statistics().pooled == 0);
    CHECK(pool->statistics().live == 0);
  }
}

TEST_CASE("the environment sets the options, and what has no meaning is refused") {
  {
    const Environment bytes("ORIEL_POOL_BYTES", "12345");
    const Environment seconds("ORIEL_POOL_SECONDS", "2.5");
    const Environment pages("ORIEL_HUGE_PAGES", "reserved");
    const MemoryOptions options = mem::options_from_environment();
    CHECK(options.pool_bytes == 12345);
    CHECK(options.pool_seconds == 2.5);
    CHECK(options.huge_pages == HugePages::reserved);
  }
  CHECK(mem::options_from_environment().pool_bytes == mem::machine_memory() / 2);
  for (const char* text : {"-1", "1e3x", "lots", "99999999999999999999999"}) {
    const Environment bytes("ORIEL_POOL_BYTES", text);
    CHECK_THROWS_AS(mem::options_from_environment(), ArgumentError);
  }
  for (const char* text : {"-0.5", "nan", "inf", "2s"}) {
    const Environment seconds("ORIEL_POOL_SECONDS", text);
    CHECK_THROWS_AS(mem::options_from_environment(), ArgumentError);
  }
  const Environment pages("ORIEL_HUGE_PAGES", "yes");
  CHECK_THROWS_WITH_AS(mem::options_from_environment(), "ORIEL_HUGE_PAGES: \"yes\" is none of off, advise, reserved",
                       ArgumentError);
}

TEST_CASE("the public calls: what tensors hold, the peak, trimming, options") {
  const MemoryOptions before = memory_options();
  CHECK(before.pool_seconds == 30);
  const std::size_t live = oriel::memory().live;
  reset_peak_memory();
  {
    const Tensor t = ones({1000, 1000}).realize();
    CHECK(oriel::memory().live >= live + 4000000);
    CHECK(oriel::memory().live < live + 6000000);
  }
  CHECK(oriel::memory().live == live);
  CHECK(oriel::memory().peak >= live + 4000000);
  CHECK(oriel::memory().pooled >= 4000000);
  trim_memory(1000000);
  CHECK(oriel::memory().pooled <= 1000000);
  MemoryOptions options = before;
  options.pool_bytes = 0;
  set_memory_options(options);
  CHECK(oriel::memory().pooled == 0);
  set_memory_options(before);
  for (const double seconds : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    options.pool_seconds = seconds;
    CHECK_THROWS_AS(set_memory_options(options), ArgumentError);
  }
  CHECK(memory_options().pool_bytes == before.pool_bytes);
  CHECK(oriel::memory(Device::null()).live == 0);
  CHECK_THROWS_AS(oriel::memory({DeviceKind::opencl, 9}), DeviceError);
}

// 64 MB are 16,384 pages, or 32 huge pages; four rounds touch 128 of these. Sanitizers touch pages of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr long kFewFaults = 64;
#else
constexpr long kFewFaults = 16;
#endif
// A new thread's stack is new memory, and so is what the thread sanitizer records about it.
#if defined(__SANITIZE_THREAD__)
constexpr long kThreadFaults = 1024;
#else
constexpr long kThreadFaults = kFewFaults;
#endif

TEST_CASE("a loop that makes a 64 MB result each turn touches no fresh page after the first") {
  const MemoryOptions before = memory_options();
  for (const HugePages pages : {HugePages::advise, HugePages::off, HugePages::reserved}) {
    CAPTURE(static_cast<int>(pages));
    MemoryOptions options = before;
    options.huge_pages = pages;
    set_memory_options(options);
    trim_memory();
    const Tensor x = ones({16, 1024, 1024}).realize();
    const auto turn = [&] { (x * 2 + 1).realize(); };
    turn();
    const std::uint64_t allocations = oriel::memory().system_allocations;
    CHECK(faults_of_turns(turn) < kFewFaults);
    CHECK(oriel::memory().system_allocations == allocations);
  }
  set_memory_options(before);
}

TEST_CASE("a loop that replaces its operand touches no fresh page either, and needs one block in all") {
  Tensor x = ones({16, 1024, 1024}).realize();
  const std::size_t live = oriel::memory().live;
  reset_peak_memory();
  const auto turn = [&] {
    x = x * 0.5F + 1;  // nothing names the old value any more
    x.realize();
  };
  turn();
  const std::uint64_t requests = oriel::memory().requests;
  CHECK(faults_of_turns(turn) < kFewFaults);
  CHECK(oriel::memory().requests == requests);
  CHECK(oriel::memory().peak == live);
  CHECK(x.shrink({{0, 1}, {0, 1}, {0, 1}}).item<float>() == 2 - std::ldexp(1.0F, -1 - 4 * kFaultCounts));
}

TEST_CASE("two threads with such loops touch no fresh page after the first turn either") {
  const Tensor x = ones({16, 1024, 1024}).realize();
  const auto turn = [&] { return (x * 3 + 1).realize(); };
  {
    const Tensor one = turn(), two = turn();  // the most memory that both hold
  }
  std::vector<std::thread> threads;
  const std::uint64_t allocations = oriel::memory().system_allocations;
  const long faults = page_faults();
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) turn();
    });
  for (std::thread& t : threads) t.join();
  CHECK(oriel::memory().system_allocations == allocations);
  CHECK(page_faults() - faults < kFewFaults + 2 * kThreadFaults);
}

TEST_CASE("the memory of a machine is what its control groups leave of it") {
  const test::TemporaryFolder root;
  const auto write = [&](const std::string& path, const std::string& text) {
    const std::filesystem::path file = root / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  };
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  CHECK(mem::group_memory(root.path()) == none);
  write("proc/self/cgroup", "0::/");
  CHECK(mem::group_memory(root.path()) == none);
  write("sys/fs/cgroup/memory.max", "3000");  // the limit of a container's own group
  CHECK(mem::group_memory(root.path()) == 3000);
  write("proc/self/cgroup", "0::/user/job");
  write("sys/fs/cgroup/memory.max", "max");
  write("sys/fs/cgroup/user/memory.max", "2000");
  write("sys/fs/cgroup/user/job/memory.max", "max");
  CHECK(mem::group_memory(root.path()) == 2000);
  write("sys/fs/cgroup/user/job/memory.max", "1000");
  CHECK(mem::group_memory(root.path()) == 1000);
  // In version 1 a very large number means that there is no limit.
  write("proc/self/cgroup", "9:cpu,cpuacct:/a\n4:hugetlb,memory:/a/b\n0::/");
  CHECK(mem::group_memory(root.path()) == none);
  write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  CHECK(mem::group_memory(root.path()) == 9223372036854771712U);
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700");
  CHECK(mem::group_memory(root.path()) == 700);
  CHECK(mem::machine_memory() <= mem::group_memory(""));
}

}  // namespace pool_test
