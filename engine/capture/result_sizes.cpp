#include "capture/result_sizes.hpp"

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

ResultSizes::ResultSizes(std::span<const SymInt> sizes, const SizeSymbols& symbols)
    : sizes_(sizes.begin(), sizes.end()) {
  std::vector<sym::Expr> expressions;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    // A size of another environment is a value from outside, and stays as it is.
    if (!sizes[k].is_symbolic() || sizes[k].node()->pool != &symbols.env().environment().pool) continue;
    expressions.push_back(sizes[k].node());
    computed_.push_back(k);
  }
  if (expressions.empty()) return;
  program_ = std::make_unique<const sym::Program>(expressions);
  for (const sym::Expr variable : program_->variables()) facts_.push_back(symbols.fact_of(variable));
}

InlineVector<SymInt, 4> ResultSizes::at(std::span<const std::int64_t> facts) const {
  InlineVector<SymInt, 4> out = sizes_;
  if (program_ == nullptr) return out;
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(facts[fact]);
  InlineVector<sym::Outcome, 32> work(program_->steps());
  InlineVector<sym::Outcome, 8> outcomes(computed_.size());
  program_->run({values.data(), values.size()}, {work.data(), work.size()}, {outcomes.data(), outcomes.size()});
  for (std::size_t k = 0; k < computed_.size(); ++k) {
    const std::size_t at = computed_[k];
    if (outcomes[k].fault == sym::Outcome::Fault::overflow)
      throw OverflowError(
          "function", "the size " + to_string(sizes_[at]) + " that it returns does not fit a signed 64-bit integer");
    if (outcomes[k].fault != sym::Outcome::Fault::none)
      throw ArgumentError("function", "the size " + to_string(sizes_[at]) + " that it returns divides by zero");
    out[at] = outcomes[k].value;
  }
  return out;
}

}  // namespace oriel::api
