// The structs of DLPack's binary interface, version 1.0, under their published names, for who has no dlpack.h.
#pragma once

#include <cstdint>

struct DLDevice {
  std::int32_t device_type;  // 1: the CPU's memory; 3 and 11: the host's, pinned for CUDA and ROCm
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;  // 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;  // bit 0: read-only; bit 1: a copy
  DLTensor dl_tensor;
};
