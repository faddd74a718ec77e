// Random graphs whose products, windows and rows are large enough for paths of their own. The estimated time of the
// fused schedule is at most 1.1 times the sum over its values, each planned alone on sources in memory. Nothing runs:
// estimates follow from the kernels' paths and fixed rates (path_cost.hpp).
// RC_PARAMS="max_success=10000 seed=7" sets number and seed.
#include <rapidcheck.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <vector>

#include "backend/backend.hpp"
#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "path_cost.hpp"
#include "runtime/compiled.hpp"
#include "runtime/executor.hpp"
#include "runtime/plan.hpp"

namespace oriel::testing {
namespace {

constexpr double kMost = 1.1;
// Nanoseconds for storing an element twice. A result that is a reshaped sum is stored twice if the sum is also needed
// elsewhere.
constexpr double kStoredTwice = 0.15;
constexpr std::int64_t kExtents[] = {64, 1, 16, 128, 256, 300, 4};
constexpr int kExtentCount = static_cast<int>(std::size(kExtents));
constexpr std::int64_t kMostElements = 1 << 20;

/// Uninitialised memory, because nothing runs.
Tensor leaf(const Shape& shape, DType dtype = DType::float32) {
  static std::vector<double> memory(kMostElements);
  if (dtype == DType::int64) return Tensor::borrow(reinterpret_cast<const std::int64_t*>(memory.data()), shape);
  return Tensor::borrow(reinterpret_cast<const float*>(memory.data()), shape);
}

/// Each step takes matrices and gives a matrix. `mine` and `other` are values of the program, `n` is a number in [0,
/// kExtentCount).
enum class Kind : std::uint8_t {
  product,
  product_of_both,
  add,
  multiply,
  costly,
  cheap,
  bias,
  row_centred,
  column_sum,
  softmax,
  norm,
  transpose,
  half,
  joined,
  taken,
  filter,
  chosen,
  distances,
  near,
  rolled,
  around,
  scaled,
  squared,
  kinds
};
constexpr const char* kNames[] = {"product", "product of both", "add",        "multiply", "costly", "cheap",
                                  "bias",    "row centred",     "column sum", "softmax",  "norm",   "transpose",
                                  "half",    "joined",          "taken",      "filter",   "chosen", "distances",
                                  "near",    "rolled",          "around",     "scaled",   "squared"};

struct Step {
  int kind = 0;
  int mine = 0;
  int other = 0;
  int n = 0;
};
struct Case {
  int rows = 0;
  int columns = 0;
  std::vector<Step> steps;
  int roots = 0;  // besides the last value
};

bool moves(Kind kind) { return kind == Kind::transpose || kind == Kind::half || kind == Kind::rolled; }

/// The result of a step on its operands, which are pending or in memory.
Tensor apply(const Step& step, const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.size(0).value(), columns = a.size(1).value(), n = kExtents[step.n];
  const bool fits = rows == b.size(0) && columns == b.size(1);
  switch (static_cast<Kind>(step.kind)) {
    case Kind::product:
      return matmul(a, leaf({columns, n}));
    case Kind::product_of_both:
      if (columns == b.size(0)) return matmul(a, b);
      if (columns == b.size(1)) return matmul(a, b.transpose());
      if (rows == b.size(0)) return matmul(a.transpose(), b);
      return matmul(a, leaf({columns, columns}));
    case Kind::add:
      return a + (fits ? b : leaf({rows, columns}));
    case Kind::multiply:
      return a * (fits ? b : leaf({rows, columns}));
    case Kind::costly:
      return step.n % 2 == 0 ? tanh(a) : sigmoid(a);
    case Kind::cheap:
      return step.n % 2 == 0 ? relu(a) : a * 0.5;
    case Kind::bias:
      return a + leaf({1, columns});
    case Kind::row_centred:
      return a - (step.n % 2 == 0 ? mean(a, 1, true) : max(a, 1, true));
    case Kind::column_sum:
      return sum(a, 0, true);
    case Kind::softmax:
      return softmax(a, step.n % 2);
    case Kind::norm:
      return layer_norm(a, 1);
    case Kind::transpose:
      return a.transpose();
    case Kind::half:
      if (step.n % 2 == 0) return rows < 2 ? a : a.shrink({{0, rows / 2}, {0, columns}});
      return columns < 2 ? a : a.shrink({{0, rows}, {columns / 2, columns}});
    case Kind::joined:
      if (rows == b.size(0) && columns + b.size(1) <= 600) return concat({a, b}, 1);
      if (columns == b.size(1) && rows + b.size(0) <= 600) return concat({a, b}, 0);
      return a + 1;
    case Kind::taken:
      return take(a, leaf({n}, DType::int64), 0);
    case Kind::filter:
      return columns < 16 ? a * 2 : sum(unfold(a, 1, 8, 1) * leaf({8}), -1);
    case Kind::chosen:
      return where(a > 0, a, fits ? b : leaf({rows, columns}));
    case Kind::distances:
      if (columns != b.size(1) || rows * b.size(0) * columns > kMostElements * 4) return square(a);
      return sum(square(a.unsqueeze(1) - b.unsqueeze(0)), -1);
    case Kind::near: {
      // A matrix that says which points are close to each other, computed from factors.
      const std::int64_t few = std::min<std::int64_t>(columns, 2 + step.n % 2),
                         most = std::min<std::int64_t>(rows, 256);
      const Tensor x = a.shrink({{0, most}, {0, few}});
      return (sum(square(x.unsqueeze(0) - x.unsqueeze(1)), 2) < 0.1).to(DType::float32);
    }
    case Kind::around:
      return roll(a, 1, step.n % 2) + a + roll(a, -1, step.n % 2);
    case Kind::scaled:
      return a / sum(a, step.n % 2, true);
    case Kind::squared:
      return matmul(a.transpose(), matmul(a, leaf({columns, n})));
    case Kind::rolled:
      return roll(a, step.n % 3 - 1, step.n % 2);
    case Kind::kinds:
      break;
  }
  return a;
}

double estimate(std::span<const Tensor> roots, std::string* text = nullptr, bool forms = true) {
  const base::Activity work;
  std::vector<graph::NodePtr> nodes;
  for (const Tensor& root : roots)
    if (graph::NodePtr node = detail::Access::node(root); !node->realized()) nodes.push_back(std::move(node));
  if (nodes.empty()) return 0;
  runtime::Key key;
  runtime::make_key(work, nodes, 0, key);
  schedule::DeviceLimits limits = runtime::limits_of(key);
  if (!forms) {
    schedule::FusionLimits without = limits.of(nodes.front()->device);
    without.patterns = {.product_work = INT64_MAX, .vector_work = -1, .window_work = -1};
    limits = without;
  }
  const runtime::Plan plan = runtime::make_plan(nodes, key, limits);
  double sum = 0;
  for (const runtime::PlannedKernel& k : plan.kernels) {
    if (!k.runs || k.copied_from) continue;
    sum += path_cost(backend::backend_for(k.device), k.lowered.program, text);
  }
  return sum;
}

struct Compared {
  double fused = 0;
  double apart = 0;
  double twice = 0;  // of storing all results twice
  std::string text;
};

Compared compare(const Case& c, bool told) {
  const Shape shape{kExtents[c.rows], kExtents[c.columns]};
  struct Value {
    Tensor pending;  // computed from the whole graph
    Tensor single;   // the step alone, on sources in memory
    Tensor source;   // the source of later single steps: in memory, perhaps under movements
    std::array<std::size_t, 2> from{};
    bool counted = false;
  };
  std::vector<Value> values;
  for (int k = 0; k < 2; ++k) {
    const Tensor x = leaf(shape);
    values.push_back({x, x, x, {values.size(), values.size()}, false});
  }
  for (const Step& step : c.steps) {
    // Mostly the newest values.
    const auto pick = [&](int n) {
      const std::size_t back = static_cast<std::size_t>(n) % std::min<std::size_t>(values.size(), 6);
      return values.size() - 1 - back;
    };
    const std::size_t a = pick(step.mine), b = pick(step.other);
    Value v;
    v.pending = apply(step, values[a].pending, values[b].pending);
    if (v.pending.numel() > kMostElements || v.pending.numel() == 0) continue;
    v.single = apply(step, values[a].source, values[b].source);
    v.source = moves(static_cast<Kind>(step.kind)) ? v.single : leaf(v.pending.shape());
    v.counted = !moves(static_cast<Kind>(step.kind));
    v.from = {a, b};
    values.push_back(std::move(v));
  }
  Compared out;
  // The results are the last value and some others.
  std::vector<bool> wanted(values.size(), false);
  std::vector<Tensor> roots;
  for (int k = 0; k <= c.roots; ++k) {
    const std::size_t at = values.size() - 1 - static_cast<std::size_t>(k * 3) % values.size();
    if (!wanted[at]) {
      roots.push_back(values[at].pending);
      out.twice += kStoredTwice * static_cast<double>(values[at].pending.numel());
    }
    wanted[at] = true;
  }
  if (told) out.text += "  fused\n";
  out.fused = estimate(roots, told ? &out.text : nullptr);
  if (told) out.text += "  apart\n";
  for (std::size_t at = values.size(); at-- > 0;) {
    if (!wanted[at]) continue;
    for (const std::size_t source : values[at].from) wanted[source] = true;
    if (values[at].counted) out.apart += estimate({&values[at].single, 1}, told ? &out.text : nullptr);
  }
  return out;
}

/// Shows that the property finds schedules in which a product loses its path because other work shares its kernel.
bool sees_lost_products() {
  const auto matrix = [] { return leaf({256, 256}); };
  const Tensor both = matmul(matrix(), matrix()) + matmul(matrix(), matrix());
  const Tensor one = matmul(matrix(), matrix()), sum = matrix() + matrix();
  const double lost = estimate({&both, 1}, nullptr, false);
  const double apart = 2 * estimate({&one, 1}) + estimate({&sum, 1});
  std::cout << fmt::format("two products in one kernel: {:.1f} times as long as apart\n", lost / apart);
  return lost > 5 * apart;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << fmt::format("{} x {}, {} more roots\n", kExtents[c.rows], kExtents[c.columns], c.roots);
  for (const Step& s : c.steps) out << fmt::format("  {} of -{} and -{}, {}\n", kNames[s.kind], s.mine, s.other, s.n);
  return out;
}

}  // namespace
}  // namespace oriel::testing

namespace rc {

template <>
struct Arbitrary<oriel::testing::Step> {
  static Gen<oriel::testing::Step> arbitrary() {
    using oriel::testing::kExtentCount;
    using oriel::testing::Step;
    return gen::build<Step>(gen::set(&Step::kind, gen::inRange(0, static_cast<int>(oriel::testing::Kind::kinds))),
                            gen::set(&Step::mine, gen::inRange(0, 6)), gen::set(&Step::other, gen::inRange(0, 6)),
                            gen::set(&Step::n, gen::inRange(0, kExtentCount)));
  }
};

template <>
struct Arbitrary<oriel::testing::Case> {
  static Gen<oriel::testing::Case> arbitrary() {
    using oriel::testing::Case;
    using oriel::testing::kExtentCount;
    return gen::build<Case>(
        gen::set(&Case::rows, gen::inRange(0, kExtentCount)), gen::set(&Case::columns, gen::inRange(0, kExtentCount)),
        gen::set(&Case::steps, gen::resize(12, gen::arbitrary<std::vector<oriel::testing::Step>>())),
        gen::set(&Case::roots, gen::inRange(0, 3)));
  }
};

}  // namespace rc

int main() {
  using namespace oriel::testing;
  oriel::set_lazy_limits({0, 0});
  // The estimates are the CPU's, whatever ORIEL_DEVICE says.
  oriel::set_default_device(oriel::Device::eigen());
  const bool held = rc::check("fused is estimated at no more than its values one by one", [](const Case& c) {
    const Compared compared = compare(c, false);
    RC_CLASSIFY(compared.fused < 0.9 * compared.apart, "fused is better");
    if (compared.fused <= kMost * compared.apart + compared.twice) return;
    RC_FAIL(fmt::format("{:.0f} ns fused, {:.0f} apart: {:.2f}\n{}", compared.fused, compared.apart,
                        compared.fused / compared.apart, compare(c, true).text));
  });
  return sees_lost_products() && held ? 0 : 1;
}
