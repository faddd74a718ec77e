// One launch: a kernel, or a copy between devices.
#pragma once

#include <span>

#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Runs the step with these arguments. Returns the seconds that it took while launches are profiled, each of which is
/// waited for; else 0.
double launch_step(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters);

}  // namespace oriel::runtime
