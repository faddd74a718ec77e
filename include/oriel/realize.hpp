// Running pending work.
#pragma once

#include "oriel/api.hpp"
#include "oriel/device.hpp"
#include "oriel/list.hpp"
#include "oriel/site.hpp"

namespace ORIEL_API oriel {

class Tensor;

/// Runs the pending work of several tensors together, so that shared work runs once. They may live on different
/// devices. Ends as Tensor::realize does.
///   oriel::realize({mean, deviation});
void realize(ListOf<Tensor> tensors, Site site = Site::here());
/// Waits until the device has ended all work that was sent to it. On OpenCL realize() only sends work, and reading
/// elements waits for it; on the CPU realize() waits by itself. Throws DeviceError if the work failed or the device is
/// not available.
///   x.realize(); synchronize(x.device());  // x has been computed
void synchronize(Device device = default_device());

}  // namespace oriel
