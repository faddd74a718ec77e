#include "backend/eigen/panel_product.hpp"

#include <algorithm>

#include "backend/eigen/packer.hpp"

namespace oriel::backend::eigen {

// A panel of columns is larger than the first cache, and goes by once for each panel of rows; the rows stay in the
// second cache meanwhile. So each block of results fetches its share of the panel of columns that comes next.
void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p) {
  constexpr std::int64_t kLine = 64;
  const std::int64_t panel = static_cast<std::int64_t>(fns.packet) * fns.packets;
  const std::int64_t share = round_up(panel * p.b_point / quotient_up(p.rows, fns.rows), kLine);
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
    const char* next = j + panel < p.columns ? p.b + (j + panel) * p.b_point : p.next;
    if (p.b_row > 0) next = nullptr;
    for (std::int64_t i = 0; i < p.rows; i += fns.rows) {
      q.a = p.a + i * p.a_point;
      q.c = p.c + ((i * p.c_row + j) << log_bytes);
      if (p.from != nullptr) q.from = p.from + ((i * p.from_row + j) << log_bytes);
      q.rows = static_cast<int>(std::min<std::int64_t>(fns.rows, p.rows - i));
      if (next != nullptr) q.next = next + i / fns.rows * share;
      fns.block(q);
    }
    q.next = nullptr;
  }
}

}  // namespace oriel::backend::eigen
