// The properties of an OpenCL device: all that code generation and scheduling ask about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/opencl/api.hpp"
#include "source/items/device.hpp"

namespace oriel::backend::opencl {

struct DeviceTable : source::items::DeviceTraits {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string platform_name;
  std::string version;  // the device's version string
  std::string driver;
  bool available = true;
  bool fp16 = false;
  bool unified_memory = false;
  bool pocl = false;              // some of its faults and costs are worked around
  bool one_grid = false;          // launches of one function with different grids must not run at the same time
  bool correct_division = false;  // float32 divisions and square roots can be rounded correctly
  int major = 1;                  // OpenCL version
  int minor = 2;
  std::size_t alignment = 128;  // required of a buffer's first byte
  std::int64_t memory = 0;
  std::int64_t largest_buffer = 0;

  /// For example "PoCL ... device, 2 units, 23 GiB, ...".
  std::string describe() const;
};

/// The devices of all platforms that can run kernels, in the loader's order. Empty if there is no platform.
std::vector<DeviceTable> find_devices(const Api& api);

}  // namespace oriel::backend::opencl
