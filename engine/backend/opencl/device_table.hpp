// What an OpenCL device is and has: all that code generation and scheduling ask about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/opencl/api.hpp"

namespace oriel::backend::opencl {

struct DeviceTable {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string name;
  std::string platform_name;
  std::string version;  // of the device
  std::string driver;
  bool cpu = false;
  bool available = true;
  bool fp16 = false;
  bool fp64 = false;
  bool unified_memory = false;
  bool one_grid = false;          // launches of one function with different grids must not be under way together
  bool correct_division = false;  // float32 divisions and square roots can be rounded correctly
  bool fma = false;               // a product and a sum rounded once, in hardware
  int major = 1;                  // of the OpenCL version
  int minor = 2;
  int units = 1;
  std::size_t argument_bytes = 1024;
  std::size_t alignment = 128;  // of a buffer's beginning, in bytes
  std::int64_t memory = 0;
  std::int64_t largest_buffer = 0;
  std::int64_t local_memory = 0;
  std::size_t group_size = 1;
  std::size_t group_extent = 1;  // along the first axis
  // Elements of a vector, by the elements' bytes: 1, 2, 4, 8.
  int vector_width[4] = {1, 1, 1, 1};

  int width(std::size_t itemsize) const {
    return vector_width[itemsize == 1 ? 0 : itemsize == 2 ? 1 : itemsize == 4 ? 2 : 3];
  }
  /// "PoCL ... device, 2 units, 23 GiB, ...".
  std::string describe() const;
};

/// The devices of all platforms that can run kernels, in the loader's order. Empty where there is no platform.
std::vector<DeviceTable> find_devices(const Api& api);

}  // namespace oriel::backend::opencl
