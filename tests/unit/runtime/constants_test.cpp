// Ops of constants. A driver's compiler evaluates what it knows, and leaves functions of NaN and of numbers beyond its
// integers undefined: each op of constants, on each device, against the oracle.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"

namespace constants_test {

using namespace oriel;

namespace {

template <class F>
void each_device(F&& body) {
  for (const Device device : devices()) {
    if (device == Device::null()) continue;
    CAPTURE(device.str());
    body(device);
  }
}

/// Results that are realised together, each with its text.
struct Results {
  std::vector<Tensor> tensors;
  std::vector<std::string> texts;

  void add(const Tensor& tensor, const std::string& text) {
    tensors.push_back(tensor);
    texts.push_back(text);
  }

  void check() {
    std::vector<std::vector<reference::Number>> wanted;
    for (const Tensor& tensor : tensors) wanted.push_back(reference::interpret(tensor));
    realize(tensors);
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      INFO(texts[k], " of ", name(tensors[k].dtype()));
      CHECK(reference::difference(tensors[k], wanted[k], reference::elements(tensors[k])) == "");
    }
    *this = {};
  }
};

std::vector<double> numbers(DType dtype) {
  const double largest = dtype == DType::float16   ? 65504
                         : dtype == DType::float64 ? std::numeric_limits<double>::max()
                                                   : std::numeric_limits<float>::max();
  return {NAN, INFINITY, -INFINITY, largest, -0.0};
}

/// The op of the first operands that its arity asks for.
Tensor apply(graph::Op op, const std::vector<Tensor>& x) {
  const auto node = [&](std::size_t k) { return detail::Access::node(x[k]); };
  if (graph::row(op).arity == 1) return detail::Access::tensor(graph::unary(op, node(0)));
  return detail::Access::tensor(graph::binary(op, node(0), node(1)));
}

}  // namespace

TEST_CASE("a rounded NaN that is known is NaN, alone, in a part of a result and beside other results") {
  each_device([](Device device) {
    const auto on = [&](const Tensor& x) { return x.to(device); };
    const auto count = [](const Tensor& x) { return sum(isnan(x).to(DType::int64)).item<std::int64_t>(); };
    const Tensor x = on(Tensor::of<float>({0.4F, -1.6F, 2.5F, 7, -0.2F})).realize();
    CHECK(count(round(on(zeros({5})) / on(zeros({5})))) == 5);
    CHECK(count(exp(on(full({5}, NAN)))) == 5);
    CHECK(count(exp(on(full({5}, NAN)).to(DType::float64))) == 5);
    CHECK(count(where(x > 0, round(x), round(on(full({5}, NAN))))) == 2);
    CHECK(count(concat({round(x), round(on(full({2}, NAN)))}, 0)) == 2);
    const Tensor doubled = x * 2;
    const Tensor rounded = round(on(full({5}, NAN)));
    realize({doubled, rounded});
    CHECK(count(rounded) == 5);
    CHECK(doubled.to_vector<float>() == std::vector<float>{0.8F, -3.2F, 5, 14, -0.4F});
    CHECK(count(floor(sqrt(on(full({3}, -1))))) == 3);
    CHECK(count(max(trunc(on(full({3, 4}, NAN))), 1)) == 3);
  });
}

TEST_CASE("every op of constants gives what it gives for tensors") {
  each_device([](Device device) {
    for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
      Results results;
      const auto constant = [&](double number) { return full({5}, number, dtype).to(device); };
      const Tensor x = Tensor::of<float>({0.4F, -1.6F, 2.5F, 7, -0.2F}).to(dtype).to(device).realize();
      const Tensor pick = (x > 0).realize();
      for (const graph::OpRow& row : graph::kOpTable) {
        if (row.op_class != graph::OpClass::Elementwise || row.arity > 2 || row.rule == graph::DTypeRule::Convert ||
            !ops::takes(row.op, dtype))
          continue;
        const std::vector<double> some = numbers(dtype);
        for (std::size_t k = 0; k < some.size(); ++k) {
          // Halves are computed as float32. A driver's compiler takes seconds for each function.
          if (is_half(dtype) && k > 0) break;
          const std::vector<Tensor> operands{constant(some[k]), constant(some[(k + k / 2) % some.size()])};
          const Tensor alone = apply(row.op, operands);
          results.add(alone, std::string(row.name) + " alone");
          if (k > 0 || dtype != DType::float32) continue;
          const Tensor healthy = apply(row.op, {x, x});
          results.add(where(pick, healthy, alone), std::string(row.name) + " under select");
        }
        if (results.tensors.size() > 40) results.check();
      }
      results.check();
    }
  });
}

}  // namespace constants_test
