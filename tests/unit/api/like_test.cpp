// Creators like another tensor: values, dtypes and strides against PyTorch's answers.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"

namespace like_test {

using namespace oriel;

namespace {

using Floats = std::vector<float>;

Ints ints(const nlohmann::json& list) {
  Ints out;
  for (const auto& n : list) out.push_back(n.get<std::int64_t>());
  return out;
}

// A view with these strides over memory that is just large enough. It must have elements.
Tensor strided(const Shape& shape, const Ints& strides) {
  const Tensor memory = iota({Layout::make(shape, strides).span()}).to(DType::float32);
  View view{shape, strides, 0, {}};
  return detail::Access::tensor(graph::raw_view(detail::Access::node(memory), view));
}

// Writes 0, 1, 2, ... and checks where they lie in memory.
void lies(Tensor x, const Ints& strides) {
  CHECK(x.strides() == strides);
  x.assign(iota(x.shape()));
  CHECK(x.strides() == strides);
  x.realize();
  CHECK(x.strides() == strides);
  Floats memory(static_cast<std::size_t>(x.numel()));
  if (memory.empty()) return;
  const mem::Buffer& buffer = *detail::Access::node(x)->buffer;
  buffer.allocator()->read(buffer.data(), memory.data(), memory.size() * sizeof(float));
  bool right = true;
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    std::int64_t left = k;
    std::int64_t at = 0;
    for (std::size_t d = x.rank(); d-- > 0;) {
      at += left % x.shape()[d].value() * strides[d].value();
      left /= x.shape()[d].value();
    }
    right = right && memory[static_cast<std::size_t>(at)] == static_cast<float>(k);
  }
  CHECK(right);
}

}  // namespace

TEST_CASE("preserve gives the strides that PyTorch's empty_like gives") {
  std::ifstream file(std::string(ORIEL_TEST_DATA) + "/torch_contiguity.json");
  REQUIRE(file);
  const auto cases = nlohmann::json::parse(file)["cases"];
  int checked = 0;
  for (const auto& c : cases) {
    const Shape shape = ints(c["shape"]);
    const Ints strides = ints(c["strides"]);
    if (c["expect"]["numel"] == 0) continue;  // here a view without elements is row-major
    const Tensor x = strided(shape, strides);
    INFO(Layout::make(shape, strides).str());
    CHECK(x.strides() == strides);
    const Ints want = ints(c["expect"]["empty_like_strides"]);
    CHECK(empty_like(x).strides() == want);
    CHECK(zeros_like(x, DType::int8).strides() == want);
    if (x.numel() <= 1'000'000) lies(full_like(x, 2.5), want);
    ++checked;
  }
  CHECK(checked > 150);
}

TEST_CASE("permuted, channels-last, expanded and cut operands") {
  const Tensor x = iota({2, 3, 4, 5}).to(DType::float32).realize();
  lies(empty_like(x), {60, 20, 5, 1});
  lies(empty_like(x.permute({3, 1, 0, 2})), {1, 20, 60, 5});
  lies(ones_like(x.to(MemoryFormat::channels_last)), {60, 1, 15, 3});
  lies(zeros_like(x.to(MemoryFormat::channels_last), {}, MemoryFormat::contiguous), {60, 20, 5, 1});
  lies(zeros_like(x, {}, MemoryFormat::channels_last), {60, 1, 15, 3});
  lies(zeros_like(x.select(0, 0).unsqueeze(0).expand({7, 3, 4, 5}), {}, MemoryFormat::channels_last), {60, 1, 15, 3});
  // Repeated elements: the result is dense, in the order of the axes.
  lies(empty_like(zeros({1, 3}).realize().expand({4, 3})), {3, 1});
  // Gaps: dense, in the order of the strides.
  lies(empty_like(x.transpose(2, 3).shrink({{0, 2}, {0, 3}, {1, 4}, {0, 4}})), {36, 12, 1, 3});
  lies(empty_like(x.flip(3)), {60, 20, 5, 1});
  lies(empty_like(iota({2, 3, 4, 5, 6}).to(DType::float32), {}, MemoryFormat::channels_last_3d), {360, 1, 90, 18, 3});
  // A result that is still pending has a layout as well.
  lies(ones_like(relu(x.permute({3, 1, 0, 2}) + 1)), {1, 20, 60, 5});
}

TEST_CASE("elements and dtypes") {
  const Tensor x = Tensor::of<std::int16_t>({{1, 2, 3}, {4, 5, 6}});
  const Tensor turned = x.transpose();
  CHECK(zeros_like(turned).to_vector<std::int16_t>() == std::vector<std::int16_t>(6, 0));
  CHECK(ones_like(turned, DType::float32).to_vector<float>() == Floats(6, 1));
  CHECK(full_like(turned, 7).to_vector<std::int16_t>() == std::vector<std::int16_t>(6, 7));
  CHECK(full_like(x, 2.75).to_vector<std::int16_t>() == std::vector<std::int16_t>(6, 2));
  CHECK(full_like(x, NAN, DType::bool_).to_vector<bool>() == std::vector<bool>(6, true));
  CHECK(full_like(turned, Tensor::of<float>({1.5F, 2.5F}), DType::float32).to_vector<float>() ==
        Floats{1.5F, 2.5F, 1.5F, 2.5F, 1.5F, 2.5F});
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    CHECK(empty_like(x, dtype).dtype() == dtype);
    CHECK(ones_like(zeros({2, 0}, dtype)).dtype() == dtype);
    CHECK(sum(ones_like(zeros({3, 2}, dtype).transpose())).to(DType::int64).item<std::int64_t>() == 6);
  }
  CHECK(zeros_like(x).device() == x.device());
  CHECK(zeros_like(3).dtype() == DType::int64);
  CHECK(zeros_like(zeros({0, 3, 2, 2}), {}, MemoryFormat::channels_last).numel() == 0);
  CHECK(ones_like(scalar(2.5)).item<float>() == 1);
  CHECK_THROWS_WITH_AS(full_like(x, 70000),
                       "full_like: 70000 does not fit int16; cast the tensor to a wider dtype first", ArgumentError);
  CHECK_THROWS_WITH_AS(zeros_like(x, {}, MemoryFormat::channels_last),
                       "zeros_like: channels_last is for tensors with 4 axes and (2, 3) has 2; reshape it first",
                       ShapeError);
  CHECK_THROWS_AS(full_like(x, Tensor::of<int>({1, 2})), ShapeError);
}

TEST_CASE("the created tensors have storages of their own and are ordinary operands") {
  Tensor x = iota({2, 3}).to(DType::float32).realize();
  Tensor y = empty_like(x.transpose());
  y.assign(x.transpose());
  y += 1;
  y.select(0, 0).assign(-1);
  CHECK(y.to_vector<float>() == Floats{-1, -1, 2, 5, 3, 6});
  CHECK(x.to_vector<float>() == Floats{0, 1, 2, 3, 4, 5});
  CHECK(y.strides() == Ints{1, 3});
  CHECK((ones_like(x.transpose()) + x.transpose()).strides() == Ints{1, 3});
  CHECK((zeros_like(x) + 1).to_vector<float>() == Floats(6, 1));
  // Two layouts of one number in one go.
  const Tensor a = full_like(x.transpose(), 3);
  const Tensor b = full_like(x.transpose(), 3, {}, MemoryFormat::contiguous);
  realize({a, b});
  CHECK(a.strides() == Ints{1, 3});
  CHECK(b.strides() == Ints{2, 1});
  CHECK(a.to_vector<float>() == b.to_vector<float>());
}

}  // namespace like_test
