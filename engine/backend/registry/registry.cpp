// The backends, a row for each kind of device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/eigen/backend.hpp"
#include "backend/null/backend.hpp"
#ifdef ORIEL_OPENCL
#include "backend/opencl/backend.hpp"
#endif
#include "base/context.hpp"
#include "base/device.hpp"
#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::backend {

namespace {

#ifdef ORIEL_OPENCL
constexpr bool kOpenCl = true;
#else
constexpr bool kOpenCl = false;
#endif

// Drivers and their compilers destroy their state when the process ends, so work that uses them must be finished
// before. Called with the lock of backends held, except while the process ends.
std::vector<Backend*>& opened() {
  static auto& list = *new std::vector<Backend*>();
  return list;
}

[[maybe_unused]] void quiesce_all() {
  for (Backend* b : opened()) b->quiesce();
}

std::unique_ptr<Backend> make_eigen(base::ContextState& context, int) {
  eigen::Options options;
  options.most_threads = context.threads;
  options.context = context.number();
  options.memory = context.memory;
  return std::make_unique<eigen::EigenBackend>(options);
}

std::unique_ptr<Backend> make_null(base::ContextState& context, int) {
  return std::make_unique<null::NullBackend>(context.number());
}

std::unique_ptr<Backend> make_opencl([[maybe_unused]] base::ContextState& context, [[maybe_unused]] int index) {
#ifdef ORIEL_OPENCL
  opencl::Options options;
  options.context = context.number();
  auto backend = std::make_unique<opencl::OpenClBackend>(index, options);
  // Registered again after each build, because a build may set up more state that is destroyed at exit.
  backend->on_build([] { std::atexit(quiesce_all); });
  return backend;
#else
  return nullptr;
#endif
}

int opencl_devices() {
#ifdef ORIEL_OPENCL
  return opencl::device_count();
#else
  return 0;
#endif
}

/// A kind of device.
struct KindRow {
  DeviceKind kind;
  bool built;  // has this library its backend?
  bool computes;
  int (*count)();  // devices of this machine; null: one
  std::unique_ptr<Backend> (*make)(base::ContextState& context, int index);
  std::string_view missing = {};  // what a library without the backend says
};

// In the order of DeviceKind.
constexpr KindRow kKinds[] = {
    {DeviceKind::eigen, true, true, nullptr, make_eigen},
    {DeviceKind::null, true, false, nullptr, make_null},
    {DeviceKind::opencl, kOpenCl, true, opencl_devices, make_opencl,
     "; this build has no OpenCL: build Oriel with -Dopencl=enabled, in the profile full"},
};
using base::kMostDevices;
static_assert(std::size(kKinds) == std::size(base::kDeviceNames));

const KindRow& row_of(DeviceKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

/// The backends of one context, made when they are first asked for. Those of the default context are never destroyed:
/// buffers of static tensors may outlive every other static object.
class Backends final : public base::ContextPart {
 public:
  explicit Backends(base::ContextState& context) : context_(context) {}
  ~Backends() override {
    for (std::size_t k = places_.size(); k-- > 0;) {
      for (const std::atomic<Backend*>& place : places_[k]) {
        Backend* const backend = place.load();
        if (backend == nullptr) continue;
        backend->quiesce();
        {
          const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
          std::erase(opened(), backend);
        }
        delete backend;
      }
    }
  }

  Backend& get(const KindRow& row, std::size_t index) {
    std::atomic<Backend*>& place = places_[static_cast<std::size_t>(row.kind)][index];
    Backend* backend = place.load(std::memory_order_acquire);
    if (backend != nullptr) return *backend;
    const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
    backend = place.load(std::memory_order_relaxed);
    if (backend != nullptr) return *backend;
    backend = row.make(context_, static_cast<int>(index)).release();
    opened().push_back(backend);
    place.store(backend, std::memory_order_release);
    return *backend;
  }

 private:
  base::ContextState& context_;
  std::array<std::array<std::atomic<Backend*>, kMostDevices>, std::size(kKinds)> places_{};
};

}  // namespace

Backend& backend_for(Device device) {
  base::ContextState& context = base::context_state(device.context);
  auto& backends =
      context.part<Backends>(base::ContextSlot::backends, [&] { return std::make_unique<Backends>(context); });
  const KindRow& row = row_of(device.kind);
  if (row.built && (base::name_of(device.kind).numbered || device.index == 0)) return backends.get(row, device.index);
  std::string known;
  for (const Device d : available_devices()) known += (known.empty() ? "" : ", ") + d.str();
  if (!row.built) known += row.missing;
  throw DeviceError("backend", fmt::format("there is no device {} with index {}; there are {}", device.str(),
                                           static_cast<int>(device.index), known));
}

std::vector<Device> available_devices() {
  std::vector<Device> found;
  for (const KindRow& row : kKinds) {
    const std::size_t count = row.count == nullptr ? 1 : std::min(static_cast<std::size_t>(row.count()), kMostDevices);
    for (std::size_t k = 0; k < count; ++k) found.push_back({row.kind, static_cast<std::uint8_t>(k), 0});
  }
  return found;
}

Device host_device(std::uint16_t context) { return {DeviceKind::eigen, 0, context}; }

bool computes(Device device) noexcept { return row_of(device.kind).computes; }

std::size_t device_kinds() noexcept { return std::size(kKinds); }

}  // namespace oriel::backend
