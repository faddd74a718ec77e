// Runs one step of a schedule: a kernel, or a copy between devices.
#pragma once

#include <span>

#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Runs the step with these arguments. While launches are profiled, waits for it and returns its seconds. Otherwise
/// returns 0.
double launch_step(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters);

}  // namespace oriel::runtime
