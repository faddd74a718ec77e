#include "dynamic_program.hpp"

#include <algorithm>
#include <array>

#include "oriel/error.hpp"
#include "oriel/oriel.hpp"

namespace oriel::testing {

const Program* current = nullptr;
std::size_t comprehensions = 0;
std::size_t refused = 0;

namespace {

std::size_t axis_of(const Tensor& x, std::uint32_t dice) { return dice % x.rank(); }

Tensor elementwise(const Tensor& x, std::uint32_t which) {
  switch (which % 5) {
    case 0:
      return x * 2 + 1;
    case 1:
      return maximum(x, 0.5);
    case 2:
      return where(x > 1, x, 0 - x);
    case 3:
      return x / 3;
    default:
      return abs(x) - 0.25;
  }
}

/// Branches on shapes, as users' programs do.
Tensor combined(const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) return a + b;
  if (a.rank() == b.rank()) return a * sum(b);
  return a.rank() > b.rank() ? a - mean(b) : b - mean(a);
}

Tensor reduced(const Tensor& x, std::uint32_t which, std::uint32_t dice) {
  if (x.rank() == 0) return x + 1;
  const auto axis = static_cast<std::int64_t>(axis_of(x, dice));
  switch (which % 8) {
    case 0:
      return sum(x, axis);
    case 1:
      return mean(x, axis, true);
    case 2:
      return x - sum(x, axis, true) / 8;
    case 3:
      return softmax(x, axis);
    case 4:
      return layer_norm(x, axis);
    case 5:
      return var(x, axis, true, 0) + x;
    case 6:
      return sum(x) + x;
    default:
      return sort(x, axis);
  }
}

Tensor moved(const Tensor& x, std::uint32_t which, std::uint32_t dice, std::uint32_t more) {
  if (x.rank() == 0) return x.unsqueeze(0);
  const std::size_t axis = axis_of(x, dice);
  const SymInt n = x.shape()[axis];
  std::vector<Slice> slices(axis + 1);
  Ranges around(x.rank(), Range{0, 0});
  switch (which % 16) {
    case 12:
      if (x.rank() > 1 && more % 2 == 0) {  // along two axes, by rolls or as a stencil with mirrored or empty edges
        const std::int64_t up = static_cast<std::int64_t>(more % 3) - 1, left = static_cast<std::int64_t>(more % 4) - 2;
        if (more % 6 == 0) return x + roll(x, {up, left}, {0, 1}) / 2;
        around[0] = {1, 1};
        around[1] = {2, 1};
        const Tensor wide = dice % 3 == 0 ? pad(x, around, PadMode::reflect) : pad(x, around);
        return x - wide.slice({{1 + up, x.size(0) + 1 + up}, {2 + left, x.size(1) + 2 + left}}) / 4;
      }
      return roll(x, static_cast<std::int64_t>(more % 5) - 2, static_cast<std::int64_t>(axis));
    case 13:  // windows of a padded axis
      around[axis] = {1, more % 2 + 1};
      return sum(unfold(pad(x, around), static_cast<std::int64_t>(axis), 3, 1) * Tensor::of<float>({0.25, 0.5, 0.25}),
                 -1);
    case 15: {
      Ints steps(x.rank(), 1);
      steps[axis] = 1 + more % 3;
      return every(x, steps);
    }
    case 14:
      return cumsum(x, static_cast<std::int64_t>(axis)) / 4;
    case 0:
      return x.reshape({-1});
    case 1:
      return x.rank() > 1 ? x.transpose() : x.unsqueeze(1);
    case 2:
      return x.flip(static_cast<std::int64_t>(axis));
    case 3:
      slices[axis] = {1};
      return slice(x, slices);
    case 4:
      slices[axis] = {n / 2};
      return slice(x, slices);
    case 5:
      slices[axis] = {.step = 1 + more % 3};
      return slice(x, slices);
    case 6:
      around[axis] = {more % 3, 1};
      return x.rank() < 4 ? pad(x, around, 1.5) : x;
    case 7: {
      if (x.rank() > 3 || n % 2 != 0) return x;
      Shape split = x.shape();
      split[axis] = n / 2;
      split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis), SymInt(2));
      return x.reshape(split);
    }
    case 8: {
      if (x.rank() > 2) return x;
      Shape grown(x.rank() + 1, -1);
      grown[axis] = 3;
      return x.unsqueeze(static_cast<std::int64_t>(axis)).expand(grown) * 2;
    }
    case 9: {
      if (x.rank() > 2) return x;
      Shape grown = x.shape();
      grown.insert(grown.begin(), SymInt(1 + more % 3));
      return x.unsqueeze(0).expand(grown);
    }
    case 10: {
      if (x.rank() < 2) return x;
      Shape merged = x.shape();
      merged[1] = merged[0] * merged[1];
      merged.erase(merged.begin());
      return x.reshape(merged);
    }
    default:
      return n > 3 ? x.select(static_cast<std::int64_t>(axis), more % 3) : x + 1;
  }
}

Tensor joined(const Tensor& a, const Tensor& b, std::uint32_t which) {
  switch (which % 7) {
    case 0:
      return a.rank() == 0 ? a : concat({a, a + 1}, 0);
    case 4:
      return a.rank() == 2 ? matmul(softmax(matmul(a, a.transpose()) / 16, 1), a) : a;
    case 5:
      return a.rank() == 2 ? layer_norm(matmul(a, a.transpose()) / 16, 1) : a;
    case 6: {  // heads of one column, put side by side again
      if (a.rank() != 2) return a;
      const Tensor heads = a.reshape({a.size(0), 1, a.size(1)}).expand({-1, 2, -1}).permute({1, 0, 2}) / 4;
      const Tensor mixed = matmul(softmax(matmul(heads, heads.transpose()), 2), heads);
      return mixed.permute({1, 0, 2}).reshape({a.size(0), a.size(1) * 2});
    }
    case 1:
      return a.rank() == 2 ? matmul(a, a.transpose()) / 16 : a;
    case 2:
      return a.rank() == 2 ? tril(a) + triu(a, 1) * 2 : a;
    default:
      return a.rank() == 2 && b.rank() == 2 && a.size(1) == b.size(0) ? matmul(a, b) / 16 : a;
  }
}

/// A number made in two stages of what is chosen from x. Whatever the count is, it has elements where it needs some.
Tensor of_second_stage(const Tensor& x, std::uint32_t which, std::uint32_t dice) {
  const Tensor m = masked_select(x, x > 0.25);
  const auto shift = static_cast<std::int64_t>(dice % 5) - 2;
  switch (which % 14) {
    case 0:
      return sum(concat({m, m / 2, ones({2})}, 0));
    case 1:
      return sum(masked_select(m, m > 0.5) * 2);
    case 2:
      return sum(unique(m));
    case 3:
      return sum(roll(m, shift, 0) * m);
    case 4:
      return sum(sort(m, 0, dice % 2 == 0) * arange(m.size(0)));
    case 5:
      return sum(take(m, argsort(m, 0), 0) / 2);
    case 6:
      return sum(cumsum(m, 0)) / 16;
    case 7:
      return sum(m * linspace(0.25, 1, m.size(0)));
    case 8:
      return sum(m.slice({{0, 2}})) + sum(m.slice({{-2, {}}})) - sum(m.slice({{1, -1}}));
    case 9:
      return sum(m.slice({{.step = 2}})) - sum(m.slice({{.step = -3}}));
    case 10:
      return sum(diagonal(m.unsqueeze(1) * m, shift));
    case 11:
      return sum(unfold(concat({m, zeros({3})}, 0), 0, 2, 1 + dice % 2) * 2);
    case 12:
      return concat({m, ones({1})}, 0).select(0, dice % 2 == 0 ? 0 : -1) +
             argmax(concat({m, zeros({1})}, 0), 0).to(DType::float32);
    default:
      return sum(stack({m, m + 1}, 1)) - sum(gather(m, arange(m.size(0)), 0));
  }
}

/// Elements at positions that are given, computed, or found in the data. The shapes of the results do not depend on the
/// data, for programs branch on shapes.
Tensor chosen(const Tensor& a, const Tensor& b, std::uint32_t which, std::uint32_t dice) {
  if (a.rank() == 0) return a + sum(masked_select(b, b > 0.25)) / 8;
  const auto axis = static_cast<std::int64_t>(axis_of(a, dice));
  const SymInt n = a.size(axis);
  // Where positions are checked, some are outside at some sizes, and all are computed, so that no call finds one: a
  // captured function computes what its results need alone.
  const Tensor given = current->checked ? arange(3) * (dice % 7) - 1 : Tensor::of<std::int64_t>({0, 2, -1});
  switch (which % 12) {
    case 0:
      return take(a, given, axis);
    case 1:
      if (dice % 3 == 0) {
        Shape along{n};
        along.resize(a.rank() - static_cast<std::size_t>(axis), 1);
        return a * linspace(0.25, 2, n).reshape(along);
      }
      return take(a, arange(n) * 3 % 5, axis) * n;
    case 2:
      return take(a, sum(b).to(DType::int64), axis);
    case 3:
      return a.rank() > 1 ? diagonal(a, static_cast<std::int64_t>(dice % 5) - 2) : a;
    case 4:
      return a + sum(masked_select(a, a > 0.25)) / 8;
    case 5: {
      if (a.rank() > 2) return a;
      const Tensor rows = a.rank() == 1 ? a : sum(a, 1 - axis);
      return sum(take(a, nonzero(rows > 0).reshape({-1}), axis), axis);
    }
    case 6:
      return a - sum(unique(b)) / 16;
    case 7:
      if (dice % 2 == 0) return index_reduce(a, arange(n) % 3, a * 2, Combine::amax, axis, IncludeSelf::no);
      return put_add(a, concat({given, given.slice({{0, 1}})}, 0), 0.5, axis);
    case 10:
      return masked_fill(put(a, arange(n) * 3 % 5, a / 2, axis), a > 0.75, 0.25);
    case 8:
    case 9:
      return a + of_second_stage(b, dice, which) / 16;
    default:
      return gather(a, argsort(a, axis), axis);
  }
}

/// The texts of one tensor, by its rank (1 or 2), and of two. Some hold for all sizes, some only for some.
constexpr std::array kOfVector = {
    "def f(float(N) X) -> (Y) { Y(i) = X(2*i) + X(2*i + 1) }",
    "def f(float(N) X) -> (Y) { Y(i) +=! X(i + k) where k in 0:2 }",
    "def f(float(N) X) -> (Y) { Y(i) = X(N - 1 - i) * N + i }",
    "def f(float(N) X) -> (Y) { T(i) = X(i - 1)  Y(i) = T(i + 1) + i }",
    "def f(float(N) X) -> (Y) { Y(i) = X(10 - i) + i }",
    "def f(float(N) X) -> (Y) { Y(i) = X(i / 2) where i in 0:2*N }",
    "def f(float(N) X) -> (Y) { Y(i) = i < N ? X(i) : X(i - N) where i in 0:2*N }",
    "def f(float(N) X) -> (Y) { Y(i) +=! (i + k - 1 >= 0 && i + k - 1 < N ? X(i + k - 1) : 0.5) where i in 0:N, k in "
    "0:3 }",
};
constexpr std::array kOfMatrix = {
    "def f(float(M, N) X) -> (Y) { Y(i) +=! X(i, k) }",
    "def f(float(M, N) X) -> (Y) { Y(j, i) = X(i, j) }",
    "def f(float(M, N) X) -> (Y) { T(i) max=! X(i, k)  Y(i, j) = X(i, j) - T(i) }",
    "def f(float(M, N) X) -> (Y) { Y(i) = X(i, i) }",
    "def f(float(M, N) X) -> (Y) { Y(i, j) +=! X(i + p, 2*j + q) where p in 0:2, q in 0:2 }",
    "def f(float(M, N) X) -> (Y) { Y(i, j) = X(M - 1 - i, j) where exists X(j, i) }",
};
constexpr std::array kOfTwo = {
    "def f(float(I) A, float(J) B) -> (Y) { Y(i, j) = A(i) * B(j) }",
    "def f(float(I) A, float(J) B) -> (Y) { Y(i) = A(i) + B(i) }",
    "def f(float(I) A, float(K) B) -> (Y) { Y(i) +=! A(i + k) * B(k) }",
    "def f(float(I) A, float(I) B) -> (Y) { Y(i) = A(i) * B(I - 1 - i) }",
    "def f(float(I) A, float(J) B) -> (Y) { Y(i) = A(i) + B(i + 1) where i in 0:I }",
};

Tensor comprehended(const Tensor& a, const Tensor& b, std::uint32_t which) {
  ++comprehensions;
  try {
    if (a.rank() == 1 && b.rank() == 1 && which % 2 == 0) return comprehension(kOfTwo[which / 2 % kOfTwo.size()])(a, b);
    if (a.rank() == 1) return comprehension(kOfVector[which / 2 % kOfVector.size()])(a);
    if (a.rank() == 2) return comprehension(kOfMatrix[which / 2 % kOfMatrix.size()])(a);
  } catch (const ComprehensionError&) {  // sizes that the text does not accept
    ++refused;
    return a + 2;
  }
  --comprehensions;
  return a;
}

}  // namespace

std::pair<Tensor, Tensor> run(const std::vector<Tensor>& leaves) {
  std::vector<Tensor> values = leaves;
  for (const Step& step : current->steps) {
    const Tensor a = values[values.size() - 1 - step.dice[0] % std::min<std::size_t>(values.size(), 3)];
    const Tensor b = values[step.dice[1] % values.size()];
    // Half of the steps of a program with long sizes are products, and more of a checked one read at positions.
    const bool reads = current->checked && step.kind % 16 >= 13;
    switch (current->long_sizes && step.kind % 2 == 1 ? 6 : reads ? 7 : step.kind % 8) {
      case 0:
        values.push_back(elementwise(a, step.dice[2]));
        break;
      case 1:
        values.push_back(combined(a, b));
        break;
      case 2:
        values.push_back(reduced(a, step.dice[2], step.dice[3]));
        break;
      case 3:
      case 4:
        values.push_back(moved(a, step.dice[2], step.dice[3], step.dice[1]));
        break;
      case 5:
        values.push_back(comprehended(a, b, step.dice[2]));
        break;
      case 6:
        values.push_back(joined(a, b, step.dice[2]));
        break;
      default:
        values.push_back(chosen(a, b, step.dice[2], step.dice[3]));
    }
  }
  return {values.back(), values[values.size() / 2]};
}

Tensor leaf(const Shape& shape, std::uint32_t seed) {
  return Tensor::generate(shape, [seed](auto) mutable {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<float>(seed >> 28) / 4 - 1;
  });
}

}  // namespace oriel::testing
