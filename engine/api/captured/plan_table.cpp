#include "api/captured/plan_table.hpp"

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
  const Kept* kept = find(sizes, buckets_[hash_of(sizes) % kBuckets].load(std::memory_order_acquire));
  return kept != nullptr ? kept->plan : nullptr;
}

PlanTable::PlanPtr PlanTable::add(std::span<const std::int64_t> sizes, PlanPtr plan) {
  if (size() >= kMost) {
    other_runs_.fetch_add(1, std::memory_order_relaxed);
    return plan;
  }
  std::atomic<Kept*>& bucket = buckets_[hash_of(sizes) % kBuckets];
  auto fresh = std::make_unique<Kept>(Kept{{sizes.begin(), sizes.end()}, std::move(plan), nullptr});
  Kept* head = bucket.load(std::memory_order_acquire);
  do {
    if (const Kept* kept = find(sizes, head)) return kept->plan;
    fresh->next = head;
  } while (!bucket.compare_exchange_weak(head, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  count_.fetch_add(1, std::memory_order_relaxed);
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
