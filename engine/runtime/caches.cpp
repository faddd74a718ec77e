#include "runtime/caches.hpp"

#include <mutex>
#include <utility>

namespace oriel::runtime {

using SchedulePtr = std::shared_ptr<const CompiledSchedule>;
using KernelPtr = std::shared_ptr<const backend::Kernel>;

Caches& caches_of(std::uint16_t context) {
  return base::context_state(context).part<Caches>(base::ContextSlot::caches,
                                                   [&] { return std::make_unique<Caches>(context); });
}

SchedulePtr ScheduleCache::find_locked(const Key& key) {
  auto [first, last] = by_hash_.equal_range(key.hash);
  for (; first != last; ++first) {
    if ((*first->second)->key_words != key.words) continue;
    recent_.splice(recent_.begin(), recent_, first->second);
    return recent_.front();
  }
  return nullptr;
}

SchedulePtr ScheduleCache::find(const Key& key) {
  const std::lock_guard guard(lock());
  return find_locked(key);
}

SchedulePtr ScheduleCache::insert(const Key& key, SchedulePtr schedule) {
  Recent dropped;  // destroyed after the lock is released
  const std::lock_guard guard(lock());
  if (SchedulePtr known = find_locked(key)) return known;
  words_ += key.words.size();
  recent_.push_front(std::move(schedule));
  by_hash_.emplace(key.hash, recent_.begin());
  hash_of_.emplace(recent_.front().get(), key.hash);
  while (recent_.size() > 1 && (recent_.size() > kMostSchedules || words_ > kMostWords)) drop_oldest(dropped);
  return recent_.front();
}

void ScheduleCache::drop_oldest(Recent& dropped) {
  const auto oldest = std::prev(recent_.end());
  const auto hash = hash_of_.find(oldest->get());
  auto [first, last] = by_hash_.equal_range(hash->second);
  while (first != last && first->second != oldest) ++first;
  by_hash_.erase(first);
  hash_of_.erase(hash);
  words_ -= (*oldest)->key_words.size();
  dropped.splice(dropped.begin(), recent_, oldest);
}

namespace {

std::atomic<std::uint64_t> times_cleared{0};  // counts clears of all caches of schedules

}  // namespace

const CompiledSchedule* RecentSchedules::find(const Key& key) {
  if (const std::uint64_t cleared = times_cleared.load(std::memory_order_relaxed); cleared != cleared_) {
    by_hash_ = {};
    cleared_ = cleared;
    return nullptr;
  }
  const CompiledSchedule* known = by_hash_[key.hash % kMost].get();
  return known != nullptr && known->key_words == key.words ? known : nullptr;
}

void RecentSchedules::insert(const Key& key, SchedulePtr schedule) { by_hash_[key.hash % kMost] = std::move(schedule); }

void ScheduleCache::clear() {
  times_cleared.fetch_add(1, std::memory_order_relaxed);
  Recent dropped;
  const std::lock_guard guard(lock());
  dropped.swap(recent_);
  by_hash_.clear();
  hash_of_.clear();
  words_ = 0;
}

KernelPtr KernelCache::find_locked(const backend::Backend& backend, const codegen::LoopProgram& program,
                                   std::uint64_t hash) {
  auto [first, last] = by_hash_.equal_range(hash);
  for (; first != last; ++first)
    if (first->second.backend == &backend && same_program(first->second.program, program)) return first->second.kernel;
  return nullptr;
}

KernelPtr KernelCache::find(const backend::Backend& backend, const codegen::LoopProgram& program) {
  const std::uint64_t hash = hash_value(program);
  const std::lock_guard guard(lock());
  return find_locked(backend, program, hash);
}

KernelPtr KernelCache::compile(backend::Backend& backend, const codegen::LoopProgram& program) {
  if (KernelPtr known = find(backend, program)) return known;
  return compile(backend, codegen::LoopProgram(program));
}

KernelPtr KernelCache::compile(backend::Backend& backend, codegen::LoopProgram&& program) {
  return compile_new(backend, program, [&] { return backend.compile(program); });
}

KernelPtr KernelCache::compile(backend::Backend& backend, codegen::LoweredKernel&& closed,
                               const backend::KernelFamily* family, std::span<const std::int64_t> values) {
  if (family == nullptr) return compile(backend, std::move(closed.program));
  return compile_new(backend, closed.program, [&] { return family->compile(closed, values); });
}

template <class Make>
KernelPtr KernelCache::compile_new(backend::Backend& backend, codegen::LoopProgram& program, const Make& make) {
  const std::uint64_t hash = hash_value(program);
  {
    const std::lock_guard guard(lock());
    if (KernelPtr known = find_locked(backend, program, hash)) return known;
  }
#ifndef NDEBUG
  codegen::verify(program);
#endif
  KernelPtr kernel = make();
  compiled_.fetch_add(1, std::memory_order_relaxed);
  Table dropped;  // destroyed after the lock is released
  const std::lock_guard guard(lock());
  if (KernelPtr known = find_locked(backend, program, hash)) return known;
  if (by_hash_.size() >= kMost) dropped.swap(by_hash_);  // schedules hold the kernels that they use
  by_hash_.emplace(hash, Known{&backend, std::move(program), kernel});
  return kernel;
}

void KernelCache::clear() {
  Table dropped;
  const std::lock_guard guard(lock());
  dropped.swap(by_hash_);
}

}  // namespace oriel::runtime
