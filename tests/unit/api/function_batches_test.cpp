// One layer of an encoder captured once and called with batches of many lengths, in random order.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace function_batches_test {

using namespace oriel;

namespace {

/// Every length from 2 to 512 whose remainder by 13 is 2, in an order that depends on the seed alone.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> out;
  for (std::int64_t n = 2; n <= 512; n += 13) out.push_back(n);
  std::mt19937 random(7);
  for (std::size_t k = out.size(); k > 1; --k) std::swap(out[k - 1], out[random() % k]);
  return out;
}

Tensor numbers(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  return Tensor::generate(shape, [&](auto) { return static_cast<float>(random() % 2001) / 1000 - 1; }).realize();
}

const auto layer = [](Tensor x, Tensor w, Tensor b, Tensor v, Tensor c) {
  const Tensor hidden = relu(matmul(x, w) + b);
  const Tensor y = layer_norm(x + matmul(hidden, v) + c, 1);
  const Tensor p = softmax(y, 1);
  return std::tuple{y, p, sum(p, 0), sum(y)};
};

struct Weights {
  Tensor w = numbers({32, 48}, 1), b = numbers({48}, 2), v = numbers({48, 32}, 3), c = numbers({32}, 4);
};

/// Are the elements the same bits?
bool same_bits(const Tensor& x, const Tensor& y) {
  const std::vector<float> a = x.to_vector<float>();
  const std::vector<float> b = y.to_vector<float>();
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Counts the OpenCL programs that are built. Those from the disk cache do not count.
class Programs {
 public:
  Programs() {
    set_debug("compile");
    set_debug_sink(
        [this](std::string_view line) { count_ += line.find("an OpenCL program") != std::string_view::npos; });
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() {
    set_debug("0");
    set_debug_sink({});
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

}  // namespace

TEST_CASE("batches of 40 lengths: three traces, and the plain engine's bits") {
  const Weights k;
  const Programs programs;
  const auto f = function(layer);
  const auto call = [&](std::int64_t n) { return f(numbers({n, 32}, static_cast<unsigned>(n)), k.w, k.b, k.v, k.c); };
  // The first length, the second one, which becomes a symbol, and a batch of one row, which never is.
  for (const int n : {17, 40, 1}) call(n);
  CHECK(f.counts().traces == 3);
  const std::vector<std::int64_t> all = lengths();
  REQUIRE(all.size() == 40);
  for (const std::int64_t n : all) {
    const auto got = call(n);
    const auto want = layer(numbers({n, 32}, static_cast<unsigned>(n)), k.w, k.b, k.v, k.c);
    realize({std::get<0>(want), std::get<1>(want), std::get<2>(want), std::get<3>(want)});
    INFO("a batch of ", n);
    CHECK(std::get<0>(got).shape() == Shape{n, 32});
    CHECK(same_bits(std::get<0>(got), std::get<0>(want)));
    CHECK(same_bits(std::get<1>(got), std::get<1>(want)));
    CHECK(same_bits(std::get<2>(got), std::get<2>(want)));
    CHECK(same_bits(std::get<3>(got), std::get<3>(want)));
  }
  CHECK(f.counts().traces == 3);
  CHECK(f.counts().plain == 0);
  // Lengths that were met are neither scheduled nor compiled again.
  const runtime::Counters before = runtime::counters();
  for (const std::int64_t n : all) call(n);
  CHECK(runtime::counters().schedules_built == before.schedules_built);
  CHECK(runtime::counters().kernels_compiled == before.kernels_compiled);
  CHECK(f.counts().hits == 80);
  // A kernel of work items takes sizes as arguments. Its source depends on whether a reduction is long enough to be cut
  // into parts, so a few lengths need programs of their own, but not each.
  const char* const cache = std::getenv("ORIEL_CACHE");
  if (default_device().kind == DeviceKind::opencl && cache != nullptr && std::string_view(cache) == "off")
    CHECK(programs.count() > 0);
  CHECK(programs.count() <= 10);
}

TEST_CASE("on the null device a batch of another length is not traced either") {
  const Device device = default_device();
  set_default_device(Device::null());
  {
    const Weights k;
    const auto f = function(layer);
    for (const int n : {17, 40, 1}) f(numbers({n, 32}, 1), k.w, k.b, k.v, k.c);
    for (const std::int64_t n : lengths()) f(numbers({n, 32}, 1), k.w, k.b, k.v, k.c);
    CHECK(f.counts().traces == 3);
    CHECK(f.counts().hits == 40);
  }
  set_default_device(device);
}

}  // namespace function_batches_test
