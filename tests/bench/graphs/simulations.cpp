// Steps of simulations: stencils with several steps in a row, particles, oscillators, games.
#include <fmt/format.h>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

// The sum of the four neighbours minus four times the centre. The border does not change.
Tensor laplacian(const Each& each, const Tensor& x) {
  const std::int64_t n = x.size(0).value(), m = x.size(1).value();
  const auto at = [&](std::int64_t i, std::int64_t j) { return x.shrink({{i, n - 2 + i}, {j, m - 2 + j}}); };
  const Tensor around = each(each(at(0, 1) + at(2, 1)) + each(at(1, 0) + at(1, 2)));
  return pad(each(around - each(at(1, 1) * 4)), {{1, 1}, {1, 1}});
}

void add_grids(Cases& cases) {
  for (const std::int64_t n : {64, 256, 1024}) {
    for (const int steps : {1, 4, 10}) {
      if (n * steps > 5000) continue;
      cases.add(fmt::format("simulations/heat, {} steps, {}", steps, n), [=](Inputs& in) {
        const Tensor start = in({n, n});
        return [=](const Each& each) {
          Tensor u = start;
          for (int k = 0; k < steps; ++k) u = each(u + each(laplacian(each, u) * 0.1));
          return Roots{u};
        };
      });
      cases.add(fmt::format("simulations/heat in place, {} steps, {}", steps, n), [=](Inputs& in) {
        const Tensor start = in({n, n});
        return [=](const Each& each) {
          Tensor u = each(start + 0);
          for (int k = 0; k < steps; ++k) {
            const auto at = [&](std::int64_t i, std::int64_t j) { return u.shrink({{i, n - 2 + i}, {j, n - 2 + j}}); };
            const Tensor next = each(each(each(at(0, 1) + at(2, 1)) + each(at(1, 0) + at(1, 2))) * 0.25);
            u.shrink({{1, n - 1}, {1, n - 1}}).assign(next);
            each(u);
          }
          return Roots{u};
        };
      });
      cases.add(fmt::format("simulations/waves, {} steps, {}", steps, n), [=](Inputs& in) {
        const Tensor before = in({n, n}), start = in({n, n});
        return [=](const Each& each) {
          Tensor p = before, u = start;
          for (int k = 0; k < steps; ++k) {
            const Tensor next = each(each(each(u * 2) - p) + each(laplacian(each, u) * 0.1));
            p = u;
            u = next;
          }
          return Roots{p, u};
        };
      });
      cases.add(
          fmt::format("simulations/Gray-Scott, {} steps, {}", steps, n),
          [=](Inputs& in) {
            const Tensor a = in.between({n, n}, 0, 1), b = in.between({n, n}, 0, 1);
            return [=](const Each& each) {
              Tensor u = a, v = b;
              for (int k = 0; k < steps; ++k) {
                const Tensor uvv = each(each(u * v) * v);
                const Tensor du = each(each(each(laplacian(each, u) * 0.16) - uvv) + each(each(1 - u) * 0.035));
                const Tensor dv = each(each(each(laplacian(each, v) * 0.08) + uvv) - each(v * 0.1));
                u = each(u + du);
                v = each(v + dv);
              }
              return Roots{u, v};
            };
          },
          1e-3);
      cases.add(fmt::format("simulations/Life, {} steps, {}", steps, n), [=](Inputs& in) {
        const Tensor start = in.between({n, n}, 0, 1);
        return [=](const Each& each) {
          Tensor x = each(each(start > 0.6).to(DType::int32));
          for (int k = 0; k < steps; ++k) {
            const Tensor rows = each(each(roll(x, 1, 0) + x) + roll(x, -1, 0));
            const Tensor all = each(each(roll(rows, 1, 1) + rows) + roll(rows, -1, 1));
            x = each(each(each(all == 3) || each(each(all == 4) && each(x == 1))).to(DType::int32));
          }
          return Roots{x};
        };
      });
    }
  }
}

void add_particles(Cases& cases) {
  for (const std::int64_t n : {64, 256, 1024}) {
    cases.add(
        fmt::format("simulations/gravity of {} bodies", n),
        [=](Inputs& in) {
          const Tensor x = in({n, 3}), v = in({n, 3}), m = in.between({n}, 0, 1);
          return [=](const Each& each) {
            const Tensor off = each(x.unsqueeze(0) - x.unsqueeze(1));
            const Tensor r = each(rsqrt(each(each(sum(each(square(off)), 2)) + 0.01)));
            const Tensor f = each(each(each(r * r) * r) * m);
            const Tensor a = each(sum(each(off * f.unsqueeze(2)), 1));
            const Tensor next = each(v + each(a * 0.001));
            return Roots{each(x + each(next * 0.001)), next};
          };
        },
        1e-3);
    cases.add(
        fmt::format("simulations/potential energy of {} charges", n),
        [=](Inputs& in) {
          const Tensor x = in({n, 3}), q = in({n});
          return [=](const Each& each) {
            const Tensor off = each(x.unsqueeze(0) - x.unsqueeze(1));
            const Tensor r = each(sqrt(each(each(sum(each(square(off)), 2)) + 1e-2)));
            return Roots{each(sum(each(each(q * q.unsqueeze(1)) / r)))};
          };
        },
        1e-3);
    cases.add(
        fmt::format("simulations/flock of {}", n),
        [=](Inputs& in) {
          const Tensor x = in({n, 2}), v = in({n, 2});
          return [=](const Each& each) {
            const Tensor off = each(x.unsqueeze(0) - x.unsqueeze(1));
            const Tensor near = each(each(each(sum(each(square(off)), 2)) < 0.1).to(DType::float32));
            const Tensor count = each(sum(near, 1, true));
            const Tensor along = each(each(matmul(near, v)) / count), toward = each(each(matmul(near, x)) / count);
            const Tensor next = each(v + each(each(each(along - v) * 0.1) + each(each(toward - x) * 0.01)));
            return Roots{each(x + next), next};
          };
        },
        1e-3);
    cases.add(fmt::format("simulations/{} coupled oscillators", n), [=](Inputs& in) {
      const Tensor p = in({n}, 3), w = in({n});
      return [=](const Each& each) {
        const Tensor pull = each(mean(each(sin(each(p - p.unsqueeze(1)))), 1));
        return Roots{each(p + each(each(w + pull) * 0.01))};
      };
    });
    cases.add(
        fmt::format("simulations/Runge-Kutta step of a linear system, {}", n),
        [=](Inputs& in) {
          const Tensor a = in({n, n}, 0.1F), x = in({n});
          return [=](const Each& each) {
            const Tensor k1 = each(matmul(a, x));
            const Tensor k2 = each(matmul(a, each(x + each(k1 * 0.05))));
            const Tensor k3 = each(matmul(a, each(x + each(k2 * 0.05))));
            const Tensor k4 = each(matmul(a, each(x + each(k3 * 0.1))));
            const Tensor all = each(each(k1 + each(k2 * 2)) + each(each(k3 * 2) + k4));
            return Roots{each(x + each(all * (0.1 / 6)))};
          };
        },
        1e-3);
    cases.add(fmt::format("simulations/Kalman step, {} states", n / 4), [=](Inputs& in) {
      const std::int64_t d = n / 4;
      const Tensor f = in({d, d}, 0.1F), p = in({d, d}, 0.1F), q = in({d, d}, 0.1F), k = in({d, d}, 0.1F),
                   x = in({d, 1}), z = in({d, 1});
      return [=](const Each& each) {
        const Tensor ahead = each(matmul(f, x));
        const Tensor cov = each(each(matmul(each(matmul(f, p)), f.transpose())) + q);
        return Roots{each(ahead + each(matmul(k, each(z - ahead)))), each(cov - each(matmul(k, cov)))};
      };
    });
    cases.add(
        fmt::format("simulations/Monte Carlo prices, {} paths of 32", n * 64),
        [=](Inputs& in) {
          const Tensor z = in({n * 64, 32});
          return [=](const Each& each) {
            const Tensor path = each(exp(each(cumsum(each(each(z * 0.02) + 0.0001), 1))));
            return Roots{each(mean(each(maximum(each(each(mean(path, 1)) - 1), 0))))};
          };
        },
        1e-3);
    cases.add(
        fmt::format("simulations/Mandelbrot, 16 rounds, {}", n),
        [=](Inputs&) {
          return [=](const Each& each) {
            const Tensor re = each(linspace(-2, 1, n) + 0).unsqueeze(0), im = each(linspace(-1, 1, n) + 0).unsqueeze(1);
            Tensor x = each(re + im * 0), y = each(im + re * 0), count = each(x * 0);
            for (int k = 0; k < 16; ++k) {
              const Tensor xx = each(x * x), yy = each(y * y);
              const Tensor inside = each(each(xx + yy) < 4);
              const Tensor nx = each(each(xx - yy) + re), ny = each(each(each(x * y) * 2) + im);
              x = each(where(inside, nx, x));
              y = each(where(inside, ny, y));
              count = each(count + inside);
            }
            return Roots{count};
          };
        },
        1e-2);
  }
}

}  // namespace

void add_simulations(Cases& cases) {
  add_grids(cases);
  add_particles(cases);
}

}  // namespace oriel::bench
