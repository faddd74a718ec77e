#include "base/temporary_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <random>

namespace oriel::base {
namespace {

constexpr time_t kStaleSeconds = 3600;
constexpr int kMostEntries = 4096;
constexpr std::size_t kDigits = 16;

bool is_digits(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void remove_if_stale(int folder, const char* name) {
  // Non-blocking, because the name may belong to a pipe.
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat s {};
  const bool ours = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid();
  if (ours && time(nullptr) - s.st_mtim.tv_sec > kStaleSeconds && flock(fd, LOCK_EX | LOCK_NB) == 0)
    unlinkat(folder, name, 0);
  if (fd >= 0) close(fd);
}

}  // namespace

std::string random_digits() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source() & 0xffffffffU, source() & 0xffffffffU);
}

void remove_stale_files(const std::string& folder, std::string_view stem) noexcept {
  const int kept = errno;
  DIR* const listing = opendir(folder.empty() ? "." : folder.c_str());
  if (listing == nullptr) {
    errno = kept;
    return;
  }
  const dirent* entry = readdir(listing);
  for (int k = 0; entry != nullptr && k < kMostEntries; ++k, entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(stem) && is_digits(name.substr(stem.size()))) remove_if_stale(dirfd(listing), entry->d_name);
  }
  closedir(listing);
  errno = kept;
}

}  // namespace oriel::base
