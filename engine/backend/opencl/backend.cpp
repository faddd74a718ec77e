#include "backend/opencl/backend.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"
#include "source/opencl/dialect.hpp"

namespace oriel::backend::opencl {
namespace {

std::unique_ptr<items::Driver> open_device(int index, const Options& options) {
  std::string why_not;
  const Api* api = fork_watch().lost() || options.api == nullptr ? system_api(why_not) : options.api;
  if (api == nullptr) throw DeviceError("opencl", why_not);
  fork_watch().use();
  std::vector<DeviceTable> found = find_devices(*api);
  if (found.empty()) {
    throw DeviceError("opencl",
                      "the OpenCL loader finds no device: install a driver, say PoCL (Debian: pocl-opencl-icd)");
  }
  if (index < 0 || index >= static_cast<int>(found.size())) {
    throw DeviceError("opencl",
                      fmt::format("there is no device opencl:{}; the last is opencl:{}", index, found.size() - 1));
  }
  DeviceTable& table = found[static_cast<std::size_t>(index)];
  if (options.adjust != nullptr) options.adjust(table);
  return open_driver(*api, table);
}

}  // namespace

int device_count() {
  std::string why_not;
  const Api* api = system_api(why_not);
  if (api == nullptr) return 0;
  // A fork waits for it, so that no child finds it half made.
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
  static constinit int count = -1;
  fork_watch().use();
  if (count < 0) count = static_cast<int>(find_devices(*api).size());
  return count;
}

OpenClBackend::OpenClBackend(int index, const Options& options)
    : ItemBackend(open_device(index, options), source::opencl::dialect(),
                  {DeviceKind::opencl, static_cast<std::uint8_t>(index), options.context}, options) {}

}  // namespace oriel::backend::opencl
