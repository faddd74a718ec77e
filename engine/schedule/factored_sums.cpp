#include "schedule/factored_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/contraction_order.hpp"
#include "schedule/describe.hpp"
#include "schedule/maps.hpp"
#include "schedule/rates.hpp"
#include "schedule/reduction_patterns.hpp"
#include "sym/decide.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

constexpr std::size_t kMostSumFactors = 8;
constexpr std::size_t kMostMovementsBetween = 16;  // between a multiplication and one below it
constexpr std::size_t kMostFactorValues = 64;      // that are looked at in one factor
// One kernel must take so many times as long, and so many nanoseconds more: estimates are rough.
constexpr double kLeastSumGain = 2;
constexpr double kLeastSumSaved = 10'000;
// The elements of a value between, as a multiple of those of the largest operand or result.
constexpr double kMostGrowth = 4;
constexpr double kAlwaysAllowed = 1 << 22;
constexpr std::size_t kMostTriedFactors = 4;
constexpr double kSomeExtent = 64;
constexpr std::int64_t kMostGuarded = std::int64_t{1} << 61;  // twice as much is no size

/// A factor of the product that is summed.
struct Factor {
  EntryId value = kNone;
  std::vector<EntryId> movements;  // of the product that it is part of, the topmost first
  bool left = false;               // does the topmost multiplication have it on its left side?
};

class SumOfProducts {
 public:
  SumOfProducts(Arena& arena, const Entry& sum)
      : arena_(arena), sum_(sum), source_(sum.source[0]), domain_(arena[source_].shape()) {}

  std::optional<EntryId> run() {
    if (!find_factors() || !find_labels()) return {};
    const double one = one_kernel();
    double most = kAlwaysAllowed;
    for (const LabelExtents& factor : labels_) most = std::max(most, kMostGrowth * elements(factor));
    const ContractionOrder order = contraction_order(labels_, in_result_, sum_.dtype, most);
    if (order.steps.empty() || one < kLeastSumGain * order.nanoseconds + kLeastSumSaved) return {};
    arena_.give_reason(kFactoredSum,
                       fmt::format("a sum of {} factors{}: {} products one after the other, {} in place of {} as one "
                                   "kernel (estimated)",
                                   factors_.size(), place(), order.steps.size(), time(order.nanoseconds), time(one)));
    return in_turn(order);
  }

 private:
  static double elements(const LabelExtents& factor) {
    return std::accumulate(factor.begin(), factor.end(), 1.0, [](double n, double e) { return n * std::max(e, 1.0); });
  }
  static std::string time(double nanoseconds) {
    return nanoseconds < 1e6 ? fmt::format("{:.0f} us", nanoseconds / 1e3)
                             : fmt::format("{:.3g} ms", nanoseconds / 1e6);
  }
  std::string place() const {
    const std::string site = site_text(sum_.node->site);
    return site.empty() ? site : " (" + site + ")";
  }

  bool find_factors() {
    if (arena_[source_].op != Op::Mul) return false;
    const EntryId sides[] = {arena_[source_].source[0], arena_[source_].source[1]};
    for (const EntryId side : sides) {
      if (!add_factors(side, {}, side == sides[0])) return false;
    }
    return factors_.size() > 2;
  }

  // Splits a product under movements, each of which moves both of its factors alike.
  bool add_factors(EntryId value, std::vector<EntryId> movements, bool left) {
    const std::size_t above = movements.size();
    EntryId below = value;
    while (graph::is_movement(arena_[below].op) && arena_[below].op != Op::Pad && arena_[below].op != Op::RawView &&
           movements.size() < kMostMovementsBetween) {
      movements.push_back(below);
      below = arena_[below].source[0];
    }
    if (arena_[below].op == Op::Mul && arena_[below].dtype == sum_.dtype) {
      const EntryId first = arena_[below].source[0];
      const EntryId second = arena_[below].source[1];
      return add_factors(first, movements, left) && add_factors(second, movements, left);
    }
    movements.resize(above);
    factors_.push_back({value, std::move(movements), left});
    return factors_.size() <= kMostSumFactors;
  }

  // The labels are the axes of the domain.
  bool find_labels() {
    in_result_.assign(domain_.size(), true);
    for (const SymInt axis : std::get<Ints>(sum_.node->arg)) in_result_[static_cast<std::size_t>(axis.value())] = false;
    MapTable maps;
    const std::vector<ValueProperties> no_facts;  // find_reads asks for none
    ReductionPatterns forms(arena_, no_facts, maps);
    for (const Factor& factor : factors_) {
      MapId map = maps.identity(domain_);
      for (const EntryId movement : factor.movements)
        map = maps.compose_movement(map, arena_[movement], arena_[arena_[movement].source[0]].shape());
      std::vector<ReductionPatterns::Read> reads;
      if (maps.masked(map) || !forms.find_reads(factor.value, map, reads, nullptr, kMostFactorValues)) return false;
      LabelExtents& labels = labels_.emplace_back(domain_.size(), 0);
      for (std::size_t d = 0; d < domain_.size(); ++d) {
        if (identical(domain_[d], 1)) continue;
        for (const ReductionPatterns::Read& read : reads) {
          if (maps.depends_on(read.map, d)) labels[d] = 1;
        }
      }
    }
    // A sum over an axis on which nothing depends is a multiple.
    for (std::size_t d = 0; d < domain_.size(); ++d) {
      if (!in_result_[d] && !in_some_factor(d) && !identical(domain_[d], 1)) return false;
    }
    return may_gain() && find_extents();
  }

  // Could two products in turn be faster than one kernel, at any sizes? No, if in each order one of the two loops over
  // all axes and has no better form than the one kernel has.
  bool may_gain() const {
    if (factors_.size() > kMostTriedFactors) return true;
    std::vector<LabelExtents> wide = labels_;  // the axes, each of some length
    for (LabelExtents& labels : wide) {
      for (double& extent : labels) extent *= kSomeExtent;
    }
    return may_gain(wide, form_of(sides_of(wide), in_result_));
  }
  bool may_gain(const std::vector<LabelExtents>& operands, int form) const {
    if (operands.size() < 2) return true;
    for (std::size_t a = 0; a < operands.size(); ++a) {
      for (std::size_t b = a + 1; b < operands.size(); ++b) {
        std::vector<bool> needed = in_result_;
        LabelExtents product(domain_.size(), 0);
        bool all = true;
        for (std::size_t d = 0; d < domain_.size(); ++d) {
          for (std::size_t k = 0; k < operands.size(); ++k)
            needed[d] = needed[d] || (k != a && k != b && operands[k][d] > 0);
          const double extent = std::max(operands[a][d], operands[b][d]);
          all = all && (extent > 0 || !in_some_factor(d));
          if (needed[d]) product[d] = extent;
        }
        if (all && form_of({operands[a], operands[b]}, needed) <= form) continue;
        std::vector<LabelExtents> rest = operands;
        rest[a] = std::move(product);
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(b));
        if (may_gain(rest, form)) return true;
      }
    }
    return false;
  }
  // Does a factor depend on the axis?
  bool in_some_factor(std::size_t d) const {
    return std::ranges::any_of(labels_, [d](const LabelExtents& labels) { return labels[d] > 0; });
  }
  // 2 for a product of matrices, 1 for one with a vector, 0 for loops.
  static int form_of(const std::array<LabelExtents, 2>& pair, const std::vector<bool>& needed) {
    const PairShape shape = pair_shape(pair[0], pair[1], needed);
    return shape.depth < 2 ? 0 : (shape.rows > 1 ? 1 : 0) + (shape.columns > 1 ? 1 : 0);
  }

  // Estimates take each extent for the middle between two powers of two: results depend on the decision, so for
  // symbolic sizes it becomes guards, which then hold for many sizes.
  bool find_extents() {
    for (std::size_t d = 0; d < domain_.size(); ++d) {
      const std::optional<std::int64_t> size = sym::hint(domain_[d]);
      if (!size || *size < 1) return false;
      const auto least = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*size)));
      if (domain_[d] < least || (least <= kMostGuarded && domain_[d] >= 2 * least)) return false;
      for (LabelExtents& labels : labels_) labels[d] *= least == 1 ? 1 : 1.5 * static_cast<double>(least);
    }
    return true;
  }

  // The operands of the topmost multiplication, each with the axes of all its factors.
  std::array<LabelExtents, 2> sides_of(const std::vector<LabelExtents>& factors) const {
    std::array<LabelExtents, 2> sides{LabelExtents(domain_.size(), 0), LabelExtents(domain_.size(), 0)};
    for (std::size_t k = 0; k < factors_.size(); ++k) {
      LabelExtents& side = sides[factors_[k].left ? 0 : 1];
      for (std::size_t d = 0; d < domain_.size(); ++d) side[d] = std::max(side[d], factors[k][d]);
    }
    return sides;
  }

  // As one kernel: a product of matrices if the sides of the topmost multiplication make one (then a side is computed
  // while it is packed), else loops.
  double one_kernel() const {
    const std::array<LabelExtents, 2> sides = sides_of(labels_);
    const PairShape pair = pair_shape(sides[0], sides[1], in_result_);
    if (pair.has_form() && pair.rows >= 2 && pair.columns >= 2) return kRates.launch + pair.nanoseconds(sum_.dtype);
    const double scale = static_cast<double>(itemsize(sum_.dtype)) / 4;
    const auto n = static_cast<double>(factors_.size());
    return kRates.launch + pair.points() * scale * (kRates.reduce + n * kRates.load + (n - 1) * kRates.operation);
  }

  /// A value over the domain, with extent 1 along the axes on which it does not depend.
  struct Term {
    EntryId value;
    std::vector<bool> axes;
  };

  EntryId make(Op op, const Shape& shape, graph::Arg arg, EntryId of) {
    return arena_.make(op, sum_.dtype, shape, std::move(arg), std::array{of});
  }

  Term term(std::size_t k) {
    EntryId value = factors_[k].value;
    for (std::size_t m = factors_[k].movements.size(); m-- > 0;) {
      const Entry movement = arena_[factors_[k].movements[m]];
      value = make(movement.op, movement.shape(), movement.node->arg, value);
    }
    Term out{value, std::vector<bool>(domain_.size())};
    Ranges ranges;
    bool cut = false;
    Shape shape = domain_;
    for (std::size_t d = 0; d < domain_.size(); ++d) {
      out.axes[d] = labels_[k][d] > 0;
      if (!out.axes[d]) {
        cut = cut || !identical(domain_[d], 1);
        shape[d] = 1;
      }
      ranges.push_back({0, shape[d]});
    }
    if (cut) out.value = make(Op::Shrink, shape, std::make_shared<const Ranges>(std::move(ranges)), out.value);
    return out;
  }

  // Sums over the axes in `gone`.
  void sum(Term& of, const std::vector<bool>& gone) {
    Ints axes;
    Shape shape = arena_[of.value].shape();
    for (std::size_t d = 0; d < domain_.size(); ++d) {
      if (!gone[d] || !of.axes[d]) continue;
      axes.push_back(d);
      shape[d] = 1;
      of.axes[d] = false;
    }
    if (!axes.empty()) of.value = make(Op::Sum, shape, std::move(axes), of.value);
  }

  Term product(Term a, Term b, const std::vector<bool>& needed) {
    std::vector<bool> of_a(domain_.size()), of_b(domain_.size()), rest(domain_.size());
    for (std::size_t d = 0; d < domain_.size(); ++d) {
      of_a[d] = !needed[d] && !b.axes[d];
      of_b[d] = !needed[d] && !a.axes[d];
      rest[d] = !needed[d];
    }
    sum(a, of_a);
    sum(b, of_b);
    Shape shape = domain_;
    Term out{kNone, std::vector<bool>(domain_.size())};
    for (std::size_t d = 0; d < domain_.size(); ++d) {
      out.axes[d] = a.axes[d] || b.axes[d];
      if (!out.axes[d]) shape[d] = 1;
    }
    const EntryId left = make(Op::Expand, shape, {}, a.value);
    const EntryId right = make(Op::Expand, shape, {}, b.value);
    out.value = arena_.make(Op::Mul, sum_.dtype, shape, {}, std::array{left, right});
    sum(out, rest);
    return out;
  }

  EntryId in_turn(const ContractionOrder& order) {
    const Shape result = sum_.shape();
    std::vector<Term> terms;
    for (std::size_t k = 0; k < factors_.size(); ++k) terms.push_back(term(k));
    for (const ContractionOrder::Step at : order.steps) {
      std::vector<bool> needed = in_result_;
      for (std::size_t k = 0; k < terms.size(); ++k) {
        for (std::size_t d = 0; k != at.first && k != at.second && d < needed.size(); ++d)
          needed[d] = needed[d] || terms[k].axes[d];
      }
      terms[at.first] = product(std::move(terms[at.first]), std::move(terms[at.second]), needed);
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(at.second));
    }
    return make(Op::Expand, result, {}, terms[0].value);
  }

  Arena& arena_;
  const Entry& sum_;
  EntryId source_;
  Shape domain_;
  std::vector<Factor> factors_;
  std::vector<LabelExtents> labels_;  // of each factor
  std::vector<bool> in_result_;       // by axis
};

}  // namespace

std::optional<EntryId> factor_sum(Arena& arena, const Entry& sum) {
  // Most sums have no product of products below, which is seen at once.
  if (sum.dtype == DType::bool_ || is_half(sum.dtype) || arena[sum.source[0]].op != Op::Mul) return {};
  return SumOfProducts(arena, sum).run();
}

}  // namespace oriel::schedule
