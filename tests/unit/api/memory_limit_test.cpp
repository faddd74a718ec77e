// When memory runs out, every operation that needs some throws a MemoryError.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <vector>

#include "oriel/oriel.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kShadows = true;  // a sanitizer maps more than any limit
#else
constexpr bool kShadows = false;
#endif

namespace oriel::memory_limit_test {
namespace {

constexpr std::int64_t kElements = 200'000'000;

/// Runs `f` in a process that may map `more` bytes beyond what it has mapped when `f` calls `limit`. Returns 0 if
/// nothing was thrown, 1 for a MemoryError, 2 for a std::bad_alloc, 3 for anything else.
int outcome(std::int64_t more, const std::function<void(const std::function<void()>& limit)>& f) {
  const pid_t child = fork();
  if (child == 0) {
    const auto limit = [more] {
      std::int64_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const auto bytes = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more);
      const rlimit now{bytes, bytes};
      setrlimit(RLIMIT_AS, &now);
    };
    try {
      f(limit);
      _exit(0);
    } catch (const MemoryError&) {
      _exit(1);
    } catch (const std::bad_alloc&) {
      _exit(2);
    } catch (...) {
      _exit(3);
    }
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("to_vector, generate and checked positions without memory") {
  if (kShadows) return;
  const Tensor lazy = zeros({kElements}, DType::uint8);
  CHECK(outcome(100'000'000, [&](const auto& limit) {
          const Tensor x = (lazy + 1).realize();
          limit();
          x.to_vector<std::uint8_t>();
        }) == 1);
  CHECK(outcome(100'000'000, [&](const auto& limit) {
          const Tensor x = (lazy + 1 == 2).realize();
          limit();
          x.to_vector<bool>();
        }) == 1);
  CHECK(outcome(100'000'000, [&](const auto& limit) {
          limit();
          Tensor::generate({kElements}, [](auto) { return 1.0F; });
        }) == 1);
  CHECK(outcome(100'000'000, [&](const auto& limit) {
          limit();
          (lazy + 1).realize();
        }) == 1);
  CHECK(outcome(1'000'000'000, [&](const auto& limit) {
          limit();
          (lazy + 1).to_vector<std::uint8_t>();
        }) == 0);
}

TEST_CASE("without memory for what is kept, the work keeps nothing") {
  if (kShadows) return;
  CHECK(outcome(100'000'000, [](const auto& limit) {
          const Tensor x = ones({2'000'000}).realize();
          std::vector<Tensor> named{cumsum(x, 0)};
          while (named.size() < 30) named.push_back(cumsum(named.back() * 0.5F, 0));  // 240 MB
          limit();
          static_cast<void>(sum(named.back()).item<float>());
          if (explain(named.front()).kernels.empty()) throw std::runtime_error("it was kept");
        }) == 0);
}

TEST_CASE("lists of pieces, keys and positions without memory") {
  if (kShadows) return;
  const Tensor long_one = zeros({1}).expand({10'000'000});
  const auto refused = [](const std::function<void()>& f) {
    return outcome(100'000'000, [&](const auto& limit) {
      limit();
      f();
    });
  };
  CHECK(refused([] { static_cast<void>(tril_indices(100'000, 100'000)); }) == 1);
  CHECK(refused([] { static_cast<void>(triu_indices(10'000, 10'000)); }) == 1);
#ifndef ORIEL_NO_RANDOM
  CHECK(refused([] { static_cast<void>(split(Key(1), 10'000'000)); }) == 1);
#endif
  CHECK(refused([&] { static_cast<void>(split(long_one, 1)); }) == 1);
  CHECK(refused([&] { static_cast<void>(chunk(long_one, 10'000'000)); }) == 1);
  CHECK(refused([&] { static_cast<void>(ShapeTracker(Shape{100'000'000}).table(100'000'000)); }) == 1);
}

}  // namespace oriel::memory_limit_test
