#include "function_rows.hpp"

#include "oriel/oriel.hpp"

namespace oriel::testing {

namespace {

#define ORIEL_ROW(name, ...)                                                  \
  {                                                                           \
#name, [](const Tensor& x) -> Tensor { return name(__VA_ARGS__); }, false \
  }
// Takes Complex, too: by the same call, or as tests of complex numbers show.
#define ORIEL_YES(name, ...)                                                 \
  {                                                                          \
#name, [](const Tensor& x) -> Tensor { return name(__VA_ARGS__); }, true \
  }
// clang-format off
#define ORIEL_BOTH(name, ...)                                            \
  {                                                                      \
#name, [](const Tensor& x) -> Tensor { return name(__VA_ARGS__); },  \
        requires(const Complex& x) { name(__VA_ARGS__); }                \
  }
// clang-format on
#define ORIEL_PART(name, part, ...)                                                \
  {                                                                                \
#name, [](const Tensor& x) -> Tensor { return name(__VA_ARGS__) part; }, false \
  }

Tensor whole(const Tensor& x) { return (x * 10).to(DType::int64); }
Tensor square_of(const Tensor& x) { return matmul(x.transpose(), x) + eye(4); }

}  // namespace

std::vector<TableRow> table_rows() {
  // clang-format off
  return {
      // ops.hpp, arithmetic.hpp, activations.hpp
      ORIEL_BOTH(exp, x), ORIEL_BOTH(log, x), ORIEL_BOTH(sin, x), ORIEL_BOTH(abs, x), ORIEL_ROW(pow, x, 3),
      ORIEL_ROW(maximum, x, 0.5), ORIEL_ROW(clamp, x, 0.2, 0.8), ORIEL_ROW(where, x > 0.5F, x, 0), ORIEL_ROW(tril, x),
      ORIEL_ROW(isnan, x), ORIEL_ROW(lerp, x, 1, 0.3), ORIEL_ROW(diff, x, 1, 0), ORIEL_ROW(trapezoid, x, 1, 0),
      ORIEL_ROW(round, x), ORIEL_ROW(gelu, x),
      // reduce.hpp, statistics.hpp
      ORIEL_BOTH(sum, x, 0), ORIEL_BOTH(prod, x, 0), ORIEL_BOTH(mean, x, 0), ORIEL_ROW(max, x, 0), ORIEL_ROW(any, x, 0),
      ORIEL_ROW(var, x, 0), ORIEL_ROW(norm, x, 2, 0), ORIEL_ROW(argmax, x, 0), ORIEL_ROW(logsumexp, x, 0),
      ORIEL_ROW(softmax, x, 0), ORIEL_ROW(layer_norm, x, 0), ORIEL_BOTH(cumsum, x, 0), ORIEL_BOTH(cumprod, x, 0),
      ORIEL_BOTH(sort, x, 0), ORIEL_ROW(argsort, x, 0), ORIEL_BOTH(matmul, x, x.transpose()), ORIEL_ROW(nanmean, x, 0),
      ORIEL_ROW(cov, x), ORIEL_ROW(group_norm, x, 2),
      // movement.hpp, shaping.hpp
      ORIEL_BOTH(reshape, x, Shape{-1}), ORIEL_BOTH(transpose, x), ORIEL_BOTH(flip, x, 0),
      ORIEL_BOTH(broadcast_to, x, {2, -1, 4}), ORIEL_BOTH(pad, x, Ranges{{1, 2}, {0, 0}}), ORIEL_BOTH(roll, x, 1, 0),
      {"roll of two axes", [](const Tensor& x) { return roll(x, {1, 1}, {0, 1}); }, false},
      {"concat", [](const Tensor& x) { return concat({x, x * 2}); }, true},
      {"stack", [](const Tensor& x) { return stack({x, x * 2}); }, true},
      ORIEL_ROW(repeat, x, Ints{2, 1}), ORIEL_ROW(tile, x, {2, 1}), ORIEL_ROW(repeat_interleave, x, 2, 0),
      ORIEL_BOTH(unfold, x, 0, 3, 1), ORIEL_BOTH(diagonal, x), ORIEL_PART(split, [0], x, 3, 0),
      ORIEL_PART(unbind, [0], x, 1), ORIEL_PART(chunk, [0], x, 2, 0), ORIEL_PART(split_at, [1], x, {1, -1}, 0),
      ORIEL_ROW(rot90, x), ORIEL_ROW(diag_embed, x), ORIEL_ROW(one_hot, whole(x), 12),
      ORIEL_BOTH(take, x, Tensor::of<int>({2, 0})),
      ORIEL_ROW(rearrange, x, "a (b c) -> (a b) c", {{"b", 2}}), ORIEL_ROW(reduce, x, "a b -> b", Combine::mean),
      // products.hpp
      {"einsum", [](const Tensor& x) { return einsum("ij,kj->ik", {x, x}); }, true},
      ORIEL_ROW(tensordot, x, x.transpose(), 1), ORIEL_BOTH(outer, x.select(1, 0), x.select(1, 0)),
      ORIEL_BOTH(dot, x.select(1, 0), x.select(1, 0)), ORIEL_ROW(cross, x.slice({{}, {0, 3}}), x.slice({{}, {1, 4}})),
      ORIEL_ROW(kron, x, eye(2)),
      // windows.hpp
      ORIEL_ROW(conv1d, x.transpose().unsqueeze(0), ones({2, 4, 3})),
      ORIEL_ROW(conv_transpose1d, x.transpose().unsqueeze(0), ones({4, 2, 3})),
      ORIEL_ROW(max_pool1d, x.transpose(), 2), ORIEL_ROW(avg_pool1d, x.transpose(), {3}, {.padding = {1}}),
      ORIEL_PART(max_pool_with_indices, .values, x.transpose(), {2}),
      ORIEL_ROW(interpolate, x.transpose(), {7}, Interpolation::linear),
      ORIEL_ROW(pad, x, Ranges{{1, 2}, {0, 0}}, PadMode::reflect), ORIEL_ROW(median_filter, x, {3}),
      ORIEL_ROW(convolve, x.select(1, 0), ones(3)),
      // order.hpp, nonzero.hpp, scan.hpp
      ORIEL_PART(topk, .values, x, 3, 0), ORIEL_PART(median, .values, x, 0), ORIEL_ROW(mode, x, 0),
      ORIEL_ROW(quantile, x, 0.3, 0), ORIEL_PART(max_with_indices, .values, x, 0),
      ORIEL_ROW(searchsorted, x.select(1, 0), x), ORIEL_ROW(isin, x, x.select(1, 0)),
      ORIEL_ROW(interp, x, x.select(1, 0), x.select(1, 1)), ORIEL_ROW(masked_select, x, x > 0.5F),
      ORIEL_ROW(nonzero, x > 0.5F), ORIEL_BOTH(unique, x), {"unique along an axis", [](const Tensor& x) { return unique(x, 0); }, false}, ORIEL_ROW(intersect1d, x, x.select(1, 0)),
      ORIEL_PART(cummax, .values, x, 0), ORIEL_ROW(logcumsumexp, x, 0), ORIEL_ROW(linear_recurrence, 0.5, x, 0),
      {"associative_scan",
       [](const Tensor& x) {
         return associative_scan([](const Tensor& a, const Tensor& b) { return a * b; }, x);
       },
       false},
      // scatter.hpp
      ORIEL_ROW(put, x, Tensor::of<int>({1, 0}), 7), ORIEL_ROW(put_add, x, Tensor::of<int>({1, 1}), 7),
      ORIEL_ROW(scatter_add, x, whole(x) % 3, x, 0), ORIEL_ROW(segment_sum, x, whole(x.select(1, 0)), 12),
      ORIEL_ROW(bincount, whole(x).reshape(-1)),
      {"histogram of a range",
       [](const Tensor& x) { return histogram(x, 5, {.range = std::pair(0.0, 1.0)}).counts; }, false},
      {"histogram", [](const Tensor& x) { return histogram(x, 5).counts; }, false},
      // random.hpp, linalg.hpp, fft.hpp
      ORIEL_ROW(uniform, Key(1), x.shape()), ORIEL_ROW(normal, Key(1), x.shape()),
      ORIEL_ROW(dropout, Key(1), x), ORIEL_ROW(shuffle, Key(1), x), ORIEL_ROW(multinomial, Key(1), x.transpose(), 3, true),
      ORIEL_ROW(categorical, Key(1), x, 0), ORIEL_YES(solve, square_of(x), x.transpose()),
      ORIEL_YES(inverse, square_of(x)), ORIEL_ROW(det, square_of(x)), ORIEL_ROW(cholesky, square_of(x)),
      ORIEL_BOTH(svdvals, x), ORIEL_YES(eigvalsh, square_of(x)), ORIEL_PART(fft, .real(), x, {}, 0),
      ORIEL_ROW(dct, x, 2, {}, 0),
  };
  // clang-format on
}

}  // namespace oriel::testing
