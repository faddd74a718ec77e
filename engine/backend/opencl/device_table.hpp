// The OpenCL devices of this machine and their properties.
#pragma once

#include <string>
#include <vector>

#include "backend/opencl/api.hpp"

namespace oriel::backend::opencl {

struct DeviceTable : items::DeviceTable {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string platform_name;
  std::string version;  // the device's version string
  std::string driver;
  bool fp16 = false;
  bool pocl = false;              // some of its faults and costs are worked around
  bool correct_division = false;  // float32 divisions and square roots can be rounded correctly

  /// For example "PoCL ... device, 2 units, 23 GiB, ...".
  std::string describe() const;
};

/// The devices of all platforms that can run kernels, in the loader's order. Empty if there is no platform.
std::vector<DeviceTable> find_devices(const Api& api);
/// The calls for one of them. Throws DeviceError if it cannot be opened.
std::unique_ptr<items::Driver> open_driver(const Api& api, const DeviceTable& table);

}  // namespace oriel::backend::opencl
