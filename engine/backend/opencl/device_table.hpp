// What an OpenCL device is and has: all that code generation and scheduling ask about it.
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
  std::string version;  // of the device
  std::string driver;
  bool available = true;
  bool fp16 = false;
  bool unified_memory = false;
  bool one_grid = false;          // launches of one function with different grids must not be under way together
  bool correct_division = false;  // float32 divisions and square roots can be rounded correctly
  int major = 1;                  // of the OpenCL version
  int minor = 2;
  std::size_t alignment = 128;  // of a buffer's beginning, in bytes
  std::int64_t memory = 0;
  std::int64_t largest_buffer = 0;

  /// "PoCL ... device, 2 units, 23 GiB, ...".
  std::string describe() const;
};

/// The devices of all platforms that can run kernels, in the loader's order. Empty where there is no platform.
std::vector<DeviceTable> find_devices(const Api& api);

}  // namespace oriel::backend::opencl
