// Programs on disk, shared by backends and processes; and many threads that use one device.
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "backend/opencl/builtins.hpp"
#include "memory/disk_cache.hpp"
#include "opencl_device.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace opencl_cache_test {

using namespace oriel;
using namespace oriel::test;
namespace items = oriel::backend::items;
namespace opencl = oriel::backend::opencl;

namespace {

LoopProgram squares() {
  Builder k({1000});
  const auto i0 = k.argument(DType::float32, 1000);
  const auto o0 = k.argument(DType::float32, 1000, true);
  k.stage();
  const ValueId x = k.load(false, i0, ShapeTracker(Shape{1000}));
  k.store(false, k.op(false, Op::Mul, DType::float32, x, x), o0, ShapeTracker(Shape{1000}));
  return k.p;
}

/// Runs a program on a device of its own and returns what was built and loaded.
items::ProgramStore::Counts work(mem::DiskCache& cache) {
  opencl::Options options;
  options.cache = &cache;
  opencl::OpenClBackend device(0, options);
  const Bytes in = random_bytes(DType::float32, 1000, 3);
  const Bytes want(DType::float32, 1000);
  const Bytes got(DType::float32, 1000);
  interpret(squares(), {&in, &want});
  run_there(device, squares(), {&in, &got});
  CHECK(got.same_bits(want));
  device.programs().wait_for_exports();
  return device.programs().counts();
}

}  // namespace

TEST_CASE("PoCL reads declarations of what a program calls, and its own header for a function that is not among them") {
  if (!has_opencl()) return;
  const std::string declared =
      opencl::builtin_declarations("x = clamp(as_int(exp(y)), 0, 1); barrier(z); f(vload4(0, p));");
  for (const char* line :
       {"float4 ORIEL_PURE exp(float4);", "int ORIEL_PURE clamp(int, int, int);", "barrier(cl_mem_fence_flags);",
        "float4 __attribute__((overloadable, pure)) vload4(size_t, const __local float*);"})
    CHECK(declared.find(line) != std::string::npos);
  CHECK(declared.find("log") == std::string::npos);
  const TemporaryFolder folder;
  mem::DiskCache cache(folder.path() + "/cache");
  opencl::Options options;
  options.cache = &cache;
  opencl::OpenClBackend device(0, options);
  std::string why_not;
  if (!opencl::find_devices(*opencl::system_api(why_not)).at(0).pocl) return;
  items::Rendered kernel;
  kernel.functions = {"k"};
  for (const char* function : {"atan2", "atan2pi"}) {
    kernel.body = fmt::format("__kernel void k(__global float* x) {{ x[0] = {}(x[0], 2.0f); }}\n", function);
    const items::Rendered* const wanted = &kernel;
    CHECK(device.programs().build({&wanted, 1}).at(0)->functions.size() == 1);
    CHECK(device.driver().retried() == (function == std::string("atan2pi") ? 1 : 0));
  }
}

TEST_CASE("a program is found on disk; a damaged entry is built anew") {
  if (!has_opencl()) return;
  const TemporaryFolder folder;
  mem::DiskCache cache(folder.path() + "/cache");
  auto counts = work(cache);
  CHECK(counts.built == 1);
  CHECK(counts.exported == 1);
  counts = work(cache);
  CHECK(counts.built == 0);
  CHECK(counts.loaded == 1);
  for (const auto& entry : std::filesystem::directory_iterator(cache.folder())) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  }
  counts = work(cache);
  CHECK(counts.built == 1);
  counts = work(cache);
  CHECK(counts.loaded == 1);
}

TEST_CASE("a binary that the driver refuses is built anew") {
  if (!has_opencl()) return;
  const TemporaryFolder folder;
  mem::DiskCache cache(folder.path() + "/cache");
  opencl::OpenClBackend device(0);
  items::ProgramStore::Counts counts = work(cache);
  CHECK(counts.exported == 1);
  // A kernel's entry holds the key of its program's entry.
  for (const auto& entry : std::filesystem::directory_iterator(cache.folder())) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const std::size_t at = bytes.rfind("program\n");
    if (at == std::string::npos || bytes.size() - at > 100) continue;
    CHECK(cache.put(bytes.substr(at), "no binary of any driver"));
  }
  counts = work(cache);
  CHECK(counts.built == 1);
}

TEST_CASE("one of several processes on one cache") {
  const char* folder = std::getenv("ORIEL_TEST_SHARED_CACHE");
  if (folder == nullptr || !has_opencl()) return;
  mem::DiskCache cache(folder);
  for (int turn = 0; turn < 3; ++turn) work(cache);
}

TEST_CASE("several processes share a cache") {
  if (!has_opencl()) return;
  const TemporaryFolder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string child = "ORIEL_TEST_SHARED_CACHE='" + folder.path() + "/cache' '" + self +
                            "' --test-case='one of several processes*' >'" + folder.path() + "/said";
  const std::string both = child + "1' 2>&1 & first=$!; " + child + "2' 2>&1 & wait $first && wait $!";
  CHECK(std::system(both.c_str()) == 0);
  mem::DiskCache cache(folder.path() + "/cache");
  CHECK(work(cache).loaded == 1);
}

TEST_CASE("eight threads build and run graphs on one device") {
  if (!has_opencl()) return;
  set_default_device(Device::opencl(0));
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  const Tensor shared = Tensor::from(std::vector<float>{1, 2, 3, 4}, {4});
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&wrong, &shared, t] {
      for (int turn = 0; turn < 5; ++turn) {
        const auto k = static_cast<float>(t + turn);
        const std::vector<float> got = (sum(shared * k) + shared).to_vector<float>();
        for (int i = 0; i < 4; ++i)
          if (got[static_cast<std::size_t>(i)] != 10 * k + static_cast<float>(i + 1))
            ++wrong[static_cast<std::size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_default_device(Device::eigen());
  for (const int w : wrong) CHECK(w == 0);
}

}  // namespace opencl_cache_test
