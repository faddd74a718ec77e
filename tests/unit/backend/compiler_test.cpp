// Compilers that fail in every way. A failure only costs speed; results stay right.
#include "backend/eigen/compiled/compiler.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "../../support/temporary_folder.hpp"
#include "backend/eigen/compiled/native.hpp"
#include "oriel/debug.hpp"
#include "programs.hpp"
#include "support/isa_levels.hpp"

namespace compiler_test {

using namespace oriel;
using namespace oriel::test;
using backend::eigen::Compiler;
using backend::eigen::EigenBackend;
using mem::DiskCache;

namespace {

// A script of a compiler that passes the trial; a test appends a fault.
constexpr const char* kGood = R"(
for last; do :; done
case "$1" in --version) echo "fake 1"; exit 0;; esac
echo run >> "$(dirname "$0")/log"
if grep -q oriel_probe "$last"; then exec c++ "$@"; fi
)";

// A script of a compiler that fails from its second run on.
constexpr const char* kSoonBroken = R"(
for last; do :; done
case "$1" in --version) echo "fake 1"; exit 0;; esac
echo run >> "$(dirname "$0")/log"
if [ $(wc -l < "$(dirname "$0")/log") = 1 ]; then exec c++ "$@"; fi
echo no such luck; exit 1
)";

LoopProgram twice(std::int64_t n, double by, const std::string& name = "twice", int times = 1) {
  Builder k({n});
  k.p.name = name;
  const auto i0 = k.argument(DType::float32, n);
  k.stage();
  ValueId x = k.load(false, i0, ShapeTracker(Shape{n}));
  for (int i = 0; i < times; ++i)
    x = k.op(false, Op::Mul, DType::float32, x, k.constant(false, graph::Scalar::of_float(DType::float32, by)));
  k.store(false, x, k.argument(DType::float32, n, true), ShapeTracker(Shape{n}));
  return k.p;
}

struct Outcome {
  std::vector<std::string> lines;  // debug lines of category compile
  bool right = true;
};

/// Runs kernels on a device of its own and checks every result.
Outcome run_kernels(const Compiler& compiler, DiskCache& cache, int kernels = 1, const std::string& level = "") {
  Outcome outcome;
  set_debug("compile");
  set_debug_sink([&](std::string_view line) { outcome.lines.emplace_back(line); });
  EigenBackend device({1, 0, level, EigenTier::compile, &compiler, &cache, 1, false});
  for (int i = 0; i < kernels; ++i) {
    const Bytes in = random_bytes(DType::float32, 1000, 1);
    const Bytes out(DType::float32, 1000);
    run(device, twice(1000, 2 + i), {&in, &out});
    for (int k = 0; k < 1000; ++k) {
      outcome.right = outcome.right && out.as<float>()[k] == in.as<float>()[k] * static_cast<float>(2 + i);
    }
  }
  set_debug("0");
  set_debug_sink({});
  return outcome;
}

bool says(const Outcome& outcome, const std::string& part) {
  for (const std::string& line : outcome.lines)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

std::size_t entries(const std::string& folder) {
  const auto all = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t runs(const TemporaryFolder& folder) {
  const std::string log = file_text(folder / "log");
  return static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
}

}  // namespace

TEST_CASE("the system's compiler builds a kernel, which the next device finds in the cache") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({"c++", "g++", "clang++"}, 60);
  REQUIRE(compiler.usable());
  const Outcome first = run_kernels(compiler, cache);
  CHECK(first.right);
  CHECK(says(first, "oriel compile: compiler " + compiler.description()));
  CHECK(says(first, "built a unit of 1 kernels"));
  // Another version of Eigen may give other bits, so the version is part of every key.
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    const std::string whole = file_text(entry.path());
    if (whole.find("kernel\noriel native") != std::string::npos) CHECK(whole.find("\nEigen 3.") != std::string::npos);
  }
  const Outcome second = run_kernels(compiler, cache);
  CHECK(second.right);
  CHECK(says(second, "found 1 kernels in the disk cache"));
  CHECK_FALSE(says(second, "built"));
}

TEST_CASE("the kernels of a schedule are one unit, and equal ones are in it once") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({folder.script("cxx", std::string(kGood) + "exec c++ \"$@\"")}, 60);
  REQUIRE(compiler.usable());
  EigenBackend device({1, 0, "", EigenTier::compile, &compiler, &cache});
  std::vector<std::shared_ptr<const backend::Kernel>> kernels;
  for (int i = 0; i < 3; ++i) kernels.push_back(device.compile(twice(1000, 2 + i)));
  kernels.push_back(kernels[1]);
  device.prepare(kernels);
  CHECK(runs(folder) == 1 + 1);
  for (const auto& kernel : kernels)
    CHECK((static_cast<const backend::eigen::TieredKernel&>(*kernel).native.load() != nullptr));
  CHECK(entries(folder / "cache") == 1 + 3);
}

TEST_CASE("what was built for one instruction set is not taken for another") {
  const std::vector<std::string> levels = isa_levels();
  if (levels.size() < 2) return;
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({"c++", "g++", "clang++"}, 60);
  CHECK(says(run_kernels(compiler, cache, 1, levels[0]), "built a unit of 1 kernels"));
  CHECK(says(run_kernels(compiler, cache, 1, levels[1]), "built a unit of 1 kernels"));
  CHECK(says(run_kernels(compiler, cache, 1, levels[0]), "found 1 kernels in the disk cache"));
}

TEST_CASE("two processes build the same kernels in one cache at the same time") {
  const TemporaryFolder folder;
  const Compiler compiler({"c++", "g++", "clang++"}, 60);
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    DiskCache cache(folder / "cache");
    _exit(run_kernels(compiler, cache, 3).right ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  DiskCache cache(folder / "cache");
  const Outcome after = run_kernels(compiler, cache, 3);
  CHECK(after.right);
  CHECK_FALSE(says(after, "built"));
  CHECK(entries(folder / "cache") == 6);
}

TEST_CASE("damaged entries are built again") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({"c++", "g++", "clang++"}, 60);
  REQUIRE(run_kernels(compiler, cache).right);
  REQUIRE(entries(folder / "cache") == 2);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    const std::string good = file_text(entry.path());
    std::ofstream(entry.path(), std::ios::binary) << good.substr(0, good.size() / 2);
    const Outcome again = run_kernels(compiler, cache);
    CHECK(again.right);
    CHECK(says(again, "built a unit of 1 kernels"));
  }
  // An entry that is intact but does not hold a library.
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    const std::string whole = file_text(entry.path());
    const std::size_t key = whole.find("unit\n");
    if (key == std::string::npos || whole.find("\x7f"
                                               "ELF") == std::string::npos)
      continue;
    cache.put(whole.substr(key, whole.find("\x7f"
                                           "ELF") -
                                    key),
              "no library");
  }
  const Outcome again = run_kernels(compiler, cache);
  CHECK(again.right);
  CHECK(says(again, "built a unit of 1 kernels"));
}

TEST_CASE("a compiler that is missing, or fails its trial, is named with the reason") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const std::string wrong = folder.script("wrong", "case \"$1\" in --version) echo 1;; *) exit 4;; esac");
  const Compiler compiler({folder / "none", wrong}, 60);
  CHECK_FALSE(compiler.usable());
  CHECK(compiler.description() ==
        "no compiler: " + (folder / "none") + ": is not there; " + wrong + ": ended with status 4");
  const Outcome outcome = run_kernels(compiler, cache);
  CHECK(outcome.right);
  CHECK(says(outcome, "compiler no compiler: "));
  const Compiler silent({folder.script("silent", "exit 0")}, 60);
  CHECK(silent.description().find("left no library behind") != std::string::npos);
}

TEST_CASE("a compiler that leaves a part of a library, or a pipe in its place, costs the speed alone") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  // Sets $out to the file that -o names.
  const std::string start =
      std::string(kGood) +
      "c++ \"$@\" || exit 1\nwhile [ \"$1\" != -o ]; do shift; done; out=$2\nbytes=$(stat -c %s \"$out\")\n";
  const std::vector<std::pair<std::string, std::string>> faults{
      {"truncate -s $((bytes / 2)) \"$out\"", "left a file behind that is cut short"},
      {"truncate -s $((bytes - 1)) \"$out\"", "left a file behind that is cut short"},
      {"truncate -s 64 \"$out\"", "left a file behind that is cut short"},
      {"truncate -s 40 \"$out\"", "left a file behind that is no library"},
      {"truncate -s 0 \"$out\"", "left no library behind"},
      {"echo hello > \"$out\"", "left a file behind that is no library"},
      {"rm \"$out\"; mkfifo \"$out\"", "left something behind that is no regular file"},
      {"mv \"$out\" \"$out.real\"; ln -s \"$out.real\" \"$out\"", "left something behind that is no regular file"},
      {"rm \"$out\"; mkdir \"$out\"", "left something behind that is no regular file"}};
  for (std::size_t k = 0; k < faults.size(); ++k) {
    CAPTURE(faults[k].first);
    const Compiler compiler({folder.script("cxx" + std::to_string(k), start + faults[k].first)}, 60);
    REQUIRE(compiler.usable());
    const Outcome outcome = run_kernels(compiler, cache);
    CHECK(outcome.right);
    CHECK(says(outcome, "was not built: " + faults[k].second));
  }
}

TEST_CASE("a failing compiler is reported, and not used again after three failed units in a row") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({folder.script("cxx", kSoonBroken)}, 60);
  REQUIRE(compiler.usable());
  const Outcome outcome = run_kernels(compiler, cache, 6);
  CHECK(outcome.right);
  CHECK(says(outcome, "a unit of 1 kernels was not built: ended with status 1, saying: no such luck"));
  CHECK(says(outcome, "the compiler is not asked again"));
  CHECK(runs(folder) == 1 + 2 * 3);  // each kernel, and the trial again after each
  CHECK(entries(folder / "cache") == 0);
}

TEST_CASE("kernels that a compiler refuses stop no others, however many they are") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler(
      {folder.script("cxx", std::string(kGood) + "if grep -q spoiled \"$last\"; then exit 1; fi; exec c++ \"$@\"")},
      60);
  EigenBackend device({1, 0, "", EigenTier::compile, &compiler, &cache, 1, false});
  for (int i = 0; i < 5; ++i) {
    const auto kernel = device.compile(twice(64, 2 + i, i < 4 ? "spoiled" : "good"));
    device.prepare({&kernel, 1});
    CHECK((static_cast<const backend::eigen::TieredKernel&>(*kernel).native.load() != nullptr) == (i == 4));
  }
}

TEST_CASE("a kernel that is not built is an error where that is asked for") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({folder.script("cxx", std::string(kGood) + "echo no such luck; exit 1")}, 60);
  EigenBackend device({1, 0, "", EigenTier::compile, &compiler, &cache, 1, true});
  const auto kernel = device.compile(twice(64, 2));
  std::string said;
  try {
    device.prepare({&kernel, 1});
  } catch (const DeviceError& error) {
    said = error.what();
  }
  CHECK(said.find(
            "compile: kernel twice was not built, and ORIEL_COMPILE_STRICT forbids the tile machine to stand in; ") ==
        0);
  CHECK(said.find("no such luck") != std::string::npos);
  const Compiler none({folder / "none"}, 60);
  EigenBackend without({1, 0, "", EigenTier::compile, &none, &cache, 1, true});
  const auto other = without.compile(twice(64, 2));
  CHECK_THROWS_WITH_AS(without.prepare({&other, 1}), doctest::Contains("no compiler: "), DeviceError);
}

namespace {

/// Compiles all programs together. Returns which ones were compiled.
std::vector<bool> prepare(const Compiler& compiler, DiskCache& cache, const std::vector<LoopProgram>& programs,
                          Outcome& outcome) {
  set_debug("compile");
  set_debug_sink([&](std::string_view line) { outcome.lines.emplace_back(line); });
  EigenBackend device({1, 0, "", EigenTier::compile, &compiler, &cache, 1, false});
  std::vector<std::shared_ptr<const backend::Kernel>> kernels;
  for (const LoopProgram& program : programs) kernels.push_back(device.compile(program));
  device.prepare(kernels);
  set_debug("0");
  set_debug_sink({});
  std::vector<bool> compiled;
  for (const auto& k : kernels) {
    const auto& kernel = static_cast<const backend::eigen::TieredKernel&>(*k);
    CHECK(kernel.tried.load());
    compiled.push_back(kernel.native.load() != nullptr);
  }
  return compiled;
}

}  // namespace

TEST_CASE("a kernel that no compiler accepts does not affect the other kernels of its schedule") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler(
      {folder.script("cxx", std::string(kGood) + "if grep -q spoiled \"$last\"; then exit 1; fi; exec c++ \"$@\"")},
      60);
  Outcome outcome;
  const std::vector<LoopProgram> programs{twice(64, 2), twice(64, 3), twice(64, 4), twice(64, 5, "spoiled")};
  CHECK(prepare(compiler, cache, programs, outcome) == std::vector<bool>{true, true, true, false});
  CHECK(says(outcome, "a unit of 4 kernels was not built, its halves are tried: ended with status 1"));
  CHECK(says(outcome, "built a unit of 2 kernels"));
  CHECK(says(outcome, "a unit of 1 kernels was not built: ended with status 1"));
  CHECK(runs(folder) == 1 + 5 + 1);  // the trial runs again to show that the kernel is at fault
  // The kernels that were built are in the cache.
  Outcome again;
  CHECK(prepare(compiler, cache, programs, again) == std::vector<bool>{true, true, true, false});
  CHECK(says(again, "found 3 kernels in the disk cache"));
  CHECK(runs(folder) == 1 + 5 + 1 + 2);
}

TEST_CASE("a compiler that accepts no kernel is given halves of the unit, and soon nothing more") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({folder.script("cxx", kSoonBroken)}, 60);
  Outcome outcome;
  std::vector<LoopProgram> programs;
  for (int i = 0; i < 16; ++i) programs.push_back(twice(64, 2 + i));
  CHECK(prepare(compiler, cache, programs, outcome) == std::vector<bool>(16, false));
  CHECK(says(outcome, "the compiler is not asked again"));
  CHECK(runs(folder) == 1 + 8 + 3);  // 16, 8, 4, 2, 1, 1, 2, 1, and the trial again after each single one
}

TEST_CASE("kernels of many instructions are units of their own") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({"c++", "g++", "clang++"}, 60);
  Outcome outcome;
  CHECK(prepare(compiler, cache, {twice(64, 2, "lengthy", 300), twice(64, 3, "lengthy", 300), twice(64, 4)}, outcome) ==
        std::vector<bool>(3, true));
  CHECK(says(outcome, "built a unit of 1 kernels"));
  CHECK(says(outcome, "built a unit of 2 kernels"));
}

TEST_CASE("a limit of 0 seconds means no limit") {
  const Compiler compiler({"c++", "g++", "clang++"}, 0);
  CHECK(compiler.usable());
}

TEST_CASE("a compiler that hangs is killed, with what it started") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler({folder.script("cxx", std::string(kGood) + "sleep 600 & sleep 600")}, 5);
  REQUIRE(compiler.usable());
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_kernels(compiler, cache);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  CHECK(outcome.right);
  CHECK(says(outcome, "killed after 5 s"));
}

TEST_CASE("a compiler that prints megabytes") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const Compiler compiler(
      {folder.script("cxx", std::string(kGood) + "head -c 9000000 /dev/zero | tr '\\0' 'x'; exit 1")}, 60);
  const Outcome outcome = run_kernels(compiler, cache);
  CHECK(outcome.right);
  std::size_t longest = 0;
  for (const std::string& line : outcome.lines) longest = std::max(longest, line.size());
  CHECK(longest < 3000);
}

TEST_CASE("a compiler whose libraries cannot be loaded, or hold nothing") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const std::string output = "while [ \"$1\" != -o ]; do shift; done\n";
  const Compiler text({folder.script("text", kGood + output + "echo text > \"$2\"")}, 60);
  const Outcome first = run_kernels(text, cache);
  CHECK(first.right);
  CHECK(says(first, "left a file behind that is no library"));
  // A library with intact headers that the loader refuses.
  const Compiler lacking({folder.script("lacking", kGood + output +
                                                       "echo 'extern \"C\" void nowhere(); void f() { nowhere(); }' | "
                                                       "c++ -shared -fPIC -x c++ -o \"$2\" -")},
                         60);
  CHECK(says(run_kernels(lacking, cache), "cannot be loaded"));
  const Compiler empty(
      {folder.script("empty", kGood + output + "echo 'int x;' | c++ -shared -fPIC -x c++ -o \"$2\" -")}, 60);
  const Outcome second = run_kernels(empty, cache);
  CHECK(second.right);
  CHECK(says(second, "holds no twice"));
  CHECK(entries(folder / "cache") == 0);
}

TEST_CASE("a compiler that is replaced is another one: what the first built is not used") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const std::string path = folder.script("cxx", std::string(kGood) + "exec c++ \"$@\"");
  {
    const Compiler compiler({path}, 60);
    CHECK(says(run_kernels(compiler, cache), "built a unit"));
    CHECK(says(run_kernels(compiler, cache), "found 1 kernels"));
  }
  folder.script("cxx", std::string(kGood) + "exec c++ \"$@\"  # another");
  const Compiler compiler({path}, 60);
  CHECK(says(run_kernels(compiler, cache), "built a unit"));
}

TEST_CASE("no folder for temporary files, and a cache that takes nothing") {
  const TemporaryFolder folder;
  DiskCache none("");
  const Compiler compiler({"c++", "g++", "clang++"}, 60);
  const Outcome outcome = run_kernels(compiler, none);
  CHECK(outcome.right);
  CHECK(says(outcome, "built a unit of 1 kernels"));
  CHECK(says(run_kernels(compiler, none), "built a unit of 1 kernels"));
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", (folder / "nowhere").c_str(), 1);
  const Outcome nowhere = run_kernels(compiler, none);
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  CHECK(nowhere.right);
  CHECK(says(nowhere, "no room in the folder for temporary files"));
}

}  // namespace compiler_test
