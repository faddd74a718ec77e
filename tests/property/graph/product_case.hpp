// Random products of matrices, operations on their results, and the expected elements.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "operand.hpp"

namespace oriel::testing {

struct ProductCase {
  std::array<std::uint32_t, 24> dice{};  // decides the form, its sizes, and the operations on results
  std::vector<ViewStep> a, b, c;         // the steps of each operand
};

struct BuiltProduct {
  Tensor result;             // pending
  std::vector<double> want;  // row-major
  double allowed = 0;        // the largest difference from `want` that is accepted
  std::string text;
};
BuiltProduct build(const ProductCase& c);
void showValue(const ProductCase& c, std::ostream& out);

}  // namespace oriel::testing
