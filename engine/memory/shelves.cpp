#include "memory/shelves.hpp"

#include "base/fork_lock.hpp"

namespace oriel::mem {

void* Shelves::take(const SizeClass& size) noexcept {
  if (size.bytes > kLargest + kSlack) return nullptr;
  Shelf& shelf = own();
  const base::SpinGuard one(base::SpinSet::shelves, &shelf);
  for (std::size_t k = shelf.blocks; k-- > 0;) {
    if (shelf.sizes[k] != size.index) continue;
    void* const data = shelf.data[k];
    // Keep the order of the other blocks.
    for (std::size_t next = k + 1; next < shelf.blocks; ++next) {
      shelf.sizes[next - 1] = shelf.sizes[next];
      shelf.data[next - 1] = shelf.data[next];
      shelf.since[next - 1] = shelf.since[next];
    }
    --shelf.blocks;
    ++shelf.requests;
    return data;
  }
  return nullptr;
}

bool Shelves::put(void* data, const SizeClass& size, PoolClock::time_point now) noexcept {
  if (size.bytes > kLargest + kSlack || !used()) return false;
  Shelf& shelf = own();
  const base::SpinGuard one(base::SpinSet::shelves, &shelf);
  if (shelf.blocks == kBlocks) return false;
  shelf.sizes[shelf.blocks] = static_cast<std::uint16_t>(size.index);
  shelf.data[shelf.blocks] = data;
  shelf.since[shelf.blocks] = now;
  ++shelf.blocks;
  return true;
}

bool Shelves::take_from(std::size_t& number, Block& block) noexcept {
  for (; number < shelves_.size(); ++number) {
    Shelf& shelf = shelves_[number];
    const base::SpinGuard one(base::SpinSet::shelves, &shelf);
    if (shelf.blocks == 0) continue;
    --shelf.blocks;
    block = {shelf.data[shelf.blocks], shelf.sizes[shelf.blocks], shelf.since[shelf.blocks]};
    return true;
  }
  return false;
}

Shelves::Totals Shelves::totals() const noexcept {
  Totals all;
  for (const Shelf& shelf : shelves_) {
    const base::SpinGuard one(base::SpinSet::shelves, &shelf);
    all.requests += shelf.requests;
    for (std::size_t k = 0; k < shelf.blocks; ++k) all.bytes += class_bytes(shelf.sizes[k]);
  }
  return all;
}

}  // namespace oriel::mem
