// EigenTier::automatic: results are available at once and always the same, compilers run in the background, and the
// process ends without waiting for them.
#include "backend/eigen/compiled/tuner.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "../../support/temporary_folder.hpp"
#include "base/settings.hpp"
#include "oriel/debug.hpp"
#include "oriel/oriel.hpp"
#include "programs.hpp"

namespace tuner_test {

using namespace oriel;
using namespace oriel::test;
using backend::eigen::Compiler;
using backend::eigen::EigenBackend;
using backend::eigen::Phase;
using backend::eigen::TieredKernel;
using mem::DiskCache;

namespace {

constexpr std::int64_t kSize = 20000;

LoopProgram chain(int number) {
  Builder k({kSize});
  k.p.name = "chain_" + std::to_string(number);
  const auto i0 = k.argument(DType::float32, kSize);
  k.stage();
  ValueId x = k.load(false, i0, ShapeTracker(Shape{kSize}));
  for (int i = 0; i < 6 + number; ++i) {
    x = k.op(false, Op::Mul, DType::float32, x,
             k.constant(false, graph::Scalar::of_float(DType::float32, 1.0 + 0.01 * i)));
    x = k.op(false, Op::Add, DType::float32, x, x);
  }
  k.store(false, x, k.argument(DType::float32, kSize, true), ShapeTracker(Shape{kSize}));
  return k.p;
}

const Compiler& real_compiler() {
  static const Compiler compiler({"c++", "g++", "clang++"}, 60);
  return compiler;
}

Phase phase(const std::shared_ptr<const backend::Kernel>& kernel) {
  return static_cast<const TieredKernel&>(*kernel).tuning().phase.load();
}

/// Launches until the kernel's tier is decided. Every result must equal the first one.
void launch_until_decided(EigenBackend& device, const std::shared_ptr<const backend::Kernel>& kernel) {
  const Bytes in = random_bytes(DType::float32, kSize, 1);
  const Bytes first(DType::float32, kSize);
  const Bytes out(DType::float32, kSize);
  void* one[] = {in.data(), first.data()};
  device.launch(*kernel, one, {});
  bool same = true;
  for (int i = 0; i < 1000000 && phase(kernel) != Phase::Tile && phase(kernel) != Phase::Native; ++i) {
    void* next[] = {in.data(), out.data()};
    device.launch(*kernel, next, {});
    same = same && out.same_bits(first);
    if (phase(kernel) == Phase::Asked) device.tuner().settle();
  }
  CHECK(same);
}

}  // namespace

// This case comes first: the thread sanitizer supports a fork only in a process that never had a second thread.
TEST_CASE("a process that ends while a compiler is at work ends at once") {
  const TemporaryFolder folder;
  const std::string slow = folder.script("cxx", R"(for last; do :; done
case "$1" in --version) echo 1; exit;; esac
if grep -q oriel_probe "$last"; then exec c++ "$@"; fi
echo $$ > "$(dirname "$0")/mark"; exec sleep 600
)");
  const pid_t child = fork();
  if (child == 0) {
    setenv("ORIEL_CXX", slow.c_str(), 1);
    setenv("ORIEL_CACHE", "off", 1);
    set_eigen_tier(EigenTier::automatic);
    const Tensor x = iota({1 << 16}).to(DType::float32).realize();
    const auto start = std::chrono::steady_clock::now();
    while (file_text(folder / "mark").empty() && std::chrono::steady_clock::now() - start < std::chrono::seconds(60))
      exp(x * 0.001F + x).realize();
    std::exit(file_text(folder / "mark").empty() ? 1 : 0);
  }
  int status = -1;
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(100));
  const int compiler = std::stoi("0" + file_text(folder / "mark"));
  REQUIRE(compiler > 1);
  CHECK(kill(compiler, 0) != 0);
}

// The thread sanitizer does not support a fork in a process with several threads.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a child that is forked while a compiler is at work has kernels built on its own") {
  // A compiler that hangs on a unit, and one that hangs on its trial.
  for (const std::string first : {"if grep -q oriel_probe \"$last\"; then exec c++ \"$@\"; fi\n", ""}) {
    const TemporaryFolder folder;
    const std::string once = R"(if mkdir "$(dirname "$0")/mark" 2> /dev/null; then exec sleep 600; fi
echo run >> "$(dirname "$0")/log"; exec c++ "$@"
)";
    const std::string slow =
        folder.script("cxx", "for last; do :; done\ncase \"$1\" in --version) echo 1; exit;; esac\n" + first + once);
    const pid_t parent = fork();
    if (parent == 0) {
      setenv("ORIEL_CXX", slow.c_str(), 1);
      setenv("ORIEL_CACHE", "off", 1);
      set_eigen_tier(EigenTier::automatic);
      const Tensor x = iota({1 << 16}).to(DType::float32).realize();
      const auto start = std::chrono::steady_clock::now();
      const auto working = [&] { return access((folder / "mark").c_str(), F_OK) == 0; };
      while (!working() && std::chrono::steady_clock::now() - start < std::chrono::seconds(60))
        exp(x * 0.001F + x).realize();
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);  // kills a child that hangs
        set_eigen_tier(EigenTier::compile);
        _exit((x * 2.0F + 1.0F).to_vector<float>()[3] == 7 ? 0 : 1);
      }
      int status = -1;
      const bool ended = waitpid(child, &status, 0) == child;
      std::exit(working() && ended && status == 0 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(parent, &status, 0) == parent);
    CAPTURE(first);
    CHECK(status == 0);
    CHECK(file_text(folder / "log").find("run") == 0);
  }
}
#endif

TEST_CASE("the background thread sees the environment as it was when it was asked, not as a program changes it") {
  DiskCache cache("");
  const Compiler none({"/nowhere"}, 60);
  backend::eigen::NativeBuilder native(none, cache, "baseline");
  std::atomic<bool> changed{false};
  std::optional<std::string> seen;
  backend::eigen::Tuner tuner(
      [&]() -> backend::eigen::NativeBuilder& {
        while (!changed) std::this_thread::yield();
        seen = base::env_text("ORIEL_TEST_SET");
        return native;
      },
      1);
  setenv("ORIEL_TEST_SET", "asked", 1);
  EigenBackend device({1, 0, "", EigenTier::tile});
  const auto kernel = device.compile(chain(0));
  tuner.record(static_cast<const TieredKernel&>(*kernel), false, 10);
  setenv("ORIEL_TEST_SET", "later", 1);
  changed = true;
  tuner.settle();
  CHECK(seen == "asked");
  CHECK(base::env_text("ORIEL_TEST_SET") == "later");
}

TEST_CASE("a kernel that was run for long is built, measured and decided upon") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  EigenBackend device({2, 0, "", EigenTier::automatic, &real_compiler(), &cache, 0.0001});
  std::vector<std::string> lines;
  set_debug("compile");
  set_debug_sink([&](std::string_view line) { lines.emplace_back(line); });
  const auto kernel = device.compile(chain(0));
  CHECK((phase(kernel) == Phase::Watched));
  const std::string watched = "tile machine; compiled once its total run time reaches the time that compiling takes";
  CHECK(device.tier(chain(0), nullptr) == watched);
  CHECK(device.tier(chain(0), kernel.get()) == watched);
  launch_until_decided(device, kernel);
  CHECK(device.tier(chain(0), kernel.get()) ==
        (phase(kernel) == Phase::Native ? "compiled" : "tile machine, no slower than compiled"));
  set_debug("0");
  set_debug_sink({});
  CHECK((phase(kernel) == Phase::Tile || phase(kernel) == Phase::Native));
  CHECK((static_cast<const TieredKernel&>(*kernel).native.load() != nullptr));
  bool built = false;
  bool decided = false;
  for (const std::string& line : lines) {
    built = built || line.find("oriel compile: built a unit of 1 kernels") == 0;
    decided = decided || line.find(" from now on, compiled ") != std::string::npos;
  }
  CHECK(built);
  CHECK(decided);
}

TEST_CASE("the compiled form is kept where its best time is better by three hundredths, and only there") {
  EigenBackend device({1, 0, "", EigenTier::automatic});
  const auto decided = [&](double native) {
    const auto kernel = device.compile(chain(0));
    const auto& tiered = static_cast<const TieredKernel&>(*kernel);
    tiered.tuning().phase = Phase::Measured;
    int natives = 0;
    int launches = 0;
    for (; phase(kernel) == Phase::Measured && launches < 100; ++launches) {
      const bool next = device.tuner().native_next(tiered);
      // Neither the first run of the compiled form nor runs that were disturbed may decide.
      const double noise = natives == 0 ? 0.001 : launches % 3 == 0 ? 50 : 1;
      if (next) ++natives;
      device.tuner().record(tiered, next, (next ? native : 1) * noise);
    }
    CHECK(launches == 11);
    CHECK(natives == 6);
    return phase(kernel);
  };
  CHECK((decided(0.9) == Phase::Native));
  CHECK((decided(0.96) == Phase::Native));
  CHECK((decided(0.98) == Phase::Tile));
  CHECK((decided(1.5) == Phase::Tile));
}

#if defined(__linux__)
TEST_CASE("one thread of low priority has kernels built, by one compiler at a time") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  // The compiler logs its runs and fails. The first unit waits until more kernels are there.
  const Compiler compiler({folder.script("cxx", R"sh(for last; do :; done
case "$1" in --version) echo 1; exit;; esac
if grep -q oriel_probe "$last"; then exec c++ "$@"; fi
here=$(dirname "$0")
echo "begin $(nice) $(grep -c '^extern "C".* chain_' "$last")" >> "$here/log"
i=0; while [ ! -e "$here/go" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
echo end >> "$here/log"; exit 1
)sh")},
                          60);
  REQUIRE(compiler.usable());
  const auto threads = [] {
    std::vector<int> niceness;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      niceness.push_back(getpriority(PRIO_PROCESS, static_cast<id_t>(std::stoi(task.path().filename().string()))));
    std::sort(niceness.begin(), niceness.end());
    return niceness;
  };
  const int own = getpriority(PRIO_PROCESS, 0);
  const int low = std::min(own + 5, 19);
  const std::vector<int> before = threads();
  EigenBackend device({1, 0, "", EigenTier::automatic, &compiler, &cache, 1e-9});
  std::vector<std::shared_ptr<const backend::Kernel>> kernels;
  for (int i = 0; i < 3; ++i) kernels.push_back(device.compile(chain(10 + i)));
  const Bytes in = random_bytes(DType::float32, kSize, 1);
  const Bytes out(DType::float32, kSize);
  void* arguments[] = {in.data(), out.data()};
  const auto asked = [&](std::size_t k) {
    while (phase(kernels[k]) == Phase::Watched) device.launch(*kernels[k], arguments, {});
  };
  asked(0);
  while (file_text(folder / "log").empty()) device.launch(*kernels[0], arguments, {});
  asked(1);
  asked(2);
  std::vector<int> after = threads();
  for (const int niceness : before) {
    const auto same = std::find(after.begin(), after.end(), niceness);
    REQUIRE(same != after.end());
    after.erase(same);
  }
  CHECK(after == std::vector<int>{low});
  std::ofstream(folder / "go") << "go";
  device.tuner().settle();
  // The second unit fails too and is tried by halves.
  std::string runs;
  for (const int count : {1, 2, 1, 1}) runs += "begin " + std::to_string(low) + " " + std::to_string(count) + "\nend\n";
  CHECK(file_text(folder / "log") == runs);
  for (const auto& kernel : kernels) CHECK((phase(kernel) == Phase::Tile));
}
#endif

TEST_CASE("a kernel that was run for a moment costs no compiler") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({folder.script("cxx", "echo run >> \"$(dirname \"$0\")/log\"; exec c++ \"$@\"")}, 60);
  const std::string before = file_text(folder / "log");
  EigenBackend device({1, 0, "", EigenTier::automatic, &compiler, &cache});
  const auto kernel = device.compile(chain(0));
  const Bytes in = random_bytes(DType::float32, kSize, 1);
  const Bytes out(DType::float32, kSize);
  void* arguments[] = {in.data(), out.data()};
  for (int i = 0; i < 3; ++i) device.launch(*kernel, arguments, {});
  device.tuner().settle();
  CHECK(file_text(folder / "log") == before);
}

TEST_CASE("what another process built is taken from the cache without a compiler") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  {
    EigenBackend device({1, 0, "", EigenTier::compile, &real_compiler(), &cache});
    device.prepare(std::vector<std::shared_ptr<const backend::Kernel>>{device.compile(chain(1))});
  }
  // This tuner waits very long before it builds, but it looks into the cache at once.
  EigenBackend device({1, 0, "", EigenTier::automatic, &real_compiler(), &cache, 0.01});
  const auto kernel = device.compile(chain(1));
  launch_until_decided(device, kernel);
  CHECK((static_cast<const TieredKernel&>(*kernel).native.load() != nullptr));
}

TEST_CASE("what an earlier process found faster is compiled from the first launch on, and no compiler runs") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const auto script = folder.script("cxx", "echo run >> \"$(dirname \"$0\")/log\"; exec c++ \"$@\"");
  // Acts as one process with its own compiler and device: builds its kernel and reports the tiers' times.
  const auto process = [&](double native_seconds, int threads = 1) {
    const Compiler compiler({script}, 60, &cache);
    EigenBackend device({threads, 0, "", EigenTier::automatic, &compiler, &cache, 1e-9});
    const auto kernel = device.compile(chain(1));
    const auto& tiered = static_cast<const TieredKernel&>(*kernel);
    const Bytes in = random_bytes(DType::float32, kSize, 1);
    const Bytes out(DType::float32, kSize);
    void* arguments[] = {in.data(), out.data()};
    device.launch(*kernel, arguments, {});
    const Phase first = phase(kernel);
    while (phase(kernel) == Phase::Watched) device.tuner().record(tiered, false, 1);
    device.tuner().settle();
    if (phase(kernel) == Phase::Watched) device.tuner().record(tiered, false, 1);
    device.tuner().settle();
    while (phase(kernel) == Phase::Measured) {
      const bool next = device.tuner().native_next(tiered);
      device.tuner().record(tiered, next, next ? native_seconds : 1);
    }
    device.tuner().settle();  // the decision is stored
    return first;
  };
  const auto runs = [&] { return file_text(folder / "log").size() / 4; };
  CHECK((process(0.5) != Phase::Native));
  CHECK(runs() == 3);  // its version, the trial, the kernel
  CHECK((process(0.5) == Phase::Native));
  CHECK((process(0.5, 2) != Phase::Native));  // the decision for another number of threads is separate
  CHECK((process(2) == Phase::Native));
  CHECK(runs() == 3);
  // A changed compiler counts as another compiler, which has built nothing.
  folder.script("cxx", "echo run >> \"$(dirname \"$0\")/log\"; : changed; exec c++ \"$@\"");
  CHECK((process(2) != Phase::Native));
  CHECK(runs() == 6);
  CHECK((process(2) != Phase::Native));  // there the tile machine was faster
  CHECK(runs() == 6);
}

TEST_CASE("a kernel that the cache lacks is watched on, and built when it has run for as long as that takes") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  EigenBackend device({1, 0, "", EigenTier::automatic, &real_compiler(), &cache, 0.7});
  const auto kernel = device.compile(chain(8));
  const auto& tiered = static_cast<const TieredKernel&>(*kernel);
  const Bytes in = random_bytes(DType::float32, kSize, 1);
  const Bytes out(DType::float32, kSize);
  void* arguments[] = {in.data(), out.data()};
  while (!tiered.tuning().looked_up) device.launch(*kernel, arguments, {});
  device.tuner().settle();
  CHECK((phase(kernel) == Phase::Watched));
  CHECK((tiered.native.load() == nullptr));
  CHECK(tiered.tuning().tile_ns.load() < 200'000'000);
  launch_until_decided(device, kernel);
  CHECK((tiered.native.load() != nullptr));
  CHECK(tiered.tuning().tile_ns.load() >= 200'000'000);  // at least 0.7 of the estimated 0.3 seconds
}

TEST_CASE("a compiler that fails leaves the kernel to the tile machine") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler none({folder / "none"}, 60);
  EigenBackend device({1, 0, "", EigenTier::automatic, &none, &cache, 0.0001});
  const auto kernel = device.compile(chain(2));
  launch_until_decided(device, kernel);
  CHECK((phase(kernel) == Phase::Tile));
  CHECK(device.tier(chain(2), kernel.get()) == "tile machine: it could not be compiled");
}

TEST_CASE("a device that goes away while a compiler hangs does not wait for it") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler slow({folder.script("cxx", R"(for last; do :; done
case "$1" in --version) echo 1; exit;; esac
if grep -q oriel_probe "$last"; then exec c++ "$@"; fi
touch "$(dirname "$0")/mark"; sleep 600
)")},
                      600);
  REQUIRE(slow.usable());
  const auto start = std::chrono::steady_clock::now();
  {
    EigenBackend device({1, 0, "", EigenTier::automatic, &slow, &cache, 0.0001});
    const auto kernel = device.compile(chain(3));
    const Bytes in = random_bytes(DType::float32, kSize, 1);
    const Bytes out(DType::float32, kSize);
    void* arguments[] = {in.data(), out.data()};
    for (int i = 0; i < 20000 && access((folder / "mark").c_str(), F_OK) != 0; ++i)
      device.launch(*kernel, arguments, {});
    CHECK(access((folder / "mark").c_str(), F_OK) == 0);
    device.launch(*kernel, arguments, {});  // results do not wait either
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // and the child was reaped
}

TEST_CASE("threads launch kernels while these are built and decided upon") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  EigenBackend device({2, 0, "", EigenTier::automatic, &real_compiler(), &cache, 0.0001});
  std::vector<std::shared_ptr<const backend::Kernel>> kernels;
  for (int i = 4; i < 7; ++i) kernels.push_back(device.compile(chain(i)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const Bytes in = random_bytes(DType::float32, kSize, 1);
      const Bytes out(DType::float32, kSize);
      std::vector<Bytes> first;
      for (const auto& kernel : kernels) {
        first.emplace_back(DType::float32, kSize);
        void* arguments[] = {in.data(), first.back().data()};
        device.launch(*kernel, arguments, {});
      }
      const auto start = std::chrono::steady_clock::now();
      for (std::size_t i = 0; std::chrono::steady_clock::now() - start < std::chrono::seconds(60); ++i) {
        const std::size_t k = i % kernels.size();
        void* arguments[] = {in.data(), out.data()};
        device.launch(*kernels[k], arguments, {});
        if (!out.same_bits(first[k])) ++wrong;
        bool all = true;
        for (const auto& kernel : kernels)
          all = all && (phase(kernel) == Phase::Tile || phase(kernel) == Phase::Native);
        if (all) break;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  for (const auto& kernel : kernels) CHECK((phase(kernel) == Phase::Tile || phase(kernel) == Phase::Native));
}

}  // namespace tuner_test
