// The print options of a context.
#pragma once

#include <string_view>

#include "oriel/print_options.hpp"

namespace oriel::base {
class ContextState;
}

namespace oriel::api {

/// Throws ArgumentError, which names the operation, for options out of range.
void set_print_options(base::ContextState& context, const PrintOptions& options, std::string_view operation);

}  // namespace oriel::api
