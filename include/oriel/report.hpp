// A page to look at: kernels with their reasons, views as pictures, memory, times, generated source.
#pragma once

#include <optional>
#include <string>

#include "oriel/api.hpp"
#include "oriel/list.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// Writes what realize() would do now for these tensors as one HTML page, which needs no network and no other file, and
/// the same data beside it as JSON (`a.html` and `a.json`; engine/inspect/README.md has the schema). Nothing
/// runs, so times are estimates. Sources are left out of a page that they would make larger than 1 MB, those of cheap
/// kernels first. Throws ArgumentError unless the name ends in .html, IoError if a file cannot be written.
///   oriel::report({y}, "y.html");
/// @{
void report(ListOf<Tensor> tensors, const std::string& path);
/// @}

/// Writes such a page when the process ends, of every schedule that it makes from now on, with the times of its kernels
/// (so each launch is waited for, as with a profile) and the text of the program where its files are found. nullopt
/// writes none. ORIEL_REPORT=FILE.html applies until the first call. At most 1,000 kernels are kept. Throws as report.
void set_report_file(const std::optional<std::string>& path);

}  // namespace oriel
