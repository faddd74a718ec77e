#include "backend/eigen/packer.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

void Packer::pack(char* panels, const PanelLayout& layout, std::int64_t batch, std::int64_t first, std::int64_t count,
                  std::int64_t d, std::int64_t d_end, std::int64_t begin, std::int64_t end) {
  while (d < d_end) {
    const std::int64_t block = d / layout.depth_block * layout.depth_block;
    const std::int64_t until = std::min(d_end, block + layout.depth_block);
    pack_block(panels, layout, batch, first, count, block, d, until, begin, end);
    d = until;
  }
}

void Packer::pack_block(char* panels, const PanelLayout& layout, std::int64_t batch, std::int64_t first,
                        std::int64_t count, std::int64_t block, std::int64_t d, std::int64_t d_end, std::int64_t begin,
                        std::int64_t end) {
  const std::int64_t depths = d_end - d;
  if (by_depths(factor_)) {
    const Matrices& m = *factor_.memory;
    const std::int64_t whole = std::min(end, count / layout.width);
    if (begin < whole) {
      const std::int64_t width = layout.width << layout.log_bytes;
      const std::int64_t position = m.at(batch) + d * m.step + first + begin * layout.width;
      const char* src = static_cast<const char*>(launch_.arguments[static_cast<std::size_t>(m.buffer)]);
      table_.spread(panels + layout.at(count, block, begin * layout.width) + (d - block) * width,
                    layout.at(count, block, layout.width) - layout.at(count, block, 0), width,
                    src + (position << layout.log_bytes), m.step << layout.log_bytes, depths, whole - begin);
      begin = whole;
    }
  }
  for (std::int64_t p = begin; p < end; ++p) {
    const std::int64_t point = p * layout.width;
    const std::int64_t some = std::min(layout.width, count - point);
    const std::int64_t width = layout.padded(some);
    pack_panel(panels + layout.at(count, block, point) + ((d - block) * width << layout.log_bytes), width,
               layout.log_bytes, d, depths, batch * factor_.points + first + point, some);
  }
}

void Packer::pack_panel(char* panel, std::int64_t width, int log_bytes, std::int64_t d, std::int64_t depths,
                        std::int64_t first, std::int64_t count) {
  if (factor_.load != nullptr && count == width) {
    worker_.gather(*factor_.load, {d, depths, first, count}, panel);
    return;
  }
  const std::int64_t step = std::max<std::int64_t>(1, kFactorTile / count);
  for (std::int64_t done = 0; done < depths; done += step) {
    const std::int64_t n = std::min(step, depths - done);
    worker_.run_tile({d + done, n, first, count});
    table_.copy[log_bytes](panel + (done * width << log_bytes), width, 1, worker_.slots()[factor_.values.slot], count,
                           1, n, count);
  }
}

}  // namespace oriel::backend::eigen
