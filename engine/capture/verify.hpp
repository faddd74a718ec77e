// Compares an entry of a captured function with a new trace of its callable (FunctionOptions::verify).
#pragma once

#include "capture/captured.hpp"

namespace oriel::api {

/// Traces the callable anew, on arguments like those of the call that made the entry, and compares the graphs exactly:
/// operations, numbers, sizes, the elements of constants, and what becomes of results and arguments. Nothing is run, so
/// no order of additions counts. Throws ArgumentError that names the first difference and its line, also if the new
/// trace takes a guard that this call breaks. Throws what the callable throws.
///
/// Two host functions are equal if they are one object or have one name: the engine cannot look inside.
void check_trace(const detail::Captured& captured, const CapturedEntry& entry,
                 const detail::CapturedArguments& arguments, const CallKey& key, const detail::TracerBase& tracer);

}  // namespace oriel::api
