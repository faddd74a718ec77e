// Random programs over symbolic sizes, as captured functions: whatever sizes come, and whether an entry serves the call
// or it is traced, it gives the bits, shapes and strides of the same program captured at these very sizes, and the
// values of the plain engine. (Its bits may differ: there a result that is a view is realised by itself, which may cut
// sums in other places; see random_captures.) RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/explain.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "saved_programs.hpp"
#include "support/property_main.hpp"
#include "support/sized.hpp"

namespace oriel::testing {
namespace {

constexpr int kRounds = 25;
constexpr int kLongRounds = 8;  // of programs with long sizes
constexpr std::size_t kSizes = 3;

struct Step {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 4> dice{};
};
struct Program {
  std::vector<Step> steps;
  std::array<std::array<std::uint32_t, 2>, 3> leaves{};  // which of the sizes each axis of a leaf has
  std::array<std::uint32_t, 3> views{};                  // how each leaf is passed
  bool automatic = false;
  bool long_sizes = false;  // so long that kernels are joined row by row
};

void showValue(const Program& program, std::ostream& out) {
  out << (program.automatic ? "automatic" : "dynamic") << (program.long_sizes ? ", long" : "") << "; leaves";
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << " (" << program.leaves[k][0] << ", " << program.leaves[k][1] << ") as " << program.views[k] % 9;
  for (const Step& step : program.steps) {
    out << "; " << step.kind;
    for (const std::uint32_t d : step.dice) out << ' ' << d;
  }
}

/// The program that the captured callable runs, which may not hold it.
const Program* current = nullptr;

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
  switch (which % 12) {
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

/// Elements at positions that are given, computed, or found in the data. The shapes of the results do not depend on the
/// data, for programs branch on shapes.
Tensor chosen(const Tensor& a, const Tensor& b, std::uint32_t which, std::uint32_t dice) {
  if (a.rank() == 0) return a + sum(masked_select(b, b > 0.25)) / 8;
  const auto axis = static_cast<std::int64_t>(axis_of(a, dice));
  const SymInt n = a.size(axis);
  switch (which % 8) {
    case 0:
      return take(a, Tensor::of<std::int64_t>({0, 2, -1}), axis);
    case 1:
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

/// How many comprehensions ran, and how many did not accept their sizes.
std::size_t comprehensions = 0;
std::size_t refused = 0;

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

std::pair<Tensor, Tensor> run(const std::vector<Tensor>& leaves) {
  std::vector<Tensor> values = leaves;
  for (const Step& step : current->steps) {
    const Tensor a = values[values.size() - 1 - step.dice[0] % std::min<std::size_t>(values.size(), 3)];
    const Tensor b = values[step.dice[1] % values.size()];
    // Half of the steps of a program with long sizes are products.
    switch (current->long_sizes && step.kind % 2 == 1 ? 6 : step.kind % 8) {
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

/// Small quarters, of which there are few: comparisons meet equal elements.
Tensor leaf(const Shape& shape, std::uint32_t seed) {
  return Tensor::generate(shape, [seed](auto) mutable {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<float>(seed >> 28) / 4 - 1;
  });
}

/// The same as a view of another storage, or itself.
Tensor passed(const Shape& shape, std::uint32_t seed, std::uint32_t view) {
  const SymInt n = shape[0], m = shape[1];
  const std::int64_t start = seed % 4;
  switch (view % 9) {
    case 0:
      return leaf({m, n}, seed).transpose();
    case 1:
      return leaf({n + 5, m}, seed).slice({{start, start + n}});
    case 2:
      return leaf({n * m}, seed).reshape({n, m});
    case 3:
      return leaf({1, m}, seed).expand({n, m});
    case 4:
      return leaf({m + 3, n, 2}, seed).select(2, 1).transpose().slice({{}, {start, start + m}}).flip(0);
    case 5:
      return leaf({n, m * 2}, seed).slice({{}, {.step = 2}});
    default:
      return leaf(shape, seed);
  }
}

struct Outcome {
  std::string error;
  Shape shape;
  Ints strides;
  std::vector<float> elements;
};

std::string text(const Outcome& x) {
  std::string out = x.error.empty() ? to_string(x.shape) + " with strides " + to_string(x.strides) + ":" : x.error;
  for (std::size_t k = 0; k < std::min<std::size_t>(x.elements.size(), 12); ++k)
    out += ' ' + std::to_string(x.elements[k]);
  return out;
}

template <class F>
Outcome outcome(const F& f, const std::vector<Tensor>& leaves, bool first) {
  try {
    const auto [last, middle] = f(leaves);
    const Tensor& x = first ? last : middle;
    realize({last, middle});
    return {{}, x.shape(), x.strides(), x.to_vector<float>()};
  } catch (const Error& error) {
    return {error.what(), {}, {}, {}};
  }
}

template <class Equal>
bool same(const Outcome& a, const Outcome& b, const Equal& equal) {
  return a.error.empty() == b.error.empty() && a.shape == b.shape && a.strides == b.strides &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), equal);
}
bool same_bits(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }
bool near(float x, float y) {
  return same_bits(x, y) || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= 1e-4F * std::max(1.0F, std::abs(y));
}

bool joins_rows(const std::vector<Tensor>& leaves) {
  try {
    const auto [last, middle] = run(leaves);
    return explain({last, middle}).str().find("stay in cache from part to part") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

void agrees(const Program& program, SavedPrograms& saved) {
  current = &program;
  std::vector<std::vector<Tensor>> calls;
  comprehensions = refused = 0;
  FunctionOptions options;
  options.dynamic = program.automatic ? Dynamic::automatic : Dynamic::yes;
  options.limit = kRounds;
  options.traces = std::numeric_limits<int>::max();
  const auto callable = [](const std::vector<Tensor>& leaves) { return run(leaves); };
  const auto f = oriel::function(callable, options);
  FunctionOptions fixed_sizes = options;
  fixed_sizes.dynamic = Dynamic::no;
  bool joined_rows = false;
  const int rounds = program.long_sizes ? kLongRounds : kRounds;
  for (int round = 0; round < rounds; ++round) {
    std::array<std::int64_t, kSizes> sizes{};
    for (std::int64_t& size : sizes)
      size = program.long_sizes ? *test::any_of<std::int64_t>(12, 90)
                                : *rc::gen::weightedOneOf<std::int64_t>(
                                      {{9, test::any_of<std::int64_t>(2, 14)}, {1, test::any_of<std::int64_t>(0, 2)}});
    std::vector<Tensor> leaves;
    for (std::size_t k = 0; k < program.leaves.size(); ++k) {
      const auto& axes = program.leaves[k];
      leaves.push_back(passed({sizes[axes[0]], sizes[axes[1]]}, static_cast<std::uint32_t>(round), program.views[k]));
    }
    if (program.long_sizes && !joined_rows) joined_rows = joins_rows(leaves);
    const auto fixed = oriel::function(callable, fixed_sizes);
    bool served = true;
    for (const bool first : {true, false}) {
      const Outcome got = outcome(f, leaves, first);
      const Outcome want = outcome(fixed, leaves, first);
      served = served && got.error.empty();
      if (same(got, want, same_bits) && same(got, outcome(run, leaves, first), near)) continue;
      RC_FAIL(std::string(first ? "the last" : "the middle") + " value differs for sizes " + std::to_string(sizes[0]) +
              ", " + std::to_string(sizes[1]) + ", " + std::to_string(sizes[2]) + ": " + text(got) +
              "\nat fixed sizes " + text(want) + "\nplain " + text(outcome(run, leaves, first)) + "\n" + f.explain());
    }
    if (served) calls.push_back(leaves);
  }
  RC_ASSERT(f.counts().plain == 0U);
  const bool views = std::ranges::any_of(program.views, [](std::uint32_t view) { return view % 9 < 6; });
  if (!calls.empty())
    if (const std::string differs = saved.check(f, calls, !views); !differs.empty()) RC_FAIL(differs);
  RC_CLASSIFY(comprehensions > 0, "with a comprehension");
  RC_CLASSIFY(2 * refused > comprehensions, "most of them refuse the sizes");
  RC_CLASSIFY(joined_rows, "with kernels that are joined row by row");
  RC_TAG(f.counts().traces < static_cast<std::uint64_t>(rounds) / 3 ? "few traces" : "many traces");
  std::size_t met = 0, scheduled = 0;
  for (const FunctionEntry& entry : f.entries()) {
    met += entry.sizes;
    scheduled += entry.scheduled;
  }
  RC_CLASSIFY(scheduled < met, "some sizes without being scheduled");
  RC_CLASSIFY(2 * scheduled < met, "most sizes without being scheduled");
}

}  // namespace
}  // namespace oriel::testing

namespace rc {

template <>
struct Arbitrary<oriel::testing::Step> {
  static Gen<oriel::testing::Step> arbitrary() {
    const auto dice = oriel::test::any_of<std::uint32_t>(0, 1000);
    return gen::build<oriel::testing::Step>(
        gen::set(&oriel::testing::Step::kind, dice),
        gen::set(&oriel::testing::Step::dice, gen::container<std::array<std::uint32_t, 4>>(dice)));
  }
};

template <>
struct Arbitrary<oriel::testing::Program> {
  static Gen<oriel::testing::Program> arbitrary() {
    using oriel::testing::Program;
    const auto axis = oriel::test::any_of<std::uint32_t>(0, oriel::testing::kSizes);
    return gen::build<Program>(
        gen::set(&Program::steps, gen::resize(12, gen::arbitrary<std::vector<oriel::testing::Step>>())),
        gen::set(&Program::leaves, gen::container<std::array<std::array<std::uint32_t, 2>, 3>>(
                                       gen::container<std::array<std::uint32_t, 2>>(axis))),
        gen::set(&Program::views,
                 gen::container<std::array<std::uint32_t, 3>>(oriel::test::any_of<std::uint32_t>(0, 9))),
        gen::set(&Program::automatic, gen::arbitrary<bool>()),
        gen::set(&Program::long_sizes, gen::weightedElement<bool>({{3, false}, {1, true}})));
  }
};

}  // namespace rc

int main(int argc, char** argv) {
  using oriel::testing::Program;
  using oriel::testing::SavedPrograms;
  if (argc == 3 && std::string(argv[1]) == "--loaded") return SavedPrograms::run_loaded(argv[2]);
  if (!oriel::test::begin_property()) return oriel::test::kSkipped;
  SavedPrograms saved;
  const bool holds =
      rc::check("captured at some sizes, a random program gives at all others the bits of a capture there",
                [&](const Program& program) { oriel::testing::agrees(program, saved); });
  return holds && saved.check_elsewhere() ? 0 : 1;
}
