// Sizes and conditions over symbols, for some values of these.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oriel/shape.hpp"
#include "property/sym/questions.hpp"
#include "sym/program.hpp"

namespace oriel::test {

class AtValues {
 public:
  /// `values`: one for each symbol. Both must outlive it.
  AtValues(const std::vector<SymInt>& symbols, const Values& values) : symbols_(symbols), values_(values) {}

  std::int64_t operator()(SymInt n) const { return n.is_symbolic() ? number(n.node()) : n.value(); }
  bool holds(SymBool condition) const {
    return condition.is_symbolic() ? number(condition.node()) != 0 : static_cast<bool>(condition);
  }
  Ints operator()(const Ints& list) const {
    Ints out;
    for (const SymInt n : list) out.push_back((*this)(n));
    return out;
  }

 private:
  std::int64_t number(sym::Expr e) const {
    return sym::evaluate(e, [&](sym::Expr variable) -> std::optional<std::int64_t> {
      for (std::size_t k = 0; k < symbols_.size(); ++k) {
        if (symbols_[k].node() == variable) return values_[k];
      }
      return std::nullopt;
    });
  }

  const std::vector<SymInt>& symbols_;
  const Values& values_;
};

}  // namespace oriel::test
