// The current context's default device; whether a device can be had is for those below to check.
#pragma once

#include "oriel/device.hpp"

namespace oriel::base {

/// Makes `device` the default without asking whether it exists.
void store_default_device(Device device) noexcept;

}  // namespace oriel::base
