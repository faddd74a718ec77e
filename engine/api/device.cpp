#include "oriel/device.hpp"

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "base/device.hpp"
#include "oriel/error.hpp"
#include "oriel/tensor.hpp"

namespace oriel {

void set_default_device(Device device) {
  const std::uint16_t current = base::current_context_state().number();
  if (device.context != 0 && device.context != current) {
    throw DeviceError("set_default_device",
                      fmt::format("{} is another context's; the current context is {}", device.str(), current));
  }
  device.context = current;
  backend::backend_for(device);  // throws where there is none
  base::store_default_device(device);
}

std::vector<Device> devices() { return backend::available_devices(); }

void synchronize(Device device) { backend::backend_for(device).synchronize(); }

}  // namespace oriel
