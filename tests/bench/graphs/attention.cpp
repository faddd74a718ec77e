// Attention, with masks, biases and gathers, and whole blocks of transformers.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bench/graphs/operations.hpp"

namespace oriel::bench {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add_plain(Cases& cases) {
  for (const std::int64_t s : {64, 128, 512}) {
    const std::int64_t h = 4, d = 64;
    const auto qkv = [=](Inputs& in) { return std::vector<Tensor>{in({h, s, d}), in({h, s, d}), in({h, s, d})}; };
    cases.add(fmt::format("attention/plain, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      return [=](const Each& each) { return Roots{attend(each, t[0], t[1], t[2])}; };
    });
    cases.add(fmt::format("attention/causal, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      return [=](const Each& each) {
        const Tensor seen = arange(s) <= arange(s).unsqueeze(1);
        const Tensor scores = each(matmul(t[0], t[1].transpose()) / std::sqrt(64.0));
        return Roots{each(matmul(each(softmax(each(where(seen, scores, -kInfinity)))), t[2]))};
      };
    });
    cases.add(fmt::format("attention/with a bias read from memory, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      const Tensor bias = in({h, s, s});
      return [=](const Each& each) { return Roots{attend(each, t[0], t[1], t[2], bias)}; };
    });
    cases.add(fmt::format("attention/with a bias by distance, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      const Tensor slope = in.between({h, 1, 1}, 0, 1);
      return [=](const Each& each) {
        const Tensor far = abs(arange(s).unsqueeze(1) - arange(s)).to(DType::float32);
        return Roots{attend(each, t[0], t[1], t[2], each(-(far * slope)))};
      };
    });
    cases.add(fmt::format("attention/with a bias from a table, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      const Tensor table = in({2 * s - 1});
      return [=](const Each& each) {
        const Tensor index = arange(s).unsqueeze(1) - arange(s) + (s - 1);
        return Roots{attend(each, t[0], t[1], t[2], each(take(table, index)))};
      };
    });
    cases.add(fmt::format("attention/with a padding mask, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      const Tensor length = in.positions({h, 1, 1}, s);
      return [=](const Each& each) {
        const Tensor scores = each(matmul(t[0], t[1].transpose()) / std::sqrt(64.0));
        return Roots{each(matmul(each(softmax(each(where(arange(s) <= length, scores, -1e9)))), t[2]))};
      };
    });
    cases.add(fmt::format("attention/with its weights as a result, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      return [=](const Each& each) {
        const Tensor weights = each(softmax(each(matmul(t[0], t[1].transpose()) / std::sqrt(64.0))));
        return Roots{each(matmul(weights, t[2])), weights};
      };
    });
    cases.add(fmt::format("attention/linear, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      return [=](const Each& each) {
        const Tensor q = each(each(relu(t[0])) + 1e-3), k = each(each(relu(t[1])) + 1e-3);
        const Tensor kv = each(matmul(k.transpose(), t[2]));
        const Tensor size = each(matmul(q, each(sum(k, 1)).unsqueeze(2)));
        return Roots{each(each(matmul(q, kv)) / size)};
      };
    });
    cases.add(fmt::format("attention/of projections, {}", s), [=](Inputs& in) {
      const Tensor x = in({s, 256}), w = in({256, 64}, 0.1F), u = in({256, 64}, 0.1F), o = in({256, 64}, 0.1F);
      return [=](const Each& each) {
        return Roots{attend(each, each(matmul(x, w)), each(matmul(x, u)), each(matmul(x, o)))};
      };
    });
    cases.add(fmt::format("attention/with rotary positions, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      const Tensor angle = in({s, d / 2});
      return [=](const Each& each) {
        const Tensor c = each(cos(angle)), n = each(sin(angle));
        const auto rotated = [&](const Tensor& x) {
          const Tensor a = x.shrink({{0, h}, {0, s}, {0, d / 2}}), b = x.shrink({{0, h}, {0, s}, {d / 2, d}});
          return each(concat({each(each(a * c) - each(b * n)), each(each(a * n) + each(b * c))}, -1));
        };
        return Roots{attend(each, rotated(t[0]), rotated(t[1]), t[2])};
      };
    });
    cases.add(fmt::format("attention/one query and a cache, {}", s), [=](Inputs& in) {
      const Tensor q = in({h, 1, d}), k = in({h, s, d}), v = in({h, s, d});
      return [=](const Each& each) { return Roots{attend(each, q, k, v)}; };
    });
    cases.add(fmt::format("attention/grouped queries, {}", s), [=](Inputs& in) {
      const Tensor q = in({2, 2, s, d}), k = in({2, 1, s, d}), v = in({2, 1, s, d});
      return [=](const Each& each) { return Roots{attend(each, q, k, v)}; };
    });
    cases.add(fmt::format("attention/sum of two heads' results, {}", s), [=](Inputs& in) {
      const auto t = qkv(in), u = qkv(in);
      return [=](const Each& each) {
        return Roots{each(attend(each, t[0], t[1], t[2]) + attend(each, u[0], u[1], u[2]))};
      };
    });
    cases.add(fmt::format("attention/cosine scores, {}", s), [=](Inputs& in) {
      const auto t = qkv(in);
      return [=](const Each& each) {
        const auto unit = [&](const Tensor& x) {
          return each(x * each(rsqrt(each(sum(each(x * x), -1, true) + 1e-6))));
        };
        return Roots{each(matmul(each(softmax(each(each(matmul(unit(t[0]), unit(t[1]).transpose())) * 10))), t[2]))};
      };
    });
  }
}

struct Block {
  std::int64_t batch, length, width, heads;
};

// A transformer block: normalise, attend, project, add; normalise, two layers, add.
Build block(Inputs& in, const Block& b, bool before, bool gated, bool causal) {
  const std::int64_t d = b.width, f = 2 * d;
  const Tensor x = in({b.batch, b.length, d});
  const Tensor wq = in({d, d}, 0.1F), wk = in({d, d}, 0.1F), wv = in({d, d}, 0.1F), wo = in({d, d}, 0.1F);
  const Tensor w1 = in({d, f}, 0.1F), w3 = in({d, f}, 0.1F), w2 = in({f, d}, 0.1F), b1 = in({f}), b2 = in({d});
  const Tensor scale = in({d}), shift = in({d});
  return [=](const Each& each) {
    const auto normed = [&](const Tensor& t) { return each(each(each(layer_norm(t)) * scale) + shift); };
    const auto fed = [&](const Tensor& t) {
      if (gated) return each(matmul(each(each(silu(each(matmul(t, w1)))) * each(matmul(t, w3))), w2));
      return linear(each, each(gelu(linear(each, t, w1, b1))), w2, b2);
    };
    const auto attended = [&](const Tensor& t) {
      const Tensor q = split_heads(each(matmul(t, wq)), b.heads), k = split_heads(each(matmul(t, wk)), b.heads),
                   v = split_heads(each(matmul(t, wv)), b.heads);
      Tensor mask;
      if (causal) mask = each(where(arange(b.length) <= arange(b.length).unsqueeze(1), 0.0, -1e9));
      return each(matmul(join_heads(attend(each, q, k, v, mask)), wo));
    };
    if (before) {
      const Tensor y = each(x + attended(normed(x)));
      return Roots{each(y + fed(normed(y)))};
    }
    const Tensor y = normed(each(x + attended(x)));
    return Roots{normed(each(y + fed(y)))};
  };
}

void add_blocks(Cases& cases) {
  for (const Block& b : {Block{1, 64, 128, 4}, {4, 128, 256, 4}, {1, 256, 256, 8}, {8, 32, 256, 4}}) {
    const std::string size = fmt::format("batch {} S {} D {}", b.batch, b.length, b.width);
    cases.add(
        "attention/encoder block, " + size, [=](Inputs& in) { return block(in, b, true, false, false); }, 1e-3);
    cases.add(
        "attention/encoder block, norms behind, " + size, [=](Inputs& in) { return block(in, b, false, false, false); },
        1e-3);
    cases.add(
        "attention/decoder block, gated, " + size, [=](Inputs& in) { return block(in, b, true, true, true); }, 1e-3);
    cases.add("attention/feed-forward alone, " + size, [=](Inputs& in) {
      const Tensor x = in({b.batch, b.length, b.width}), w = in({b.width, 4 * b.width}, 0.1F), c = in({4 * b.width}),
                   u = in({4 * b.width, b.width}, 0.1F);
      return [=](const Each& each) {
        return Roots{each(x + each(matmul(each(gelu(linear(each, each(layer_norm(x)), w, c))), u)))};
      };
    });
    cases.add("attention/embedding and first projection, " + size, [=](Inputs& in) {
      const Tensor table = in({1000, b.width}), place = in({b.length, b.width}), w = in({b.width, b.width}, 0.1F);
      const Tensor token = in.positions({b.batch, b.length}, 1000);
      return [=](const Each& each) {
        return Roots{each(matmul(each(layer_norm(each(each(take(table, token)) + place))), w))};
      };
    });
    cases.add("attention/scores of a vocabulary, " + size, [=](Inputs& in) {
      const Tensor x = in({b.batch, b.length, b.width}), table = in({1000, b.width}, 0.1F);
      return [=](const Each& each) {
        return Roots{each(log_softmax(each(matmul(each(layer_norm(x)), table.transpose()))))};
      };
    });
  }
}

}  // namespace

void add_attention(Cases& cases) {
  add_plain(cases);
  add_blocks(cases);
}

}  // namespace oriel::bench
