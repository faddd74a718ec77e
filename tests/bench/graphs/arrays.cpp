// Sorting, running sums, gathers, windows of signals, clustering, and several results at once.
#include <fmt/format.h>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

void add_orders(Cases& cases) {
  for (const std::int64_t n : {1024, 16384}) {
    cases.add(
        fmt::format("arrays/running mean by running sums, {}", n),
        [=](Inputs& in) {
          const Tensor x = in({n});
          return [=](const Each& each) {
            const Tensor s = each(cumsum(x, 0));
            return Roots{each(each(s.slice({{.start = 16}}) - s.slice({{.stop = n - 16}})) / 16)};
          };
        },
        1e-3);
    cases.add(fmt::format("arrays/running sums of rows, then largest, 16 x {}", n), [=](Inputs& in) {
      const Tensor x = in({16, n});
      return [=](const Each& each) { return Roots{each(max(each(cumsum(x, 1)), 1))}; };
    });
    cases.add(fmt::format("arrays/share of a running total, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n}, 0, 1);
      return [=](const Each& each) { return Roots{each(each(cumsum(x, 0)) / each(sum(x)))}; };
    });
    cases.add(fmt::format("arrays/quartiles by sorting, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) {
        const Tensor s = each(sort(x));
        const auto at = [&](std::int64_t k) { return s.slice({{.start = k, .stop = k + 1}}); };
        return Roots{at(n / 4) - at(0), each(at(n / 2) + at(n / 2 - 1)) / 2, each(at(3 * n / 4) - at(n / 4))};
      };
    });
    cases.add(fmt::format("arrays/largest eighth of each row, 16 x {}", n / 16), [=](Inputs& in) {
      const Tensor x = in({16, n / 16});
      return [=](const Each& each) {
        const Tensor s = each(sort(x, 1, true));
        return Roots{each(sum(s.slice({{}, {.stop = n / 128}}), 1))};
      };
    });
    cases.add(fmt::format("arrays/values in another's order, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), y = in({n});
      return [=](const Each& each) { return Roots{each(take(y, each(argsort(x))))}; };
    });
    cases.add(fmt::format("arrays/take, then scale and sum, {}", n), [=](Inputs& in) {
      const Tensor table = in({n, 32}), index = in.positions({1024}, n), w = in({1024, 1});
      return [=](const Each& each) { return Roots{each(sum(each(each(take(table, index)) * w), 0))}; };
    });
    cases.add(fmt::format("arrays/take from a computed table, {}", n), [=](Inputs& in) {
      const Tensor table = in({n, 32}), index = in.positions({1024}, n);
      return [=](const Each& each) { return Roots{each(take(each(tanh(table)), index))}; };
    });
    cases.add(fmt::format("arrays/differences of two takes, {}", n), [=](Inputs& in) {
      const Tensor table = in({n, 32}), p = in.positions({4096}, n), q = in.positions({4096}, n);
      return [=](const Each& each) {
        return Roots{each(sqrt(each(sum(each(square(each(each(take(table, p)) - each(take(table, q))))), 1))))};
      };
    });
    cases.add(fmt::format("arrays/sparse rows times a vector, {}", n), [=](Inputs& in) {
      const Tensor value = in({n, 8}), column = in.positions({n, 8}, n), x = in({n});
      return [=](const Each& each) { return Roots{each(sum(each(value * each(take(x, column))), 1))}; };
    });
  }
}

void add_clusters(Cases& cases) {
  for (const auto& [points, means] : {std::pair{512, 8}, {4096, 16}, {1024, 64}}) {
    const std::int64_t n = points, k = means, d = 16;
    const std::string size = fmt::format("{} points, {} means", n, k);
    cases.add("arrays/k-means step, " + size, [=](Inputs& in) {
      const Tensor x = in({n, d}), c = in({k, d});
      return [=](const Each& each) {
        const Tensor far = each(sum(each(square(each(x.unsqueeze(1) - c))), 2));
        const Tensor hot = each(each(each(argmin(far, 1)).unsqueeze(1) == arange(k)).to(DType::float32));
        const Tensor count = each(maximum(each(sum(hot, 0)), 1));
        return Roots{each(each(matmul(hot.transpose(), x)) / count.unsqueeze(1))};
      };
    });
    cases.add("arrays/k-means step by products, " + size, [=](Inputs& in) {
      const Tensor x = in({n, d}), c = in({k, d});
      return [=](const Each& each) {
        const Tensor far = each(each(sum(each(square(c)), 1)) - each(each(matmul(x, c.transpose())) * 2));
        const Tensor near = each(argmin(far, 1));
        const Tensor hot = each(each(near.unsqueeze(1) == arange(k)).to(DType::float32));
        return Roots{near, each(each(matmul(hot.transpose(), x)) / each(maximum(each(sum(hot, 0)), 1)).unsqueeze(1))};
      };
    });
    cases.add("arrays/soft assignment, " + size, [=](Inputs& in) {
      const Tensor x = in({n, d}), c = in({k, d});
      return [=](const Each& each) {
        const Tensor far = each(sum(each(square(each(x.unsqueeze(1) - c))), 2));
        const Tensor r = each(softmax(each(far * -0.5)));
        return Roots{each(each(matmul(r.transpose(), x)) / each(sum(r, 0)).unsqueeze(1))};
      };
    });
    cases.add("arrays/least distances, " + size, [=](Inputs& in) {
      const Tensor x = in({n, d}), c = in({k, d});
      return [=](const Each& each) {
        return Roots{each(min(each(sqrt(each(sum(each(square(each(x.unsqueeze(1) - c))), 2)))), 1))};
      };
    });
    cases.add("arrays/largest differences, " + size, [=](Inputs& in) {
      const Tensor x = in({n, d}), c = in({k, d});
      return [=](const Each& each) { return Roots{each(max(each(abs(each(x.unsqueeze(1) - c))), 2))}; };
    });
    cases.add("arrays/principal directions' step, " + size, [=](Inputs& in) {
      const Tensor x = in({n, k}), v = in({k, 4});
      return [=](const Each& each) {
        const Tensor c = each(x - each(mean(x, 0)));
        const Tensor w = each(matmul(c.transpose(), each(matmul(c, v))));
        return Roots{each(w / each(norm(w, 2, 0, true)))};
      };
    });
    cases.add("arrays/covariance, " + size, [=](Inputs& in) {
      const Tensor x = in({n, k});
      return [=](const Each& each) {
        const Tensor c = each(x - each(mean(x, 0)));
        return Roots{each(each(matmul(c.transpose(), c)) / static_cast<double>(n - 1))};
      };
    });
  }
}

void add_signals(Cases& cases) {
  for (const std::int64_t n : {4096, 65536, 524288}) {
    cases.add(fmt::format("signals/filter of 16 taps, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), h = in({16});
      return [=](const Each& each) { return Roots{each(sum(unfold(x, 0, 16, 1) * h, -1))}; };
    });
    cases.add(fmt::format("signals/two filters and their product, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), h = in({16}), g = in({16});
      return [=](const Each& each) {
        return Roots{each(each(sum(unfold(x, 0, 16, 1) * h, -1)) * each(sum(unfold(x, 0, 16, 1) * g, -1)))};
      };
    });
    cases.add(fmt::format("signals/two filters, one after the other, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), h = in({16}), g = in({16});
      return [=](const Each& each) {
        const Tensor y = each(sum(unfold(x, 0, 16, 1) * h, -1));
        return Roots{each(sum(unfold(y, 0, 16, 1) * g, -1))};
      };
    });
    cases.add(fmt::format("signals/windowed frames' energy, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), w = in.between({256}, 0, 1);
      return [=](const Each& each) {
        return Roots{each(log(each(each(sum(each(square(each(unfold(x, 0, 256, 128) * w))), -1)) + 1e-6)))};
      };
    });
    cases.add(fmt::format("signals/power spectrum of frames by two products, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), w = in.between({256}, 0, 1), c = in({256, 128}), s = in({256, 128});
      return [=](const Each& each) {
        const Tensor f = each(unfold(x, 0, 256, 128) * w);
        const Tensor re = each(matmul(f, c)), im = each(matmul(f, s));
        return Roots{each(each(square(re)) + each(square(im)))};
      };
    });
    cases.add(fmt::format("signals/envelope: absolute value, smoothed, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) { return Roots{each(mean(unfold(each(abs(x)), 0, 32, 1), -1))}; };
    });
    cases.add(
        fmt::format("signals/local deviation, {}", n),
        [=](Inputs& in) {
          const Tensor x = in({n});
          return [=](const Each& each) {
            const Tensor m = each(mean(unfold(x, 0, 32, 1), -1)), s = each(mean(unfold(each(x * x), 0, 32, 1), -1));
            return Roots{each(sqrt(each(maximum(each(s - each(m * m)), 0))))};
          };
        },
        1e-3);
    cases.add(fmt::format("signals/auto-correlation at 16 lags, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) {
        const Tensor head = x.shrink({{0, n - 16}});
        return Roots{each(matmul(unfold(x, 0, n - 16, 1), head))};
      };
    });
    cases.add(fmt::format("signals/echoes at four delays, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) {
        Tensor y = x;
        for (const std::int64_t d : {100, 250, 700, 1500})
          y = each(y + each(pad(x.shrink({{0, n - d}}), {{d, 0}}) * 0.5));
        return Roots{y};
      };
    });
  }
}

}  // namespace

void add_arrays(Cases& cases) {
  add_orders(cases);
  add_clusters(cases);
  add_signals(cases);
}

}  // namespace oriel::bench
