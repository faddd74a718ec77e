// The backends of devices.
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
#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::backend {

namespace {

#ifdef ORIEL_OPENCL
// Drivers and their compilers destroy their state when the process ends, so work that uses them must be finished
// before. Called with the lock of backends held, except while the process ends.
std::vector<opencl::OpenClBackend*>& opened() {
  static auto& list = *new std::vector<opencl::OpenClBackend*>();
  return list;
}

void quiesce_all() {
  for (opencl::OpenClBackend* b : opened()) b->quiesce();
}
#endif

/// The backends of one context, made when they are first asked for. Those of the default context are never destroyed:
/// buffers of static tensors may outlive every other static object.
class Backends final : public base::ContextPart {
 public:
  explicit Backends(base::ContextState& context) : context_(context) {}
  ~Backends() override {
#ifdef ORIEL_OPENCL
    for (const std::atomic<opencl::OpenClBackend*>& place : opencl_) {
      opencl::OpenClBackend* const backend = place.load();
      if (backend == nullptr) continue;
      backend->quiesce();
      {
        const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
        std::erase(opened(), backend);
      }
      delete backend;
    }
#endif
    delete eigen_.load();
    delete null_.load();
  }

  Backend& eigen() {
    return get(eigen_, [&] {
      eigen::Options options;
      options.most_threads = context_.threads;
      options.context = context_.number();
      options.memory = context_.memory;
      return std::make_unique<eigen::EigenBackend>(options);
    });
  }
  Backend& null() {
    return get(null_, [&] { return std::make_unique<null::NullBackend>(context_.number()); });
  }
#ifdef ORIEL_OPENCL
  Backend& opencl(int index) {
    return get(opencl_[static_cast<std::size_t>(index)], [&] {
      opencl::Options options;
      options.context = context_.number();
      auto backend = std::make_unique<opencl::OpenClBackend>(index, options);
      // Registered again after each build, because a build may set up more state that is destroyed at exit.
      backend->on_build([] { std::atexit(quiesce_all); });
      opened().push_back(backend.get());
      return backend;
    });
  }
#endif

 private:
  template <class T, class Make>
  static T& get(std::atomic<T*>& place, const Make& make) {
    T* backend = place.load(std::memory_order_acquire);
    if (backend != nullptr) return *backend;
    const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
    backend = place.load(std::memory_order_relaxed);
    if (backend != nullptr) return *backend;
    backend = make().release();
    place.store(backend, std::memory_order_release);
    return *backend;
  }

  base::ContextState& context_;
  std::atomic<eigen::EigenBackend*> eigen_{nullptr};
  std::atomic<null::NullBackend*> null_{nullptr};
#ifdef ORIEL_OPENCL
  std::array<std::atomic<opencl::OpenClBackend*>, 256> opencl_{};
#endif
};

}  // namespace

Backend& backend_for(Device device) {
  base::ContextState& context = base::context_state(device.context);
  auto& backends =
      context.part<Backends>(base::ContextSlot::backends, [&] { return std::make_unique<Backends>(context); });
  if (device.kind == DeviceKind::eigen && device.index == 0) return backends.eigen();
  if (device.kind == DeviceKind::null && device.index == 0) return backends.null();
#ifdef ORIEL_OPENCL
  if (device.kind == DeviceKind::opencl) return backends.opencl(device.index);
#endif
  std::string known;
  for (const Device d : available_devices()) known += (known.empty() ? "" : ", ") + d.str();
#ifndef ORIEL_OPENCL
  if (device.kind == DeviceKind::opencl)
    known += "; this build has no OpenCL: build Oriel with -Dopencl=enabled, in the profile full";
#endif
  throw DeviceError("backend", fmt::format("there is no device {} with index {}; there are {}", device.str(),
                                           static_cast<int>(device.index), known));
}

std::vector<Device> available_devices() {
  std::vector<Device> found{Device::eigen(), Device::null()};
#ifdef ORIEL_OPENCL
  const int count = std::min(opencl::device_count(), 256);
  for (int k = 0; k < count; ++k) found.push_back(Device::opencl(static_cast<std::uint8_t>(k)));
#endif
  return found;
}

}  // namespace oriel::backend
