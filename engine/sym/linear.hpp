// Systems of linear constraints over the integers: Fourier-Motzkin elimination with integer tightening.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace oriel::sym {

/// constant + the sum of coefficient times variable.
struct LinearForm {
  std::int64_t constant = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>>
      terms;  ///< ordered by variable; each variable once; no coefficient is 0

  friend bool operator==(const LinearForm&, const LinearForm&) = default;
};

/// Collects constraints and says whether they contradict each other.
class LinearSystem {
 public:
  void require_zero(LinearForm form) { add(equalities_, std::move(form)); }
  void require_not_negative(LinearForm form) { add(inequalities_, std::move(form)); }

  /// True only if no integers satisfy all constraints. False may mean that only real numbers do, or that the question
  /// was too much work: constraints that grow past kMaxCoefficient or kMaxConstraints are dropped.
  bool contradicts() const;

  static constexpr std::int64_t kMaxCoefficient = std::int64_t(1) << 60;
  static constexpr std::size_t kMaxConstraints = 160;

 private:
  /// Drops a constraint with the number -2^63, which has no opposite.
  static void add(std::vector<LinearForm>& to, LinearForm form) {
    const auto opposable = [](std::int64_t n) { return n >= -std::numeric_limits<std::int64_t>::max(); };
    if (opposable(form.constant) &&
        std::ranges::all_of(form.terms, opposable, &decltype(form.terms)::value_type::second))
      to.push_back(std::move(form));
  }
  std::vector<LinearForm> equalities_;
  std::vector<LinearForm> inequalities_;
};

}  // namespace oriel::sym
