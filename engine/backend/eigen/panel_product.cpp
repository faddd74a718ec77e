#include "backend/eigen/panel_product.hpp"

#include <algorithm>

#include "backend/eigen/packer.hpp"

namespace oriel::backend::eigen {

namespace {

constexpr std::int64_t kLine = 64;

/// Of memory that `blocks` register blocks fetch, where the part of one of them begins.
const char* part_of(const std::array<Ahead, 2>& ahead, std::int64_t block, std::int64_t blocks) {
  const std::int64_t at = block * round_up(quotient_up(ahead[0].bytes + ahead[1].bytes, blocks), kLine);
  if (at < ahead[0].bytes) return ahead[0].at + at;
  return at - ahead[0].bytes < ahead[1].bytes ? ahead[1].at + (at - ahead[0].bytes) : nullptr;
}

}  // namespace

// A panel of columns is larger than the first cache, and goes by once for each panel of rows; the rows stay in the
// second cache meanwhile. So each block of results fetches its share of the panel of columns that comes next.
void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p) {
  const std::int64_t panel = static_cast<std::int64_t>(fns.packet) * fns.packets;
  const std::int64_t groups = quotient_up(p.rows, fns.rows);
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
    q.b_row = p.b_row > 0 ? p.b_row : round_up(count, fns.packet);
    std::array<Ahead, 2> ahead;
    if (p.cold) ahead[0] = {j + panel < p.columns ? p.b + (j + panel) * p.b_point : p.next, panel * p.b_point};
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t row = i * fns.rows;
      q.a = p.a + row * p.a_point;
      q.c = p.c + ((row * p.c_row + j) << log_bytes);
      if (p.from != nullptr) q.from = p.from + ((row * p.from_row + j) << log_bytes);
      q.rows = static_cast<int>(std::min<std::int64_t>(fns.rows, p.rows - row));
      if (!p.cold) {
        q.next = part_of(p.ahead, j / panel * groups + i, quotient_up(p.columns, panel) * groups);
      } else if (ahead[0].at != nullptr) {
        q.next = part_of(ahead, i, groups);
      }
      fns.block(q);
    }
    q.next = nullptr;
  }
}

}  // namespace oriel::backend::eigen
