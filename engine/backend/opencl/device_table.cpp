#include "backend/opencl/device_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace oriel::backend::opencl {
namespace {

/// A text that `get` gives about a device or a platform.
template <class Id>
std::string text(cl_int (*get)(Id, cl_uint, std::size_t, void*, std::size_t*), Id id, cl_uint what) {
  std::size_t bytes = 0;
  if (get(id, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string value(bytes, '\0');
  if (get(id, what, bytes, value.data(), nullptr) != CL_SUCCESS) return {};
  while (!value.empty() && (value.back() == '\0' || value.back() == ' ')) value.pop_back();
  return value;
}

template <class T>
T number(const Api& api, cl_device_id id, cl_device_info what, T otherwise) {
  T value{};
  return api.clGetDeviceInfo(id, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

DeviceTable describe_device(const Api& api, cl_platform_id platform, cl_device_id id) {
  DeviceTable d;
  d.platform = platform;
  d.id = id;
  d.name = text(api.clGetDeviceInfo, id, CL_DEVICE_NAME);
  d.platform_name = text(api.clGetPlatformInfo, platform, CL_PLATFORM_NAME);
  d.version = text(api.clGetDeviceInfo, id, CL_DEVICE_VERSION);
  d.driver = text(api.clGetDeviceInfo, id, CL_DRIVER_VERSION);
  d.cpu = (number<cl_device_type>(api, id, CL_DEVICE_TYPE, 0) & CL_DEVICE_TYPE_CPU) != 0;
  const std::string extensions = text(api.clGetDeviceInfo, id, CL_DEVICE_EXTENSIONS) + " ";
  d.fp16 = extensions.find("cl_khr_fp16 ") != std::string::npos;
  d.fp64 = extensions.find("cl_khr_fp64 ") != std::string::npos;
  d.pocl = d.platform_name == "Portable Computing Language";
  // PoCL 3.1 counts the uses of a function's library per grid, but may decrement the count of another grid. It aborts
  // the process if that count is already zero.
  d.one_grid = d.pocl;
  d.unified_memory = number<cl_bool>(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE) != CL_FALSE;
  const auto single = number<cl_device_fp_config>(api, id, CL_DEVICE_SINGLE_FP_CONFIG, 0);
  d.correct_division = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  d.fma = (single & CL_FP_FMA) != 0;
  d.units = static_cast<int>(std::max<cl_uint>(1, number<cl_uint>(api, id, CL_DEVICE_MAX_COMPUTE_UNITS, 1)));
  d.argument_bytes = number<std::size_t>(api, id, CL_DEVICE_MAX_PARAMETER_SIZE, 1024);
  d.alignment = std::max<std::size_t>(1, number<cl_uint>(api, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8);
  d.memory = static_cast<std::int64_t>(number<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_SIZE, 0));
  d.largest_buffer = static_cast<std::int64_t>(number<cl_ulong>(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0));
  d.local_memory = static_cast<std::int64_t>(number<cl_ulong>(api, id, CL_DEVICE_LOCAL_MEM_SIZE, 0));
  d.group_size = std::max<std::size_t>(1, number<std::size_t>(api, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
  std::size_t extents[3] = {1, 1, 1};
  api.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof extents, extents, nullptr);
  d.group_extent = std::max<std::size_t>(1, extents[0]);
  const cl_device_info widths[] = {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
                                   CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG};
  // GPUs say 1, because their items compute one lane at a time; memory is read faster by vectors of 16 bytes.
  constexpr cl_uint least[] = {4, 4, 4, 2};
  for (int k = 0; k < 4; ++k)
    d.vector_width[k] = static_cast<int>(
        std::min(16U, std::bit_floor(std::max(number<cl_uint>(api, id, widths[k], 1), d.cpu ? 1U : least[k]))));
  return d;
}

}  // namespace

std::string DeviceTable::describe() const {
  const auto mebibytes = [](std::int64_t bytes) { return bytes >> 20; };
  return fmt::format(
      "{} ({}), {}, driver {}; {}, {} {}, {} MiB, buffers to {} MiB, local memory {} KiB, groups to {}, arguments to "
      "{} "
      "bytes; vectors of {} float32, {} int64; {}float16, {}float64{}",
      name, platform_name, version, driver, cpu ? "CPU" : "GPU or accelerator", units, units == 1 ? "unit" : "units",
      mebibytes(memory), mebibytes(largest_buffer), local_memory >> 10, group_size, argument_bytes, width(4), width(8),
      fp16 ? "" : "no ", fp64 ? "" : "no ", unified_memory ? "; shares the host's memory" : "");
}

std::vector<DeviceTable> find_devices(const Api& api) {
  std::vector<DeviceTable> found;
  cl_uint platforms = 0;
  if (api.clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS || platforms == 0) return found;
  std::vector<cl_platform_id> ids(platforms);
  if (api.clGetPlatformIDs(platforms, ids.data(), nullptr) != CL_SUCCESS) return found;
  for (cl_platform_id platform : ids) {
    cl_uint count = 0;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> devices(count);
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) != CL_SUCCESS) continue;
    for (cl_device_id id : devices)
      if (number<cl_bool>(api, id, CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE) != CL_FALSE &&
          number<cl_bool>(api, id, CL_DEVICE_AVAILABLE, CL_FALSE) != CL_FALSE)
        found.push_back(describe_device(api, platform, id));
  }
  return found;
}

}  // namespace oriel::backend::opencl
