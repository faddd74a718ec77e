// Looking never changes what runs: with a dump, debug lines or a profile on, captured functions run the same kernels.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "support/temporary_folder.hpp"

namespace watched_test {

using namespace oriel;

namespace {

Tensor ramp(const Shape& shape) { return (iota(shape) % 97).to(DType::float32).realize() / 64; }

struct Ran {
  std::vector<std::vector<float>> results;
  std::vector<std::string> kernels;
  std::size_t scheduled = 0;
};

/// Captures the program and calls it at several sizes.
template <class F>
Ran run(const F& program, Dynamic dynamic) {
  const auto f = function(program, {.dynamic = dynamic});
  Ran ran;
  for (const std::int64_t n : {40, 41, 70, 55, 90}) ran.results.push_back(f(ramp({n, 36})).template to_vector<float>());
  for (const FunctionEntry& entry : f.entries()) {
    ran.kernels.insert(ran.kernels.end(), entry.kernels.begin(), entry.kernels.end());
    ran.scheduled += entry.scheduled;
  }
  return ran;
}

/// The names of the kernels whose sources lie in a folder.
std::set<std::string> dumped(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().stem().string();
    if (const std::size_t k = name.find("_k"); k != std::string::npos && file.path().extension() == ".cpp")
      names.insert(name.substr(name.find('_', k + 1) + 1));
  }
  return names;
}

template <class F>
void check(const F& program) {
  for (const Dynamic dynamic : {Dynamic::yes, Dynamic::no}) {
    CAPTURE(dynamic == Dynamic::yes);
    const Ran alone = run(program, dynamic);
    const std::uint64_t compiled = runtime::counters().kernels_compiled;
    const test::TemporaryFolder folder;
    std::string lines;
    set_debug_sink([&](std::string_view line) { lines += std::string(line) + "\n"; });
    set_debug("graph=2,schedule=2,merge=2,codegen=2,memory=2");
    set_dump_directory(folder.path());
    const ProfileScope profile;
    const Ran watched = run(program, dynamic);
    set_dump_directory({});
    set_debug("graph=0,schedule=0,merge=0,codegen=0,memory=0");
    set_debug_sink({});
    CHECK(watched.results == alone.results);
    CHECK(watched.kernels == alone.kernels);
    CHECK(watched.scheduled == alone.scheduled);
    CHECK(runtime::counters().kernels_compiled == compiled);  // each kernel was known
    const std::set<std::string> shown = dumped(folder.path());
    for (const std::string& kernel : alone.kernels) {
      CAPTURE(kernel);
      CHECK(shown.contains(kernel));
      CHECK(lines.find(kernel) != std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("a watched function runs the kernels that it runs unwatched") {
  check([](Tensor x) { return x * 2 + 1; });
  check([](Tensor x) { return softmax(x, 1) + sum(x, 0); });
  check([](Tensor x) { return matmul(x, x.transpose()) + 1; });
  check([](Tensor x) { return matmul(softmax(matmul(x, x.transpose()), -1), x); });
  check([](Tensor x) { return sum(pad(exp(x), {{1, 1}, {0, 0}}).flip(1), 1); });
  if (default_device().kind == DeviceKind::eigen) check([](Tensor x) { return sort(x, 1) + roll(x, 1, 0); });
}

}  // namespace watched_test
