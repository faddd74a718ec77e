// Where a mask is true: the primitive of functions whose results have sizes that depend on data.
#pragma once

#include "graph/build.hpp"
#include "oriel/site.hpp"

namespace oriel::api {

/// The row-major positions where a bool node is true, as int64 (count) on its device. Realises the mask.
graph::NodePtr true_positions(const graph::NodePtr& mask, Site site);

/// The element of an int64 node without axes. Realises it.
std::int64_t only_element(const graph::NodePtr& value);

}  // namespace oriel::api
