// The answers of `oriel ranges` for sizes that are not numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json.hpp"
#include "lang/open_ranges.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::cli {

/// One size of a shape: a number, a name, or "?" for an open size without a name. nullopt for another text.
std::optional<lang::OpenSize> read_open_size(std::string_view text);

/// Throws ComprehensionError (non_zero_origin) if the options ask for results whose first index is 0 and a formula says
/// otherwise.
void check_open_options(const lang::Program& program, const lang::OpenInference& inference,
                        const ComprehensionOptions& options);

/// A table for people.
std::string open_ranges_text(const lang::Program& program, const lang::OpenInference& inference);
/// The answer of `--jsonl`. A formula is a number where it is constant, else a text.
Json open_ranges_object(const lang::Program& program, const lang::OpenInference& inference);

}  // namespace oriel::cli
