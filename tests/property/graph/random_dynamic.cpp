// Random programs over symbolic sizes, as captured functions: whatever sizes come, and whether an entry serves the call
// or it is traced, it gives the bits, shapes and strides of the same program captured at these very sizes, and the
// values of the plain engine, and where bounds are checked it refuses the positions that these refuse. (Its bits may
// differ: there a result that is a view is realised by itself, which may cut sums in other places; see
// random_captures.) RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dynamic_program.hpp"
#include "oriel/error.hpp"
#include "oriel/explain.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "saved_programs.hpp"
#include "support/property_main.hpp"
#include "support/sized.hpp"

namespace oriel::testing {

// RapidCheck finds it by its argument.
void showValue(const Program& program, std::ostream& out) {
  out << (program.automatic ? "automatic" : "dynamic") << (program.long_sizes ? ", long" : "")
      << (program.checked ? ", checked" : "") << "; leaves";
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << " (" << program.leaves[k][0] << ", " << program.leaves[k][1] << ") as " << program.views[k] % 9;
  for (const Step& step : program.steps) {
    out << "; " << step.kind;
    for (const std::uint32_t d : step.dice) out << ' ' << d;
  }
}

namespace {

/// Sizes that a program returns.
struct Measured {
  SymInt count;
  SymInt ratio;
  SymBool even;
  Shape shape;
};
auto oriel_members(Measured& m) { return std::tie(m.count, m.ratio, m.even, m.shape); }
auto oriel_members(const Measured& m) { return std::tie(m.count, m.ratio, m.even, m.shape); }

/// Divides by sizes that may be 0, as the plain engine does: an error for each call where they are.
Measured measure(const std::vector<Tensor>& leaves) {
  const auto [last, middle] = run(leaves);
  const std::uint32_t dice = current->views[0] + (current->steps.empty() ? 0 : current->steps[0].dice[3]);
  const SymInt n = leaves[0].size(0), m = leaves[1].size(1);
  const SymInt divisor = dice % 4 == 0 ? n % 3 : dice % 4 == 1 ? n - m : n + 1;
  const SymInt divided = dice % 3 == 0 ? SymInt(7) : dice % 3 == 1 ? divisor * 2 : middle.numel();
  return {last.numel() * 3 - m, dice % 2 == 0 ? divided / divisor : divided % divisor, last.numel() % 2 == 0,
          middle.shape()};
}

/// The sizes as text, or "an error".
template <class F>
std::string measured(const F& f, const std::vector<Tensor>& leaves) {
  try {
    const Measured m = f(leaves);
    return to_string(m.count) + ' ' + to_string(m.ratio) + ' ' + to_string(m.even) + ' ' + to_string(m.shape);
  } catch (const Error&) {
    return "an error";
  }
}

constexpr int kRounds = 25;
constexpr int kLongRounds = 8;  // of programs with long sizes

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

/// Compiled kernels (ORIEL_EIGEN=compile) are compared with the tile machine: equal programs are one kernel, so that
/// the same tier would compare it with itself.
class OnTileMachine {
 public:
  OnTileMachine() { set_eigen_tier(EigenTier::tile); }
  OnTileMachine(const OnTileMachine&) = delete;
  ~OnTileMachine() { set_eigen_tier(before_); }

 private:
  const EigenTier before_ = eigen_tier();
};

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
  set_default_bounds(program.checked ? Bounds::checked : Bounds::zero);
  std::vector<std::vector<Tensor>> calls;
  comprehensions = refused = 0;
  std::size_t outside = 0;  // calls with a position outside
  FunctionOptions options;
  options.dynamic = program.automatic ? Dynamic::automatic : Dynamic::yes;
  options.limit = kRounds;
  options.traces = std::numeric_limits<int>::max();
  const auto callable = [](const std::vector<Tensor>& leaves) { return run(leaves); };
  const auto f = oriel::function(callable, options);
  FunctionOptions fixed_sizes = options;
  fixed_sizes.dynamic = Dynamic::no;
  const auto sizes_of = [](const std::vector<Tensor>& leaves) { return measure(leaves); };
  const auto g = oriel::function(sizes_of, options);
  const std::string folder = saved.folder();
  bool fused_rows = false;
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
    if (program.long_sizes && !fused_rows) fused_rows = joins_rows(leaves);
    const auto fixed = oriel::function(callable, fixed_sizes);
    bool served = true;
    for (const bool first : {true, false}) {
      const Outcome got = outcome(f, leaves, first);
      const OnTileMachine reference;
      const Outcome want = outcome(fixed, leaves, first);
      served = served && got.error.empty();
      outside += got.error.find("is out of range for axis") != std::string::npos ? 1 : 0;
      if (same(got, want, same_bits) && same(got, outcome(run, leaves, first), near)) continue;
      RC_FAIL(std::string(first ? "the last" : "the middle") + " value differs for sizes " + std::to_string(sizes[0]) +
              ", " + std::to_string(sizes[1]) + ", " + std::to_string(sizes[2]) + ": " + text(got) +
              "\nat fixed sizes " + text(want) + "\nplain " + text(outcome(run, leaves, first)) + "\n" + f.explain());
    }
    if (served) calls.push_back(leaves);
    const std::string got = measured(g, leaves), want = measured(sizes_of, leaves);
    if (got != want) RC_FAIL("the sizes are " + got + " in place of " + want + "\n" + g.explain());
    if (round + 1 == rounds && !g.entries().empty()) {
      g.save(folder + "/sizes");
      const auto loaded = load_function<Measured(std::vector<Tensor>)>(folder + "/sizes");
      if (g.entry_of(leaves) && measured(loaded, leaves) != want)
        RC_FAIL("loaded, the sizes are " + measured(loaded, leaves) + " in place of " + want);
    }
  }
  RC_ASSERT(f.counts().plain == 0U);
  const bool views = std::ranges::any_of(program.views, [](std::uint32_t view) { return view % 9 < 6; });
  if (!calls.empty())
    if (const std::string differs = saved.check(f, calls, !views); !differs.empty()) RC_FAIL(differs);
  RC_CLASSIFY(comprehensions > 0, "with a comprehension");
  RC_CLASSIFY(2 * refused > comprehensions, "most of them refuse the sizes");
  RC_CLASSIFY(outside > 0, "with positions outside");
  RC_CLASSIFY(outside > 0 && !calls.empty(), "with positions outside at some sizes");
  RC_CLASSIFY(fused_rows, "with kernels that are fused row by row");
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
        gen::set(&Program::long_sizes, gen::weightedElement<bool>({{3, false}, {1, true}})),
        gen::set(&Program::checked, gen::weightedElement<bool>({{1, false}, {2, true}})));
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
