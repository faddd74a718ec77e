#include "capture/plan_table.hpp"

#include <algorithm>
#include <utility>

namespace oriel::api {

namespace {

std::uint64_t hash_of(std::span<const std::int64_t> values) noexcept {
  std::uint64_t hash = 0;
  for (const std::int64_t value : values) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

/// What a plan allocates: measured where the parts do not tell (a kernel, and a launch list with its scratch).
std::int64_t plan_bytes_of(const CapturedPlan& plan) noexcept {
  constexpr std::size_t kKernel = 4096;
  constexpr std::size_t kLaunch = 128;
  constexpr std::size_t kList = 2048;
  const runtime::CompiledSchedule& schedule = plan.launches->schedule();
  std::size_t bytes = sizeof(CapturedPlan) + kList + schedule.key_words.size() * sizeof(std::uint64_t) +
                      plan.roots.size() * sizeof(CapturedPlan::Root) + plan.leaves.size() * sizeof(CapturedValue);
  const backend::Kernel* last = nullptr;
  for (const runtime::LaunchStep& step : schedule.steps) {
    bytes += sizeof(step) + kLaunch + step.name.capacity() + step.arguments.size() * sizeof(step.arguments[0]) * 3;
    if (step.kernel.get() != last) bytes += kKernel;
    last = step.kernel.get();
  }
  for (const std::vector<detail::Path>& paths : plan.paths) bytes += 512 * paths.size();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

PlanTable::~PlanTable() {
  for (std::atomic<Kept*>& bucket : buckets_) {
    for (Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr;) delete std::exchange(kept, kept->next);
  }
}

const PlanTable::Kept* PlanTable::find(std::span<const std::int64_t> sizes, const Kept* from) noexcept {
  while (from != nullptr && !std::ranges::equal(from->sizes, sizes)) from = from->next;
  return from;
}

PlanTable::PlanPtr PlanTable::find(std::span<const std::int64_t> sizes) const noexcept {
  const Kept* kept = find(sizes, buckets_[hash_of(sizes) & (buckets_.size() - 1)].load(std::memory_order_acquire));
  return kept != nullptr ? PlanPtr(PlanPtr(), kept->plan.get()) : nullptr;
}

PlanTable::PlanPtr PlanTable::add(std::span<const std::int64_t> sizes, PlanPtr plan) {
  const std::int64_t own_bytes = plan_bytes_of(*plan);
  // Not all of several threads that add at the same time see each other's: then a few plans more are kept.
  if (size() >= kMost || (size() > 0 && bytes() + own_bytes > kMostBytes)) {
    other_runs_.fetch_add(1, std::memory_order_relaxed);
    return plan;
  }
  std::atomic<Kept*>& bucket = buckets_[hash_of(sizes) & (buckets_.size() - 1)];
  auto fresh = std::make_unique<Kept>(Kept{{sizes.begin(), sizes.end()}, std::move(plan), nullptr});
  Kept* head = bucket.load(std::memory_order_acquire);
  do {
    if (const Kept* kept = find(sizes, head)) return kept->plan;
    fresh->next = head;
  } while (!bucket.compare_exchange_weak(head, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  count_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(own_bytes, std::memory_order_relaxed);
  return fresh.release()->plan;
}

template <class Visit>
void PlanTable::each(Visit&& visit) const {
  for (const std::atomic<Kept*>& bucket : buckets_)
    for (const Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr; kept = kept->next) visit(*kept);
}

std::vector<std::vector<std::int64_t>> PlanTable::met(std::size_t most) const {
  std::vector<std::vector<std::int64_t>> out;
  each([&](const Kept& kept) {
    if (out.size() < most) out.push_back(kept.sizes);
  });
  return out;
}

std::uint64_t PlanTable::runs() const noexcept {
  std::uint64_t runs = other_runs_.load(std::memory_order_relaxed);
  each([&](const Kept& kept) { runs += kept.plan->launches->runs(); });
  return runs;
}

const CapturedPlan* PlanTable::any() const noexcept {
  for (const std::atomic<Kept*>& bucket : buckets_)
    if (const Kept* kept = bucket.load(std::memory_order_acquire)) return kept->plan.get();
  return nullptr;
}

}  // namespace oriel::api
