// Random contractions and their properties.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "backend/eigen/products/contraction_plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace oriel::test {

enum class Role { Batch, Row, Column, Reduced };

struct Loop {
  Role role;
  std::int64_t extent;
};

/// Whole numbers so small that every sum of products is exact in every float dtype, so any order gives the same bits.
inline Bytes small_numbers(DType dtype, std::int64_t elements, std::mt19937_64& random) {
  if (!is_floating(dtype)) return random_bytes(dtype, elements, static_cast<unsigned>(random()));
  Bytes b(dtype, elements);
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = static_cast<float>(random() % 9) - 4.0F;
    write_element(b, i, dtype == DType::float64 ? put(static_cast<double>(value)) : put(value));
  }
  return b;
}

struct Case {
  LoopProgram program;
  std::vector<Bytes> inputs;
  std::vector<std::pair<DType, std::int64_t>> outputs;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  Case make(DType dtype, const std::vector<Loop>& outer, const std::vector<std::int64_t>& inner) {
    Case c;
    outer_ = outer;
    inner_ = inner;
    Ints extents;
    for (const Loop& l : outer) extents.push_back(l.extent);
    Ints reduced;
    for (const std::int64_t e : inner) reduced.push_back(e);
    Builder k(extents, chance(50) ? Orientation::Inner : Orientation::Outer);
    ValueId scale = kNoValue;
    if (chance(30)) {
      k.stage();
      scale = k.constant(false, number(dtype, 2), chance(50) ? 0 : -1);
    }
    k.stage(reduced);
    ValueId factors[2];
    for (const bool left : {true, false}) factors[left ? 0 : 1] = factor(c, k, dtype, left, scale);
    if (chance(50)) std::swap(factors[0], factors[1]);
    const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, dtype, factors[0], factors[1]));
    if (chance(30)) k.stage();
    epilogue(c, k, dtype, sum);
    c.program = k.p;
    return c;
  }

 private:
  graph::Scalar number(DType dtype, int value) {
    return is_floating(dtype) ? graph::Scalar::of_float(dtype, value) : graph::Scalar::of_int(dtype, value);
  }

  /// A tracker over outer ++ inner that moves only along the given axes. The axes have any order in memory and may be
  /// padded, flipped, or read through windows.
  ShapeTracker tracker(std::vector<std::size_t> axes, std::int64_t& elements) {
    const std::size_t rank = outer_.size() + inner_.size();
    const auto extent = [&](std::size_t d) { return d < outer_.size() ? outer_[d].extent : inner_[d - outer_.size()]; };
    std::shuffle(axes.begin(), axes.end(), random_);
    Shape base;
    Ranges pads;
    Ints flips;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::int64_t e = extent(axes[k]);
      const std::int64_t before = chance(15) && e > 2 ? 1 : 0;
      const std::int64_t after = chance(15) && e > 2 ? 1 : 0;
      base.push_back(e - before - after);
      pads.push_back({before, after});
      if (chance(10)) flips.push_back(static_cast<std::int64_t>(k));
    }
    elements = numel(base).value();
    ShapeTracker t(base);
    t = t.pad(pads).flip(flips);
    if (axes.size() >= 2 && chance(30)) {
      // A stack of two views: the last two axes are windows of one axis.
      const std::int64_t n = extent(axes[axes.size() - 2]);
      const std::int64_t w = extent(axes.back());
      const std::int64_t stride = 1 + below(2);
      const std::int64_t dilation = 1 + below(2);
      const std::int64_t length = (n - 1) * stride + (w - 1) * dilation + 1;
      const std::int64_t margin = length > 3 ? 1 : 0;
      base.clear();
      for (std::size_t i = 0; i + 1 < axes.size(); ++i) base.push_back(extent(axes[i]));
      base.back() = length - 2 * margin;
      Ranges around(base.size(), Range{0, 0});
      around.back() = {margin, margin};
      elements = numel(base).value();
      t = ShapeTracker(base).pad(around);
      Shape shape(t.shape().begin(), t.shape().end() - 1);
      Ints strides = contiguous_strides(t.shape());
      strides.back() = stride;
      strides.push_back(dilation);
      shape.push_back(n);
      shape.push_back(w);
      t = t.view(View::make(shape, strides));
    }
    Ints order(rank, 0);
    Shape ones = t.shape();
    std::size_t next = axes.size();
    Shape full;
    for (std::size_t d = 0; d < rank; ++d) {
      full.push_back(extent(d));
      const auto found = std::find(axes.begin(), axes.end(), d);
      if (found != axes.end()) {
        order[d] = found - axes.begin();
      } else {
        order[d] = static_cast<std::int64_t>(next++);
        ones.push_back(1);
      }
    }
    return t.reshape(ones).permute(order).expand(full);
  }

  ValueId factor(Case& c, Builder& k, DType dtype, bool left, ValueId scale) {
    std::vector<std::size_t> axes;
    for (std::size_t d = 0; d < outer_.size(); ++d) {
      if (outer_[d].role == Role::Batch || outer_[d].role == (left ? Role::Row : Role::Column)) axes.push_back(d);
    }
    for (std::size_t d = 0; d < inner_.size(); ++d) axes.push_back(outer_.size() + d);
    DType memory = dtype;
    if (dtype == DType::float32 && chance(30)) memory = chance(50) ? DType::float16 : DType::bfloat16;
    if (dtype == DType::float32 && chance(10)) memory = DType::int8;
    std::int64_t elements = 0;
    const ShapeTracker t = tracker(axes, elements);
    c.inputs.push_back(small_numbers(memory == DType::int8 ? DType::bool_ : memory, elements, random_));
    if (memory == DType::int8) memory = DType::bool_;
    const auto buffer = k.argument(memory, elements);
    ValueId v = k.load(true, buffer, t);
    if (memory == DType::bool_) v = k.op(true, Op::Cast, dtype, v);
    if (scale != kNoValue && chance(50)) v = k.op(true, Op::Mul, dtype, v, scale);
    if (chance(25)) {
      const ValueId zero = k.constant(true, number(dtype, 0));
      v = k.op(true, Op::Where, dtype, k.op(true, Op::Lt, DType::bool_, zero, v), v, zero);
    }
    if (chance(25)) v = k.op(true, Op::Neg, dtype, v);
    return v;
  }

  void epilogue(Case& c, Builder& k, DType dtype, ValueId sum) {
    Shape shape;
    for (const Loop& l : outer_) shape.push_back(l.extent);
    const std::int64_t points = numel(shape).value();
    const auto store = [&](ValueId v, DType memory) {
      c.outputs.push_back({memory, points});
      Ints order(shape.size(), 0);
      for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
      if (chance(25)) std::shuffle(order.begin(), order.end(), random_);
      Shape base;
      for (const SymInt d : order) base.push_back(shape[static_cast<std::size_t>(d.value())]);
      Ints back(shape.size(), 0);
      for (std::size_t d = 0; d < order.size(); ++d) back[static_cast<std::size_t>(order[d].value())] = d;
      k.store(false, v, k.argument(memory, points, true), ShapeTracker(base).permute(back));
    };
    ValueId v = sum;
    if (chance(25)) {
      const std::int64_t n = shape.back().value();
      c.inputs.push_back(small_numbers(dtype, n, random_));
      Shape ones(shape.size(), SymInt(1));
      ones.back() = n;
      const auto bias = k.argument(dtype, n);
      v = k.op(false, Op::Add, dtype, v, k.load(false, bias, ShapeTracker(Shape{n}).reshape(ones).expand(shape)));
    }
    if (chance(25)) v = k.op(false, Op::Max, dtype, v, k.constant(false, number(dtype, 0)));
    // Arguments are bound in order, first inputs and then outputs. So outputs are added last.
    store(v, dtype);
    if (chance(25)) store(sum, dtype);
    if (dtype == DType::float32 && chance(25)) store(k.round(false, DType::float16, v), DType::float16);
  }

  std::mt19937_64 random_;
  std::vector<Loop> outer_;
  std::vector<std::int64_t> inner_;
};

/// Runs the case and returns its outputs. `blocked` receives whether it ran as a contraction.
inline std::vector<Bytes> results(const Case& c, int threads, const std::string& isa, bool* blocked = nullptr) {
  backend::eigen::EigenBackend device({threads, 0, isa});
  std::vector<Bytes> out;
  for (const auto& [dtype, n] : c.outputs) out.emplace_back(dtype, n);
  std::vector<const Bytes*> arguments;
  for (const Bytes& b : c.inputs) arguments.push_back(&b);
  for (const Bytes& b : out) arguments.push_back(&b);
  const graph::Scalar parameters[] = {graph::Scalar::of_float(DType::float64, 2)};
  codegen::verify(c.program);
  run(device, c.program, arguments, parameters);
  if (blocked != nullptr) {
    *blocked = backend::eigen::plan_contraction(c.program, backend::isa::table(isa.c_str())) != nullptr;
  }
  return out;
}

inline std::vector<Bytes> meaning(const Case& c) {
  std::vector<Bytes> out;
  for (const auto& [dtype, n] : c.outputs) out.emplace_back(dtype, n);
  std::vector<const Bytes*> arguments;
  for (const Bytes& b : c.inputs) arguments.push_back(&b);
  for (const Bytes& b : out) arguments.push_back(&b);
  const graph::Scalar parameters[] = {graph::Scalar::of_float(DType::float64, 2)};
  interpret(c.program, arguments, parameters);
  return out;
}

inline void check(const Case& c, int* blocked_cases = nullptr) {
  const std::vector<Bytes> want = meaning(c);
  for (const std::string& isa : isa_levels()) {
    for (const int threads : {1, 3}) {
      bool blocked = false;
      const std::vector<Bytes> got = results(c, threads, isa, &blocked);
      if (blocked && blocked_cases != nullptr) ++*blocked_cases;
      for (std::size_t k = 0; k < want.size(); ++k) {
        const bool same = got[k].same_bits(want[k]);
        CAPTURE(isa);
        CAPTURE(threads);
        CAPTURE(k);
        if (!same) INFO(to_string(c.program));
        REQUIRE(same);
      }
    }
  }
}

}  // namespace oriel::test
