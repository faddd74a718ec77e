// Joint iteration on symbolic sizes.
#pragma once

#include <functional>

#include "sym/node.hpp"
#include "view/layouts/iterate.hpp"

namespace oriel::detail {

/// The iteration that `work` fills in, with the guards on which it rests (sym/needed.hpp). `node`: some expression
/// among the sizes; null if there is none.
Iteration iteration_with_needed_guards(const sym::Node* node, const std::function<void(Iteration&)>& work);

}  // namespace oriel::detail
