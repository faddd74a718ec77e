// The builtin functions as nodes.
#pragma once

#include <span>

#include "graph/build.hpp"
#include "lang/builtins.hpp"

namespace oriel::lang {

/// The function of operands of one shape and one floating dtype. float16 is computed in float32.
graph::NodePtr call_builtin(Builtin function, std::span<const graph::NodePtr> x, const graph::Origin& origin);

}  // namespace oriel::lang
