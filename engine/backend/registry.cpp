// Which backend stands behind a device.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "backend/backend.hpp"
#include "backend/eigen/backend.hpp"
#include "backend/null/backend.hpp"
#ifdef ORIEL_OPENCL
#include "backend/opencl/backend.hpp"
#endif
#include "base/fork_lock.hpp"
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
#ifdef ORIEL_OPENCL
  if (device.kind == DeviceKind::opencl) {
    static auto& opened = *new std::array<opencl::OpenClBackend*, 256>();
    const std::lock_guard lock(base::fork_mutex(base::ForkLock::opencl));
    opencl::OpenClBackend*& backend = opened[device.index];
    if (backend == nullptr) {
      backend = new opencl::OpenClBackend(device.index);
      // Drivers and their compilers take themselves down when the process ends: what still works with them must be done
      // before, so this is said again after each build, which may have set up more of them.
      backend->on_build([] {
        std::atexit([] {
          for (opencl::OpenClBackend* b : opened)
            if (b != nullptr) b->quiesce();
        });
      });
    }
    return *backend;
  }
#endif
  throw DeviceError("backend", "this build has no device " + device.str() + "; it has eigen and null");
}

std::vector<Device> available_devices() {
  std::vector<Device> found{Device::eigen(), Device::null()};
#ifdef ORIEL_OPENCL
  const int count = std::min(opencl::device_count(), 256);
  for (int k = 0; k < count; ++k) found.push_back(Device::opencl(static_cast<std::uint8_t>(k)));
#endif
  return found;
}

}  // namespace oriel::backend
