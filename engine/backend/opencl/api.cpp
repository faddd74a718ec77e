#include "backend/opencl/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::opencl {
namespace {

struct StatusRow {
  cl_int status;
  const char* name;
};

// clang-format off
constexpr StatusRow kStatuses[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    {CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR"},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};
// clang-format on

std::atomic<const Api*> replacement{nullptr};

constexpr unsigned kUnused = ~0U;
std::atomic<unsigned> forks{0};
std::atomic<unsigned> forks_at_first_use{kUnused};

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

void use_driver() {
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
  if (forks_at_first_use != kUnused) return;
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  forks_at_first_use = forks.load();
}

bool driver_lost() noexcept {
  const unsigned first = forks_at_first_use;
  return first != kUnused && first != forks;
}

const Api* system_api(std::string& why_not) {
  if (driver_lost()) {
    why_not = kLost;
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
  for (const StatusRow& row : kStatuses)
    if (row.status == status) return fmt::format("{} ({})", row.name, status);
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
