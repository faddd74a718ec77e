#include "oriel/symint.hpp"

#include <string>

#include "oriel/error.hpp"

namespace oriel {
namespace detail {

void throw_overflow(const char* operation, std::int64_t a, std::int64_t b) {
  throw OverflowError(operation, "the result for " + std::to_string(a) + " and " + std::to_string(b) +
                                     " does not fit a signed 64-bit integer");
}

void throw_too_large(std::uint64_t value) {
  throw OverflowError("convert", std::to_string(value) + " does not fit a signed 64-bit integer");
}

void throw_division_by_zero(const char* operation, std::int64_t a) {
  throw ArgumentError(operation, std::to_string(a) + " by zero; the divisor must not be 0");
}

}  // namespace detail

std::string to_string(SymInt n) { return std::to_string(n.value()); }

}  // namespace oriel
