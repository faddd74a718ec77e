#include "backend/opencl/api.hpp"

#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::opencl {
namespace {

// clang-format off
#define ORIEL_OPENCL_STATUSES(X) \
    X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) X(CL_BUILD_PROGRAM_FAILURE) \
    X(CL_INVALID_VALUE) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_HOST_PTR) X(CL_INVALID_BINARY) \
    X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) X(CL_INVALID_KERNEL_ARGS) \
    X(CL_INVALID_ARG_SIZE) X(CL_INVALID_ARG_VALUE) X(CL_INVALID_WORK_GROUP_SIZE) X(CL_INVALID_GLOBAL_WORK_SIZE) \
    X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_CONTEXT) X(CL_INVALID_MEM_OBJECT) X(CL_PLATFORM_NOT_FOUND_KHR)
// clang-format on

std::atomic<const Api*> replacement{nullptr};
constinit items::ForkWatch watch("OpenCL");

struct Loaded {
  std::unique_ptr<Api> api;
  std::string why_not;
};

Loaded load() {
  Loaded loaded;
  void* library = nullptr;
  for (const char* name : {"libOpenCL.so.1", "libOpenCL.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    loaded.why_not = "there is no OpenCL loader library (libOpenCL.so.1); Debian has it as ocl-icd-libopencl1";
    return loaded;
  }
  // The library is never closed: drivers run threads of their own.
  auto api = std::make_unique<Api>();
#define ORIEL_OPENCL_FIND(name)                                             \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, #name)); \
  if (api->name == nullptr) loaded.why_not = "the OpenCL loader library has no " #name;
  ORIEL_OPENCL_ENTRIES(ORIEL_OPENCL_FIND)
#undef ORIEL_OPENCL_FIND
  if (loaded.why_not.empty()) loaded.api = std::move(api);
  return loaded;
}

}  // namespace

void replace_system_api(const Api* api) { replacement = api; }

items::ForkWatch& fork_watch() noexcept { return watch; }

const Api* system_api(std::string& why_not) {
  if (watch.lost()) {
    why_not = watch.message();
    return nullptr;
  }
  if (const Api* api = replacement) return api;
  // A fork waits for it, so that no child finds it half made.
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
  static constinit const Loaded* loaded = nullptr;
  if (loaded == nullptr) loaded = new Loaded(load());
  why_not = loaded->why_not;
  return loaded->api.get();
}

std::string status_name(cl_int status) {
#define ORIEL_OPENCL_NAME(name) \
  if (status == name) return fmt::format("{} ({})", #name, status);
  ORIEL_OPENCL_STATUSES(ORIEL_OPENCL_NAME)
#undef ORIEL_OPENCL_NAME
  return fmt::format("OpenCL status {}", status);
}

void check(cl_int status, const char* operation, const std::string& what) {
  if (status == CL_SUCCESS) return;
  const std::string message = what + ": " + status_name(status);
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_INVALID_BUFFER_SIZE)
    throw MemoryError(operation, message);
  throw DeviceError(operation, message);
}

}  // namespace oriel::backend::opencl
