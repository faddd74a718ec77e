// The sizes among the results of a captured function.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/symbols.hpp"
#include "sym/program.hpp"

namespace oriel::api {

/// SymInts and SymBools that the callable returned. Each call computes their numbers from its own sizes. Thread safety:
/// any thread.
class ResultSizes {
 public:
  ResultSizes() = default;
  /// `sizes`: over the symbols of a trace, which must live as long, or numbers.
  ResultSizes(std::span<const SymInt> sizes, const SizeSymbols& symbols);

  /// As they were returned.
  std::span<const SymInt> symbolic() const noexcept { return {sizes_.data(), sizes_.size()}; }
  /// Their numbers in a call. `facts`: of the call, and all counts behind them. Throws OverflowError or ArgumentError
  /// if one has no number.
  InlineVector<SymInt, 4> at(std::span<const std::int64_t> facts) const;

 private:
  InlineVector<SymInt, 4> sizes_;
  std::vector<std::size_t> computed_;            // places of those over symbols
  std::unique_ptr<const sym::Program> program_;  // of these; null if there are none
  std::vector<std::size_t> facts_;               // of the variables of program_
};

}  // namespace oriel::api
