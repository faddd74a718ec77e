// Training steps with gradients written by hand, losses, and updates of weights.
#include <fmt/format.h>

#include <cmath>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

void add_steps(Cases& cases) {
  for (const auto& [rows, wide] : {std::pair{16, 128}, {64, 256}, {256, 256}}) {
    const std::int64_t batch = rows, width = wide;
    const double count = static_cast<double>(batch * width);
    cases.add(fmt::format("training/linear regression step, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor x = in({batch, width}), y = in({batch, 1}), w = in({width, 1}, 0.1F), b = in({1});
      return [=](const Each& each) {
        const Tensor off = each(linear(each, x, w, b) - y);
        const Tensor gw = each(matmul(x.transpose(), off)), gb = each(sum(off, 0));
        return Roots{each(w - each(gw * 0.01)), each(b - each(gb * 0.01)), each(mean(each(square(off))))};
      };
    });
    cases.add(fmt::format("training/logistic regression step, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor x = in({batch, width}), y = in.between({batch, 1}, 0, 1), w = in({width, 1}, 0.1F);
      return [=](const Each& each) {
        const Tensor p = each(sigmoid(each(matmul(x, w))));
        const Tensor loss = each(mean(each(each(y * each(log(p))) + each(each(1 - y) * each(log(each(1 - p)))))));
        const Tensor gw = each(matmul(x.transpose(), each(p - y)));
        return Roots{each(w - each(gw * 0.01)), loss};
      };
    });
    cases.add(fmt::format("training/two layers, squared error, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor x = in({batch, width}), y = in({batch, width}), w = in({width, width}, 0.1F),
                   u = in({width, width}, 0.1F);
      return [=](const Each& each) {
        const Tensor h = each(relu(each(matmul(x, w))));
        const Tensor off = each(each(matmul(h, u)) - y);
        const Tensor g = each(off * (2 / count));
        const Tensor gu = each(matmul(h.transpose(), g));
        const Tensor gh = each(each(matmul(g, u.transpose())) * each(each(h > 0).to(DType::float32)));
        const Tensor gw = each(matmul(x.transpose(), gh));
        return Roots{each(w - each(gw * 0.1)), each(u - each(gu * 0.1)), each(mean(each(square(off))))};
      };
    });
    cases.add(fmt::format("training/two layers with tanh and biases, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor x = in({batch, width}), y = in({batch, width}), w = in({width, width}, 0.1F), b = in({width}),
                   u = in({width, width}, 0.1F), c = in({width});
      return [=](const Each& each) {
        const Tensor h = each(tanh(linear(each, x, w, b)));
        const Tensor g = each(each(linear(each, h, u, c) - y) * (2 / count));
        const Tensor gh = each(each(matmul(g, u.transpose())) * each(1 - each(square(h))));
        return Roots{each(w - each(each(matmul(x.transpose(), gh)) * 0.1)), each(b - each(each(sum(gh, 0)) * 0.1)),
                     each(u - each(each(matmul(h.transpose(), g)) * 0.1)), each(c - each(each(sum(g, 0)) * 0.1))};
      };
    });
    cases.add(fmt::format("training/classifier step with cross-entropy, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor x = in({batch, width}), w = in({width, 64}, 0.1F), label = in.positions({batch}, 64);
      return [=](const Each& each) {
        const Tensor logits = each(matmul(x, w));
        const Tensor logp = each(log_softmax(logits));
        const Tensor loss = each(mean(each(-each(gather(logp, label.unsqueeze(1), 1)))));
        const Tensor hot = each(each(label.unsqueeze(1) == arange(64)).to(DType::float32));
        const Tensor g = each(each(each(exp(logp)) - hot) / static_cast<double>(batch));
        return Roots{each(w - each(each(matmul(x.transpose(), g)) * 0.1)), loss};
      };
    });
    cases.add(fmt::format("training/gated layer's gradients, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor x = in({batch, width}), w = in({width, width}, 0.1F), u = in({width, width}, 0.1F),
                   g = in({batch, width});
      return [=](const Each& each) {
        const Tensor a = each(matmul(x, w)), s = each(sigmoid(each(matmul(x, u))));
        const Tensor ga = each(g * s);
        const Tensor gs = each(each(each(g * a) * s) * each(1 - s));
        const Tensor xt = x.transpose();
        return Roots{each(matmul(xt, ga)), each(matmul(xt, gs)),
                     each(each(matmul(ga, w.transpose())) + each(matmul(gs, u.transpose())))};
      };
    });
    cases.add(fmt::format("training/gradients of softmax attention, {} x {}", batch, width), [=](Inputs& in) {
      const Tensor q = in({batch, 64}), k = in({width, 64}), v = in({width, 64}), g = in({batch, 64});
      return [=](const Each& each) {
        const Tensor p = each(softmax(each(matmul(q, k.transpose()))));
        const Tensor gp = each(matmul(g, v.transpose()));
        const Tensor gs = each(p * each(gp - each(sum(each(gp * p), 1, true))));
        return Roots{each(matmul(gs, k)), each(matmul(gs.transpose(), q)), each(matmul(p.transpose(), g))};
      };
    });
    cases.add(
        fmt::format("training/layer norm's gradients, {} x {}", batch, width),
        [=](Inputs& in) {
          const Tensor x = in({batch, width}), g = in({batch, width}), scale = in({width});
          return [=](const Each& each) {
            const Tensor m = each(mean(x, 1, true)), r = each(rsqrt(each(var(x, 1, true, 0) + 1e-5)));
            const Tensor n = each(each(x - m) * r), gn = each(g * scale);
            const Tensor gx =
                each(r * each(each(gn - each(mean(gn, 1, true))) - each(n * each(mean(each(gn * n), 1, true)))));
            return Roots{gx, each(sum(each(g * n), 0)), each(sum(g, 0))};
          };
        },
        1e-3);
  }
}

void add_losses(Cases& cases) {
  for (const auto& [rows, wide] : {std::pair{64, 1000}, {1024, 128}, {256, 4096}}) {
    const std::int64_t n = rows, c = wide;
    cases.add(fmt::format("losses/cross-entropy by gather, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 4), label = in.positions({n, 1}, c);
      return [=](const Each& each) { return Roots{each(-each(mean(each(gather(each(log_softmax(x)), label, 1)))))}; };
    });
    cases.add(fmt::format("losses/cross-entropy by comparison, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 4), label = in.positions({n, 1}, c);
      return [=](const Each& each) {
        const Tensor hot = each(where(label == arange(c), each(log_softmax(x)), 0));
        return Roots{each(-each(each(sum(hot)) / static_cast<double>(n)))};
      };
    });
    cases.add(fmt::format("losses/cross-entropy, smoothed, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 4), label = in.positions({n, 1}, c);
      return [=](const Each& each) {
        const Tensor logp = each(log_softmax(x));
        const Tensor hit = each(-each(gather(logp, label, 1).squeeze(1))), all = each(-each(mean(logp, 1)));
        return Roots{each(mean(each(each(hit * 0.9) + each(all * 0.1))))};
      };
    });
    cases.add(fmt::format("losses/squared error, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}), y = in({n, c});
      return [=](const Each& each) { return Roots{each(mean(each(square(each(x - y)))))}; };
    });
    cases.add(fmt::format("losses/Huber, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 2), y = in({n, c}, 2);
      return [=](const Each& each) {
        const Tensor off = each(abs(each(x - y)));
        return Roots{each(mean(each(where(each(off < 1), each(each(square(off)) * 0.5), each(off - 0.5)))))};
      };
    });
    cases.add(fmt::format("losses/divergence of two softmaxes, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 4), y = in({n, c}, 4);
      return [=](const Each& each) {
        const Tensor p = each(log_softmax(x)), q = each(log_softmax(y));
        return Roots{each(each(sum(each(each(exp(p)) * each(p - q)))) / static_cast<double>(n))};
      };
    });
    cases.add(fmt::format("losses/accuracy and loss together, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 4), label = in.positions({n}, c);
      return [=](const Each& each) {
        const Tensor logp = each(log_softmax(x));
        const Tensor hits = each(mean(each(each(argmax(x, 1) == label).to(DType::float32))));
        return Roots{hits, each(-each(mean(each(gather(logp, label.unsqueeze(1), 1)))))};
      };
    });
    cases.add(fmt::format("losses/hinge against all classes, {} x {}", n, c), [=](Inputs& in) {
      const Tensor x = in({n, c}, 4), label = in.positions({n, 1}, c);
      return [=](const Each& each) {
        const Tensor right = each(gather(x, label, 1));
        return Roots{each(mean(each(sum(each(relu(each(each(x - right) + 1))), 1))))};
      };
    });
  }
}

void add_updates(Cases& cases) {
  for (const std::int64_t n : {4096, 65536, 1048576}) {
    cases.add(fmt::format("updates/momentum, {}", n), [=](Inputs& in) {
      const Tensor w = in({n}), g = in({n}), m = in({n});
      return [=](const Each& each) {
        const Tensor next = each(each(m * 0.9) + g);
        return Roots{each(w - each(next * 0.01)), next};
      };
    });
    cases.add(fmt::format("updates/Adam, {}", n), [=](Inputs& in) {
      const Tensor w = in({n}), g = in({n}), m = in({n}), s = in.between({n}, 0, 1);
      return [=](const Each& each) {
        const Tensor m1 = each(each(m * 0.9) + each(g * 0.1));
        const Tensor s1 = each(each(s * 0.999) + each(each(g * g) * 0.001));
        const Tensor step = each(each(m1 / 0.1) / each(each(sqrt(each(s1 / 0.001))) + 1e-8));
        return Roots{each(w - each(step * 0.001)), m1, s1};
      };
    });
    cases.add(
        fmt::format("updates/AdamW with a clipped norm, {}", n),
        [=](Inputs& in) {
          const Tensor w = in({n}), g0 = in({n}), m = in({n}), s = in.between({n}, 0, 1);
          return [=](const Each& each) {
            const Tensor g = each(g0 * each(minimum(each(1 / each(norm(g0))), 1)));
            const Tensor m1 = each(each(m * 0.9) + each(g * 0.1));
            const Tensor s1 = each(each(s * 0.999) + each(each(g * g) * 0.001));
            const Tensor step = each(each(m1 / 0.1) / each(each(sqrt(each(s1 / 0.001))) + 1e-8));
            return Roots{each(each(w * 0.9999) - each(step * 0.001)), m1, s1};
          };
        },
        1e-3);
    cases.add(fmt::format("updates/Lion, {}", n), [=](Inputs& in) {
      const Tensor w = in({n}), g = in({n}), m = in({n});
      return [=](const Each& each) {
        const Tensor way = each(sign(each(each(m * 0.9) + each(g * 0.1))));
        return Roots{each(w - each(each(way + each(w * 0.1)) * 1e-4)), each(each(m * 0.99) + each(g * 0.01))};
      };
    });
  }
  cases.add("updates/Adafactor of a 512 x 1024 matrix", [](Inputs& in) {
    const Tensor w = in({512, 1024}), g = in({512, 1024}), r = in.between({512}, 0.1F, 1),
                 c = in.between({1024}, 0.1F, 1);
    return [=](const Each& each) {
      const Tensor g2 = each(square(g));
      const Tensor r1 = each(each(r * 0.9) + each(each(mean(g2, 1)) * 0.1)),
                   c1 = each(each(c * 0.9) + each(each(mean(g2, 0)) * 0.1));
      const Tensor v = each(each(r1.unsqueeze(1) * c1) / each(mean(r1)));
      return Roots{each(w - each(each(g * each(rsqrt(v))) * 0.01)), r1, c1};
    };
  });
}

}  // namespace

void add_training(Cases& cases) {
  add_steps(cases);
  add_losses(cases);
  add_updates(cases);
}

}  // namespace oriel::bench
