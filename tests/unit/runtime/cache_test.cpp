// Work whose structure was seen before is found in the cache and not planned again, and never uses old numbers or data.
#include <doctest/doctest.h>

#include <limits>

#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace cache_test {

using namespace oriel;

namespace {
struct Since {
  runtime::Counters at = runtime::counters();
  std::uint64_t built() const { return runtime::counters().schedules_built - at.schedules_built; }
  std::uint64_t compiled() const { return runtime::counters().kernels_compiled - at.kernels_compiled; }
  std::uint64_t launched() const { return runtime::counters().kernels_launched - at.kernels_launched; }
};
}  // namespace

TEST_CASE("a changed number or other data compile nothing new") {
  const auto work = [](const Tensor& x, float k) { return (x * k + exp(x)).to_vector<float>(); };
  const Tensor a = Tensor::of<float>({1, 2, 3}).realize();
  const auto first = work(a, 3.5F);
  const Since since;
  const auto second = work(Tensor::of<float>({1, 2, 3}).realize(), 7.5F);
  CHECK(since.built() == 0);
  CHECK(since.compiled() == 0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(second[i] - first[i] == doctest::Approx(4.0 * static_cast<double>(i + 1)));
}

TEST_CASE("numbers that rules look at are told apart") {
  const Tensor x = Tensor::of<float>({-2, 5}).realize();
  for (float k : {3.0F, 1.0F, 0.0F, 2.0F, -1.0F, 0.5F, 4.0F}) {
    CHECK((x * k).to_vector<float>() == std::vector<float>{-2 * k, 5 * k});
    CHECK((x + k).to_vector<float>() == std::vector<float>{-2 + k, 5 + k});
  }
}

TEST_CASE("two equal numbers and two different ones are told apart") {
  const Tensor x = Tensor::of<float>({1}).realize();
  const auto work = [&](float p, float q) { return ((x + p) * (x + q)).item<float>(); };
  CHECK(work(3, 3) == 16);
  CHECK(work(3, 4) == 20);
  CHECK(work(5, 5) == 36);
}

TEST_CASE("one buffer in two roles and two buffers are told apart") {
  const Tensor a = Tensor::of<float>({1, 2}).realize(), b = Tensor::of<float>({10, 20}).realize();
  CHECK((a * 3.5F + a).to_vector<float>() == std::vector<float>{4.5F, 9});
  CHECK((a * 3.5F + b).to_vector<float>() == std::vector<float>{13.5F, 27});
}

TEST_CASE("what has been computed is kept") {
  const Tensor y = exp(Tensor::of<float>({1, 2}));
  y.realize();
  const Since since;
  y.to_vector<float>();
  y.realize();
  CHECK(since.launched() == 0);
  CHECK(y.realized());
}

TEST_CASE("tensors realised together share kernels") {
  const Tensor x = Tensor::of<float>({1, 2, 3}).realize();
  const Tensor a = exp(x), b = a * 2.5F;
  const Since since;
  realize({a, b});
  CHECK(since.launched() == 1);
  CHECK(b.to_vector<float>()[0] == doctest::Approx(2.5 * 2.7182817));
}

TEST_CASE("the negative of +0 is -0, at any instruction set") {
  const auto v = (1.0F / -Tensor::of<float>({0.0F, -0.0F})).to_vector<float>();
  CHECK(v[0] == -std::numeric_limits<float>::infinity());
  CHECK(v[1] == std::numeric_limits<float>::infinity());
}

}  // namespace cache_test
