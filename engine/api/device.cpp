#include "oriel/device.hpp"

#include "backend/backend.hpp"
#include "base/device.hpp"

namespace oriel {

void set_default_device(Device device) {
  backend::backend_for(device);  // throws if the device is not available
  base::store_default_device(device);
}

std::vector<Device> devices() { return backend::available_devices(); }

}  // namespace oriel
