#include "memory/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>

namespace oriel::mem {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// The number at the start of a file. "max" and a missing file mean no limit.
std::size_t limit_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::size_t limit = 0;
  if (!(file >> text)) return kNoLimit;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), limit);
  return fault == std::errc{} && end == text.data() + text.size() ? limit : kNoLimit;
}

/// The least limit of a control group and the groups above it, up to the mount. In a container the group's path may be
/// that of the host, which does not exist below the mount; the mount itself is then the group.
std::size_t least_limit(const std::string& mount, std::string group, const std::string& file) {
  std::size_t least = limit_in(fmt::format("{}/{}", mount, file));
  while (!group.empty() && group != "/") {
    least = std::min(least, limit_in(fmt::format("{}{}/{}", mount, group, file)));
    group.resize(group.rfind('/'));
  }
  return least;
}

}  // namespace

std::size_t group_memory(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  std::size_t least = kNoLimit;
  // "0::/group" of version 2, "5:memory,other:/group" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.find('/', second) != second + 1) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, least_limit(root + "/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, least_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const std::size_t all =
      pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : kNoLimit;
  // A quarter of the address space: more than any system has, and small enough that sums do not overflow.
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2;
  static const std::size_t groups = group_memory("");
  return std::min({all, groups, most});
}

}  // namespace oriel::mem
