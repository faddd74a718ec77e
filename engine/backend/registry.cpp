// Which backend stands behind a device.
#include <string>

#include "backend/backend.hpp"
#include "backend/eigen/backend.hpp"
#include "backend/null/backend.hpp"
#include "oriel/error.hpp"

namespace oriel::backend {

// The backends are never destroyed: buffers of static tensors may outlive every other static object.
Backend& backend_for(Device device) {
  if (device == Device::eigen()) {
    static Backend& backend = *new eigen::EigenBackend();
    return backend;
  }
  if (device == Device::null()) {
    static Backend& backend = *new null::NullBackend();
    return backend;
  }
  throw DeviceError("backend", "this build has no device " + device.str() + "; it has eigen and null");
}

}  // namespace oriel::backend
