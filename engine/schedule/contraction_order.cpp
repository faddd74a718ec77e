#include "schedule/contraction_order.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "schedule/pattern_limits.hpp"
#include "schedule/rates.hpp"

namespace oriel::schedule {

namespace {

constexpr std::size_t kMostTriedOperands = 4;

double scale_of(DType dtype) { return static_cast<double>(itemsize(dtype)) / 4; }

/// One pair of a list of operands, computed.
struct PairStep {
  LabelExtents product;
  double elements = 1;
  double nanoseconds = 0;
};

class OrderSearch {
 public:
  OrderSearch(const std::vector<bool>& result, DType dtype, double most_elements)
      : result_(result), dtype_(dtype), most_elements_(most_elements) {}

  ContractionOrder run(const std::vector<LabelExtents>& operands) {
    const bool all = operands.size() <= kMostTriedOperands;
    search(operands, all);
    return std::move(best_);
  }

 private:
  // Was an order found that takes no more time?
  bool as_good(double nanoseconds) const { return !best_.steps.empty() && best_.nanoseconds <= nanoseconds; }

  void search(const std::vector<LabelExtents>& operands, bool all) {
    if (operands.size() < 2) {
      if (!as_good(now_.nanoseconds)) best_ = now_;
      return;
    }
    std::optional<std::pair<ContractionOrder::Step, PairStep>> cheapest;
    for (std::size_t a = 0; a < operands.size(); ++a) {
      for (std::size_t b = a + 1; b < operands.size(); ++b) {
        PairStep pair = step(operands, a, b);
        if (operands.size() > 2 && pair.elements > most_elements_) continue;
        if (all) {
          take(operands, {a, b}, std::move(pair), all);
        } else if (!cheapest || pair.nanoseconds < cheapest->second.nanoseconds) {
          cheapest.emplace(ContractionOrder::Step{a, b}, std::move(pair));
        }
      }
    }
    if (cheapest) take(operands, cheapest->first, std::move(cheapest->second), all);
  }

  void take(const std::vector<LabelExtents>& operands, ContractionOrder::Step at, PairStep pair, bool all) {
    if (as_good(now_.nanoseconds + pair.nanoseconds)) return;
    std::vector<LabelExtents> rest = operands;
    rest[at.first] = std::move(pair.product);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at.second));
    now_.steps.push_back(at);
    now_.nanoseconds += pair.nanoseconds;
    search(rest, all);
    now_.nanoseconds -= pair.nanoseconds;
    now_.steps.pop_back();
  }

  PairStep step(const std::vector<LabelExtents>& operands, std::size_t first, std::size_t second) const {
    LabelExtents a = operands[first];
    LabelExtents b = operands[second];
    std::vector<bool> needed = result_;
    for (std::size_t l = 0; l < needed.size(); ++l) {
      for (std::size_t k = 0; !needed[l] && k < operands.size(); ++k)
        needed[l] = k != first && k != second && operands[k][l] > 0;
    }
    PairStep out;
    out.nanoseconds = kRates.launch + summed_first(a, b, needed) + summed_first(b, a, needed);
    out.product.assign(needed.size(), 0);
    for (std::size_t l = 0; l < needed.size(); ++l) {
      if (!needed[l]) continue;
      out.product[l] = std::max(a[l], b[l]);
      out.elements *= std::max(out.product[l], 1.0);
    }
    out.nanoseconds += pair_shape(a, b, needed).nanoseconds(dtype_);
    out.nanoseconds += out.elements * scale_of(dtype_) * (kRates.store + kRates.load);
    return out;
  }

  // Labels of one operand alone that are summed go before the product.
  double summed_first(LabelExtents& of, const LabelExtents& other, const std::vector<bool>& needed) const {
    double points = 1;
    bool any = false;
    for (std::size_t l = 0; l < of.size(); ++l) {
      points *= std::max(of[l], 1.0);
      if (of[l] == 0 || other[l] > 0 || needed[l]) continue;
      any = any || of[l] > 1;
      of[l] = 0;
    }
    return any ? kRates.launch + points * scale_of(dtype_) * (kRates.reduce + kRates.load) : 0;
  }

  const std::vector<bool>& result_;
  DType dtype_;
  double most_elements_;
  ContractionOrder now_;
  ContractionOrder best_;
};

}  // namespace

bool PairShape::has_form() const {
  constexpr PatternLimits kLimits;
  return depth >= kLimits.product_depth && (rows >= 2 || columns >= 2) &&
         rows * columns * depth >= kLimits.product_work;
}

double PairShape::nanoseconds(DType dtype) const {
  const double scale = scale_of(dtype);
  if (depth < 2) return points() * scale * (kRates.operation + 2 * kRates.load + kRates.store);
  if (!has_form()) return points() * scale * (kRates.operation + 2 * kRates.load + kRates.reduce);
  if (rows < 2 || columns < 2) return points() * scale * kRates.streamed;
  const double rate = is_floating(dtype) ? kRates.blocked : kRates.blocked_integer;
  return scale * (points() * rate + batches * (rows + columns) * depth * kRates.pack);
}

PairShape pair_shape(const LabelExtents& a, const LabelExtents& b, const std::vector<bool>& needed) {
  PairShape out;
  for (std::size_t l = 0; l < needed.size(); ++l) {
    double& group = !needed[l] ? out.depth : a[l] > 1 && b[l] > 1 ? out.batches : a[l] > 1 ? out.rows : out.columns;
    group *= std::max({a[l], b[l], 1.0});
  }
  return out;
}

ContractionOrder contraction_order(const std::vector<LabelExtents>& operands, const std::vector<bool>& result,
                                   DType dtype, double most_elements) {
  return OrderSearch(result, dtype, most_elements).run(operands);
}

}  // namespace oriel::schedule
