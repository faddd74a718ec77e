// When memory runs out, nothing is lost: inputs stay readable, and smaller work still runs.
#include <doctest/doctest.h>

#include "memory/host.hpp"
#include "oriel/oriel.hpp"

namespace failure_test {

using namespace oriel;

TEST_CASE("a result larger than the machine is a MemoryError; the tensors involved stay usable") {
  const Tensor x = Tensor::of<float>({1, 2, 3, 4}).realize();
  const Tensor huge = exp(broadcast_to(x.reshape({4, 1}), {4, std::int64_t{1} << 44}) + 1.5F);
  CHECK_THROWS_AS(huge.realize(), MemoryError);
  CHECK_FALSE(huge.realized());
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK((x + 1.5F).to_vector<float>() == std::vector<float>{2.5F, 3.5F, 4.5F, 5.5F});
  CHECK(sum(huge.shrink({{0, 4}, {0, 1}})).item<float>() > 0);
}

TEST_CASE("an intermediate value that cannot be had fails the schedule whole, and frees what it took") {
  const std::int64_t n = std::int64_t{1} << 43;
  const Tensor x = Tensor::of<float>({1, 2}).realize();
  const Tensor small = exp(x * 1.25F);
  const Tensor wide = broadcast_to(small.reshape({2, 1}), {2, n});  // stores the small value and expands it
  const Tensor summed = sum(exp(exp(exp(exp(wide)))).reshape({n, 2}).transpose(), 1);  // nothing stored here ...
  const Tensor stored = exp(exp(exp(exp(wide))));                                      // ... but this is
  const std::size_t live = mem::host_allocator()->statistics().live;
  CHECK_THROWS_AS(realize({small, stored}), MemoryError);
  CHECK(mem::host_allocator()->statistics().live == live);
  CHECK_FALSE(small.realized());
  CHECK(small.to_vector<float>().size() == 2);
  CHECK(summed.shape() == Shape{2});
}

TEST_CASE("tensors of two devices are realised together, each on its own") {
  const Tensor a = Tensor::of<float>({1}) + 1.5F;
  set_default_device(Device::null());
  const Tensor b = Tensor::of<float>({1}) + 1.5F;
  set_default_device(Device::eigen());
  realize({a, b});
  CHECK(b.realized());
  CHECK(a.item<float>() == 2.5F);
}

TEST_CASE("results larger than the machine are MemoryErrors wherever they are asked for") {
  CHECK_THROWS_AS(ones({std::int64_t{1} << 44}).to_vector<float>(), MemoryError);
  CHECK_THROWS_AS(zeros({INT64_MAX / 2}).to_vector<float>(), MemoryError);
  CHECK_THROWS_AS(Tensor::generate({std::int64_t{1} << 62}, [](auto) { return 1.0F; }), MemoryError);
  CHECK_THROWS_WITH_AS(
      (zeros({INT64_MAX / 2}) + iota({1})).realize(),
      "realize: the bytes of float32 (4611686018427387903) do not fit a signed 64-bit integer; realise a part of it",
      OverflowError);
}

}  // namespace failure_test
