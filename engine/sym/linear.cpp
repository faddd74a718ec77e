#include "sym/linear.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace oriel::sym {
namespace {

__extension__ using WideInt = __int128;
using LinearTerms = std::vector<std::pair<std::uint32_t, std::int64_t>>;

std::int64_t coefficient_of(const LinearForm& form, std::uint32_t variable) {
  const auto found = std::ranges::lower_bound(form.terms, variable, {}, &std::pair<std::uint32_t, std::int64_t>::first);
  return found != form.terms.end() && found->first == variable ? found->second : 0;
}

bool fits(WideInt value) { return value <= LinearSystem::kMaxCoefficient && value >= -LinearSystem::kMaxCoefficient; }

// x*a + y*b; nullopt if a coefficient gets too large.
std::optional<LinearForm> combined(const LinearForm& a, std::int64_t x, const LinearForm& b, std::int64_t y) {
  const auto total = [&](std::int64_t of_a, std::int64_t of_b) { return WideInt(of_a) * x + WideInt(of_b) * y; };
  LinearForm result;
  if (!fits(total(a.constant, b.constant))) return std::nullopt;
  result.constant = static_cast<std::int64_t>(total(a.constant, b.constant));
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    const bool use_left = right == b.terms.end() || (left != a.terms.end() && left->first <= right->first);
    const bool use_right = left == a.terms.end() || (right != b.terms.end() && right->first <= left->first);
    const std::uint32_t variable = use_left ? left->first : right->first;
    const WideInt c = total(use_left ? left->second : 0, use_right ? right->second : 0);
    if (!fits(c)) return std::nullopt;
    if (c != 0) result.terms.emplace_back(variable, static_cast<std::int64_t>(c));
    if (use_left) ++left;
    if (use_right) ++right;
  }
  return result;
}

std::int64_t common_factor(const LinearForm& form) {
  std::int64_t g = 0;
  for (const auto& [variable, coefficient] : form.terms) g = std::gcd(g, coefficient);
  return g;
}

// The working state of one decision.
class Elimination {
 public:
  Elimination(std::vector<LinearForm> equalities, const std::vector<LinearForm>& inequalities)
      : equalities_(std::move(equalities)) {
    for (const LinearForm& form : inequalities) add(form);
  }

  bool contradicts() {
    while (!contradiction_) {
      if (!equalities_.empty()) {
        use_equality();
      } else if (!eliminate()) {
        return contradiction_;
      }
    }
    return true;
  }

 private:
  // Adds a constraint. Of constraints with equal terms the one with the smaller constant implies the others, so only it
  // is kept.
  void add(LinearForm form) {
    if (form.terms.empty()) {
      contradiction_ |= form.constant < 0;
      return;
    }
    // The variables are integers, so the constant may be rounded down after the coefficients are divided by their
    // common factor.
    const std::int64_t g = common_factor(form);
    if (g > 1) {
      for (auto& term : form.terms) term.second /= g;
      form.constant = form.constant / g - (form.constant % g < 0 ? 1 : 0);
    }
    const auto [at, added] = inequalities_.try_emplace(form.terms, form.constant);
    if (!added && at->second <= form.constant) return;
    at->second = form.constant;
    LinearTerms opposite = form.terms;
    for (auto& term : opposite) term.second = -term.second;
    const auto other = inequalities_.find(opposite);
    if (other == inequalities_.end()) return;
    const WideInt gap = WideInt(other->second) + form.constant;
    if (gap < 0) contradiction_ = true;
    if (gap == 0) {
      inequalities_.erase(other);
      inequalities_.erase(form.terms);
      equalities_.push_back(std::move(form));
    }
  }

  void use_equality() {
    LinearForm equality = std::move(equalities_.back());
    equalities_.pop_back();
    if (equality.terms.empty()) {
      contradiction_ |= equality.constant != 0;
      return;
    }
    const std::int64_t g = common_factor(equality);  // at least 1: there are terms, and no coefficient is 0
    if (equality.constant % g != 0) {                // NOLINT(clang-analyzer-core.DivideZero)
      contradiction_ = true;
      return;
    }
    for (auto& term : equality.terms) term.second /= g;
    equality.constant /= g;
    const auto unit =
        std::ranges::find_if(equality.terms, [](const auto& term) { return term.second == 1 || term.second == -1; });
    if (unit == equality.terms.end()) return split_equality(equality);
    const std::uint32_t variable = unit->first;
    const std::int64_t sign = unit->second;
    const auto substituted = [&](const LinearForm& form) {
      const std::int64_t c = coefficient_of(form, variable);
      return c == 0 ? std::optional(form) : combined(form, 1, equality, -c * sign);
    };
    std::vector<LinearForm> forms;
    for (const auto& [terms, constant] : inequalities_) forms.push_back({constant, terms});
    inequalities_.clear();
    std::vector<LinearForm> equalities = std::move(equalities_);
    equalities_.clear();
    for (const LinearForm& form : equalities) {
      if (auto changed = substituted(form)) equalities_.push_back(std::move(*changed));
    }
    for (const LinearForm& form : forms) {
      if (auto changed = substituted(form)) add(std::move(*changed));
    }
  }

  // If no variable of an equality can be solved for in integers, the equality becomes two inequalities.
  void split_equality(const LinearForm& equality) {
    LinearForm opposite = equality;
    opposite.constant = -opposite.constant;
    for (auto& term : opposite.terms) term.second = -term.second;
    inequalities_[equality.terms] = equality.constant;
    inequalities_[opposite.terms] = opposite.constant;
  }

  // Eliminates one variable. Returns false if none is left.
  bool eliminate() {
    struct Count {
      std::size_t positive = 0;
      std::size_t negative = 0;
    };
    std::map<std::uint32_t, Count> counts;
    for (const auto& [terms, constant] : inequalities_) {
      for (const auto& [variable, coefficient] : terms)
        ++(coefficient > 0 ? counts[variable].positive : counts[variable].negative);
    }
    if (counts.empty()) return false;
    const auto best = std::ranges::min_element(
        counts, {}, [](const auto& entry) { return entry.second.positive * entry.second.negative; });
    if (inequalities_.size() + best->second.positive * best->second.negative > LinearSystem::kMaxConstraints)
      return false;
    const std::uint32_t variable = best->first;
    std::vector<LinearForm> positive;
    std::vector<LinearForm> negative;
    for (auto at = inequalities_.begin(); at != inequalities_.end();) {
      const LinearForm form{at->second, at->first};
      const std::int64_t c = coefficient_of(form, variable);
      if (c != 0) (c > 0 ? positive : negative).push_back(form);
      at = c != 0 ? inequalities_.erase(at) : std::next(at);
    }
    for (const LinearForm& lower : positive) {
      for (const LinearForm& upper : negative) {
        const std::int64_t x = -coefficient_of(upper, variable);
        const std::int64_t y = coefficient_of(lower, variable);
        const std::int64_t g = std::gcd(x, y);
        if (auto form = combined(lower, x / g, upper, y / g)) add(std::move(*form));
        if (contradiction_) return false;
      }
    }
    return true;
  }

  std::vector<LinearForm> equalities_;
  std::map<LinearTerms, std::int64_t> inequalities_;
  bool contradiction_ = false;
};

}  // namespace

bool LinearSystem::contradicts() const { return Elimination(equalities_, inequalities_).contradicts(); }

}  // namespace oriel::sym
