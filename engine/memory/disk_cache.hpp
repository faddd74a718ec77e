// What was expensive to make, kept on disk between processes: blobs by key.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace oriel::mem {

/// A folder of blobs, each under a key of any length. What find gives is what put was given for that very key: an entry
/// holds its whole key and a checksum, and one that is short, changed or another key's is as good as none. Several
/// processes may share a folder: entries are written aside and renamed. Nothing here throws or fails for what the disk
/// does; a folder that cannot be used, or cannot be written, costs the caching and nothing else.
///
/// Thread safety: any thread.
class DiskCache {
 public:
  /// Uses `folder`, made (for this user alone) where it is missing. It is refused where it belongs to another user, or
  /// where others may write to it; the same holds of what a link leads to, and of the link itself. Beyond `most_bytes`
  /// the entries that were not used for longest are dropped.
  explicit DiskCache(const std::string& folder, std::int64_t most_bytes = kMostBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The cache that the environment names, opened at first use by each process: ORIEL_CACHE (a folder, or `off`), else
  /// $XDG_CACHE_HOME/oriel, else ~/.cache/oriel; ORIEL_CACHE_BYTES bounds it.
  static DiskCache& shared();

  /// Is there a folder? Writing to it may still fail.
  bool usable() const noexcept { return folder_fd_ >= 0; }
  /// The folder, or why there is none.
  const std::string& state() const noexcept { return state_; }
  const std::string& folder() const noexcept { return folder_; }

  std::optional<std::string> find(std::string_view key);
  /// False where it could not be written.
  bool put(std::string_view key, std::string_view blob);
  /// Forgets an entry, say one that proved to be of no use.
  void drop(std::string_view key);
  /// The file that would hold this key, by its name in the folder.
  static std::string file_name(std::string_view key);

  static constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;

 private:
  void open_folder();
  void evict();

  std::string folder_;
  std::string state_;
  std::int64_t most_bytes_;
  int folder_fd_ = -1;
  std::mutex guard_;           // of what is below
  std::int64_t written_ = -1;  // bytes since the folder was last looked through; -1: never
};

}  // namespace oriel::mem
