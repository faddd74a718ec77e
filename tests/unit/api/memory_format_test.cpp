// Memory formats: what to() and contiguous() copy, the layout of each result, and where the elements lie in memory.
#include <doctest/doctest.h>

#include <cstring>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "support/counted.hpp"

namespace memory_format_test {

using namespace oriel;
using test::counted;
using Floats = std::vector<float>;

namespace {

constexpr MemoryFormat kLast = MemoryFormat::channels_last;
constexpr MemoryFormat kLast3d = MemoryFormat::channels_last_3d;
constexpr MemoryFormat kRowMajor = MemoryFormat::contiguous;

Floats values(const Tensor& x) { return x.to_vector<float>(); }
const void* address(const Tensor& x) {
  x.realize();
  return detail::Access::node(x)->buffer->data();
}

// The elements in the order in which they lie in memory.
Floats in_memory(const Tensor& x) {
  x.realize();
  Floats out(static_cast<std::size_t>(x.numel()));
  const mem::Buffer& buffer = *detail::Access::node(x)->buffer;
  buffer.allocator()->read(buffer.data(), out.data(), out.size() * sizeof(float));
  return out;
}

// The expected memory: the row-major `elements` scattered by dense `strides`.
Floats scattered(const Floats& elements, const Shape& shape, const Ints& strides) {
  Floats out(elements.size());
  for (std::size_t k = 0; k < elements.size(); ++k) {
    auto left = static_cast<std::int64_t>(k);
    std::int64_t at = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += left % shape[d].value() * strides[d].value();
      left /= shape[d].value();
    }
    out[static_cast<std::size_t>(at)] = elements[k];
  }
  return out;
}

// Checks that the layout is as wanted before the work runs and after it, and that the elements lie so in memory.
void lies(const Tensor& x, const Ints& strides) {
  CHECK(x.strides() == strides);
  const Floats elements = values(x);
  CHECK(x.strides() == strides);
  CHECK(in_memory(x) == scattered(elements, x.shape(), strides));
}

std::uint64_t launches(const Tensor& x) {
  const std::uint64_t before = runtime::counters().kernels_launched;
  x.realize();
  return runtime::counters().kernels_launched - before;
}

}  // namespace

TEST_CASE("to lays a tensor out, whatever it was") {
  const Tensor x = counted({2, 3, 4, 5});
  lies(x, {60, 20, 5, 1});
  const Tensor last = x.to(kLast);
  lies(last, {60, 1, 15, 3});
  CHECK(values(last) == values(x));
  CHECK(last.is_contiguous(kLast));
  CHECK_FALSE(last.is_contiguous());
  CHECK(last.suggest_memory_format() == kLast);
  CHECK(in_memory(last)[1] == 20);
  lies(last.to(kRowMajor), {60, 20, 5, 1});
  lies(counted({2, 3, 2, 4, 5}).to(kLast3d), {120, 1, 60, 15, 3});
  lies(full({2, 3, 4, 5}, 1.5F).to(kLast), {60, 1, 15, 3});
}

TEST_CASE("a tensor that has the format already is not copied; an ambiguous one is copied by to alone") {
  const Tensor x = counted({2, 3, 4, 5}).to(kLast);
  const void* at = address(x);
  CHECK(address(x.to(kLast)) == at);
  CHECK(address(x.contiguous(kLast)) == at);
  CHECK(address(x.to(MemoryFormat::preserve)) == at);
  CHECK(address(x.contiguous()) != at);

  const Tensor one = counted({2, 1, 4, 5});  // with one channel it is both contiguous and channels-last
  CHECK(one.layout().is_ambiguous());
  CHECK(address(one.contiguous(kLast)) == address(one));
  CHECK(one.contiguous(kLast).strides() == Ints{20, 20, 5, 1});
  const Tensor laid = one.to(kLast);
  CHECK(laid.strides() == Ints{20, 1, 5, 1});
  CHECK(address(laid) != address(one));
  CHECK(values(laid) == values(one));
  // PyTorch's rule: a tensor that is already contiguous is not copied, even if it is a view with strides of its own.
  const Tensor turned = counted({2, 3}).transpose();
  CHECK(turned.to(kRowMajor).strides() == Ints{1, 3});
  CHECK(turned.contiguous().strides() == Ints{2, 1});
}

TEST_CASE("to gives a storage of its own") {
  Tensor x = counted({1, 2, 2, 2});
  const Tensor before = x.to(kLast);
  x.assign(0);
  CHECK(values(before)[7] == 7);
  CHECK(before.strides() == Ints{8, 1, 4, 2});
}

TEST_CASE("formats of other ranks are refused") {
  CHECK_THROWS_WITH_AS(counted({2, 3}).to(kLast),
                       "to: channels_last is for tensors with 4 axes and (2, 3) has 2; reshape it first", ShapeError);
  CHECK_THROWS_AS(counted({2, 3, 4, 5}).contiguous(kLast3d), ShapeError);
  CHECK_THROWS_AS(counted({2, 3, 4, 5, 6}).to(kLast), ShapeError);
  CHECK_THROWS_WITH_AS(counted({2}).contiguous(MemoryFormat::preserve),
                       "contiguous: preserve names no order; give contiguous, channels_last or channels_last_3d",
                       ArgumentError);
  CHECK_FALSE(counted({2, 3}).is_contiguous(kLast));
}

TEST_CASE("elementwise work keeps channels-last, in one kernel") {
  const Tensor x = counted({2, 3, 4, 5}).to(kLast).realize();
  const Tensor y = (counted({2, 3, 4, 5}) * 2).to(kLast).realize();
  const Tensor z = relu(x * 2 - y + 0.5F) + where(x > y, x, y);
  CHECK(launches(z) == 1);
  lies(z, {60, 1, 15, 3});
  // The layout is the same whether the operations are fused or not.
  const Tensor step = (x + y).realize();
  lies(step * 3, {60, 1, 15, 3});
  CHECK(values(step * 3) == values((x + y) * 3));
  // If the first operand has an order of axes, that order is taken; else that of the first operand that has one.
  const Tensor row = counted({2, 3, 4, 5});
  lies(row + x, {60, 20, 5, 1});
  lies(x + row, {60, 1, 15, 3});
  lies(x + counted({3, 1, 1}), {60, 1, 15, 3});
  lies(x.to(DType::int32).to(DType::float32), {60, 1, 15, 3});
  CHECK(values(x + row) == values(row + row));
}

TEST_CASE("explain shows the layouts of results and the loops of kernels") {
  const Tensor x = counted({2, 3, 4, 5});
  const Tensor last = x.to(kLast).realize();
  const std::string laid = explain(x.to(kLast)).str();
  CHECK(laid.find("Format to strides (60, 1, 15, 3) of %0") != std::string::npos);
  // Memory without gaps is read in one loop, also if a write follows.
  Tensor sum = last + last * 2;
  CHECK(explain(sum).str().find("loops (120)") != std::string::npos);
  sum.realize();
  sum += 1;
  CHECK(explain(sum).str().find("loops (120)") != std::string::npos);
  CHECK(explain(last + x).str().find("loops (2, 20, 3)") != std::string::npos);
}

TEST_CASE("the same value in two formats is stored twice, and computed together") {
  const Tensor x = counted({2, 3, 4, 5});
  const Tensor y = x * 2;
  const Tensor last = y.to(kLast);
  realize({y, last});
  CHECK(values(y) == values(last));
  CHECK(in_memory(y) == values(y));
  CHECK(in_memory(last) == scattered(values(y), y.shape(), {60, 1, 15, 3}));
}

TEST_CASE("reductions and what holds no strides are row-major") {
  const Tensor x = counted({2, 3, 4, 5}).to(kLast).realize();
  lies(sum(x, 1, true), {20, 20, 5, 1});
  lies(sum(x, 3), {12, 4, 1});
  lies(softmax(x, 1), {60, 1, 15, 3});
  lies(x.reshape({6, 20}), {20, 1});
  CHECK(values(sum(x, 1)) == values(sum(counted({2, 3, 4, 5}), 1)));
  // Like PyTorch's pad, a pad keeps channels-last.
  lies(pad(x, {{0, 0}, {0, 0}, {1, 1}, {0, 0}}), {90, 1, 15, 3});
}

TEST_CASE("movement moves strides and copies nothing") {
  const Tensor x = counted({2, 3, 4, 5}).to(kLast).realize();
  CHECK(x.permute({0, 2, 3, 1}).strides() == Ints{60, 15, 3, 1});
  CHECK(x.permute({0, 2, 3, 1}).is_contiguous());
  CHECK(x.select(0, 1).strides() == Ints{1, 15, 3});
  CHECK(x.flip(3).strides() == Ints{60, 1, 15, -3});
  CHECK(x.select(1, 0).unsqueeze(1).expand({2, 3, 4, 5}).strides() == Ints{60, 0, 15, 3});
  CHECK(x.shrink({{0, 2}, {1, 3}, {0, 4}, {0, 5}}).strides() == Ints{60, 1, 15, 3});
  const Tensor moved = sum(x.permute({0, 2, 3, 1}).reshape({40, 3}).flip(0).shrink({{3, 37}, {0, 2}}), 0);
  const Explanation explanation = explain(moved);
  CHECK(explanation.kernels.size() == 1);
  CHECK(values(moved) ==
        values(sum(counted({2, 3, 4, 5}).permute({0, 2, 3, 1}).reshape({40, 3}).flip(0).shrink({{3, 37}, {0, 2}}), 0)));
  // A result computed from a part with gaps is dense, with the same order of axes.
  lies(x.shrink({{0, 2}, {1, 3}, {0, 4}, {0, 5}}) + 1, {40, 1, 10, 2});
  lies(x.flip(2) * 2, {60, 1, 15, 3});
}

TEST_CASE("view asks the true strides, realised or not") {
  const Tensor x = counted({2, 3, 4, 5}).to(kLast);
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS_WITH_AS(x.view({2, 60}),
                         "view: (2,3,4,5):(60,1,15,3) cannot take the shape (2, 60) without a copy; reshape() takes "
                         "it, with a second view on top",
                         ShapeError);
    CHECK(x.view({2, 3, 20}).strides() == Ints{60, 1, 3});
    CHECK(values(x.view({2, 3, 20})) == values(counted({2, 3, 20})));
    x.realize();
  }
  const Tensor turned = counted({2, 3}).transpose();
  const Tensor sum = turned + 1;
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS_AS(turned.view({6}), ShapeError);
    CHECK_THROWS_AS(sum.view({6}), ShapeError);
    turned.realize();
    sum.realize();
  }
  // reshape depends only on the tensor before it, not on the movements that led there.
  const Tensor twice = turned.reshape({6}).reshape({3, 2});
  CHECK(twice.strides() == Ints{2, 1});
  CHECK(Tensor(turned.reshape({6})).realize().reshape({3, 2}).strides() == Ints{2, 1});
}

TEST_CASE("writes go into the memory as it lies") {
  Tensor x = counted({2, 3, 4, 5}).to(kLast);
  const void* at = address(x);
  Floats want = values(x);
  x += 1;
  x.select(1, 2).assign(-1);
  x.shrink({{0, 1}, {0, 3}, {1, 2}, {0, 5}}) *= 2;
  for (std::size_t k = 0; k < want.size(); ++k) {
    want[k] = k / 20 % 3 == 2 ? -1 : want[k] + 1;
    if (k < 60 && k / 5 % 4 == 1) want[k] *= 2;
  }
  CHECK(x.strides() == Ints{60, 1, 15, 3});
  CHECK(values(x) == want);
  CHECK(address(x) == at);
  lies(x, {60, 1, 15, 3});
  // A write from other memory keeps the target's layout, not the value's.
  const Tensor kept = x + 0.5F;
  x.assign(counted({2, 3, 4, 5}));
  CHECK(values(x) == values(counted({2, 3, 4, 5})));
  lies(x, {60, 1, 15, 3});
  CHECK(values(kept)[0] == want[0] + 0.5F);
  // A write into a part of a pending tensor.
  Tensor y = counted({2, 3, 4, 5}).to(kLast) * 2;
  y.select(0, 0).assign(7);
  CHECK(y.strides() == Ints{60, 1, 15, 3});
  CHECK(values(y)[0] == 7);
  CHECK(values(y)[60] == 120);
  lies(y, {60, 1, 15, 3});
  // A write to all of a pending tensor keeps its layout, whatever the value's layout is.
  Tensor pending = counted({2, 3, 4, 5}).to(kLast) * 2;
  pending.assign(counted({2, 3, 4, 5}) + 3);
  CHECK(pending.strides() == Ints{60, 1, 15, 3});
  CHECK(values(pending)[5] == 8);
  lies(pending, {60, 1, 15, 3});
  Tensor made = counted({2, 3}) * 2;
  made.assign(counted({3, 2}).transpose() + 1);
  CHECK(values(made) == Floats{1, 3, 5, 2, 4, 6});
  lies(made, {3, 1});
  // The same, and then the tensor is read in another format within one realisation.
  y += 1;
  const Tensor row = y.to(kRowMajor);
  realize({y, row});
  CHECK(in_memory(row) == values(y));
}

TEST_CASE("empty and tiny tensors") {
  CHECK(zeros({2, 0, 3, 4}).to(kLast).numel() == 0);
  CHECK(counted({2, 0, 3, 4}).to(kLast).to_vector<float>().empty());
  CHECK(values(counted({1, 1, 1, 1}).to(kLast) + 1) == Floats{1});
  CHECK(counted({}).strides().empty());
  CHECK(counted({4, 3, 1, 1}).to(kLast).strides() == Ints{3, 1, 3, 3});
}

TEST_CASE("the same work on another layout is found by another key") {
  const auto built = [](const Tensor& x) {
    const std::uint64_t before = runtime::counters().schedules_built;
    const Tensor y = x * 3.25F + 11;
    y.realize();
    CHECK(values(y)[7] == 7 * 3.25F + 11);
    return runtime::counters().schedules_built - before;
  };
  const Tensor x = counted({2, 3, 4, 5});
  CHECK(built(x) >= 1);
  CHECK(built(x.to(kLast).realize()) >= 1);
  CHECK(built(counted({2, 3, 4, 5})) == 0);
}

}  // namespace memory_format_test
