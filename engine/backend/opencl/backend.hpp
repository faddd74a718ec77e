// OpenCL devices: kernels are generated and built by the device's own compiler.
#pragma once

#include "backend/items/backend.hpp"
#include "backend/opencl/device_table.hpp"

namespace oriel::backend::opencl {

struct Options : items::Options {
  const Api* api = nullptr;                ///< null: the system's loader
  void (*adjust)(DeviceTable&) = nullptr;  ///< changes the capabilities of the device, for tests; null: no change
};

/// Thread safety: every member may be called from any thread.
class OpenClBackend final : public items::ItemBackend {
 public:
  /// Throws DeviceError if the device does not exist. The message lists the devices that do.
  explicit OpenClBackend(int index, const Options& options = {});
};

/// How many devices the system's loader finds; 0 without a loader.
int device_count();

}  // namespace oriel::backend::opencl
