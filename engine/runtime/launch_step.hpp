// Runs one step of a schedule: a kernel, or a copy between devices.
#pragma once

#include <span>

#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Runs the step with these arguments. If it is to be timed, waits for it and returns its seconds. Otherwise returns 0.
double launch_step(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                   bool timed);

}  // namespace oriel::runtime
