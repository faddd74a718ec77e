// Reading at positions that tensors hold.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"

namespace oriel {
namespace {

void agree(const Tensor& x) {
  const std::vector<reference::Number> want = reference::interpret(x);
  CHECK(reference::difference(x, want, reference::elements(x)) == "");
}

std::string refusal(const auto& f) {
  try {
    f();
    return "nothing";
  } catch (const Error& error) {
    return std::string(error.message());
  }
}

}  // namespace

TEST_CASE("take reads entries of an axis, counted from the end where negative") {
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}});
  const Tensor rows = take(x, Tensor::of<std::int32_t>({2, 0, -1}), 0);
  CHECK(rows.shape() == Shape{3, 2});
  CHECK(rows.to_vector<float>() == std::vector<float>{5, 6, 1, 2, 5, 6});
  const Tensor columns = take(x, Tensor::of<std::int64_t>({{1, 0}, {1, 1}}), -1);
  CHECK(columns.shape() == Shape{3, 2, 2});
  CHECK(columns.to_vector<float>() == std::vector<float>{2, 1, 2, 2, 4, 3, 4, 4, 6, 5, 6, 6});
}

TEST_CASE("gather picks along one axis at each place of the index") {
  const Tensor x = Tensor::of<std::int32_t>({{1, 2, 3}, {4, 5, 6}});
  CHECK(gather(x, Tensor::of<std::int32_t>({{2, 0}, {1, -1}}), 1).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{3, 1, 5, 6});
  CHECK(gather(x, Tensor::of<std::int32_t>({{1, 0, 1}}), 0).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{4, 2, 6});
}

TEST_CASE("positions outside give 0, or an error where checks are asked for") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::int32_t>({0, 3, -4, 2});
  CHECK(take(x, index).to_vector<float>() == std::vector<float>{1, 0, 0, 3});
  CHECK(refusal([&] { take(x, index, 0, Bounds::checked); }) == "take: index 3 leaves an axis of 3; -3 to 2 would do");
  CHECK_THROWS_AS(take(x, index, 0, Bounds::checked), IndexError);
  CHECK_NOTHROW(take(x, Tensor::of<std::int32_t>({0, 2}), 0, Bounds::checked));
  CHECK(refusal([&] { take(x, Tensor::of<float>({0, 1})); }) == "take: positions are integers, not float32");
  CHECK(
      refusal([&] { gather(x, Tensor::of<std::int32_t>({{0}}), 0); }).starts_with("gather: an index (1, 1) does not"));
}

TEST_CASE("a process may ask for the check wherever a call names none") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::int32_t>({0, 3});
  set_default_bounds(Bounds::checked);
  CHECK_THROWS_AS(take(x, index), IndexError);
  CHECK_THROWS_AS(gather(x, index, 0), IndexError);
  CHECK(take(x, index, 0, Bounds::zero).to_vector<float>() == std::vector<float>{1, 0});
  set_default_bounds(Bounds::zero);
  CHECK(take(x, index).to_vector<float>() == std::vector<float>{1, 0});
}

TEST_CASE("positions of uint64 past the largest of int64 lie outside") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::uint64_t>({2, UINT64_MAX, std::uint64_t{1} << 63});
  CHECK(take(x, index, 0).to_vector<float>() == std::vector<float>{3, 0, 0});
  CHECK(gather(x, index, 0).to_vector<float>() == std::vector<float>{3, 0, 0});
  CHECK_THROWS_AS(take(x, index, 0, Bounds::checked), IndexError);
}

TEST_CASE("every dtype, fused with what is around it") {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    CAPTURE(std::string(name(dtype)));
    const Tensor x = (arange(60) % 7).to(dtype).reshape({5, 12});
    const Tensor index = (arange(100) * 7 % 13 - 1).to(DType::int32);  // 11 stays outside of no axis, 12 does
    agree(take(x, index, 1));
    agree(take(x.permute({1, 0}), index % 5, 1));
    if (is_floating(dtype)) agree(exp(take(x, index, 1) * 0.125) + 1);
    if (dtype != DType::bool_) agree(sum(take(x, index, 1), {1}));
  }
}

TEST_CASE("what is gathered from is computed first; its own memory order does not matter") {
  const Tensor x = arange(24).to(DType::float32).reshape({1, 2, 3, 4});
  const Tensor last = x.to(MemoryFormat::channels_last);
  last.realize();
  const Tensor index = Tensor::of<std::int32_t>({1, 0, 2, 5, -1});
  agree(take(last, index, 2));
  CHECK(take(last, index, 2).to_vector<float>() == take(x, index, 2).to_vector<float>());
  agree(take(exp(x * 0.01), index, 2));
  agree(take(take(x, index, 3), index, 2));
  // One element, which the gather's own kernel could compute, but not read from memory.
  agree(take(sum(x, {0, 1, 2, 3}).reshape({1}), Tensor::of<std::int32_t>({0})));
  const Tensor scaled = x * 3;
  agree(scaled + take(scaled, Tensor::of<std::int32_t>({3, 2, 1, 0}), 3));
}

TEST_CASE("a write and a gather of the same memory") {
  Tensor x = arange(6).to(DType::int32);
  x.realize();
  const Tensor before = take(x, Tensor::of<std::int32_t>({5, 4, 3, 2, 1, 0}));
  x.assign(before + 10);
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{15, 14, 13, 12, 11, 10});
  x.shrink({{0, 3}}).assign(take(x, Tensor::of<std::int32_t>({3, 0, 1})));
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{12, 15, 14, 12, 11, 10});
  CHECK(before.to_vector<std::int32_t>() == std::vector<std::int32_t>{5, 4, 3, 2, 1, 0});
}

TEST_CASE("a gather from a write of a part") {
  Tensor x = zeros({4}, DType::float32);
  x.realize();
  x.shrink({{1, 3}}).assign(Tensor::of<float>({7, 8}));
  CHECK(take(x, Tensor::of<std::int32_t>({2, 1, 0})).to_vector<float>() == std::vector<float>{8, 7, 0});
}

}  // namespace oriel
