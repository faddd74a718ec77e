// Several products in one graph: sums of them, gates between them, some that are independent, chains.
#include <fmt/format.h>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

void add_sums(Cases& cases) {
  for (const std::int64_t n : {64, 256, 512}) {
    cases.add(fmt::format("products/sum of two, {0}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n}), c = in({n, n}), d = in({n, n});
      return [=](const Each& each) { return Roots{each(each(matmul(a, b)) + each(matmul(c, d)))}; };
    });
    cases.add(fmt::format("products/sum of two and a bias, relu, {0}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n}), c = in({n, n}), d = in({n, n}), bias = in({n});
      return [=](const Each& each) {
        return Roots{each(relu(each(each(each(matmul(a, b)) + each(matmul(c, d))) + bias)))};
      };
    });
    cases.add(fmt::format("products/difference of a product and its transpose, {0}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n});
      return [=](const Each& each) {
        const Tensor p = each(matmul(a, b));
        return Roots{each(p - p.transpose())};
      };
    });
    cases.add(fmt::format("products/complex, {0}", n), [=](Inputs& in) {
      const Tensor ar = in({n, n}), ai = in({n, n}), br = in({n, n}), bi = in({n, n});
      return [=](const Each& each) {
        const Tensor re = each(each(matmul(ar, br)) - each(matmul(ai, bi)));
        const Tensor im = each(each(matmul(ar, bi)) + each(matmul(ai, br)));
        return Roots{re, im};
      };
    });
  }
  for (const std::int64_t k : {3, 4, 6}) {
    cases.add(fmt::format("products/sum of {}, 192", k), [=](Inputs& in) {
      std::vector<Tensor> a, b;
      for (std::int64_t i = 0; i < k; ++i) {
        a.push_back(in({192, 192}));
        b.push_back(in({192, 192}));
      }
      return [=](const Each& each) {
        Tensor total = each(matmul(a[0], b[0]));
        for (std::size_t i = 1; i < a.size(); ++i) total = each(total + each(matmul(a[i], b[i])));
        return Roots{total};
      };
    });
  }
}

void add_gates(Cases& cases) {
  for (const auto& [rows, width] : {std::pair{64, 256}, {256, 256}, {512, 512}, {1, 1024}}) {
    const std::int64_t m = rows, n = width;
    cases.add(fmt::format("products/times a sigmoid gate, {} x {}", m, n), [=](Inputs& in) {
      const Tensor x = in({m, n}), w = in({n, n}, 0.1F), u = in({n, n}, 0.1F);
      return [=](const Each& each) { return Roots{each(each(matmul(x, w)) * each(sigmoid(each(matmul(x, u)))))}; };
    });
    cases.add(fmt::format("products/larger of two, {} x {}", m, n), [=](Inputs& in) {
      const Tensor x = in({m, n}), w = in({n, n}), u = in({n, n});
      return [=](const Each& each) { return Roots{each(maximum(each(matmul(x, w)), each(matmul(x, u))))}; };
    });
    cases.add(fmt::format("products/chosen by a third, {} x {}", m, n), [=](Inputs& in) {
      const Tensor x = in({m, n}), w = in({n, n}), u = in({n, n}), s = in({n, n});
      return [=](const Each& each) {
        const Tensor chosen = each(each(matmul(x, s)) > 0);
        return Roots{each(where(chosen, each(matmul(x, w)), each(matmul(x, u))))};
      };
    });
    cases.add(fmt::format("products/highway layer, {} x {}", m, n), [=](Inputs& in) {
      const Tensor x = in({m, n}), w = in({n, n}, 0.1F), u = in({n, n}, 0.1F), b = in({n}), c = in({n});
      return [=](const Each& each) {
        const Tensor h = each(tanh(linear(each, x, w, b)));
        const Tensor t = each(sigmoid(linear(each, x, u, c)));
        return Roots{each(each(h * t) + each(x * each(1 - t)))};
      };
    });
  }
}

void add_independent(Cases& cases) {
  for (const std::int64_t n : {64, 256, 512}) {
    cases.add(fmt::format("products/two independent, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n}), c = in({n, n}), d = in({n, n});
      return [=](const Each& each) { return Roots{each(matmul(a, b)), each(matmul(c, d))}; };
    });
    cases.add(fmt::format("products/q, k and v of one input, {}", n), [=](Inputs& in) {
      const Tensor x = in({n, n}), q = in({n, n}), k = in({n, n}), v = in({n, n});
      return [=](const Each& each) { return Roots{each(matmul(x, q)), each(matmul(x, k)), each(matmul(x, v))}; };
    });
    cases.add(fmt::format("products/a product and its row sums, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n});
      return [=](const Each& each) {
        const Tensor p = each(matmul(a, b));
        return Roots{p, each(sum(p, 1))};
      };
    });
    cases.add(fmt::format("products/a product and the mean of its squares, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n});
      return [=](const Each& each) {
        const Tensor p = each(matmul(a, b));
        return Roots{p, each(mean(each(square(p))))};
      };
    });
    cases.add(fmt::format("products/powers of a matrix, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}, 0.1F);
      return [=](const Each& each) {
        const Tensor b = each(matmul(a, a));
        const Tensor c = each(matmul(b, a));
        return Roots{each(each(a + each(b / 2)) + each(c / 6))};
      };
    });
  }
}

void add_chains(Cases& cases) {
  for (const std::int64_t n : {128, 384}) {
    cases.add(fmt::format("products/chain of three, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n}), c = in({n, n});
      return [=](const Each& each) { return Roots{each(matmul(each(matmul(a, b)), c))}; };
    });
    cases.add(fmt::format("products/low rank update, {}", n), [=](Inputs& in) {
      const Tensor x = in({n, n}), w = in({n, n}), a = in({n, 8}), b = in({8, n});
      return [=](const Each& each) {
        return Roots{each(each(matmul(x, w)) + each(each(matmul(each(matmul(x, a)), b)) * 0.5))};
      };
    });
    cases.add(fmt::format("products/quadratic form of rows, {}", n), [=](Inputs& in) {
      const Tensor x = in({n, n}), m = in({n, n});
      return [=](const Each& each) { return Roots{each(sum(each(each(matmul(x, m)) * x), 1))}; };
    });
    cases.add(fmt::format("products/Gram matrix, normalised, {}", n), [=](Inputs& in) {
      const Tensor x = in({n, n});
      return [=](const Each& each) {
        const Tensor g = each(matmul(x, x.transpose()));
        const Tensor d = each(rsqrt(each(diagonal(g) + 1e-3)));
        return Roots{each(each(g * d.unsqueeze(1)) * d)};
      };
    });
    cases.add(fmt::format("products/Newton step for an inverse, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}, 0.01F), x = in({n, n}, 0.01F);
      return [=](const Each& each) {
        const Tensor ax = each(matmul(a, x));
        return Roots{each(each(x * 2) - each(matmul(x, ax)))};
      };
    });
    cases.add(fmt::format("products/squared distances of rows, {}", n), [=](Inputs& in) {
      const Tensor x = in({n, 64}), y = in({n, 64});
      return [=](const Each& each) {
        const Tensor xx = each(sum(each(square(x)), 1, true)), yy = each(sum(each(square(y)), 1));
        return Roots{each(each(xx + yy) - each(each(matmul(x, y.transpose())) * 2))};
      };
    });
    cases.add(fmt::format("products/Gaussian kernel matrix times a vector, {}", n), [=](Inputs& in) {
      const Tensor x = in({n, 64}), y = in({n, 64}), a = in({n});
      return [=](const Each& each) {
        const Tensor xx = each(sum(each(square(x)), 1, true)), yy = each(sum(each(square(y)), 1));
        const Tensor d = each(each(xx + yy) - each(each(matmul(x, y.transpose())) * 2));
        return Roots{each(matmul(each(exp(each(d * -0.1))), a))};
      };
    });
  }
  for (const std::int64_t b : {8, 32}) {
    cases.add(fmt::format("products/batched sum of two, {} of 96", b), [=](Inputs& in) {
      const Tensor a = in({b, 96, 96}), c = in({b, 96, 96}), w = in({96, 96});
      return [=](const Each& each) { return Roots{each(each(matmul(a, c)) + each(matmul(a, w)))}; };
    });
    cases.add(fmt::format("products/bilinear, {} of 96", b), [=](Inputs& in) {
      const Tensor x = in({b, 96, 96}), y = in({b, 96, 96}), w = in({96, 96});
      return [=](const Each& each) { return Roots{each(matmul(each(matmul(x, w)), y.transpose()))}; };
    });
  }
  for (const std::int64_t n : {512, 2048}) {
    cases.add(fmt::format("products/two matrices times vectors, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), b = in({n, n}), x = in({n}), y = in({n});
      return [=](const Each& each) { return Roots{each(each(matmul(a, x)) + each(matmul(b, y)))}; };
    });
    cases.add(
        fmt::format("products/conjugate gradient step, {}", n),
        [=](Inputs& in) {
          const Tensor a = in({n, n}, 0.01F), x = in({n}), r = in({n}), p = in({n});
          return [=](const Each& each) {
            const Tensor ap = each(matmul(a, p)), rr = each(sum(each(r * r)));
            const Tensor alpha = each(rr / each(sum(each(p * ap))));
            const Tensor next = each(x + each(p * alpha)), left = each(r - each(ap * alpha));
            const Tensor beta = each(each(sum(each(left * left))) / rr);
            return Roots{next, left, each(left + each(p * beta))};
          };
        },
        1e-2);
    cases.add(fmt::format("products/PageRank step, {}", n), [=](Inputs& in) {
      const Tensor a = in.between({n, n}, 0, 1), rank = in.between({n}, 0, 1);
      return [=](const Each& each) {
        const Tensor out = each(sum(a, 0));
        const Tensor next = each(each(matmul(a, each(rank / out))) * 0.85);
        const Tensor moved = each(next + 0.15 / static_cast<double>(n));
        return Roots{each(moved / each(sum(moved)))};
      };
    });
    cases.add(fmt::format("products/power iteration, {}", n), [=](Inputs& in) {
      const Tensor a = in({n, n}), x = in({n});
      return [=](const Each& each) {
        const Tensor y = each(matmul(a, x));
        return Roots{each(y / each(norm(y)))};
      };
    });
  }
}

}  // namespace

void add_products(Cases& cases) {
  add_sums(cases);
  add_gates(cases);
  add_independent(cases);
  add_chains(cases);
}

}  // namespace oriel::bench
