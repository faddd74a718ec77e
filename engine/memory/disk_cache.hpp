// A cache on disk, shared between processes: blobs by key.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace oriel::mem {

/// A folder of blobs, each under a key of any length. find returns exactly what put stored for the same key: an entry
/// holds its whole key and a checksum, and an entry that is truncated, changed or has another key counts as missing.
/// Several processes may share a folder: entries are written to a temporary file and renamed. Errors of the disk never
/// throw; if the folder cannot be used or written, nothing is cached.
///
/// Thread safety: any thread.
class DiskCache {
 public:
  /// Uses `folder`, and creates it for this user alone if it is missing. Refuses a folder that belongs to another user
  /// or that others may write to; a link may also belong to root, but its target may not. Beyond `most_bytes` the least
  /// recently used entries are evicted; 0: none are.
  explicit DiskCache(std::string folder, std::int64_t most_bytes = kMostBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The cache that the environment names: ORIEL_CACHE (a folder, or `off`), else $XDG_CACHE_HOME/oriel, else
  /// ~/.cache/oriel. ORIEL_CACHE_BYTES limits its size. Each process opens it at first use.
  static DiskCache& shared();

  /// True if there is a folder. Writing to it may still fail.
  bool usable() const noexcept { return folder_fd_ >= 0; }
  /// The folder, or the reason why there is none.
  const std::string& state() const noexcept { return state_; }
  const std::string& folder() const noexcept { return folder_; }

  std::optional<std::string> find(std::string_view key);
  /// Stores an entry. False if it could not be written.
  bool put(std::string_view key, std::string_view blob);
  /// Removes an entry, e.g. one that proved useless.
  void drop(std::string_view key);
  /// The name of the file that holds this key.
  static std::string file_name(std::string_view key);

  static constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;

 private:
  void open_folder();
  void evict();

  std::string folder_;
  std::string state_;
  std::int64_t most_bytes_;
  int folder_fd_ = -1;
  std::mutex guard_;           // guards the members below
  std::int64_t written_ = -1;  // bytes written since the last scan of the folder; -1: never scanned
};

}  // namespace oriel::mem
