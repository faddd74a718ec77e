// What the emitter has to know about a device of work items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace oriel::source::items {

struct DeviceTraits {
  std::string name;
  bool cpu = false;
  bool fp64 = false;
  bool fma = false;  // can the hardware round a product and a sum once?
  int units = 1;
  std::size_t argument_bytes = 1024;
  std::int64_t local_memory = 0;
  std::size_t group_size = 1;
  std::size_t group_extent = 1;  // along the first axis
  // Elements of a vector, for elements of 1, 2, 4 and 8 bytes.
  int vector_width[4] = {1, 1, 1, 1};

  int width(std::size_t itemsize) const {
    return vector_width[itemsize == 1 ? 0 : itemsize == 2 ? 1 : itemsize == 4 ? 2 : 3];
  }
};

}  // namespace oriel::source::items
