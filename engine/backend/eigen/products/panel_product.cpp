#include "backend/eigen/products/panel_product.hpp"

#include <algorithm>
#include <utility>

#include "backend/eigen/products/packer.hpp"

namespace oriel::backend::eigen {

namespace {

constexpr std::int64_t kFetchedLine = 64;

/// Memory that `blocks` register blocks prefetch together, each a part of it.
class Shared {
 public:
  Shared(const std::array<Ahead, 2>& ahead, std::int64_t blocks)
      : ahead_(ahead), part_(round_up(quotient_up(ahead[0].bytes + ahead[1].bytes, blocks), kFetchedLine)) {}
  /// Where the next block's part begins; null if nothing is left.
  const char* take() {
    const std::int64_t at = std::exchange(at_, at_ + part_);
    if (at < ahead_[0].bytes) return ahead_[0].at + at;
    return at - ahead_[0].bytes < ahead_[1].bytes ? ahead_[1].at + (at - ahead_[0].bytes) : nullptr;
  }

 private:
  std::array<Ahead, 2> ahead_;
  std::int64_t part_;
  std::int64_t at_ = 0;
};

}  // namespace

// A panel of columns is larger than the first-level cache and is read once for each panel of rows; the rows stay in the
// second-level cache. So each block of results prefetches its share of the next panel of columns.
void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p) {
  const std::int64_t panel = static_cast<std::int64_t>(fns.packet) * fns.packets;
  const std::int64_t groups = quotient_up(p.rows, fns.rows);
  Shared ahead(p.ahead, quotient_up(p.columns, panel) * groups);
  isa::ProductBlock q;
  q.a_row = p.a_row;
  q.a_step = p.a_step;
  q.c_row = p.c_row;
  q.from_row = p.from_row;
  q.depth = p.depth;
  for (std::int64_t j = 0; j < p.columns; j += panel) {
    const std::int64_t count = std::min(panel, p.columns - j);
    q.cols = static_cast<int>(count);
    q.b = p.b + j * p.b_point;
    q.b_row = p.b_row ? *p.b_row : round_up(count, fns.packet);
    if (p.cold) {
      const char* next = j + panel < p.columns ? p.b + (j + panel) * p.b_point : p.next;
      ahead = Shared({Ahead{next, next != nullptr ? panel * p.b_point : 0}, Ahead{}}, groups);
    }
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t row = i * fns.rows;
      q.a = p.a + row * p.a_point;
      q.c = p.c + ((row * p.c_row + j) << log_bytes);
      if (p.from != nullptr) q.from = p.from + ((row * p.from_row + j) << log_bytes);
      q.rows = static_cast<int>(std::min<std::int64_t>(fns.rows, p.rows - row));
      q.next = ahead.take();
      fns.block(q);
    }
  }
}

}  // namespace oriel::backend::eigen
