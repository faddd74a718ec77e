#include "memory/waiting_blocks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

namespace oriel::mem {
namespace {

// Blocks of at least this size are mapped separately and aligned to huge pages.
constexpr std::size_t kMapped = std::size_t{4} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

void* from_system(std::size_t bytes, HugePages pages) {
  return bytes < kMapped ? std::aligned_alloc(kAlignment, bytes) : advised_memory(bytes, pages);
}

// Memory from the huge pages that the administrator has reserved, or null.
void* from_reserve(std::size_t bytes) {
#if defined(MAP_HUGETLB)
  void* data =
      mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
#else
  static_cast<void>(bytes);
  return nullptr;
#endif
}

}  // namespace

void* advised_memory(std::size_t bytes, HugePages pages) {
  void* data = std::aligned_alloc(kHugePage, whole_pages(bytes));
#if defined(MADV_HUGEPAGE)
  // This is advice only. A system without huge pages declines it and uses ordinary pages.
  if (data != nullptr) madvise(data, whole_pages(bytes), pages == HugePages::off ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#endif
  return data;
}

void* SystemMemory::allocate(std::size_t bytes, HugePages pages) {
  if (pages == HugePages::reserved && bytes >= kMapped) {
    const std::lock_guard lock(guard_);
    if (void* data = from_reserve(bytes)) {
      try {
        reserved_.insert(data);
        return data;
      } catch (const std::bad_alloc&) {
        munmap(data, whole_pages(bytes));
        return nullptr;
      }
    }
  }
  return from_system(bytes, pages);
}

void SystemMemory::free(void* data, std::size_t bytes) noexcept {
  if (reserved_.erase(data) > 0)
    munmap(data, whole_pages(bytes));
  else
    std::free(data);
}

void* WaitingBlocks::take(const SizeClass& size) noexcept {
  std::vector<Block>& blocks = blocks_[size.index];
  if (blocks.empty()) return nullptr;
  void* const data = blocks.back().data;
  blocks.pop_back();
  bytes_ -= size.bytes;
  return data;
}

bool WaitingBlocks::put(void* data, std::size_t size_class, PoolClock::time_point since) noexcept {
  std::vector<Block>& blocks = blocks_[size_class];
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), since,
                                      [](PoolClock::time_point time, const Block& b) { return time < b.since; });
  try {
    blocks.insert(after, {data, since});
  } catch (const std::bad_alloc&) {
    return false;
  }
  bytes_ += class_bytes(size_class);
  return true;
}

void WaitingBlocks::free(const Block& block, std::size_t size_class) noexcept {
  system_.free(block.data, class_bytes(size_class));
  bytes_ -= class_bytes(size_class);
}

void WaitingBlocks::free_older(PoolClock::time_point since) noexcept {
  for (std::size_t c = 0; c < blocks_.size(); ++c) {
    std::vector<Block>& blocks = blocks_[c];
    const auto kept = std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) { return b.since > since; });
    for (auto b = blocks.begin(); b != kept; ++b) free(*b, c);
    blocks.erase(blocks.begin(), kept);
  }
}

void WaitingBlocks::free_down_to(std::size_t keep) noexcept {
  // Free the largest blocks first: this takes the fewest calls.
  for (std::size_t c = kClasses; c-- > 0 && bytes_ > keep;) {
    for (; !blocks_[c].empty() && bytes_ > keep; blocks_[c].pop_back()) free(blocks_[c].back(), c);
  }
}

}  // namespace oriel::mem
