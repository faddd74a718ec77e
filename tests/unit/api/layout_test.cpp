// The layouts of results: random programs against a model that works op by op and knows no graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "view/layouts/iterate.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace layout_test {

using namespace oriel;

namespace {

struct Value {
  Tensor tensor;
  Layout layout;
};

class Programs {
 public:
  explicit Programs(std::uint64_t seed) : engine_(seed) {
    const std::size_t rank = static_cast<std::size_t>(between(2, 5));
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d) shape.push_back(between(1, 3));
    for (int k = 0; k < 2; ++k)
      values_.push_back({iota(shape).to(DType::float32).realize(), Layout::contiguous(shape)});
  }

  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  Value& pick() { return values_[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(values_.size()) - 1))]; }
  const std::vector<Value>& values() const { return values_; }

  void step() {
    const Value x = pick();
    const auto rank = static_cast<std::int64_t>(x.layout.rank());
    const auto d = static_cast<std::size_t>(between(0, std::max<std::int64_t>(rank, 1) - 1));
    if (rank == 0) return add(abs(x.tensor), x.layout);
    switch (between(0, 12)) {
      case 0:
        return permuted(x);
      case 1: {
        Ranges ranges;
        for (const SymInt n : x.layout.shape) ranges.push_back({0, n});
        ranges[d].lo = between(0, x.layout.shape[d].value() - 1);
        Layout layout = x.layout;
        layout.shape[d] = ranges[d].extent();
        return add(x.tensor.shrink(ranges), layout);
      }
      case 2: {
        Layout layout = x.layout;
        if (layout.shape[d] != 1) return;
        layout.shape[d] = 2;
        layout.strides[d] = 0;
        return add(x.tensor.expand(layout.shape), layout);
      }
      case 3: {
        Layout layout = x.layout;
        if (layout.shape[d] > 1) layout.strides[d] = -layout.strides[d];
        return add(x.tensor.flip(static_cast<std::int64_t>(d)), layout);
      }
      case 4:
        return reshaped(x);
      case 5:
        return joint(abs(x.tensor), {&x.layout});
      case 6: {
        const Layout number;
        return joint(x.tensor * 2.5F, {&x.layout, &number});
      }
      case 7: {
        Layout layout = x.layout;
        layout.shape[d] = 1;
        return add(sum(x.tensor, static_cast<std::int64_t>(d), true), Layout::contiguous(layout.shape));
      }
      case 8: {
        const MemoryFormat format = rank == 4   ? MemoryFormat::channels_last
                                    : rank == 5 ? MemoryFormat::channels_last_3d
                                                : MemoryFormat::contiguous;
        const bool same = x.layout.suggest_memory_format() == format;
        return add(x.tensor.to(format), same ? x.layout : Layout::of(x.layout.shape, format));
      }
      case 9: {
        Ranges around(x.layout.rank(), Range{0, 0});
        around[d] = {1, 0};
        Layout layout = x.layout;
        layout.shape[d] += 1;
        return add(pad(x.tensor, around), Layout::of(layout.shape, x.layout.suggest_memory_format()));
      }
      case 10:
        x.tensor.realize();
        return;
      default:
        return combined(x, pick());
    }
  }

 private:
  void add(Tensor tensor, Layout layout) {
    REQUIRE(tensor.shape() == layout.shape);
    INFO(operands_);
    INFO(tensor.layout().str());
    INFO(layout.str());
    REQUIRE(tensor.strides() == layout.strides);
    if (layout.numel() <= 200) values_.push_back({std::move(tensor), std::move(layout)});
  }

  void permuted(const Value& x) {
    Ints order(x.layout.rank());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), engine_);
    Layout layout = x.layout;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto from = static_cast<std::size_t>(order[k].value());
      layout.shape[k] = x.layout.shape[from];
      layout.strides[k] = x.layout.strides[from];
    }
    add(x.tensor.permute(order), layout);
  }

  void reshaped(const Value& x) {
    std::int64_t rest = x.layout.numel().value();
    Shape wanted;
    while (wanted.size() < 4) {
      std::int64_t factor = between(1, std::min<std::int64_t>(rest, 4));
      while (rest % factor != 0) --factor;
      wanted.push_back(factor);
      rest /= factor;
    }
    wanted.push_back(rest);
    detail::StridedReshape reshaped = detail::strided_reshape(x.layout, wanted);
    add(x.tensor.reshape(wanted), reshaped ? reshaped.layout : Layout::contiguous(wanted));
  }

  void combined(const Value& x, const Value& y) {
    Shape shape = x.layout.shape;
    if (detail::broadcast_into(shape, y.layout.shape)) return;
    if (numel(shape) > 200) return;
    if (between(0, 1) == 0) return joint(x.tensor + y.tensor, {&x.layout, &y.layout});
    const Tensor larger = x.tensor > y.tensor;
    const Layout first{shape, detail::iterate(std::vector{&x.layout, &y.layout}).outputs[0]};
    REQUIRE(larger.strides() == first.strides);
    joint(where(larger, y.tensor, x.tensor), {&first, &y.layout, &x.layout});
  }

  void joint(const Tensor& tensor, const std::vector<const Layout*>& operands) {
    detail::Iteration iteration = detail::iterate(operands);
    operands_.clear();
    for (const Layout* operand : operands) operands_ += operand->str() + " ";
    add(tensor, {iteration.shape, iteration.outputs[0]});
  }

  std::mt19937_64 engine_;
  std::string operands_;  // the operands of the last elementwise operation, as text
  std::vector<Value> values_;
};

// Checks that memory holds the elements in the order of the layout, or of the dense layout with the same order of axes.
void lies_so(const Value& x) {
  const std::vector<float> elements = x.tensor.to_vector<float>();
  x.tensor.realize();
  const graph::NodePtr node = detail::Access::node(x.tensor);
  const auto* memory = static_cast<const float*>(node->buffer->data());
  Ints strides = contiguous_strides(x.layout.shape);
  if (node->found && !node->found->memory.empty()) strides = node->found->memory;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    auto left = static_cast<std::int64_t>(k);
    std::int64_t at = 0, seen = 0;
    for (std::size_t d = strides.size(); d-- > 0;) {
      const std::int64_t i = left % x.layout.shape[d].value();
      at += i * strides[d].value();
      seen += i * x.layout.strides[d].value();
      left /= x.layout.shape[d].value();
    }
    REQUIRE(memory[at] == elements[k]);
    if (x.layout.is_non_overlapping_and_dense()) REQUIRE(seen == at);
  }
}

}  // namespace

TEST_CASE("layouts are those of a program that does each operation at once") {
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    INFO(seed);
    Programs programs(seed);
    for (int k = 0; k < 14; ++k) programs.step();
    for (const Value& x : programs.values()) REQUIRE(x.tensor.strides() == x.layout.strides);
    if (seed % 10 != 0) continue;
    for (const Value& x : programs.values()) lies_so(x);
    for (const Value& x : programs.values()) REQUIRE(x.tensor.strides() == x.layout.strides);
  }
}

TEST_CASE("views of a tensor that was set to a number have its strides") {
  const Tensor b = full({4, 2}, 3.0F).realize();
  Tensor a = b * 1;
  a.assign(7);
  CHECK(a.strides() == Ints{2, 1});
  CHECK(a.select(1, 1).strides() == Ints{2});
  CHECK(a.transpose().strides() == Ints{1, 2});
  CHECK_THROWS_AS(a.transpose().view({8}), ShapeError);
  a.realize();
  CHECK(a.select(1, 1).strides() == Ints{2});
  CHECK(a.select(1, 1).to_vector<float>() == std::vector<float>(4, 7));
}

}  // namespace layout_test
