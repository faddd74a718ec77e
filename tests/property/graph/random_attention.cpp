// Random attention, softmax(Q K^T * s + mask) V as programs write it, and similar programs. The engine's result in few
// kernels is compared with a step-by-step computation in float64. RC_PARAMS="max_success=1000 seed=7" sets number and
// seed.
#include <rapidcheck.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <mutex>
#include <random>

#include "oriel/oriel.hpp"
#include "schedule/rules.hpp"
#include "support/fixed_seed.hpp"
#include "support/sized.hpp"

namespace oriel::testing {
namespace {

enum class Mask : std::uint8_t {
  none,
  causal,
  added,
  chosen,
  padded,
  window,
  all,
  wide,
  finite,
  lower,
  biased,
  relative,
  columns
};
constexpr const char* kMasks[] = {"none", "causal", "added", "chosen", "padded",   "window", "all",
                                  "wide", "finite", "lower", "biased", "relative", "columns"};
constexpr std::int64_t kExtents[] = {1, 2, 3, 16, 17, 31, 40, 64, 65, 0, 130, 257, 600};
constexpr std::int64_t kDepths[] = {17, 32, 20, 1, 2, 40, 65};
constexpr DType kDTypes[] = {DType::float32, DType::float16, DType::bfloat16, DType::float64};

constexpr const char* kElsewhere[] = {"",
                                      ", less the first score",
                                      ", more the first weight",
                                      ", half of the scores",
                                      ", every other score",
                                      ", half of the weights"};

struct Case {
  int batch = 0, groups = 0, shared = 0;  // heads = (groups + 1) * (shared + 1); each group of heads shares its keys
  int queries = 0, keys = 0, depth = 0, values = 0;  // indices into kExtents and kDepths
  int dtype = 0;
  int mask = 0;
  int tail = 0;         // operations on the weights: softmax and a product; softmax; layer norm; maximum; a product
  bool behind = false;  // the axis of heads comes after the sequence in memory
  bool scaled = false;
  bool gathered = false;  // values are gathered from a table
  bool special = false;   // elements include infinities and NaN
  int elsewhere = 0;      // index into kElsewhere: what else reads the scores or weights
  int seed = 0;
};

std::int64_t extent(int i) { return kExtents[i]; }
std::int64_t depth(int i) { return kDepths[i]; }

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << fmt::format(
             "batch {} heads {} of {} keys, S {} x {}, D {} -> {}, {}, mask {}, tail {}{}{}{}{}{}, seed {}",
             c.batch + 1, (c.groups + 1) * (c.shared + 1), c.groups + 1, extent(c.queries), extent(c.keys),
             depth(c.depth), depth(c.values), name(kDTypes[c.dtype]), kMasks[c.mask], c.tail,
             c.behind ? ", heads behind" : "", c.scaled ? ", scaled" : "", c.gathered ? ", gathered values" : "",
             c.special ? ", with specials" : "", kElsewhere[c.elsewhere], c.seed);
}

std::vector<double> numbers(std::int64_t n, int seed, bool special) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::uniform_real_distribution<double> range(-1.5, 1.5);
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) x = range(random);
  if (special && n > 0) {
    const double odd[] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};
    v[random() % v.size()] = odd[random() % 3];
  }
  return v;
}

/// The same elements twice: in the dtype under test, and in float64 after rounding to that dtype.
Tensor leaf(const Shape& shape, DType dtype, bool wide, int seed, bool special) {
  const Tensor x = Tensor::from(numbers(numel(shape).value(), seed, special), shape).to(dtype);
  return (wide ? x.to(DType::float64) : x).realize();
}

Tensor build(const Case& c, bool wide) {
  const std::int64_t b = c.batch + 1, g = c.groups + 1, h = g * (c.shared + 1);
  const std::int64_t n = extent(c.queries), m = extent(c.keys), d = depth(c.depth), e = depth(c.values);
  const DType dtype = kDTypes[c.dtype];
  int serial = c.seed * 16;
  const auto heads = [&](std::int64_t count, std::int64_t s, std::int64_t width) {
    const bool special = c.special && serial % 3 == c.seed % 3;
    return c.behind ? leaf({b, s, count, width}, dtype, wide, ++serial, special).permute({0, 2, 1, 3})
                    : leaf({b, count, s, width}, dtype, wide, ++serial, special);
  };
  const auto spread = [&](const Tensor& x) {
    if (c.shared == 0) return x;
    const Shape& s = x.shape();
    return x.reshape({b, g, 1, s[2], s[3]}).expand({b, g, h / g, s[2], s[3]}).reshape({b, h, s[2], s[3]});
  };
  const Tensor q = heads(h, n, d), k = spread(heads(g, m, d));
  Tensor v = spread(heads(g, m, e));
  // Values are read from a table, as from a cache of blocks.
  if (c.gathered) v = take(v, remainder(arange(m) * 5 + 2, std::max<std::int64_t>(m, 1)), 2);
  Tensor x = matmul(q, k.transpose());
  const auto kind = static_cast<Mask>(c.mask);
  const double none = -std::numeric_limits<double>::infinity();
  if (c.scaled) x = x * 0.25;
  const Tensor row = arange(n).reshape({n, 1}), column = arange(m).reshape({1, m});
  if (kind == Mask::causal) x = where(row >= column, x, none);
  if (kind == Mask::added) x = x + leaf({h, n, m}, dtype, wide, ++serial, false);
  if (kind == Mask::chosen) x = where(leaf({b, 1, n, m}, DType::float32, false, ++serial, false) > 0.0, x, none);
  if (kind == Mask::padded) x = where(column < (m + 1) / 2, x, none);
  if (kind == Mask::window) x = where((row >= column) && (row - column < 20), x, none);
  if (kind == Mask::all) x = where(row - row == row % 3, x, none);  // two rows of three have no key
  // A mask that the row keeps; a finite mask, which hides nothing; a mask made by tril instead of a comparison; a mask
  // that is added.
  if (kind == Mask::wide) x = where((row + 100 >= column) && (column < row + 400) && (column < row + 500), x, none);
  if (kind == Mask::finite) x = where(row + 8 < column, -1e4, x);
  if (kind == Mask::lower) x = where(tril(ones({n, m}, DType::bool_), m - n), x, none);
  if (kind == Mask::biased) x = x + where(row >= column, 0.0, none).to(x.dtype());
  // A table indexed by the distance of row and column, as for relative positions; and a matrix whose columns are
  // permuted.
  if (kind == Mask::relative)
    x = x + take(leaf({n + m}, dtype, wide, ++serial, false), (row - column + (m - 1)).to(DType::int64).realize());
  if (kind == Mask::columns)
    x = x +
        take(leaf({n, m}, dtype, wide, ++serial, false), remainder(arange(m) * 7 + 3, std::max<std::int64_t>(m, 1)), 1);
  const auto part = [&](const Tensor& t, std::int64_t columns) {
    return t.shrink({{0, b}, {0, h}, {0, n}, {0, columns}});
  };
  const int elsewhere = m > 1 ? c.elsewhere : 0;
  const std::int64_t half = m / 2;
  if (elsewhere == 1) x = x - part(x, 1);
  if (elsewhere == 3) x = part(x, half);
  if (elsewhere == 4)
    x = part(x, 2 * half)
            .reshape({b, h, n, half, 2})
            .shrink({{0, b}, {0, h}, {0, n}, {0, half}, {0, 1}})
            .reshape({b, h, n, half});
  if (elsewhere >= 3) v = v.shrink({{0, b}, {0, h}, {0, half}, {0, e}});
  if (elsewhere == 5 && c.tail == 4) x = part(x, half);
  switch (c.tail) {
    case 1:
      return softmax(x) + 0.5;
    case 2:
      return layer_norm(x);
    case 3:
      return max(x, -1) - min(x, -1);
    case 4:
      return matmul(x, v);
    default:
      break;
  }
  const Tensor weights = softmax(x);
  Tensor out = matmul(elsewhere == 5 ? part(weights, half) : weights, v);
  if (elsewhere == 2) out = out + part(weights, 1);
  if (c.behind) out = out.permute({0, 2, 1, 3}).reshape({b, n, h * e});
  return out;
}

constexpr double kLargestHalf = 65504;

double error_of(DType dtype) {
  return dtype == DType::float64 ? 1e-12 : dtype == DType::float32 ? 2e-5 : dtype == DType::float16 ? 2e-2 : 2e-1;
}

void agrees(const Case& c) {
  Tensor want = build(c, true);
  schedule::set_rule_enabled("all", false);
  want.realize();
  schedule::set_rule_enabled("all", true);
  const std::vector<double> wanted = want.to_vector<double>();
  const Tensor ours = build(c, false);
  const std::vector<double> got = ours.to(DType::float64).to_vector<double>();
  RC_ASSERT(got.size() == wanted.size());
  // The error of sums of products grows with the number of terms. For halves the largest sum decides.
  double most = 1;
  for (const double w : wanted)
    if (std::isfinite(w)) most = std::max(most, std::abs(w));
  const double allowed = error_of(kDTypes[c.dtype]) * most * (c.tail == 2 ? 50 : 1);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i]) && std::isnan(got[i])) continue;
    if (wanted[i] == got[i] || std::abs(wanted[i] - got[i]) <= allowed) continue;
    if (kDTypes[c.dtype] == DType::float16 && std::abs(wanted[i]) > kLargestHalf - allowed &&
        got[i] == std::copysign(std::numeric_limits<double>::infinity(), wanted[i]))
      continue;
    RC_FAIL(fmt::format("element {} is {}; float64 step by step gives {}", i, got[i], wanted[i]));
  }
}

}  // namespace
}  // namespace oriel::testing

namespace rc {
template <>
struct Arbitrary<oriel::testing::Case> {
  static Gen<oriel::testing::Case> arbitrary() {
    using oriel::testing::Case;
    return gen::build<Case>(
        gen::set(&Case::batch, oriel::test::any_of(0, 2)), gen::set(&Case::groups, oriel::test::any_of(0, 3)),
        gen::set(&Case::shared, oriel::test::any_of(0, 3)), gen::set(&Case::queries, oriel::test::any_of(0, 13)),
        gen::set(&Case::keys, oriel::test::any_of(0, 13)), gen::set(&Case::depth, oriel::test::any_of(0, 7)),
        gen::set(&Case::values, oriel::test::any_of(0, 7)), gen::set(&Case::dtype, oriel::test::any_of(0, 4)),
        gen::set(&Case::mask, oriel::test::any_of(0, 13)),
        gen::set(&Case::tail, gen::weightedOneOf<int>({{4, gen::just(0)}, {2, oriel::test::any_of(0, 5)}})),
        gen::set(&Case::behind), gen::set(&Case::scaled),
        gen::set(&Case::gathered, gen::weightedElement<bool>({{4, false}, {1, true}})),
        gen::set(&Case::special, gen::weightedElement<bool>({{4, false}, {1, true}})),
        gen::set(&Case::elsewhere, gen::weightedOneOf<int>({{5, gen::just(0)}, {2, oriel::test::any_of(0, 6)}})),
        gen::set(&Case::seed, oriel::test::any_of(0, 10000)));
  }
};
}  // namespace rc

int main() {
  oriel::test::fix_seed();
  oriel::set_lazy_limits({.nodes = 0, .bytes = 0});
  oriel::set_default_bounds(oriel::Bounds::zero);  // some positions are outside
  return rc::check("attention agrees with float64, step by step", &oriel::testing::agrees) ? 0 : 1;
}
