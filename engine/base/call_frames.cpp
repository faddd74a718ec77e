#include "base/call_frames.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/per_process.hpp"
#include "base/subprocess.hpp"

namespace oriel::base {
namespace {

// Not a library such as libdw: every program that uses Oriel would load it and three others for what explanations alone
// ask, and libdw itself asks servers for debug information (DEBUGINFOD_URLS).
constexpr const char* kAddr2line = "/usr/bin/addr2line";

/// The folder engine/ as the compiler was told of it: in debug information it stands behind the build's folder.
std::string_view own_folder() {
  constexpr std::string_view path = __FILE__;
  return path.substr(0, path.rfind("base/call_frames.cpp"));
}

/// Does the file belong to the user's program?
bool is_users(std::string_view file) {
  if (file.empty() || file.starts_with("?") || file.starts_with("/usr/include/") || file.starts_with("/usr/lib/"))
    return false;
  return file.find("include/oriel/") == std::string_view::npos && file.find(own_folder()) == std::string_view::npos;
}

/// A program or library in memory, and an address as its file numbers it.
struct Place {
  std::string module;  // its path; empty: the program itself
  std::uintptr_t address = 0;
};

std::optional<Place> place_of(void* address) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr)
    return std::nullopt;
  // A return address lies behind its call.
  return Place{map->l_name, reinterpret_cast<std::uintptr_t>(address) - map->l_addr - 1};
}

/// The lines that addr2line prints: for each address the address, then the lines of its inlined calls, innermost first.
std::vector<std::string> lines_of(const std::string& module, std::span<const std::uintptr_t> addresses) {
  // In addr2line /proc/self would be another program.
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  std::vector<std::string> command = {kAddr2line, "-a", "-i", "-e", module.empty() ? program.string() : module};
  for (const std::uintptr_t address : addresses) command.push_back(fmt::format("{:#x}", address));
  const SubprocessResult result = run_program(command, {.seconds = 20});
  std::vector<std::string> lines;
  if (!result.ok()) return lines;
  for (std::size_t at = 0; at < result.output.size();) {
    const std::size_t end = std::min(result.output.find('\n', at), result.output.size());
    lines.push_back(result.output.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// A return address and its place.
struct Call {
  void* key = nullptr;
  Place place;
};

/// The innermost calls that lie in one module outside of Oriel's library. What called that module did not branch: if
/// the module has no lines, the answer is not a line of its callers, such as the C library that called main.
std::vector<Call> users_calls(const CallFrames& frames) {
  const std::optional<Place> own = place_of(reinterpret_cast<void*>(&lines_of));
  // Linked statically, Oriel's calls lie in the user's module and are told by their files.
  const bool shared = own && own->module.find(".so") != std::string::npos;
  std::vector<Call> calls;
  bool inside = false;  // a sanitizer's own calls come first
  for (std::size_t k = 0; k < frames.count; ++k) {
    const std::optional<Place> place = place_of(frames.addresses[k]);
    const bool ours = place && own && place->module == own->module;
    inside = inside || ours;
    if (!inside || (calls.empty() && (!place || (shared && ours)))) continue;
    if (!place || (!calls.empty() && place->module != calls[0].place.module)) break;
    calls.push_back({frames.addresses[k], *place});
  }
  return calls;
}

/// What was asked before, by address.
class LineTable {
 public:
  Site user_line(const CallFrames& frames) {
    const std::lock_guard lock(guard_);
    const std::vector<Call> calls = users_calls(frames);
    ask(calls);
    for (const Call& call : calls) {
      const auto line = known_.find(call.key);
      if (line != known_.end() && line->second.file != nullptr) return line->second;
    }
    return Site::unknown();
  }

 private:
  /// Looks up the addresses that are not known yet. They lie in one module.
  void ask(const std::vector<Call>& calls) {
    std::vector<void*> keys;
    std::vector<std::uintptr_t> addresses;
    for (const Call& call : calls) {
      if (without_lines_.contains(call.place.module) || !known_.emplace(call.key, Site::unknown()).second) continue;
      keys.push_back(call.key);
      addresses.push_back(call.place.address);
    }
    if (!keys.empty()) read(keys, calls[0].place.module, lines_of(calls[0].place.module, addresses));
  }

  void read(const std::vector<void*>& keys, const std::string& module, const std::vector<std::string>& lines) {
    bool any = false;
    std::size_t next = 0;  // of keys
    for (const std::string& line : lines) {
      if (line.starts_with("0x")) {
        ++next;
        continue;
      }
      if (next == 0 || next > keys.size()) return;
      const std::size_t colon = line.rfind(':');
      if (colon == std::string::npos) continue;
      const std::string_view file = std::string_view(line).substr(0, colon);
      any = any || !file.starts_with("?");
      int number = 0;
      std::from_chars(line.data() + colon + 1, line.data() + line.size(), number);
      Site& known = known_.at(keys[next - 1]);
      if (known.file == nullptr && number > 0 && is_users(file))
        known = Site(Site::Kind::line, files_.emplace(file).first->c_str(), number);
    }
    if (!any) without_lines_.insert(module);
  }

  std::mutex guard_;
  std::map<void*, Site> known_;
  std::set<std::string> files_;
  std::set<std::string> without_lines_;
};

constinit PerProcessForever<LineTable> table;

}  // namespace

CallFrames CallFrames::here() noexcept {
  CallFrames frames;
  const int count = backtrace(frames.addresses.data(), static_cast<int>(kMost));
  frames.count = count > 0 ? static_cast<std::size_t>(count) : 0;
  return frames;
}

Site user_line(const CallFrames& frames) {
  if (frames.count == 0 || privileged() || access(kAddr2line, X_OK) != 0) return Site::unknown();
  return table.get([] { return std::make_unique<LineTable>(); }).user_line(frames);
}

}  // namespace oriel::base
