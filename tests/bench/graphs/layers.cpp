// Forward passes of layers: perceptrons, gated units, recurrent cells, mixtures of experts.
#include <fmt/format.h>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

using Activation = Tensor (*)(const Tensor& x);

struct Named {
  const char* name;
  Activation apply;
};
const Named kActivations[] = {
    {"relu", [](const Tensor& x) { return relu(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"silu", [](const Tensor& x) { return silu(x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
};

void add_perceptrons(Cases& cases) {
  for (const std::int64_t batch : {1, 16, 128}) {
    for (const Named& f : kActivations) {
      cases.add(fmt::format("layers/perceptron 256-512-256, {}, batch {}", f.name, batch), [=](Inputs& in) {
        const Tensor x = in({batch, 256}), w = in({256, 512}, 0.1F), b = in({512}), u = in({512, 256}, 0.1F),
                     c = in({256});
        return [=](const Each& each) { return Roots{linear(each, each(f.apply(linear(each, x, w, b))), u, c)}; };
      });
    }
    cases.add(fmt::format("layers/residual block with layer norm, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), w = in({256, 512}, 0.1F), b = in({512}), u = in({512, 256}, 0.1F),
                   c = in({256}), scale = in({256}), shift = in({256});
      return [=](const Each& each) {
        const Tensor n = each(each(each(layer_norm(x)) * scale) + shift);
        return Roots{each(x + linear(each, each(gelu(linear(each, n, w, b))), u, c))};
      };
    });
    cases.add(fmt::format("layers/classifier with softmax, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 784}), w = in({784, 256}, 0.1F), b = in({256}), u = in({256, 10}, 0.1F), c = in({10});
      return
          [=](const Each& each) { return Roots{each(softmax(linear(each, each(relu(linear(each, x, w, b))), u, c)))}; };
    });
    cases.add(fmt::format("layers/auto-encoder, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 784}), w = in({784, 64}, 0.1F), b = in({64}), u = in({64, 784}, 0.1F), c = in({784});
      return [=](const Each& each) {
        const Tensor code = each(tanh(linear(each, x, w, b)));
        const Tensor y = each(sigmoid(linear(each, code, u, c)));
        return Roots{code, y, each(mean(each(square(each(y - x)))))};
      };
    });
    cases.add(fmt::format("layers/variational sample, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), w = in({256, 64}, 0.1F), u = in({256, 64}, 0.1F), noise = in({batch, 64});
      return [=](const Each& each) {
        const Tensor m = each(matmul(x, w)), s = each(matmul(x, u));
        const Tensor z = each(m + each(each(exp(each(s * 0.5))) * noise));
        const Tensor kl = each(sum(each(each(each(square(m)) + each(exp(s))) - each(s + 1))));
        return Roots{z, kl};
      };
    });
    cases.add(fmt::format("layers/two towers and their cosine, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), y = in({batch, 256}), w = in({256, 128}, 0.1F), u = in({256, 128}, 0.1F);
      return [=](const Each& each) {
        const Tensor p = each(relu(each(matmul(x, w)))), q = each(relu(each(matmul(y, u))));
        const Tensor dot = each(sum(each(p * q), 1));
        const Tensor size = each(each(norm(p, 2, 1)) * each(norm(q, 2, 1)));
        return Roots{each(dot / each(size + 1e-6))};
      };
    });
  }
}

void add_gated(Cases& cases) {
  for (const std::int64_t batch : {1, 16, 128}) {
    for (const Named& f : kActivations) {
      cases.add(fmt::format("layers/gated feed-forward, {}, batch {}", f.name, batch), [=](Inputs& in) {
        const Tensor x = in({batch, 256}), w = in({256, 512}, 0.1F), u = in({256, 512}, 0.1F), d = in({512, 256}, 0.1F);
        return [=](const Each& each) {
          const Tensor h = each(each(f.apply(each(matmul(x, w)))) * each(matmul(x, u)));
          return Roots{each(matmul(h, d))};
        };
      });
    }
    cases.add(fmt::format("layers/gated linear unit with biases, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), w = in({256, 256}, 0.1F), u = in({256, 256}, 0.1F), b = in({256}),
                   c = in({256});
      return
          [=](const Each& each) { return Roots{each(linear(each, x, w, b) * each(sigmoid(linear(each, x, u, c))))}; };
    });
    cases.add(fmt::format("layers/gated linear unit of one product, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), w = in({256, 512}, 0.1F);
      return [=](const Each& each) {
        const Tensor y = each(matmul(x, w));
        const Tensor a = y.shrink({{0, batch}, {0, 256}}), b = y.shrink({{0, batch}, {256, 512}});
        return Roots{each(a * each(sigmoid(b)))};
      };
    });
    cases.add(fmt::format("layers/mixture of two experts, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), g = in({256, 2}, 0.1F), w = in({256, 256}, 0.1F), u = in({256, 256}, 0.1F);
      return [=](const Each& each) {
        const Tensor gate = each(softmax(each(matmul(x, g))));
        const Tensor a = each(relu(each(matmul(x, w)))), b = each(relu(each(matmul(x, u))));
        return Roots{each(each(a * gate.shrink({{0, batch}, {0, 1}})) + each(b * gate.shrink({{0, batch}, {1, 2}})))};
      };
    });
    cases.add(fmt::format("layers/mixture of four experts in a batch, batch {}", batch), [=](Inputs& in) {
      const Tensor x = in({batch, 256}), g = in({256, 4}, 0.1F), w = in({4, 256, 256}, 0.1F);
      return [=](const Each& each) {
        const Tensor gate = each(softmax(each(matmul(x, g))));
        const Tensor all = each(relu(each(matmul(x.unsqueeze(0), w))));
        return Roots{each(sum(each(all * gate.transpose().unsqueeze(2)), 0))};
      };
    });
  }
}

// An LSTM cell with gates i, f, g and o, each from two products.
Roots lstm(const Each& each, const Tensor& x, const Tensor& h, const Tensor& c, const std::vector<Tensor>& w,
           const std::vector<Tensor>& u, const std::vector<Tensor>& b) {
  std::vector<Tensor> gates;
  for (std::size_t k = 0; k < 4; ++k) {
    const Tensor sum = each(each(each(matmul(x, w[k])) + each(matmul(h, u[k]))) + b[k]);
    gates.push_back(each(k == 2 ? tanh(sum) : sigmoid(sum)));
  }
  const Tensor cell = each(each(gates[1] * c) + each(gates[0] * gates[2]));
  return {each(gates[3] * each(tanh(cell))), cell};
}

Tensor gru(const Each& each, const Tensor& x, const Tensor& h, const std::vector<Tensor>& w,
           const std::vector<Tensor>& u, const std::vector<Tensor>& b) {
  const auto both = [&](std::size_t k, const Tensor& state) {
    return each(each(each(matmul(x, w[k])) + each(matmul(state, u[k]))) + b[k]);
  };
  const Tensor r = each(sigmoid(both(0, h))), z = each(sigmoid(both(1, h)));
  const Tensor n = each(tanh(both(2, each(r * h))));
  return each(each(each(1 - z) * n) + each(z * h));
}

void add_recurrent(Cases& cases) {
  for (const auto& [rows, width] : {std::pair{1, 256}, {16, 128}, {64, 256}, {32, 512}}) {
    const std::int64_t batch = rows, hidden = width;
    const auto weights = [=](Inputs& in, int count) {
      std::vector<Tensor> out;
      for (int k = 0; k < count; ++k) out.push_back(in({hidden, hidden}, 0.1F));
      return out;
    };
    const auto biases = [=](Inputs& in, int count) {
      std::vector<Tensor> out;
      for (int k = 0; k < count; ++k) out.push_back(in({hidden}));
      return out;
    };
    cases.add(fmt::format("layers/LSTM cell, {} x {}", batch, hidden), [=](Inputs& in) {
      const Tensor x = in({batch, hidden}), h = in({batch, hidden}), c = in({batch, hidden});
      const auto w = weights(in, 4), u = weights(in, 4), b = biases(in, 4);
      return [=](const Each& each) { return lstm(each, x, h, c, w, u, b); };
    });
    cases.add(fmt::format("layers/LSTM cell of one wide product, {} x {}", batch, hidden), [=](Inputs& in) {
      const Tensor xh = in({batch, 2 * hidden}), c = in({batch, hidden}), w = in({2 * hidden, 4 * hidden}, 0.1F),
                   b = in({4 * hidden});
      return [=](const Each& each) {
        const Tensor all = linear(each, xh, w, b);
        const auto part = [&](std::int64_t k) { return all.shrink({{0, batch}, {k * hidden, (k + 1) * hidden}}); };
        const Tensor i = each(sigmoid(part(0))), f = each(sigmoid(part(1))), g = each(tanh(part(2))),
                     o = each(sigmoid(part(3)));
        const Tensor cell = each(each(f * c) + each(i * g));
        return Roots{each(o * each(tanh(cell))), cell};
      };
    });
    cases.add(fmt::format("layers/GRU cell, {} x {}", batch, hidden), [=](Inputs& in) {
      const Tensor x = in({batch, hidden}), h = in({batch, hidden});
      const auto w = weights(in, 3), u = weights(in, 3), b = biases(in, 3);
      return [=](const Each& each) { return Roots{gru(each, x, h, w, u, b)}; };
    });
    cases.add(fmt::format("layers/plain recurrent cell, {} x {}", batch, hidden), [=](Inputs& in) {
      const Tensor x = in({batch, hidden}), h = in({batch, hidden});
      const auto w = weights(in, 2), b = biases(in, 1);
      return [=](const Each& each) {
        return Roots{each(tanh(each(each(each(matmul(x, w[0])) + each(matmul(h, w[1]))) + b[0])))};
      };
    });
    cases.add(fmt::format("layers/recurrent cell over four steps, {} x {}", batch, hidden), [=](Inputs& in) {
      const Tensor x = in({4, batch, hidden}), start = in({batch, hidden});
      const auto w = weights(in, 2), b = biases(in, 1);
      return [=](const Each& each) {
        Tensor h = start;
        for (std::int64_t t = 0; t < 4; ++t)
          h = each(tanh(each(each(each(matmul(x.select(0, t), w[0])) + each(matmul(h, w[1]))) + b[0])));
        return Roots{h};
      };
    });
  }
}

}  // namespace

void add_layers(Cases& cases) {
  add_perceptrons(cases);
  add_gated(cases);
  add_recurrent(cases);
}

}  // namespace oriel::bench
