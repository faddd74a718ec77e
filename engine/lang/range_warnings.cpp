#include "lang/range_warnings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lang/index/solve.hpp"

namespace oriel::lang {
namespace {

class Finder {
 public:
  Finder(IndexBuilder& builder, const Program& program, const CheckedStatement& statement,
         std::span<const sym::Expr> sizes, const StatementRanges& ranges)
      : builder_(builder), p_(program), s_(statement), sizes_(sizes), r_(ranges) {}

  std::vector<RangeWarning> run() {
    partial_reads();
    narrowing_guards();
    return std::move(out_);
  }

 private:
  const AccessUse& use(std::size_t condition) const { return s_.accesses[r_.conditions[condition].access]; }
  std::int32_t tensor(std::size_t condition) const { return p_.definition[use(condition).expr].id; }

  void partial_reads() {
    std::map<std::pair<std::int32_t, std::size_t>, std::vector<std::size_t>> operands;  // by tensor and dimension
    for (std::size_t k = 0; k < r_.conditions.size(); ++k) {
      if (use(k).exists || use(k).self) continue;
      operands[{tensor(k), r_.conditions[k].dimension}].push_back(k);
    }
    for (const auto& [operand, conditions] : operands) {
      const Interval whole = numbers(r_.conditions[conditions[0]].target);
      Interval read{Interval::kInfinity, Interval::kMinusInfinity};
      std::size_t lowest = conditions[0];
      std::size_t highest = conditions[0];
      for (const std::size_t k : conditions) {
        const Condition& condition = r_.conditions[k];
        const Interval here = condition.variables.reads ? Interval{} : condition.range;
        if (here.lo < read.lo) lowest = k;
        if (here.hi > read.hi) highest = k;
        read = sym::hull(read, here);
      }
      std::optional<RangeWarning> found;
      if (read.lo > whole.lo) found = narrowed(lowest, true);
      if (!found && read.hi < whole.hi) found = narrowed(highest, false);
      if (!found) continue;
      found->read = read;
      out_.push_back(*found);
    }
  }

  // Finds another access that keeps this linear access from reaching its lower or upper end.
  std::optional<RangeWarning> narrowed(std::size_t k, bool below) const {
    const Condition& condition = r_.conditions[k];
    if (!is_linear(condition.index)) return {};
    std::optional<RangeWarning> found;
    for (const auto& [v, coefficient] : Linear(condition.index)) {
      const bool lower = (coefficient > 0) == below;  // the end of the index that matters
      const auto place = static_cast<std::size_t>(v);
      const std::int32_t decider = lower ? r_.lower_by[place] : r_.upper_by[place];
      if (decider < 0 || use(static_cast<std::size_t>(decider)).exists) continue;
      // This access decided the end itself. At that end less than one step is left, as in a convolution with a stride.
      if (r_.conditions[static_cast<std::size_t>(decider)].access == condition.access) return {};
      const Interval alone = legal_interval(condition.index, numbers(condition.target), v, r_.box);
      const bool narrower = lower ? alone.lo < r_.box[place].lo : alone.hi > r_.box[place].hi;
      if (narrower && !found) found = RangeWarning{RangeWarning::Kind::PartialRead, k, {}, v, decider, 0};
    }
    return found;
  }

  void narrowing_guards() {
    std::set<std::int32_t> told;
    for (const RangeWarning& warning : out_) told.insert(warning.variable);
    for (std::size_t v = 0; v < r_.box.size(); ++v) {
      const auto id = static_cast<std::int32_t>(v);
      for (const std::int32_t decider : {r_.lower_by[v], r_.upper_by[v]}) {
        if (decider < 0 || told.contains(id)) continue;
        const auto k = static_cast<std::size_t>(decider);
        if (use(k).exists) continue;
        const std::optional<std::size_t> guard = without_effect(use(k), id);
        if (!guard) continue;
        out_.push_back({RangeWarning::Kind::NarrowingGuard, k, {}, id, decider, *guard});
        told.insert(id);
      }
    }
  }

  // Finds a conditional that names the index and has the same value at every point.
  std::optional<std::size_t> without_effect(const AccessUse& use, std::int32_t variable) const {
    for (std::size_t g = 0; g < use.guards.size(); ++g) {
      const sym::Expr condition = builder_.condition(p_, use.guards[g].condition, sizes_);
      const IndexVariables variables = index_variables(condition);
      if (variables.reads || !std::ranges::binary_search(variables.loops, variable)) continue;
      const Interval value = range_over(condition, r_.box);
      if (use.guards[g].taken ? value.lo > 0 : value.hi <= 0) return g;
    }
    return {};
  }

  IndexBuilder& builder_;
  const Program& p_;
  const CheckedStatement& s_;
  std::span<const sym::Expr> sizes_;
  const StatementRanges& r_;
  std::vector<RangeWarning> out_;
};

}  // namespace

std::vector<RangeWarning> range_warnings(IndexBuilder& builder, const Program& program,
                                         const CheckedStatement& statement, std::span<const sym::Expr> sizes,
                                         const StatementRanges& ranges) {
  return Finder(builder, program, statement, sizes, ranges).run();
}

}  // namespace oriel::lang
