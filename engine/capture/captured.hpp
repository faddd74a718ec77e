// The entries of a captured function.
#pragma once

#include <atomic>
#include <memory>

#include "capture/entry.hpp"

namespace oriel::detail {

/// Entries are added. One whose context has ended gives its place to another one, and lives on until the function ends,
/// because a thread may be looking at it. Thread safety: any thread, without locks, so that a forked child finds
/// consistent data.
class Captured {
 public:
  Captured(FunctionOptions its_options, int& traces_of_type, Site its_site);
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  /// The first entry whose guards hold, or null.
  const api::CapturedEntry* find(const api::CallKey& key) const {
    for (std::size_t i = 0; i < options.limit; ++i) {
      const api::CapturedEntry* entry = entries_[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->holds(key)) return entry;
    }
    return nullptr;
  }
  /// The entries so far, and how many of them serve contexts that have not ended.
  /// @{
  std::vector<const api::CapturedEntry*> entries() const;
  std::size_t living() const;
  /// @}
  /// Calls that entries have served which gave their places to others.
  std::uint64_t earlier_runs() const noexcept;
  /// Adds the entry, unless another thread has added one for this key meanwhile. Returns the entry to run. If there
  /// was no room, this is the caller's entry, and `entry` still owns it.
  const api::CapturedEntry* add(std::unique_ptr<api::CapturedEntry>& entry, const api::CallKey& key);

  const FunctionOptions options;
  const Site site;
  const std::atomic_ref<int> traces_of_type;  // the count is the program's, in a header that needs no <atomic>
  std::atomic<std::uint64_t> traces{0};
  std::atomic<std::uint64_t> plain{0};
  mutable std::atomic<std::uint64_t> verified{0};

  /// Counts a call. Is it one that is compared with the callable?
  bool due_for_verification() const noexcept {
    return options.verify != 0 && (calls_.fetch_add(1, std::memory_order_relaxed) + 1) % options.verify == 0;
  }

 private:
  struct Replaced {
    std::unique_ptr<const api::CapturedEntry> entry;
    Replaced* next;
  };
  std::unique_ptr<std::atomic<const api::CapturedEntry*>[]> entries_;  // null after the last one
  std::atomic<Replaced*> replaced_{nullptr};
  mutable std::atomic<std::uint64_t> calls_{0};  // counted for verification alone
};

// Texts for messages and reports.

/// For example "the captured function of main.cpp:12".
std::string called(const Captured& captured);
/// For example "1 kernel", "2 kernels", "2 entries".
std::string counted(std::uint64_t count, std::string_view what);
/// For example "entry 0 needs x.size(0) == 3; the call has 4".
std::string miss_text(const FunctionMiss& miss);
/// What users are told of an entry.
FunctionEntry facts_of(const Captured& captured, const api::CapturedEntry& entry);
/// What explanations tell of an entry: {"input", "x: float32 (s0, 4)"}, {"guard", "..."}.
std::vector<std::pair<std::string, std::string>> lines_of(const FunctionEntry& entry);

}  // namespace oriel::detail
