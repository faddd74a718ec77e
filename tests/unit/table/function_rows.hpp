// The functions of the table, each called on a float32 matrix (n, 4), along its rows where it has an axis.
#pragma once

#include <vector>

#include "oriel/tensor.hpp"

namespace oriel::testing {

using TableFunction = Tensor (*)(const Tensor& x);

struct TableRow {
  const char* name;
  TableFunction call;
  bool complex;  // does an overload take Complex?
};

std::vector<TableRow> table_rows();

}  // namespace oriel::testing
