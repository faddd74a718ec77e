// Checks generated kernels against the table of the movements from which they were generated.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "formula/call.hpp"
#include "fuzz/eager.hpp"
#include "fuzz/properties.hpp"
#include "oriel/oriel.hpp"

namespace oriel::fuzz {
namespace {

using Found = std::optional<Failure>;

Tensor moved(const Tensor& x, const Movement& movement) {
  const api::Call call("movement", x);
  return call.view(x, [call, movement](graph::NodePtr node) {
    return graph::move(std::move(node), move_of(movement), call.origin());
  });
}

class KernelSubject final : public Subject {
 public:
  void check(Kind, std::span<const Case> cases, std::span<Found> failures, KindTally& tally) override {
    for (std::size_t k = 0; k < cases.size(); ++k) {
      eager_.run(cases[k], table_);
      const bool one_view = eager_.fit(table_).has_value();
      ++tally.cases;
      ++(one_view ? tally.one_view : tally.more_views);
      LengthTally& length = tally.by_length[std::min(cases[k].length(), kLongest) - 1];
      ++length.cases;
      if (one_view) ++length.one_view;
      try {
        failures[k] = check_one_case(cases[k]);
      } catch (const std::exception& error) {
        failures[k] = Failure{Property::Answers, std::string("threw: ") + error.what()};
      }
    }
  }

 private:
  /// Checks a copy, elementwise arithmetic with another operand, and a sum over the last axis, in one schedule. All
  /// values are small integers, which float32 adds exactly.
  Found check_one_case(const Case& c) {
    // Shrinking also proposes other starts, but a tensor always starts as one contiguous view.
    if (c.start.size() != 1 || c.start[0] != View::contiguous(c.start[0].shape)) return std::nullopt;
    std::vector<float> data(static_cast<std::size_t>(c.start[0].numel().value()));
    std::iota(data.begin(), data.end(), 1.F);
    const Tensor base = Tensor::from(data, c.start[0].shape);
    Tensor x = base;
    for (const Movement& movement : c.movements) x = moved(x, movement);
    const Tensor copy = x + 0;
    const Tensor mixed = x * 2 + flip(x);
    const bool sums = !table_.shape.empty();
    const Tensor sum = sums ? oriel::sum(x, {-1}) : x;
    const Derivative derivative = derivative_of(base, x);
    realize({copy, mixed, sum});

    const std::size_t count = table_.at.size();
    std::vector<float> expected(count);
    for (std::size_t n = 0; n < count; ++n) {
      expected[n] = table_.at[n] == kInvalid ? 0.F : static_cast<float>(table_.at[n] + 1);
    }
    if (Found found = compare("a copy", copy, expected)) return found;
    std::vector<float> other(count);
    for (std::size_t n = 0; n < count; ++n) other[n] = expected[n] * 2 + expected[count - 1 - n];
    if (Found found = compare("x * 2 + flip(x)", mixed, other)) return found;
    if (Found found = compare("the derivative of a sum of x", derivative.got, derivative.wanted, Property::Adjoint))
      return found;
    if (!sums) return std::nullopt;
    const auto width = static_cast<std::size_t>(table_.shape.back());
    other.assign(count / width, 0.F);
    for (std::size_t n = 0; n < count; ++n) other[n / width] += expected[n];
    return compare("a sum over the last axis", sum, other);
  }

  /// The derivative of the sum of x times small integers is, at each element of the base, the sum of those of the
  /// indices that show it.
  struct Derivative {
    Tensor got;
    std::vector<float> wanted;
  };
  Derivative derivative_of(const Tensor& base, const Tensor& x) const {
    std::vector<float> factors(table_.at.size()), wanted(static_cast<std::size_t>(base.count()), 0.F);
    for (std::size_t n = 0; n < factors.size(); ++n) {
      factors[n] = static_cast<float>(n * 5 % 7) - 3;
      if (table_.at[n] != kInvalid) wanted[static_cast<std::size_t>(table_.at[n])] += factors[n];
    }
    const Tensor loss = oriel::sum(x * Tensor::from(factors, x.shape()));
    return {gradients(loss, {base})[0], std::move(wanted)};
  }

  static Found compare(const char* what, const Tensor& tensor, const std::vector<float>& expected,
                       Property property = Property::Kernels) {
    const std::vector<float> got = tensor.to_vector<float>();
    for (std::size_t n = 0; n < expected.size(); ++n) {
      if (n < got.size() && got[n] == expected[n]) continue;
      return Failure{property,
                     fmt::format("{} on {} has at flat index {} the value {}, not {} (the base holds 1, 2, ...)", what,
                                 tensor.device().str(), n, n < got.size() ? got[n] : 0.F, expected[n])};
    }
    return std::nullopt;
  }

  Eager eager_;
  Table table_;
};

}  // namespace

std::unique_ptr<Subject> make_kernel_subject() { return std::make_unique<KernelSubject>(); }

}  // namespace oriel::fuzz
