// Four programs on sharded tensors beside the same on whole ones: a photograph's filters, training, a transformer block
// with its heads and columns on the ranks, PageRank with its edges on them. ranks_check.py runs it on 1 to 4 ranks.
#include <oriel/create.hpp>
#include <oriel/error.hpp>
#include <oriel/movement.hpp>
#include <oriel/ops.hpp>
#include <oriel/products.hpp>
#include <oriel/reduce.hpp>
#include <oriel/scatter.hpp>
#include <oriel/shard.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using namespace oriel;

int failures = 0;

/// Compares elements, which may differ by the order of sums alone.
void expect_close(const Tensor& got, const Tensor& wanted, double tolerance, const char* what) {
  const auto a = got.to_vector<double>();
  const auto b = wanted.to_vector<double>();
  bool close = got.shape() == wanted.shape();
  for (std::size_t k = 0; close && k < a.size(); ++k) close = std::abs(a[k] - b[k]) <= tolerance * (1 + std::abs(b[k]));
  if (close) return;
  std::fprintf(stderr, "rank %d of %d: %s differs\n", static_cast<int>(rank()), static_cast<int>(rank_count()), what);
  ++failures;
}

Tensor waves(const Shape& shape, double step) {
  return sin(arange(numel(shape)).to(DType::float64) * step).reshape(shape);
}

/// A blur of five taps along each axis, then the length of the gradient. `X` is a tensor or a sharded one.
template <class X, class Apply>
X edges(const X& image, std::int64_t rows, std::int64_t columns, const Apply& apply) {
  // The image moved by so many rows and columns, with zeros beyond its edge.
  const auto moved = [&](const X& x, std::int64_t down, std::int64_t right) {
    return x.pad(Ranges{{2, 2}, {2, 2}}).shrink(Ranges{{2 + down, rows + 2 + down}, {2 + right, columns + 2 + right}});
  };
  const auto taps = [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d, const Tensor& e) {
    return (a + 4 * b + 6 * c + 4 * d + e) / 16;
  };
  const auto length = [](const Tensor& up, const Tensor& down, const Tensor& left, const Tensor& right) {
    return sqrt((down - up) * (down - up) + (right - left) * (right - left));
  };
  const auto blurred = [&](const X& x, std::int64_t down, std::int64_t right) {
    return apply(taps, x, moved(x, -down, -right), moved(x, down, right), moved(x, -2 * down, -2 * right),
                 moved(x, 2 * down, 2 * right));
  };
  const X smooth = blurred(blurred(image, 1, 0), 0, 1);
  return apply(length, moved(smooth, -1, 0), moved(smooth, 1, 0), moved(smooth, 0, -1), moved(smooth, 0, 1));
}

void check_photograph() {
  const Tensor image = waves({23, 17}, .7);
  const Mesh mesh({{"rows", rank_count()}});
  const auto whole = [](const auto& f, const auto&... x) { return f(x...); };
  const auto parts = [](const auto& f, const auto&... x) { return elementwise(f, x...); };
  const Tensor wanted = edges(image, 23, 17, whole);
  expect_close(edges(shard(image, mesh, {"rows", ""}), 23, 17, parts).gather(), wanted, 0, "a photograph's edges");
  expect_close(edges(shard(image, mesh, {"", "rows"}), 23, 17, parts).gather(), wanted, 0, "edges in columns");
}

/// Ten steps of least squares, where ranks hold samples and all have the weights.
void check_training() {
  const Mesh mesh({{"batch", rank_count()}});
  const Tensor x = waves({50, 6}, 1);
  const Tensor y = waves({50, 2}, .3);
  Tensor weights = zeros({6, 2}, DType::float64);
  Sharded shared = shard(weights, mesh, {"", ""});
  const Sharded samples = shard(x, mesh, {"batch", ""});
  const Sharded wanted = shard(y, mesh, {"batch", ""});
  for (int step = 0; step < 10; ++step) {
    weights = weights - 0.01 * matmul(transpose(x), matmul(x, weights) - y);
    const Sharded error = matmul(samples, shared, mesh, {"batch", ""}) - wanted;
    shared = shared - 0.01 * matmul(samples.permute({1, 0}), error, mesh, {"", ""}, "batch");
  }
  expect_close(shared.gather(), weights, 1e-13, "weights after ten steps");
}

/// Attention of some heads: columns of q, k and v are those of the heads.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t width) {
  const std::int64_t tokens = q.extent(0);
  const std::int64_t heads = q.extent(1) / width;
  const auto by_head = [&](const Tensor& x) { return permute(x.reshape({tokens, heads, width}), {1, 0, 2}); };
  const Tensor scores = matmul(by_head(q), transpose(by_head(k))) / std::sqrt(static_cast<double>(width));
  return permute(matmul(softmax(scores, Axes(-1)), by_head(v)), {1, 0, 2}).reshape({tokens, heads * width});
}

void check_transformer() {
  constexpr std::int64_t kTokens = 5;
  constexpr std::int64_t kWidth = 24;  // twelve heads of two: 1 to 4 ranks have equally many
  const Mesh mesh({{"heads", rank_count()}});
  const Tensor x = waves({kTokens, kWidth}, .9);
  std::vector<Tensor> weights;
  for (const double step : {.11, .23, .31, .43}) weights.push_back(waves({kWidth, kWidth}, step) * .3);
  const Tensor up = waves({kWidth, 4 * kWidth}, .17) * .2;
  const Tensor down = waves({4 * kWidth, kWidth}, .19) * .2;
  const auto relu = [](const Tensor& t) { return maximum(t, 0); };

  const Tensor attended = attention(matmul(x, weights[0]), matmul(x, weights[1]), matmul(x, weights[2]), 2);
  const Tensor middle = x + matmul(attended, weights[3]);
  const Tensor wanted = middle + matmul(relu(matmul(middle, up)), down);

  const Sharded tokens = shard(x, mesh, {"", ""});
  std::vector<Sharded> columns;
  for (std::size_t k = 0; k < 3; ++k) {
    columns.push_back(matmul(tokens, shard(weights[k], mesh, {"", "heads"}), mesh, {"", "heads"}));
  }
  const Tensor own = attention(columns[0].local(), columns[1].local(), columns[2].local(), 2);
  const Sharded all = assemble(own, {kTokens, kWidth}, mesh, {"", "heads"});
  const Sharded between = tokens + matmul(all, shard(weights[3], mesh, {"heads", ""}), mesh, {"", ""}, "heads");
  const Sharded hidden = elementwise(relu, matmul(between, shard(up, mesh, {"", "heads"}), mesh, {"", "heads"}));
  const Sharded result = between + matmul(hidden, shard(down, mesh, {"heads", ""}), mesh, {"", ""}, "heads");
  expect_close(result.gather(), wanted, 1e-12, "a transformer block");
}

void check_pagerank() {
  constexpr std::int64_t kPages = 41;
  constexpr std::int64_t kEdges = 200;
  const Tensor from = (arange(kEdges) * 17 % kPages).to(DType::int64);
  const Tensor to = (arange(kEdges) * arange(kEdges) * 7 % kPages).to(DType::int64);
  const Tensor ones = full({kEdges}, 1., DType::float64);
  const Tensor degree = index_add(zeros({kPages}, DType::float64), from, ones);
  const Tensor share = take(1. / degree, from);
  const auto damped = [](const Tensor& sums) { return 0.15 / static_cast<double>(kPages) + 0.85 * sums; };

  const Mesh mesh({{"edges", rank_count()}});
  // Behind the end of the last part there are edges from page 0 to page 0; their shares are 0.
  const Tensor own_from = shard(from, mesh, {"edges"}).local();
  const Tensor own_to = shard(to, mesh, {"edges"}).local();
  const Tensor own_share = shard(share, mesh, {"edges"}).local();
  const Tensor start = full({kPages}, 1. / kPages, DType::float64);
  Tensor ranked = start;
  Sharded parts = shard(start, mesh, {"edges"});
  for (int step = 0; step < 8; ++step) {
    ranked = damped(index_add(zeros({kPages}, DType::float64), to, take(ranked, from) * share));
    const Tensor added = index_add(zeros({kPages}, DType::float64), own_to, take(parts.gather(), own_from) * own_share);
    const Sharded sums = assemble(added.reshape({1, kPages}), {rank_count(), kPages}, mesh, {"edges", ""}).sum(0);
    parts = elementwise(damped, sums.to(mesh, {"edges"}));
  }
  expect_close(parts.gather(), ranked, 1e-14, "PageRank");
}

}  // namespace

int main() {
  try {
    check_photograph();
    check_training();
    check_transformer();
    check_pagerank();
    const Mesh mesh({{"rows", rank_count()}});
    try {
      (void)assemble(zeros({3}), {100}, mesh, {"rows"});
      ++failures;
    } catch (const ShapeError& error) {
      if (error.message().find("a block of (3) for a tensor of (100), whose blocks are (") == std::string_view::npos)
        ++failures;
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", static_cast<int>(rank()), error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
