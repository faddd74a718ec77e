// Filters of signals and pictures that scans, gathers by data and linear algebra make possible, each in turns with the
// plain loop that a C++ programmer would write, on one thread. Counters as everyday_bench's.
#include <algorithm>
#include <array>
#include <cmath>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;
using bench::random_floats;

using Floats = std::vector<float>;

// Two first-order recursive filters, one behind the other, over a million samples.
void recursive_filter(benchmark::State& state) {
  constexpr std::int64_t n = 1'000'000;
  const Floats x = random_floats(n);
  Floats out(n);
  const Tensor signal = Tensor::borrow(x, {n});
  in_turns(
      state,
      [&] {
        const Tensor once = linear_recurrence(0.9F, 0.1F * signal, 0);
        linear_recurrence(0.9F, 0.1F * once, 0).realize();
      },
      [&] {
        float a = 0, b = 0;
        for (std::size_t k = 0; k < out.size(); ++k) {
          a = 0.9F * a + 0.1F * x[k];
          b = 0.9F * b + 0.1F * a;
          out[k] = b;
        }
      });
}
BENCHMARK(recursive_filter)->Unit(benchmark::kMillisecond);

// Equalises the histogram of a picture of 1024 x 1024 bytes.
void equalise(benchmark::State& state) {
  constexpr std::int64_t n = 1024;
  std::vector<std::uint8_t> x, out(n * n);
  for (const float v : random_floats(n * n)) x.push_back(static_cast<std::uint8_t>(255 * v * v));
  const Tensor picture = Tensor::borrow(x, {n, n});
  in_turns(
      state,
      [&] {
        const Tensor share = cumsum(segment_sum(1, picture.reshape(-1), 256), 0) / static_cast<float>(n * n);
        (255 * share).to(DType::uint8).take(picture).realize();
      },
      [&] {
        std::array<std::int64_t, 256> counts{};
        for (const std::uint8_t v : x) ++counts[v];
        std::array<std::uint8_t, 256> table{};
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < table.size(); ++k) {
          sum += counts[k];
          table[k] = static_cast<std::uint8_t>(255 * (static_cast<float>(sum) / (n * n)));
        }
        for (std::size_t k = 0; k < x.size(); ++k) out[k] = table[x[k]];
      });
}
BENCHMARK(equalise)->Unit(benchmark::kMillisecond);

// Four levels of a pyramid over a picture of 1024 x 1024: blurred by 1 4 6 4 1 along each axis, every second pixel.
void pyramid(benchmark::State& state) {
  constexpr std::int64_t n = 1024;
  const Floats x = random_floats(n * n);
  const Tensor picture = Tensor::borrow(x, {n, n}), weights = Tensor::of<float>({1, 4, 6, 4, 1}) / 16;
  Floats now, rows, next;
  in_turns(
      state,
      [&] {
        Tensor level = picture;
        for (int k = 0; k < 4; ++k) {
          const Tensor wide = pad(level, {{2, 2}, {2, 2}}, PadMode::replicate);
          level = sum(unfold(sum(unfold(wide, 0, 5, 2) * weights, -1), 1, 5, 2) * weights, -1);
        }
        level.realize();
      },
      [&] {
        constexpr float kWeights[] = {1 / 16.0F, 4 / 16.0F, 6 / 16.0F, 4 / 16.0F, 1 / 16.0F};
        now = x;
        for (std::int64_t size = n, k = 0; k < 4; ++k, size /= 2) {
          const auto inside = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, size - 1); };
          rows.assign(static_cast<std::size_t>(size / 2 * size), 0);
          next.assign(static_cast<std::size_t>(size / 2 * (size / 2)), 0);
          for (std::int64_t i = 0; i < size / 2; ++i) {
            for (std::int64_t w = 0; w < 5; ++w) {
              const std::int64_t from = inside(2 * i + w - 2) * size;
              for (std::int64_t j = 0; j < size; ++j)
                rows[static_cast<std::size_t>(i * size + j)] += kWeights[w] * now[static_cast<std::size_t>(from + j)];
            }
            for (std::int64_t j = 0; j < size / 2; ++j) {
              float total = 0;
              for (std::int64_t w = 0; w < 5; ++w)
                total += kWeights[w] * rows[static_cast<std::size_t>(i * size + inside(2 * j + w - 2))];
              next[static_cast<std::size_t>(i * (size / 2) + j)] = total;
            }
          }
          std::swap(now, next);
        }
        benchmark::DoNotOptimize(now.data());
      });
}
BENCHMARK(pyramid)->Unit(benchmark::kMillisecond);

// Ten steps of 1000 Kalman filters: position and speed in one dimension, of which the position is measured.
void kalman(benchmark::State& state) {
  constexpr std::int64_t n = 1000, steps = 10;
  const Floats z = random_floats(n * steps);
  const Tensor seen = Tensor::borrow(z, {steps, n, 1, 1});
  const Tensor f = Tensor::of<float>({{1, 1}, {0, 1}}), h = Tensor::of<float>({{1, 0}});
  const Tensor q = eye(2) * 0.01F, r = eye(1) * 0.5F;
  Floats position(n);
  in_turns(
      state,
      [&] {
        Tensor x = zeros({n, 2, 1}), p = eye(2).expand({n, 2, 2});
        for (std::int64_t k = 0; k < steps; ++k) {
          x = matmul(f, x);
          p = matmul(matmul(f, p), f.transpose()) + q;
          const Tensor hp = matmul(h, p);
          const Tensor gain = solve(matmul(hp, h.transpose()) + r, hp).transpose();
          x = x + matmul(gain, seen[k] - matmul(h, x));
          p = p - matmul(gain, hp);
        }
        x.realize();
      },
      [&] {
        for (std::size_t i = 0; i < n; ++i) {
          float x = 0, v = 0, a = 1, b = 0, c = 0, d = 1;  // the state, and the covariance {{a, b}, {c, d}}
          for (std::size_t k = 0; k < steps; ++k) {
            x += v;
            a = a + b + c + d + 0.01F;
            b += d;
            c += d;
            d += 0.01F;
            const float scale = 1 / (a + 0.5F), g = a * scale, u = b * scale;
            const float apart = z[k * n + i] - x;
            x += g * apart;
            v += u * apart;
            c -= u * a;
            d -= u * b;
            b -= g * b;
            a -= g * a;
          }
          position[i] = x;
        }
        benchmark::DoNotOptimize(position.data());
      });
}
BENCHMARK(kalman)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) { return oriel::bench::main_on_one_thread(count, words); }
