// Sums of products as programs write them. Each must be recognised, take the right path and give the right numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "oriel/oriel.hpp"

namespace contraction_test {

using namespace oriel;

namespace {

/// Whole numbers from -3 to 3, so that sums of products are exact in every dtype and order.
struct Data {
  Tensor tensor;
  std::vector<float> values;
  Data(const Shape& shape, unsigned seed, DType dtype = DType::float32) {
    std::mt19937 random(seed);
    values.resize(static_cast<std::size_t>(numel(shape).value()));
    for (float& v : values) v = static_cast<float>(random() % 7) - 3;
    tensor = Tensor::borrow(values, shape).to(dtype).realize();
  }
  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
};

std::string method(const Tensor& y) {
  const Explanation e = explain(y);
  REQUIRE(e.kernels.size() == 1);
  return e.kernels[0].method;
}

/// Checks that element i (row-major) of y is want(i), and that its kernel's method begins with `begin` and contains
/// `part`.
void check(const Tensor& y, const std::string& begin, const std::string& part,
           const std::function<double(std::int64_t)>& want) {
  const std::string how = method(y);
  CAPTURE(how);
  CHECK(how.rfind(begin, 0) == 0);
  CHECK(how.find(part) != std::string::npos);
  const std::vector<float> got = y.to(DType::float32).to_vector<float>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    REQUIRE(static_cast<double>(got[i]) == want(static_cast<std::int64_t>(i)));
  }
}

double sum_of(std::int64_t n, const std::function<double(std::int64_t)>& term) {
  double sum = 0;
  for (std::int64_t r = 0; r < n; ++r) sum += term(r);
  return sum;
}

/// The windows of a padded image (n, c, h, w), as (n, c, h', w', k, k).
Tensor windows(const Tensor& x, int k, int stride, int dilation, int margin) {
  const Tensor p = pad(x, {{0, 0}, {0, 0}, {margin, margin}, {margin, margin}});
  const int span = (k - 1) * dilation + 1;
  Tensor w = unfold(unfold(p, 2, span, stride), 3, span, stride);
  if (dilation == 1) return w;
  // Takes every dilation-th element of a window.
  const auto pick = [&](const Tensor& t, std::int64_t axis) {
    Shape split = t.shape();
    Tensor padded = t;
    Ranges more(split.size(), Range{0, 0});
    more[static_cast<std::size_t>(axis)] = {0, k * dilation - span};
    padded = pad(t, more);
    split = padded.shape();
    split[static_cast<std::size_t>(axis)] = k;
    split.insert(split.begin() + axis + 1, SymInt(dilation));
    return select(padded.reshape(split), axis + 1, 0);
  };
  return pick(pick(w, 4), 5);
}

}  // namespace

TEST_CASE("matrices of every dtype") {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64, DType::int8, DType::int32,
                            DType::uint16, DType::int64}) {
    CAPTURE(name(dtype));
    const bool wraps = dtype == DType::uint16 || dtype == DType::int8;
    const Data a({20, 40}, 1, wraps ? DType::int32 : dtype), b({40, 30}, 2, wraps ? DType::int32 : dtype);
    const Tensor y = wraps ? matmul(a.tensor.to(dtype), b.tensor.to(dtype)) : matmul(a.tensor, b.tensor);
    check(y, "contraction: batch 1, 20 x 30 x 40 (rows, columns, depth); blocked", "", [&](std::int64_t i) {
      const double sum = sum_of(40, [&](std::int64_t r) { return a[i / 30 * 40 + r] * b[r * 30 + i % 30]; });
      if (dtype == DType::uint16) return static_cast<double>(static_cast<std::uint16_t>(static_cast<int>(sum)));
      return dtype == DType::int8 ? static_cast<double>(static_cast<std::int8_t>(static_cast<int>(sum))) : sum;
    });
  }
}

TEST_CASE("halves are summed in float32") {
  // 2048 + 1 rounds to 2048 in float16, and 256 + 1 to 256 in bfloat16, so a sum kept in either dtype would stop there.
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const Tensor a = ones({8, 6000}, dtype).realize(), b = ones({6000, 16}, dtype).realize();
    const std::vector<float> y = matmul(a, b).to(DType::float32).to_vector<float>();
    CHECK(y[0] == (dtype == DType::float16 ? 6000.0F : 6016.0F));
  }
}

TEST_CASE("vectors from both sides, outer products and broadcast batches") {
  const Data a({70, 90}, 3), x({70}, 4), y({90}, 5);
  check(matmul(x.tensor, a.tensor), "contraction: batch 1, 1 x 90 x 70 (rows, columns, depth); streamed",
        "columns from in1 read as they lie",
        [&](std::int64_t i) { return sum_of(70, [&](std::int64_t r) { return x[r] * a[r * 90 + i]; }); });
  check(matmul(a.tensor, y.tensor), "contraction: batch 1, 1 x 70 x 90 (rows, columns, depth); dot products", "",
        [&](std::int64_t i) { return sum_of(90, [&](std::int64_t r) { return a[i * 90 + r] * y[r]; }); });
  // Each result is one product: nothing is summed.
  check(matmul(x.tensor.reshape({70, 1}), y.tensor.reshape({1, 90})), "", "",
        [&](std::int64_t i) { return x[i / 90] * y[i % 90]; });
  const Data p({3, 1, 10, 20}, 6), q({1, 4, 20, 16}, 7);
  check(matmul(p.tensor, q.tensor), "contraction: ", "blocked", [&](std::int64_t i) {
    const std::int64_t n = i / (4 * 160), h = i / 160 % 4, row = i / 16 % 10, column = i % 16;
    return sum_of(20, [&](std::int64_t r) { return p[(n * 10 + row) * 20 + r] * q[(h * 20 + r) * 16 + column]; });
  });
}

TEST_CASE("sums over any axes of products of views") {
  // The einsums "bqhd,bkhd->bhqk" and "abc,cde->aebd", written by hand.
  const Data q({2, 9, 3, 64}, 8), k({2, 11, 3, 64}, 9);
  const Tensor scores =
      sum(q.tensor.permute({0, 2, 1, 3}).unsqueeze(3) * k.tensor.permute({0, 2, 1, 3}).unsqueeze(2), {4});
  check(scores, "contraction: batch 6, 9 x 11 x 64", "blocked", [&](std::int64_t i) {
    const std::int64_t b = i / 297, h = i / 99 % 3, row = i / 11 % 9, column = i % 11;
    return sum_of(64, [&](std::int64_t d) {
      return q[((b * 9 + row) * 3 + h) * 64 + d] * k[((b * 11 + column) * 3 + h) * 64 + d];
    });
  });
  const Data u({4, 5, 24}, 10), v({24, 6, 7}, 11);
  const Tensor t = sum(u.tensor.reshape({4, 1, 5, 1, 24}) * v.tensor.permute({2, 1, 0}).reshape({1, 7, 1, 6, 24}), {4});
  check(t, "contraction: batch 1, 20 x 42 x 24", "blocked", [&](std::int64_t i) {
    const std::int64_t x = i / 210, e = i / 30 % 7, b = i / 6 % 5, d = i % 6;
    return sum_of(24, [&](std::int64_t c) { return u[(x * 5 + b) * 24 + c] * v[(c * 6 + d) * 7 + e]; });
  });
}

TEST_CASE("convolutions with stride, dilation, groups and padding") {
  struct Form {
    std::int64_t groups, in, out;  // channels of one group
    int k, stride, dilation, margin;
    const char* begin;
  };
  const std::int64_t images = 2, side = 17;
  for (const Form& f : std::vector<Form>{{1, 4, 8, 3, 1, 1, 1, "contraction: "},
                                         {1, 4, 8, 3, 2, 1, 1, "contraction: "},
                                         {1, 3, 8, 3, 1, 2, 2, "contraction: "},
                                         {2, 3, 6, 3, 2, 2, 0, "contraction: "},
                                         {1, 6, 8, 1, 1, 1, 0, "contraction: "},
                                         {5, 1, 1, 3, 1, 1, 1, "windows: "},
                                         {5, 1, 2, 3, 2, 1, 1, "windows: "},
                                         {4, 1, 1, 3, 1, 2, 2, "windows: "},
                                         {3, 2, 2, 5, 1, 1, 2, "windows: "}}) {
    CAPTURE(f.groups);
    CAPTURE(f.stride);
    CAPTURE(f.dilation);
    const Data x({images, f.groups * f.in, side, side}, 12);
    const Data w({f.groups, f.out, f.in, f.k, f.k}, 13);
    const Tensor slid = windows(x.tensor, f.k, f.stride, f.dilation, f.margin);
    const std::int64_t h = slid.shape()[2].value();
    const Tensor y = sum(slid.reshape({images, f.groups, 1, f.in, h, h, f.k, f.k}) *
                             w.tensor.reshape({1, f.groups, f.out, f.in, 1, 1, f.k, f.k}),
                         {3, 6, 7});
    REQUIRE(y.shape() == Shape{images, f.groups, f.out, h, h});
    check(y, f.begin, "", [&](std::int64_t i) {
      const std::int64_t n = i / (f.groups * f.out * h * h), g = i / (f.out * h * h) % f.groups;
      const std::int64_t o = i / (h * h) % f.out, row = i / h % h, column = i % h;
      return sum_of(f.in * f.k * f.k, [&](std::int64_t r) {
        const std::int64_t c = r / (f.k * f.k), dy = r / f.k % f.k, dx = r % f.k;
        const std::int64_t at_y = row * f.stride + dy * f.dilation - f.margin;
        const std::int64_t at_x = column * f.stride + dx * f.dilation - f.margin;
        if (at_y < 0 || at_y >= side || at_x < 0 || at_x >= side) return 0.0;
        return x[((n * f.groups + g) * f.in + c) * side * side + at_y * side + at_x] *
               w[((g * f.out + o) * f.in + c) * f.k * f.k + dy * f.k + dx];
      });
    });
  }
}

TEST_CASE("images of more points than a block has columns") {
  // If the image's width is nearly a multiple of the panel's (32), blocks end at the end of an image row; otherwise
  // (31) they end anywhere.
  for (const std::int64_t wide : {31, 32}) {
    CAPTURE(wide);
    const std::int64_t high = 30;
    const Data x({1, 2, high, wide}, 15), w({5, 2, 3, 3}, 16);
    const Tensor slid = windows(x.tensor, 3, 1, 1, 1).reshape({1, 2, high, wide, 3, 3});
    const Tensor y = sum(slid * w.tensor.reshape({5, 2, 1, 1, 3, 3}), {1, 4, 5});
    check(y, "contraction: batch 1, 5 x " + std::to_string(high * wide) + " x 18", "blocked", [&](std::int64_t i) {
      const std::int64_t o = i / (high * wide), row = i / wide % high, column = i % wide;
      return sum_of(18, [&](std::int64_t r) {
        const std::int64_t at_y = row + r / 3 % 3 - 1, at_x = column + r % 3 - 1;
        if (at_y < 0 || at_y >= high || at_x < 0 || at_x >= wide) return 0.0;
        return x[(r / 9 * high + at_y) * wide + at_x] * w[o * 18 + r];
      });
    });
  }
}

TEST_CASE("pooling and filters read overlapping windows where they lie") {
  const Data x({4, 3, 20, 24}, 14);
  check(max(windows(x.tensor, 3, 1, 1, 0), {4, 5}), "windows: ", "read as they lie", [&](std::int64_t i) {
    const std::int64_t plane = i / (18 * 22), row = i / 22 % 18, column = i % 22;
    double most = -100;
    for (std::int64_t r = 0; r < 9; ++r) most = std::max(most, x[plane * 480 + (row + r / 3) * 24 + column + r % 3]);
    return most;
  });
  check(sum(windows(x.tensor, 2, 2, 1, 0), {4, 5}) * 2.0F, "windows: ", "computed once an element",
        [&](std::int64_t i) {
          const std::int64_t plane = i / 120, row = i / 12 % 10 * 2, column = i % 12 * 2;
          return 2 * sum_of(4, [&](std::int64_t r) { return x[plane * 480 + (row + r / 2) * 24 + column + r % 2]; });
        });
}

}  // namespace contraction_test
