// Typical user code, to test that it compiles without warnings: every header, lists of sizes by value, results of
// calls.
#include <iostream>
#include <numeric>
#include <oriel/oriel.hpp>

namespace {

oriel::Ints strides_of(const oriel::Tensor& x) { return x.strides(); }

oriel::Shape longer(const oriel::Shape& shape) {
  oriel::Shape out = shape;
  out.push_back(2);
  out.insert(out.begin(), oriel::SymInt(1));
  out.resize(out.size() + 1, oriel::SymInt(1));
  return out;
}

oriel::Layout layout_of(bool channels_last) {
  const oriel::Shape shape{2, 3, 4, 5};
  return channels_last ? oriel::Layout::of(shape, oriel::MemoryFormat::channels_last)
                       : oriel::Layout::contiguous(shape);
}

oriel::Tensor layer(const oriel::Tensor& x, const oriel::Tensor& w, const oriel::Tensor& b) {
  return relu(matmul(x, w) + b);
}

}  // namespace

int main(int count, char**) {
  using oriel::Tensor;
  const Tensor x = Tensor::generate({4, 6}, [](auto i) { return static_cast<float>(i[0] * 6 + i[1]); });
  const Tensor w = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}});
  const Tensor y = softmax(layer(x, w, Tensor::of<float>({1, 2})), -1);
  const std::vector<std::int64_t> sizes{2, 4};
  oriel::Ranges ranges{{0, 2}};
  ranges.push_back({0, count});
  oriel::ShapeTracker views = oriel::ShapeTracker(longer(x.shape())).permute({4, 3, 2, 1, 0}).simplify();
  std::swap(ranges[0], ranges[1]);
  oriel::Shape shape = longer(longer(sizes));
  shape.erase(shape.begin());
  oriel::Shape other = std::move(shape);
  shape = oriel::Shape(sizes);
  auto mm = oriel::comprehension("def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }");
  const Tensor product = mm(x, w);
  const auto halves = Tensor::of<oriel::float16_t>({1, 0.5});
  double total = 0;
  for (const oriel::float16_t half : halves.data<oriel::float16_t>()) total += half;
  std::cout << oriel::explain(y).str() << y << sum(product, oriel::Axes{0, 1}).item<float>() << to_string(strides_of(y))
            << to_string(shape) << to_string(other) << layout_of(count > 1).str() << views.str() << ranges.size()
            << total
            << x.reshape(sizes == std::vector<std::int64_t>{} ? oriel::Shape{24} : oriel::Shape{4, 6}).shape().size()
            << '\n';
}
