// Scans of values.
#pragma once

#include "grad/step.hpp"

namespace oriel::derive {

/// The scan of x along an axis, in the dtype of x.
Value scanned(Op op, const Value& x, std::size_t axis);
/// x one place further along an axis, with `first` at the start and without the last element.
Value shifted(const Value& x, std::size_t axis, double first);
/// y[t] = a[t] * y[t + 1] + b[t] along an axis, and y of the last t is b[t].
Value backward_recurrence(const Value& a, const Value& b, std::size_t axis, bool restarts);

}  // namespace oriel::derive
