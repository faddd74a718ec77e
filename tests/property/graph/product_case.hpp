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
  std::array<std::uint32_t, 24> dice{};  // the form, its sizes, the operations on results
  std::vector<ViewStep> a, b, c;         // of each operand
};

struct BuiltProduct {
  Tensor result;             // not realised
  std::vector<double> want;  // row-major
  double allowed = 0;        // how far an element may be from that
  std::string text;
};
BuiltProduct build(const ProductCase& c);
void showValue(const ProductCase& c, std::ostream& out);

}  // namespace oriel::testing
