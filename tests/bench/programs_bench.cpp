// Programs that users write, each in turns with the plain loop that a C++ programmer would write, on one thread.
// Counters as everyday_bench's. signals_bench has those of scans, histograms and linear algebra.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "in_turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;
using bench::random_floats;

using Floats = std::vector<float>;

std::vector<std::int64_t> random_positions(std::int64_t count, std::int64_t below) {
  std::mt19937 random(7);
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (std::int64_t& v : out) v = static_cast<std::int64_t>(random()) % below;
  return out;
}

// Squared distances of all points to all centres.
template <int D>
void distances(benchmark::State& state) {
  const std::int64_t n = state.range(0), m = state.range(1);
  const Floats x = random_floats(n * D), c = random_floats(m * D);
  Floats out(static_cast<std::size_t>(n * m));
  const Tensor points = Tensor::borrow(x, {n, D}), centres = Tensor::borrow(c, {m, D});
  in_turns(
      state, [&] { sum(square(points.unsqueeze(1) - centres), 2).realize(); },
      [&] {
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < m; ++j) {
            float total = 0;
            for (int d = 0; d < D; ++d) {
              const float apart = x[static_cast<std::size_t>(i * D + d)] - c[static_cast<std::size_t>(j * D + d)];
              total += apart * apart;
            }
            out[static_cast<std::size_t>(i * m + j)] = total;
          }
        }
      });
}
void shapes(benchmark::internal::Benchmark* row) {
  row->Args({5000, 100})->Args({100, 5000})->Args({100'000, 8})->Unit(benchmark::kMillisecond);
}
BENCHMARK(distances<2>)->Apply(shapes);
BENCHMARK(distances<3>)->Apply(shapes);
BENCHMARK(distances<4>)->Apply(shapes);
BENCHMARK(distances<8>)->Apply(shapes);
BENCHMARK(distances<16>)->Apply(shapes);

// Forces between all pairs of bodies, with three coordinates on the last axis.
void bodies(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const Floats p = random_floats(3 * n), mass = random_floats(n);
  Floats out(p.size());
  const Tensor place = Tensor::borrow(p, {n, 3}), masses = Tensor::borrow(mass, {n});
  in_turns(
      state,
      [&] {
        const Tensor apart = place.unsqueeze(0) - place.unsqueeze(1);
        const Tensor r2 = sum(apart * apart, 2) + 0.01F;
        sum(apart * (masses * rsqrt(r2) / r2).unsqueeze(2), 1).realize();
      },
      [&] {
        for (std::int64_t i = 0; i < n; ++i) {
          const float* const at = &p[static_cast<std::size_t>(3 * i)];
          float force[3] = {};
          for (std::int64_t j = 0; j < n; ++j) {
            const float* const other = &p[static_cast<std::size_t>(3 * j)];
            const float x = other[0] - at[0], y = other[1] - at[1], z = other[2] - at[2];
            const float r2 = x * x + y * y + z * z + 0.01F;
            const float w = mass[static_cast<std::size_t>(j)] / (r2 * std::sqrt(r2));
            force[0] += x * w;
            force[1] += y * w;
            force[2] += z * w;
          }
          std::memcpy(&out[static_cast<std::size_t>(3 * i)], force, sizeof force);
        }
      });
}
BENCHMARK(bodies)->Arg(1000)->Unit(benchmark::kMillisecond);

// How often each of 100 numbers occurs, by comparison with all of them.
void count_each(benchmark::State& state) {
  const std::vector<std::int64_t> x = random_positions(1'000'000, 100);
  std::vector<std::int64_t> counts(100);
  const Tensor tensor = Tensor::borrow(x, {1'000'000});
  in_turns(
      state, [&] { sum(tensor == arange(100).unsqueeze(1), 1).realize(); },
      [&] {
        for (std::int64_t b = 0; b < 100; ++b) {
          std::int64_t n = 0;
          for (const std::int64_t v : x) n += v == b ? 1 : 0;
          counts[static_cast<std::size_t>(b)] = n;
        }
      });
}
BENCHMARK(count_each)->Unit(benchmark::kMillisecond);

// Whole rows of a matrix by their numbers: an embedding.
void take_rows(benchmark::State& state) {
  constexpr std::int64_t n = 2048;
  const Floats x = random_floats(n * n);
  const std::vector<std::int64_t> at = random_positions(n, n);
  Floats out(x.size());
  const Tensor matrix = Tensor::borrow(x, {n, n}), rows = Tensor::borrow(at, {n});
  in_turns(
      state, [&] { take(matrix, rows, 0).realize(); },
      [&] {
        for (std::int64_t i = 0; i < n; ++i)
          std::copy_n(&x[static_cast<std::size_t>(at[static_cast<std::size_t>(i)] * n)], n,
                      &out[static_cast<std::size_t>(i * n)]);
      });
}
BENCHMARK(take_rows)->Unit(benchmark::kMillisecond);

// A step of a gated recurrent unit over a batch of 64 with 128 numbers.
void gru_cell(benchmark::State& state) {
  constexpr std::int64_t batch = 64, n = 128;
  const Floats xs = random_floats(batch * n), hs = random_floats(batch * n), w = random_floats(3 * n * n);
  const Floats u = random_floats(3 * n * n);
  const Tensor x = Tensor::borrow(xs, {batch, n}), h = Tensor::borrow(hs, {batch, n});
  const Tensor wx = Tensor::borrow(w, {n, 3 * n}), wh = Tensor::borrow(u, {n, 3 * n});
  const auto cell = [=] {
    const Tensor a = matmul(x, wx), b = matmul(h, wh);
    const auto gate = [](const Tensor& t, std::int64_t k) { return t.shrink({{0, batch}, {k * n, (k + 1) * n}}); };
    const Tensor r = sigmoid(gate(a, 0) + gate(b, 0)), z = sigmoid(gate(a, 1) + gate(b, 1));
    const Tensor next = tanh(gate(a, 2) + r * gate(b, 2));
    return next + z * (h - next);
  };
  Floats a(3 * batch * n), b(3 * batch * n), out(batch * n);
  const auto multiply = [&](const Floats& from, const Floats& by, Floats& to) {
    std::fill(to.begin(), to.end(), 0.0F);
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < 3 * n; ++j)
          to[static_cast<std::size_t>(i * 3 * n + j)] +=
              from[static_cast<std::size_t>(i * n + k)] * by[static_cast<std::size_t>(k * 3 * n + j)];
  };
  const auto squash = [](float v) { return 1 / (1 + std::exp(-v)); };
  in_turns(
      state, [&] { cell().realize(); },
      [&] {
        multiply(xs, w, a);
        multiply(hs, u, b);
        for (std::int64_t i = 0; i < batch; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(i * 3 * n + j);
            const float r = squash(a[at] + b[at]), z = squash(a[at + n] + b[at + n]);
            const float next = std::tanh(a[at + 2 * n] + r * b[at + 2 * n]);
            const auto o = static_cast<std::size_t>(i * n + j);
            out[o] = next + z * (hs[o] - next);
          }
        }
      });
}
BENCHMARK(gru_cell)->Unit(benchmark::kMillisecond);

// Conway's game of life and the heat equation on 1000 x 1000 cells, ten steps, with a border of zeros.
template <class T, class Step, class Cell>
void on_a_grid(benchmark::State& state, const Step& step, const Cell& cell) {
  constexpr std::int64_t n = 1000;
  std::vector<T> start(n * n), now, next(n * n);
  std::mt19937 random(3);
  for (std::int64_t i = 1; i + 1 < n; ++i)
    for (std::int64_t j = 1; j + 1 < n; ++j) start[static_cast<std::size_t>(i * n + j)] = static_cast<T>(random() % 2);
  const Tensor first = Tensor::borrow(start, {n, n});
  in_turns(
      state,
      [&] {
        Tensor x = first;
        for (int k = 0; k < 10; ++k) {
          const auto at = [&](int i, int j) { return x.shrink({{i, n - 2 + i}, {j, n - 2 + j}}); };
          x = pad(step(at), {{1, 1}, {1, 1}});
        }
        x.realize();
      },
      [&] {
        now = start;
        for (int k = 0; k < 10; ++k) {
          for (std::int64_t i = 1; i + 1 < n; ++i)
            for (std::int64_t j = 1; j + 1 < n; ++j)
              next[static_cast<std::size_t>(i * n + j)] = cell(&now[static_cast<std::size_t>(i * n + j)], n);
          std::swap(now, next);
        }
      });
}

void game_of_life(benchmark::State& state) {
  on_a_grid<std::int64_t>(
      state,
      [](const auto& at) {
        const Tensor n = at(0, 0) + at(0, 1) + at(0, 2) + at(1, 0) + at(1, 2) + at(2, 0) + at(2, 1) + at(2, 2);
        return ((n == 3) | ((at(1, 1) == 1) & (n == 2))).to(DType::int64);
      },
      [](const std::int64_t* p, std::int64_t w) {
        const std::int64_t n = p[-w - 1] + p[-w] + p[-w + 1] + p[-1] + p[1] + p[w - 1] + p[w] + p[w + 1];
        return static_cast<std::int64_t>(n == 3 || (*p == 1 && n == 2));
      });
}
BENCHMARK(game_of_life)->Unit(benchmark::kMillisecond);

void heat(benchmark::State& state) {
  on_a_grid<float>(
      state,
      [](const auto& at) { return at(1, 1) + 0.1F * (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - 4 * at(1, 1)); },
      [](const float* p, std::int64_t w) { return *p + 0.1F * (p[-w] + p[w] + p[-1] + p[1] - 4 * *p); });
}
BENCHMARK(heat)->Unit(benchmark::kMillisecond);

// Ten steps of conjugate gradients for a dense matrix of 500 x 500.
void conjugate_gradients(benchmark::State& state) {
  constexpr std::int64_t n = 500;
  const Floats from = random_floats(n * n), b = random_floats(n);
  Floats a(n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      a[static_cast<std::size_t>(i * n + j)] =
          from[static_cast<std::size_t>(i * n + j)] + from[static_cast<std::size_t>(j * n + i)] + (i == j ? 200.0F : 0);
  const Tensor matrix = Tensor::borrow(a, {n, n}), right = Tensor::borrow(b, {n});
  Floats x(n), r(n), p(n), q(n);
  const auto dot = [](const Floats& u, const Floats& v) {
    float total = 0;
    for (std::size_t k = 0; k < n; ++k) total += u[k] * v[k];
    return total;
  };
  in_turns(
      state,
      [&] {
        Tensor at = zeros({n}), rest = right, way = rest, squares = sum(rest * rest);
        for (int k = 0; k < 10; ++k) {
          const Tensor image = matmul(matrix, way);
          const Tensor alpha = squares / sum(way * image);
          at = at + alpha * way;
          rest = rest - alpha * image;
          const Tensor now = sum(rest * rest);
          way = rest + now / squares * way;
          squares = now;
        }
        at.realize();
      },
      [&] {
        std::fill(x.begin(), x.end(), 0.0F);
        r = p = b;
        float squares = dot(r, r);
        for (int k = 0; k < 10; ++k) {
          for (std::size_t i = 0; i < n; ++i) {
            float total = 0;
            for (std::size_t j = 0; j < n; ++j) total += a[i * n + j] * p[j];
            q[i] = total;
          }
          const float alpha = squares / dot(p, q);
          for (std::size_t i = 0; i < n; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
          }
          const float now = dot(r, r);
          for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + now / squares * p[i];
          squares = now;
        }
      });
}
BENCHMARK(conjugate_gradients)->Unit(benchmark::kMillisecond);

// The price of an option by a million given normal numbers.
void option_price(benchmark::State& state) {
  constexpr std::int64_t n = 1'000'000;
  const Floats z = random_floats(n);
  const Tensor normal = Tensor::borrow(z, {n});
  float price = 0;
  in_turns(
      state, [&] { mean(maximum(100 * exp(0.2F * normal + 0.03F) - 105, 0)).realize(); },
      [&] {
        float total = 0;
        for (const float v : z) total += std::max(100 * std::exp(0.2F * v + 0.03F) - 105, 0.0F);
        price = total / n;
        benchmark::DoNotOptimize(price);
      });
}
BENCHMARK(option_price)->Unit(benchmark::kMillisecond);

// A bilateral filter of 5 x 5 over a picture of 512 x 512.
void bilateral_filter(benchmark::State& state) {
  constexpr std::int64_t n = 512, inside = n - 4;
  const Floats x = random_floats(n * n);
  Floats out(inside * inside);
  const Tensor picture = Tensor::borrow(x, {n, n});
  in_turns(
      state,
      [&] {
        const auto at = [&](std::int64_t i, std::int64_t j) {
          return picture.shrink({{i, inside + i}, {j, inside + j}});
        };
        Tensor total = zeros({inside, inside}), weights = total;
        for (int i = 0; i < 5; ++i) {
          for (int j = 0; j < 5; ++j) {
            const auto near = static_cast<float>((i - 2) * (i - 2) + (j - 2) * (j - 2)) / 8;
            const Tensor w = exp(-square(at(i, j) - at(2, 2)) * 4 - near);
            total = total + w * at(i, j);
            weights = weights + w;
          }
        }
        (total / weights).realize();
      },
      [&] {
        for (std::int64_t y = 0; y < inside; ++y) {
          for (std::int64_t u = 0; u < inside; ++u) {
            const float* const p = &x[static_cast<std::size_t>(y * n + u)];
            const float centre = p[2 * n + 2];
            float total = 0, weights = 0;
            for (int i = 0; i < 5; ++i) {
              for (int j = 0; j < 5; ++j) {
                const auto near = static_cast<float>((i - 2) * (i - 2) + (j - 2) * (j - 2)) / 8;
                const float v = p[i * n + j], apart = v - centre;
                const float w = std::exp(-apart * apart * 4 - near);
                total += w * v;
                weights += w;
              }
            }
            out[static_cast<std::size_t>(y * inside + u)] = total / weights;
          }
        }
      });
}
BENCHMARK(bilateral_filter)->Unit(benchmark::kMillisecond);

// Ten steps of PageRank over a dense matrix of links of 1000 pages.
void page_rank(benchmark::State& state) {
  constexpr std::int64_t n = 1000;
  Floats links = random_floats(n * n);
  for (float& v : links) v = v > 0.8F ? 1.0F / 100 : 0;
  const Tensor matrix = Tensor::borrow(links, {n, n});
  Floats rank(n), next(n);
  in_turns(
      state,
      [&] {
        Tensor r = full({n}, 1.0F / n);
        for (int k = 0; k < 10; ++k) r = 0.85F * matmul(matrix, r) + 0.15F / n;
        r.realize();
      },
      [&] {
        std::fill(rank.begin(), rank.end(), 1.0F / n);
        for (int k = 0; k < 10; ++k) {
          for (std::size_t i = 0; i < n; ++i) {
            float total = 0;
            for (std::size_t j = 0; j < n; ++j) total += links[i * n + j] * rank[j];
            next[i] = 0.85F * total + 0.15F / n;
          }
          std::swap(rank, next);
        }
      });
}
BENCHMARK(page_rank)->Unit(benchmark::kMillisecond);

// A step of k-means: the nearest of 16 centres in 3 dimensions, and the mean of the points that each is nearest to.
void k_means(benchmark::State& state) {
  constexpr std::int64_t n = 100'000, m = 16;
  const Floats x = random_floats(3 * n), c = random_floats(3 * m);
  const Tensor points = Tensor::borrow(x, {n, 3}), centres = Tensor::borrow(c, {m, 3});
  Floats totals(3 * m), counts(m);
  in_turns(
      state,
      [&] {
        const Tensor nearest = argmin(sum(square(points.unsqueeze(1) - centres), 2), 1);
        const Tensor member = (nearest == arange(m).unsqueeze(1)).to(DType::float32);
        (matmul(member, points) / sum(member, 1, true)).realize();
      },
      [&] {
        std::fill(totals.begin(), totals.end(), 0.0F);
        std::fill(counts.begin(), counts.end(), 0.0F);
        for (std::size_t i = 0; i < n; ++i) {
          std::size_t best = 0;
          float least = INFINITY;
          for (std::size_t j = 0; j < m; ++j) {
            float total = 0;
            for (std::size_t d = 0; d < 3; ++d) {
              const float apart = x[3 * i + d] - c[3 * j + d];
              total += apart * apart;
            }
            if (total < least) {
              least = total;
              best = j;
            }
          }
          counts[best] += 1;
          for (std::size_t d = 0; d < 3; ++d) totals[3 * best + d] += x[3 * i + d];
        }
        for (std::size_t k = 0; k < totals.size(); ++k) totals[k] /= counts[k / 3];
      });
}
BENCHMARK(k_means)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) { return oriel::bench::main_on_one_thread(count, words); }
