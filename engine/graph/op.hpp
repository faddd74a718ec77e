// The ops, under the names that the graph and higher layers use.
#pragma once

#include "ops/op.hpp"

namespace oriel::graph {

using ops::DTypeRule;
using ops::Elements;
using ops::is_elementwise;
using ops::is_host;
using ops::is_movement;
using ops::is_reduce;
using ops::is_scan;
using ops::is_scatter;
using ops::is_sort;
using ops::kOpCount;
using ops::kOpTable;
using ops::LayoutRule;
using ops::name;
using ops::Op;
using ops::OpClass;
using ops::OpRow;
using ops::row;
using ops::runs_alone;
using ops::Takes;

}  // namespace oriel::graph
