#include "backend/kept_factors.hpp"

#include <algorithm>

namespace oriel::backend {

KeptFactors::Slot* KeptFactors::slot(const mem::BufferPtr& memory, std::span<const std::int64_t> layout) {
  const auto [begin, end] = slots_.equal_range(memory.get());
  for (auto s = begin; s != end; ++s) {
    // A freed buffer may have had the same address.
    if (std::ranges::equal(s->second.layout, layout) && s->second.memory.lock() == memory) return &s->second;
  }
  return nullptr;
}

void KeptFactors::forget_freed() {
  if (slots_.size() < next_look_) return;
  std::erase_if(slots_, [](const auto& s) { return s.second.memory.expired(); });
  next_look_ = std::max<std::size_t>(16, 2 * slots_.size());
}

KeptFactors::Found KeptFactors::find(const mem::BufferPtr& memory, std::span<const std::int64_t> layout) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t version = memory->version();
  if (Slot* s = slot(memory, layout)) {
    if (s->version == version) return {s->copy, s->copy == nullptr, version};
    s->version = version;
    s->copy = nullptr;
    return {nullptr, false, version};
  }
  forget_freed();
  slots_.emplace(memory.get(), Slot{memory, {layout.begin(), layout.end()}, version, nullptr});
  return {nullptr, false, version};
}

void KeptFactors::keep(const mem::BufferPtr& memory, std::span<const std::int64_t> layout, std::uint64_t version,
                       Copy copy) {
  const std::scoped_lock lock(mutex_);
  Slot* s = slot(memory, layout);
  if (s != nullptr && s->version == version) s->copy = std::move(copy);
}

KeptFactors::Counts KeptFactors::counts() const {
  const std::scoped_lock lock(mutex_);
  Counts counts;
  for (const auto& [memory, s] : slots_) {
    if (s.copy == nullptr || s.memory.expired()) continue;
    ++counts.copies;
    counts.bytes += static_cast<std::int64_t>(s.copy->bytes());
  }
  return counts;
}

}  // namespace oriel::backend
