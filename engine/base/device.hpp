// Stores the current context's default device. The folders above check whether a device is available.
#pragma once

#include "oriel/device.hpp"

namespace oriel::base {

/// Makes `device` the default without checking that it exists.
void store_default_device(Device device) noexcept;

}  // namespace oriel::base
