// Rows and matrices of 2 to 8 elements, many of them: points, colours, boxes, small matrices. Each in turns with the
// plain loop that a C++ programmer would write, on one thread; the counters are those of everyday_bench.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::random_floats;

constexpr std::int64_t kCount = 100'000;

/// `count` rows of numbers, in memory and as a tensor of the shape.
struct Data {
  explicit Data(Shape s) : x(random_floats(numel_of(s))), t(Tensor::borrow(x, std::move(s))) {}
  static std::int64_t numel_of(const Shape& s) {
    std::int64_t n = 1;
    for (const SymInt e : s) n *= e.value();
    return n;
  }
  const float* at(std::int64_t i, std::int64_t size) const { return x.data() + i * size; }
  std::vector<float> x;
  Tensor t;
};

/// The loop's body is called for each row with its number and where its result goes.
template <class Body>
void row(const char* name, std::function<Tensor()> ours, std::int64_t rows, std::int64_t size, Body body) {
  benchmark::RegisterBenchmark(name,
                               [=](benchmark::State& state) {
                                 std::vector<float> out(static_cast<std::size_t>(rows * size));
                                 bench::in_turns(
                                     state, [&] { ours().realize(); },
                                     [&] {
                                       for (std::int64_t i = 0; i < rows; ++i) body(i, out.data() + i * size);
                                     });
                               })
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
}

template <int M, int K, int N>
void multiply(const float* a, const float* b, float* out) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int p = 0; p < K; ++p) sum += a[i * K + p] * b[p * N + j];
      out[i * N + j] = sum;
    }
}

void matrices() {
  static const Data a2({kCount, 2, 2}), f2({2, 2}), x2({kCount, 2, 1}), a3({kCount, 3, 3}), x3({kCount, 3, 1}),
      a4({kCount, 4, 4}), x4({kCount, 4, 1}), f3({3, 3}), p3({kCount, 3}), p8({kCount, 8}), w8({8}), p4({kCount, 4}),
      f4({4, 4});
  row(
      "a + its transpose, 2 x 2", [] { return a2.t + a2.t.transpose(); }, kCount, 4,
      [](std::int64_t i, float* o) {
        const float* a = a2.at(i, 4);
        for (int r = 0; r < 2; ++r)
          for (int c = 0; c < 2; ++c) o[r * 2 + c] = a[r * 2 + c] + a[c * 2 + r];
      });
  row(
      "a + its transpose, 3 x 3", [] { return a3.t + a3.t.transpose(); }, kCount, 9,
      [](std::int64_t i, float* o) {
        const float* a = a3.at(i, 9);
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) o[r * 3 + c] = a[r * 3 + c] + a[c * 3 + r];
      });
  row(
      "f a, 2 x 2", [] { return matmul(f2.t, a2.t); }, kCount, 4,
      [](std::int64_t i, float* o) { multiply<2, 2, 2>(f2.x.data(), a2.at(i, 4), o); });
  row(
      "f a f^T, 2 x 2", [] { return matmul(matmul(f2.t, a2.t), f2.t.transpose()); }, kCount, 4,
      [](std::int64_t i, float* o) {
        float half[4];
        multiply<2, 2, 2>(f2.x.data(), a2.at(i, 4), half);
        for (int r = 0; r < 2; ++r)
          for (int c = 0; c < 2; ++c) o[r * 2 + c] = half[r * 2] * f2.x[c * 2] + half[r * 2 + 1] * f2.x[c * 2 + 1];
      });
  row(
      "a x, 2 x 2", [] { return matmul(a2.t, x2.t); }, kCount, 2,
      [](std::int64_t i, float* o) { multiply<2, 2, 1>(a2.at(i, 4), x2.at(i, 2), o); });
  row(
      "a x, 3 x 3", [] { return matmul(a3.t, x3.t); }, kCount, 3,
      [](std::int64_t i, float* o) { multiply<3, 3, 1>(a3.at(i, 9), x3.at(i, 3), o); });
  row(
      "a x, 4 x 4", [] { return matmul(a4.t, x4.t); }, kCount, 4,
      [](std::int64_t i, float* o) { multiply<4, 4, 1>(a4.at(i, 16), x4.at(i, 4), o); });
  row(
      "a^T a, 3 x 3", [] { return matmul(a3.t.transpose(), a3.t); }, kCount, 9,
      [](std::int64_t i, float* o) {
        const float* a = a3.at(i, 9);
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) o[r * 3 + c] = a[r] * a[c] + a[3 + r] * a[3 + c] + a[6 + r] * a[6 + c];
      });
  row(
      "x x^T, 3", [] { return matmul(x3.t, x3.t.transpose()); }, kCount, 9,
      [](std::int64_t i, float* o) {
        const float* x = x3.at(i, 3);
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) o[r * 3 + c] = x[r] * x[c];
      });
  row(
      "points rotated, 3", [] { return matmul(p3.t, f3.t); }, kCount, 3,
      [](std::int64_t i, float* o) { multiply<1, 3, 3>(p3.at(i, 3), f3.x.data(), o); });
  row(
      "points rotated, 4", [] { return matmul(p4.t, f4.t); }, kCount, 4,
      [](std::int64_t i, float* o) { multiply<1, 4, 4>(p4.at(i, 4), f4.x.data(), o); });
  row(
      "weighted rows of 8", [] { return matmul(p8.t, w8.t); }, kCount, 1,
      [](std::int64_t i, float* o) { multiply<1, 8, 1>(p8.at(i, 8), w8.x.data(), o); });
}

void points() {
  static const Data p({kCount, 3}), q({kCount, 3}), s({kCount, 1}), c({8, 3}), boxes({kCount, 4}), quads({kCount, 4}),
      r({kCount, 4});
  row(
      "cross products", [] { return cross(p.t, q.t); }, kCount, 3,
      [](std::int64_t i, float* o) {
        const float *a = p.at(i, 3), *b = q.at(i, 3);
        o[0] = a[1] * b[2] - a[2] * b[1];
        o[1] = a[2] * b[0] - a[0] * b[2];
        o[2] = a[0] * b[1] - a[1] * b[0];
      });
  row(
      "dot products of 3", [] { return sum(p.t * q.t, 1); }, kCount, 1,
      [](std::int64_t i, float* o) {
        const float *a = p.at(i, 3), *b = q.at(i, 3);
        *o = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
      });
  row(
      "unit vectors of 3", [] { return p.t / sqrt(sum(square(p.t), 1, true)); }, kCount, 3,
      [](std::int64_t i, float* o) {
        const float* a = p.at(i, 3);
        const float n = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        for (int d = 0; d < 3; ++d) o[d] = a[d] / n;
      });
  row(
      "points times numbers", [] { return p.t * s.t; }, kCount, 3,
      [](std::int64_t i, float* o) {
        for (int d = 0; d < 3; ++d) o[d] = p.at(i, 3)[d] * s.x[static_cast<std::size_t>(i)];
      });
  row(
      "distances to 8 centres", [] { return sum(square(p.t.unsqueeze(1) - c.t), 2); }, kCount, 8,
      [](std::int64_t i, float* o) {
        const float* a = p.at(i, 3);
        for (int k = 0; k < 8; ++k) {
          float sum = 0;
          for (int d = 0; d < 3; ++d) sum += (a[d] - c.x[k * 3 + d]) * (a[d] - c.x[k * 3 + d]);
          o[k] = sum;
        }
      });
  row(
      "the nearest of 8 centres", [] { return argmin(sum(square(p.t.unsqueeze(1) - c.t), 2), 1); }, kCount, 1,
      [](std::int64_t i, float* o) {
        const float* a = p.at(i, 3);
        int best = 0;
        float least = 1e30F;
        for (int k = 0; k < 8; ++k) {
          float sum = 0;
          for (int d = 0; d < 3; ++d) sum += (a[d] - c.x[k * 3 + d]) * (a[d] - c.x[k * 3 + d]);
          if (sum < least) least = sum, best = k;
        }
        *o = static_cast<float>(best);
      });
  row(
      "areas of boxes",
      [] {
        return (boxes.t.slice({{}, {2, 3}}) - boxes.t.slice({{}, {0, 1}})) *
               (boxes.t.slice({{}, {3, 4}}) - boxes.t.slice({{}, {1, 2}}));
      },
      kCount, 1,
      [](std::int64_t i, float* o) {
        const float* b = boxes.at(i, 4);
        *o = (b[2] - b[0]) * (b[3] - b[1]);
      });
  row(
      "quaternions conjugated",
      [] {
        return quads.t * Tensor::of<float>({1, -1, -1, -1});
      },
      kCount, 4,
      [](std::int64_t i, float* o) {
        const float* a = quads.at(i, 4);
        o[0] = a[0];
        for (int d = 1; d < 4; ++d) o[d] = -a[d];
      });
  row(
      "quaternion products",
      [] {
        const auto part = [](const Tensor& t, std::int64_t k) { return t.slice({{}, {k, k + 1}}); };
        const Tensor &x = quads.t, &y = r.t;
        return concat(
            {part(x, 0) * part(y, 0) - part(x, 1) * part(y, 1) - part(x, 2) * part(y, 2) - part(x, 3) * part(y, 3),
             part(x, 0) * part(y, 1) + part(x, 1) * part(y, 0) + part(x, 2) * part(y, 3) - part(x, 3) * part(y, 2),
             part(x, 0) * part(y, 2) - part(x, 1) * part(y, 3) + part(x, 2) * part(y, 0) + part(x, 3) * part(y, 1),
             part(x, 0) * part(y, 3) + part(x, 1) * part(y, 2) - part(x, 2) * part(y, 1) + part(x, 3) * part(y, 0)},
            1);
      },
      kCount, 4,
      [](std::int64_t i, float* o) {
        const float *a = quads.at(i, 4), *b = r.at(i, 4);
        o[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
        o[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
        o[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
        o[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
      });
  row(
      "homogeneous points",
      [] {
        return concat({p.t, ones({kCount, 1})}, 1);
      },
      kCount, 4,
      [](std::int64_t i, float* o) {
        for (int d = 0; d < 3; ++d) o[d] = p.at(i, 3)[d];
        o[3] = 1;
      });
}

void rows() {
  static const Data r4({kCount, 4}), r8({kCount, 8}), image({200, 500, 3}), pairs({kCount, 2});
  row(
      "largest of 4", [] { return max(r4.t, 1); }, kCount, 1,
      [](std::int64_t i, float* o) { *o = *std::max_element(r4.at(i, 4), r4.at(i, 4) + 4); });
  row(
      "position of the largest of 4", [] { return argmax(r4.t, 1); }, kCount, 1,
      [](std::int64_t i, float* o) {
        *o = static_cast<float>(std::max_element(r4.at(i, 4), r4.at(i, 4) + 4) - r4.at(i, 4));
      });
  row(
      "position of the largest of 8", [] { return argmax(r8.t, 1); }, kCount, 1,
      [](std::int64_t i, float* o) {
        *o = static_cast<float>(std::max_element(r8.at(i, 8), r8.at(i, 8) + 8) - r8.at(i, 8));
      });
  row(
      "sums of 8", [] { return sum(r8.t, 1); }, kCount, 1,
      [](std::int64_t i, float* o) {
        float sum = 0;
        for (int k = 0; k < 8; ++k) sum += r8.at(i, 8)[k];
        *o = sum;
      });
  row(
      "softmax of 4", [] { return softmax(r4.t, 1); }, kCount, 4,
      [](std::int64_t i, float* o) {
        const float* a = r4.at(i, 4);
        const float most = *std::max_element(a, a + 4);
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += o[k] = std::exp(a[k] - most);
        for (int k = 0; k < 4; ++k) o[k] /= sum;
      });
  row(
      "running sums of 4", [] { return cumsum(r4.t, 1); }, kCount, 4,
      [](std::int64_t i, float* o) {
        float sum = 0;
        for (int k = 0; k < 4; ++k) o[k] = sum += r4.at(i, 4)[k];
      });
  row(
      "differences in rows of 8", [] { return diff(r8.t); }, kCount, 7,
      [](std::int64_t i, float* o) {
        for (int k = 0; k < 7; ++k) o[k] = r8.at(i, 8)[k + 1] - r8.at(i, 8)[k];
      });
  row(
      "rows of 8 reversed", [] { return r8.t.flip(1) + 1; }, kCount, 8,
      [](std::int64_t i, float* o) {
        for (int k = 0; k < 8; ++k) o[k] = r8.at(i, 8)[7 - k] + 1;
      });
  row(
      "rows of 8 rolled", [] { return roll(r8.t, 1, 1) + 1; }, kCount, 8,
      [](std::int64_t i, float* o) {
        for (int k = 0; k < 8; ++k) o[k] = r8.at(i, 8)[(k + 7) % 8] + 1;
      });
  row(
      "sorted rows of 8", [] { return sort(r8.t, 1); }, kCount, 8,
      [](std::int64_t i, float* o) {
        std::copy_n(r8.at(i, 8), 8, o);
        std::sort(o, o + 8);
      });
  row(
      "grey of colours",
      [] {
        return matmul(image.t, Tensor::of<float>({0.299F, 0.587F, 0.114F}));
      },
      kCount, 1,
      [](std::int64_t i, float* o) {
        const float* a = image.at(i, 3);
        *o = 0.299F * a[0] + 0.587F * a[1] + 0.114F * a[2];
      });
  row(
      "colours swapped", [] { return image.t.flip(2) * 2; }, kCount, 3,
      [](std::int64_t i, float* o) {
        for (int d = 0; d < 3; ++d) o[d] = image.at(i, 3)[2 - d] * 2;
      });
  row(
      "planes of colours",
      [] {
        return image.t.permute({2, 0, 1}) * 2;
      },
      kCount, 3,
      [](std::int64_t i, float* o) {
        for (int d = 0; d < 3; ++d) o[d] = image.at(i, 3)[d] * 2;  // in place: a little less than the loop to planes
      });
  row(
      "magnitudes of pairs", [] { return sqrt(sum(square(pairs.t), 1)); }, kCount, 1,
      [](std::int64_t i, float* o) {
        const float* a = pairs.at(i, 2);
        *o = std::sqrt(a[0] * a[0] + a[1] * a[1]);
      });
}

}  // namespace

int main(int count, char** words) {
  matrices();
  points();
  rows();
  return oriel::bench::main_on_one_thread(count, words);
}
