// Normalisations, softmaxes and statistics over rows, columns and all axes.
#include <fmt/format.h>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

void add_rows(Cases& cases, std::int64_t n, std::int64_t m, std::int64_t axis) {
  const std::string size = fmt::format("{} x {} along {}", n, m, axis);
  const auto data = [=](Inputs& in) { return in({n, m}, 3); };
  cases.add("statistics/softmax by hand, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) {
      const Tensor e = each(exp(each(x - each(max(x, axis, true)))));
      return Roots{each(e / each(sum(e, axis, true)))};
    };
  });
  cases.add("statistics/softmax of a scaled and masked sum, " + size, [=](Inputs& in) {
    const Tensor x = data(in), y = data(in);
    return [=](const Each& each) {
      const Tensor s = each(each(x * 0.5) + y);
      return Roots{each(softmax(each(where(s > -2, s, -1e9)), axis))};
    };
  });
  cases.add("statistics/layer norm by hand with scale and shift, " + size, [=](Inputs& in) {
    const Tensor x = data(in), scale = in({n, m}), shift = in({n, m});
    return [=](const Each& each) {
      const Tensor c = each(x - each(mean(x, axis, true)));
      const Tensor r = each(rsqrt(each(each(mean(each(square(c)), axis, true)) + 1e-5)));
      return Roots{each(each(each(c * r) * scale) + shift)};
    };
  });
  cases.add("statistics/root mean square norm, " + size, [=](Inputs& in) {
    const Tensor x = data(in), scale = in({n, m});
    return [=](const Each& each) {
      return Roots{each(each(x * each(rsqrt(each(each(mean(each(square(x)), axis, true)) + 1e-6)))) * scale)};
    };
  });
  cases.add("statistics/standard scores, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) {
      return Roots{each(each(x - each(mean(x, axis, true))) / each(stddev(x, axis, true)))};
    };
  });
  cases.add("statistics/mean, deviation, least and largest, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) {
      return Roots{each(mean(x, axis)), each(stddev(x, axis)), each(min(x, axis)), each(max(x, axis))};
    };
  });
  cases.add(
      "statistics/four moments, " + size,
      [=](Inputs& in) {
        const Tensor x = data(in);
        return [=](const Each& each) {
          const Tensor c = each(x - each(mean(x, axis, true)));
          const Tensor c2 = each(c * c);
          const Tensor m2 = each(mean(c2, axis)), m3 = each(mean(each(c2 * c), axis)),
                       m4 = each(mean(each(c2 * c2), axis));
          return Roots{m2, each(m3 / each(m2 * each(sqrt(m2)))), each(m4 / each(m2 * m2))};
        };
      },
      1e-3);
  cases.add(
      "statistics/correlation with another, " + size,
      [=](Inputs& in) {
        const Tensor x = data(in), y = data(in);
        return [=](const Each& each) {
          const Tensor p = each(x - each(mean(x, axis, true))), q = each(y - each(mean(y, axis, true)));
          const Tensor top = each(sum(each(p * q), axis));
          return Roots{each(top / each(sqrt(each(each(sum(each(p * p), axis)) * each(sum(each(q * q), axis))))))};
        };
      },
      1e-3);
  cases.add("statistics/entropy of softmax, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) {
      const Tensor l = each(log_softmax(x, axis));
      return Roots{each(-each(sum(each(each(exp(l)) * l), axis)))};
    };
  });
  cases.add("statistics/log-sum-exp of two, " + size, [=](Inputs& in) {
    const Tensor x = data(in), y = data(in);
    return [=](const Each& each) { return Roots{each(each(logsumexp(x, axis)) - each(logsumexp(y, axis)))}; };
  });
  cases.add("statistics/share above the mean, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) {
      return Roots{each(mean(each(each(x > each(mean(x, axis, true))).to(DType::float32)), axis))};
    };
  });
  cases.add("statistics/largest, and where, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) { return Roots{each(max(x, axis)), each(argmax(x, axis))}; };
  });
  cases.add("statistics/unit length, then sums of the other way, " + size, [=](Inputs& in) {
    const Tensor x = data(in);
    return [=](const Each& each) {
      const Tensor u = each(x / each(each(norm(x, 2, axis, true)) + 1e-6));
      return Roots{u, each(sum(u, 1 - axis))};
    };
  });
  cases.add("statistics/rows and columns to sums of one, twice, " + size, [=](Inputs& in) {
    const Tensor x = in.between({n, m}, 0.1F, 1);
    return [=](const Each& each) {
      Tensor p = x;
      for (int k = 0; k < 2; ++k) {
        p = each(p / each(sum(p, 1, true)));
        p = each(p / each(sum(p, 0, true)));
      }
      return Roots{p};
    };
  });
}

void add_whole(Cases& cases) {
  for (const std::int64_t n : {4096, 262144, 2097152}) {
    cases.add(fmt::format("statistics/mean and variance of all, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) { return Roots{each(mean(x)), each(var(x))}; };
    });
    cases.add(fmt::format("statistics/relative error of two, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), y = in({n});
      return [=](const Each& each) { return Roots{each(each(norm(each(x - y))) / each(norm(y)))}; };
    });
    cases.add(fmt::format("statistics/scaled by its largest, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) { return Roots{each(x / each(max(each(abs(x)))))}; };
    });
    cases.add(fmt::format("statistics/quantised and back, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) {
        const Tensor scale = each(each(max(each(abs(x)))) / 127);
        const Tensor q = each(each(clamp(each(round(each(x / scale))), -127, 127)).to(DType::int8));
        return Roots{q, each(each(q.to(DType::float32)) * scale)};
      };
    });
    cases.add(fmt::format("statistics/histogram of 32 bins, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n}, 0, 1);
      return [=](const Each& each) {
        const Tensor bin = each(each(x * 32).to(DType::int32));
        return Roots{each(sum(each(bin == arange(32).unsqueeze(1)), 1))};
      };
    });
    cases.add(fmt::format("statistics/chain of functions, {}", n), [=](Inputs& in) {
      const Tensor x = in({n}), y = in({n});
      return [=](const Each& each) {
        const Tensor a = each(exp(each(-each(x * x))));
        const Tensor b = each(each(tanh(y)) + each(sin(x)));
        return Roots{each(each(a * b) + each(sqrt(each(each(abs(x)) + 1))))};
      };
    });
    cases.add(fmt::format("statistics/one costly value for five results, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) {
        const Tensor e = each(exp(each(sin(x))));
        Roots out;
        for (int k = 0; k < 5; ++k) out.push_back(each(e * static_cast<double>(k + 1)));
        return out;
      };
    });
    cases.add(fmt::format("statistics/one costly value, shifted eight times, {}", n), [=](Inputs& in) {
      const Tensor x = in({n});
      return [=](const Each& each) {
        const Tensor e = each(tanh(x));
        Tensor total = each(e.shrink({{0, n - 8}}) * 1.0);
        for (std::int64_t k = 1; k < 8; ++k)
          total = each(total + each(e.shrink({{k, n - 8 + k}}) * (1.0 / static_cast<double>(k))));
        return Roots{total};
      };
    });
  }
}

}  // namespace

void add_statistics(Cases& cases) {
  for (const auto& [n, m] : {std::pair{64, 64}, {1024, 256}, {32, 16384}})
    for (const std::int64_t axis : {0, 1}) add_rows(cases, n, m, axis);
  add_whole(cases);
}

}  // namespace oriel::bench
