// Convolutions with the ops around them, pooling, blocks of image models, and pipelines over pictures.
#include <fmt/format.h>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

struct Images {
  std::int64_t count, channels, side;
};

void add_convolutions(Cases& cases) {
  for (const Images& i : {Images{1, 16, 32}, {4, 32, 28}, {1, 64, 56}}) {
    const std::int64_t c = i.channels;
    const std::string size = fmt::format("{}x{}x{}x{}", i.count, c, i.side, i.side);
    const auto image = [=](Inputs& in) { return in({i.count, c, i.side, i.side}); };
    cases.add("images/3x3, bias, relu, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F), b = in({c, 1, 1});
      return [=](const Each& each) { return Roots{each(relu(each(convolution(each, x, k) + b)))}; };
    });
    cases.add("images/3x3 and 1x1, relu, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F), s = in({c, c, 1, 1}, 0.1F);
      return
          [=](const Each& each) { return Roots{each(relu(each(convolution(each, x, k) + convolution(each, x, s))))}; };
    });
    cases.add("images/3x3 and its input, relu, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F);
      return [=](const Each& each) { return Roots{each(relu(each(convolution(each, x, k) + x)))}; };
    });
    cases.add("images/bottleneck with shortcut, " + size, [=](Inputs& in) {
      const std::int64_t m = c / 2;
      const Tensor x = image(in), down = in({m, c, 1, 1}, 0.1F), k = in({m, m, 3, 3}, 0.1F),
                   up = in({c, m, 1, 1}, 0.1F), side = in({c, c, 1, 1}, 0.1F), b = in({m, 1, 1}), d = in({c, 1, 1});
      return [=](const Each& each) {
        const Tensor p = each(relu(each(convolution(each, x, down) + b)));
        const Tensor q = each(relu(each(convolution(each, p, k) + b)));
        const Tensor y = each(convolution(each, q, up) + d);
        return Roots{each(relu(each(y + convolution(each, x, side))))};
      };
    });
    cases.add("images/two 3x3 with scale and shift, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F), l = in({c, c, 3, 3}, 0.1F), s = in({c, 1, 1}),
                   b = in({c, 1, 1});
      return [=](const Each& each) {
        const auto part = [&](const Tensor& t, const Tensor& w) { return each(each(convolution(each, t, w) * s) + b); };
        return Roots{each(relu(each(part(each(relu(part(x, k))), l) + x)))};
      };
    });
    cases.add("images/3x3, batch norm, relu, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F);
      return [=](const Each& each) {
        const Tensor y = convolution(each, x, k);
        const Tensor m = each(mean(y, {0, 2, 3}, true)), s = each(var(y, {0, 2, 3}, true, 0));
        return Roots{each(relu(each(each(y - m) * each(rsqrt(each(s + 1e-5))))))};
      };
    });
    cases.add("images/depthwise, then 1x1, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, 3, 3}), p = in({c, c, 1, 1}, 0.1F);
      return [=](const Each& each) { return Roots{convolution(each, each(relu(depthwise(each, x, k))), p)}; };
    });
    cases.add("images/squeeze and excite, " + size, [=](Inputs& in) {
      const Tensor x = image(in), w = in({c, c / 4}), u = in({c / 4, c});
      return [=](const Each& each) {
        const Tensor m = each(mean(x, {2, 3}));
        const Tensor gate = each(sigmoid(each(matmul(each(relu(each(matmul(m, w)))), u))));
        return Roots{each(x * gate.reshape({i.count, c, 1, 1}))};
      };
    });
    cases.add("images/3x3, relu, largest of squares, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F);
      return [=](const Each& each) { return Roots{max_pool(each, each(relu(convolution(each, x, k))), 2)}; };
    });
    cases.add("images/3x3 with step 2, relu, mean of all, product, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F), w = in({c, 10});
      return [=](const Each& each) {
        const Tensor y = each(relu(convolution(each, x, k, 2)));
        return Roots{each(matmul(each(mean(y, {2, 3})), w))};
      };
    });
    cases.add("images/inception: 1x1, 3x3 and pooling side by side, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F), s = in({c, c, 1, 1}, 0.1F);
      return [=](const Each& each) {
        const Tensor pooled =
            each(max(unfold(unfold(pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 2, 3, 1), 3, 3, 1), {4, 5}));
        return Roots{
            each(concat({each(relu(convolution(each, x, s))), each(relu(convolution(each, x, k))), pooled}, 1))};
      };
    });
    cases.add("images/group norm and silu, " + size, [=](Inputs& in) {
      const Tensor x = image(in);
      return [=](const Each& each) {
        const Tensor g = x.reshape({i.count, 4, c / 4 * i.side * i.side});
        return Roots{each(silu(each(layer_norm(g)).reshape({i.count, c, i.side, i.side})))};
      };
    });
    cases.add("images/nearest upsampling and 3x3, " + size, [=](Inputs& in) {
      const Tensor x = image(in), k = in({c, c, 3, 3}, 0.1F);
      return [=](const Each& each) {
        const std::int64_t s = i.side;
        const Tensor big =
            x.reshape({i.count, c, s, 1, s, 1}).expand({i.count, c, s, 2, s, 2}).reshape({i.count, c, 2 * s, 2 * s});
        return Roots{each(relu(convolution(each, big, k)))};
      };
    });
    cases.add("images/gradient of 3x3's weights, " + size, [=](Inputs& in) {
      const Tensor x = image(in), g = image(in);
      return [=](const Each& each) {
        const Tensor w = unfold(unfold(pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 2, 3, 1), 3, 3, 1);
        return Roots{each(sum(w.unsqueeze(1) * g.reshape({i.count, c, 1, i.side, i.side, 1, 1}), {0, 3, 4}))};
      };
    });
  }
}

void add_pipelines(Cases& cases) {
  for (const std::int64_t n : {128, 512, 1024}) {
    const auto cut = [](const Tensor& x, std::int64_t axis, std::int64_t lo, std::int64_t hi) {
      return axis == 0 ? x.slice({{.start = lo, .stop = hi}}) : x.slice({{}, {.start = lo, .stop = hi}});
    };
    const auto blur = [=](const Each& each, const Tensor& x) {
      const auto line = [&](const Tensor& t, std::int64_t axis) {
        const std::int64_t m = t.size(axis).value() - 2;
        return each(each(each(cut(t, axis, 0, m) * 0.25) + each(cut(t, axis, 1, m + 1) * 0.5)) +
                    each(cut(t, axis, 2, m + 2) * 0.25));
      };
      return line(line(x, 0), 1);
    };
    cases.add(fmt::format("pictures/blur, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n, n}, 0, 1);
      return [=](const Each& each) { return Roots{blur(each, x)}; };
    });
    cases.add(fmt::format("pictures/blur three times, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n, n}, 0, 1);
      return [=](const Each& each) { return Roots{blur(each, blur(each, blur(each, x)))}; };
    });
    cases.add(fmt::format("pictures/length of the Sobel gradient, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n, n}, 0, 1);
      return [=](const Each& each) {
        const auto at = [&](std::int64_t i, std::int64_t j) { return x.shrink({{i, n - 2 + i}, {j, n - 2 + j}}); };
        const Tensor gx = each(at(0, 0) + at(1, 0) * 2 + at(2, 0) - at(0, 2) - at(1, 2) * 2 - at(2, 2));
        const Tensor gy = each(at(0, 0) + at(0, 1) * 2 + at(0, 2) - at(2, 0) - at(2, 1) * 2 - at(2, 2));
        return Roots{each(sqrt(each(each(gx * gx) + each(gy * gy))))};
      };
    });
    cases.add(fmt::format("pictures/stretched to [0, 1], {}", n), [=](Inputs& in) {
      const Tensor x = in({n, n}, 3);
      return [=](const Each& each) {
        const Tensor lo = each(min(x)), hi = each(max(x));
        return Roots{each(each(x - lo) / each(hi - lo))};
      };
    });
    cases.add(
        fmt::format("pictures/local contrast, {}", n),
        [=](Inputs& in) {
          const Tensor x = in.between({n, n}, 0, 1);
          return [=](const Each& each) {
            const auto box = [&](const Tensor& t) {
              return each(mean(unfold(each(mean(unfold(t, 0, 7, 1), -1)), 1, 7, 1), -1));
            };
            const Tensor m = box(x), s = each(box(each(square(x))) - each(square(m)));
            return Roots{each(each(x.shrink({{3, n - 3}, {3, n - 3}}) - m) / each(sqrt(each(maximum(s, 0)) + 1e-4)))};
          };
        },
        1e-2);
    cases.add(fmt::format("pictures/half size, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({3, n, n}, 0, 1);
      return [=](const Each& each) { return Roots{each(mean(x.reshape({3, n / 2, 2, n / 2, 2}), {2, 4}))}; };
    });
    cases.add(fmt::format("pictures/grey, gamma, threshold, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({3, n, n}, 0, 1), w = in.between({3, 1, 1}, 0, 1);
      return [=](const Each& each) {
        const Tensor grey = each(sum(each(x * w), 0));
        const Tensor g = each(sqrt(grey));
        return Roots{each(each(g > each(mean(g))).to(DType::uint8))};
      };
    });
    cases.add(fmt::format("pictures/opening: smallest, then largest of 3x3, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n, n}, 0, 1);
      return [=](const Each& each) {
        const Tensor low = each(min(unfold(unfold(x, 0, 3, 1), 1, 3, 1), {2, 3}));
        return Roots{each(max(unfold(unfold(low, 0, 3, 1), 1, 3, 1), {2, 3}))};
      };
    });
    cases.add(fmt::format("pictures/each channel's mean and deviation removed, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({3, n, n}, 0, 1);
      return [=](const Each& each) {
        const Tensor m = each(mean(x, {1, 2}, true)), s = each(stddev(x, {1, 2}, true));
        return Roots{each(each(x - m) / s)};
      };
    });
    cases.add(fmt::format("pictures/difference of two blurs, {}", n), [=](Inputs& in) {
      const Tensor x = in.between({n, n}, 0, 1);
      return [=](const Each& each) {
        const Tensor once = blur(each, x), twice = blur(each, once);
        return Roots{each(once.shrink({{1, n - 3}, {1, n - 3}}) - twice)};
      };
    });
  }
}

}  // namespace

void add_images(Cases& cases) {
  add_convolutions(cases);
  add_pipelines(cases);
}

}  // namespace oriel::bench
