#include "memory/disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/per_process.hpp"
#include "base/settings.hpp"
#include "base/temporary_file.hpp"
#include "oriel/error.hpp"

namespace oriel::mem {
namespace {

// The first bytes of every entry. The number is the version of the format.
constexpr std::string_view kMagic = "oriel cache entry 1\n";
constexpr std::string_view kSuffix = ".entry";
constexpr std::string_view kAside = ".aside";
// A temporary file of this age was left by a process that died.
constexpr std::int64_t kAsideSeconds = 3600;

struct Header {
  char magic[24] = {};
  std::uint64_t key_bytes = 0;
  std::uint64_t blob_bytes = 0;
  std::uint64_t checksum = 0;
};

/// FNV-1a with a given start value. It protects against accidental corruption; the folder's permissions protect against
/// other users.
std::uint64_t fold(std::uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}
constexpr std::uint64_t kStart = 0xcbf29ce484222325ULL;

std::uint64_t checksum(std::string_view key, std::string_view blob) { return fold(fold(kStart, key), blob); }

/// Owns a file descriptor.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const noexcept { return fd_; }
  bool open() const noexcept { return fd_ >= 0; }
  bool closed_well() { return close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool read_all(int fd, char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = read(fd, data, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// True if the file belongs to this user and nobody else may write to it.
bool own(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string folder_from_environment(std::string& why_not) {
  if (const auto text = base::env_text("ORIEL_CACHE")) {
    if (*text != "off") return *text;
    why_not = "off (ORIEL_CACHE)";
    return {};
  }
  // The XDG standard says to ignore a path that is not absolute.
  if (const auto xdg = base::env_text("XDG_CACHE_HOME"); xdg && xdg->front() == '/') return *xdg + "/oriel";
  if (const auto home = base::env_text("HOME"); home && home->front() == '/') return *home + "/.cache/oriel";
  why_not = "off: neither ORIEL_CACHE, XDG_CACHE_HOME nor HOME names a folder";
  return {};
}

}  // namespace

DiskCache::DiskCache(std::string folder, std::int64_t most_bytes)
    : folder_(std::move(folder)), state_("off"), most_bytes_(most_bytes) {
  if (!folder_.empty()) open_folder();
}

DiskCache::~DiskCache() {
  if (folder_fd_ >= 0) close(folder_fd_);
}

namespace {

constinit base::PerProcessForever<DiskCache> shared_cache;

}  // namespace

DiskCache& DiskCache::shared() {
  return shared_cache.get([] {
    std::string why_not;
    const std::string folder = folder_from_environment(why_not);
    auto made = std::make_unique<DiskCache>(folder, base::env_count("ORIEL_CACHE_BYTES").value_or(kMostBytes));
    if (folder.empty()) made->state_ = why_not;
    return made;
  });
}

void DiskCache::open_folder() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(folder_, error);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    state_ = fmt::format("off: cannot make {}: {}", path.string(), std::strerror(errno));
    return;
  }
  // The user's own link may lead to another disk. A link planted by somebody else could choose which files are
  // overwritten, so it is refused.
  if (struct stat link{};
      lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != geteuid() && link.st_uid != 0) {
    state_ = fmt::format("off: {} is a link that belongs to another user", path.string());
    return;
  }
  // From here on only this descriptor is used, so the folder cannot be exchanged under its name.
  File opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat s {};
  if (!opened.open() || fstat(opened.fd(), &s) != 0) {
    state_ = fmt::format("off: cannot open {}: {}", path.string(), std::strerror(errno));
  } else if (s.st_uid != geteuid()) {
    state_ = fmt::format("off: {} belongs to another user", path.string());
  } else if (!own(s)) {
    state_ = fmt::format("off: others may write to {}; chmod go-w makes it safe to use", path.string());
  } else {
    folder_fd_ = fcntl(opened.fd(), F_DUPFD_CLOEXEC, 0);
    folder_ = path.string();
    state_ = folder_fd_ < 0 ? fmt::format("off: {}", std::strerror(errno)) : folder_;
  }
}

std::string DiskCache::file_name(std::string_view key) {
  const std::uint64_t low = fold(kStart, key);
  const std::uint64_t high = fold(low ^ 0x9e3779b97f4a7c15ULL, key);
  return fmt::format("{:016x}{:016x}{}", high, low, kSuffix);
}

std::optional<std::string> DiskCache::find(std::string_view key) {
  if (!usable()) return std::nullopt;
  const File file(openat(folder_fd_, file_name(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (!file.open() || fstat(file.fd(), &s) != 0 || !S_ISREG(s.st_mode) || !own(s)) return std::nullopt;
  Header header;
  if (static_cast<std::size_t>(s.st_size) < sizeof header ||
      !read_all(file.fd(), reinterpret_cast<char*>(&header), sizeof header)) {
    return std::nullopt;
  }
  const std::uint64_t rest = static_cast<std::uint64_t>(s.st_size) - sizeof header;
  if (std::memcmp(header.magic, kMagic.data(), kMagic.size()) != 0 || header.key_bytes != key.size() ||
      header.key_bytes > rest || header.blob_bytes != rest - header.key_bytes) {
    return std::nullopt;
  }
  std::string stored(key.size(), '\0');
  std::string blob(static_cast<std::size_t>(header.blob_bytes), '\0');
  if (!read_all(file.fd(), stored.data(), stored.size()) || stored != key) return std::nullopt;
  if (!read_all(file.fd(), blob.data(), blob.size()) || checksum(key, blob) != header.checksum) return std::nullopt;
  futimens(file.fd(), nullptr);  // marks the entry as used; if the disk is read-only, nothing is evicted either
  return blob;
}

bool DiskCache::put(std::string_view key, std::string_view blob) {
  if (!usable()) return false;
  const std::string name = file_name(key);
  const std::string aside = fmt::format("{}.{}{}", name, base::random_digits(), kAside);
  File file(openat(folder_fd_, aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.open()) return false;
  Header header;
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.key_bytes = key.size();
  header.blob_bytes = blob.size();
  header.checksum = checksum(key, blob);
  const bool whole = write_all(file.fd(), {reinterpret_cast<const char*>(&header), sizeof header}) &&
                     write_all(file.fd(), key) && write_all(file.fd(), blob) && file.closed_well();
  if (!whole || renameat(folder_fd_, aside.c_str(), folder_fd_, name.c_str()) != 0) {
    unlinkat(folder_fd_, aside.c_str(), 0);
    return false;
  }
  const std::lock_guard lock(guard_);
  const bool first = written_ < 0;
  written_ = std::max<std::int64_t>(written_, 0) + static_cast<std::int64_t>(key.size() + blob.size());
  // Other processes write too, so the folder is scanned at the first write and after every eighth of the limit written.
  if (first || (most_bytes_ > 0 && written_ > most_bytes_ / 8)) evict();
  return true;
}

void DiskCache::drop(std::string_view key) {
  if (usable()) unlinkat(folder_fd_, file_name(key).c_str(), 0);
}

void DiskCache::evict() {
  written_ = 0;
  const int fd = openat(folder_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = fd < 0 ? nullptr : fdopendir(fd);
  if (listing == nullptr) {
    if (fd >= 0) close(fd);
    return;
  }
  struct Entry {
    timespec used;
    std::int64_t bytes;
    std::string name;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  const time_t now = time(nullptr);
  while (const dirent* found = readdir(listing)) {
    const std::string name = found->d_name;
    struct stat s {};
    const bool aside = ends_with(name, kAside);
    if ((!aside && !ends_with(name, kSuffix)) || fstatat(folder_fd_, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (aside) {
      if (now - s.st_mtim.tv_sec > kAsideSeconds) unlinkat(folder_fd_, name.c_str(), 0);
      continue;
    }
    entries.push_back({s.st_mtim, s.st_size, name});
    total += s.st_size;
  }
  closedir(listing);
  if (most_bytes_ == 0 || total <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  // Evicts well below the limit, so that the next write does not reach it again.
  for (const Entry& e : entries) {
    if (total <= most_bytes_ - most_bytes_ / 4) break;
    if (unlinkat(folder_fd_, e.name.c_str(), 0) == 0) total -= e.bytes;
  }
}

}  // namespace oriel::mem
