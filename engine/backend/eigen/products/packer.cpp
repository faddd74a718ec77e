#include "backend/eigen/products/packer.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

// Points of a tile that is cut into panels: wide tiles, and transposed ones.
constexpr std::int64_t kWide = 512;
constexpr std::int64_t kTransposed = 64;

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
  const std::int64_t whole = std::min(end, count / layout.width);
  // If memory runs along the depth, several narrow panels are transposed together, in whole cache lines.
  const bool narrow = factor_.order == codegen::PackOrder::Squares && layout.width << layout.log_bytes < 64;
  // A panel that is a whole block is gathered where it is needed.
  const bool dense = factor_.load != nullptr && layout.packet == 1 && layout.width > kWide / 2;
  if ((by_depths(factor_) || narrow) && !dense && begin < whole) {
    const std::int64_t width = layout.width << layout.log_bytes;
    const std::int64_t panel = layout.at(count, block, layout.width) - layout.at(count, block, 0);
    char* dst = panels + layout.at(count, block, begin * layout.width) + (d - block) * width;
    const std::int64_t point = first + begin * layout.width;
    if (factor_.memory && factor_.memory->row == 1) {
      const Matrices& m = *factor_.memory;
      const char* src = static_cast<const char*>(launch_.arguments[static_cast<std::size_t>(m.buffer)]);
      table_.spread(dst, panel, width, src + ((m.at(batch) + d * m.step + point) << layout.log_bytes),
                    m.step << layout.log_bytes, depths, whole - begin);
    } else {
      pack_wide(dst, panel, layout.width, layout.log_bytes, d, depths, batch * factor_.points + point,
                (whole - begin) * layout.width);
    }
    begin = whole;
  }
  for (std::int64_t p = begin; p < end; ++p) {
    const std::int64_t point = p * layout.width;
    const std::int64_t some = std::min(layout.width, count - point);
    const std::int64_t width = layout.padded(some);
    pack_panel(panels + layout.at(count, block, point) + ((d - block) * width << layout.log_bytes), width,
               layout.log_bytes, d, depths, batch * factor_.points + first + point, some);
  }
}

void Packer::pack_wide(char* panels, std::int64_t panel, std::int64_t width, int log_bytes, std::int64_t d,
                       std::int64_t depths, std::int64_t first, std::int64_t count) {
  const std::int64_t most = std::max<std::int64_t>(1, (by_depths(factor_) ? kWide : kTransposed) / width) * width;
  for (std::int64_t at = 0; at < count; at += most) {
    const std::int64_t cols = std::min(most, count - at);
    const std::int64_t step = std::max<std::int64_t>(1, kFactorTile / cols);
    for (std::int64_t done = 0; done < depths; done += step) {
      const std::int64_t n = std::min(step, depths - done);
      worker_.run_tile({d + done, n, first + at, cols});
      table_.spread(panels + at / width * panel + (done * width << log_bytes), panel, width << log_bytes,
                    worker_.slots()[factor_.values.slot], cols << log_bytes, n, cols / width);
    }
  }
}

// Through a register that holds whole blocks of depths of a few points.
void Packer::pack_points(char* panel, std::int64_t width, int log_bytes, std::int64_t d, std::int64_t depths,
                         std::int64_t first, std::int64_t count) {
  const std::int64_t step = std::min(depths, codegen::order::kMostDepthBlock);
  const std::int64_t most = kPointsTile / step / kPackedPoints * kPackedPoints;
  for (std::int64_t done = 0; done < depths; done += step) {
    const std::int64_t n = std::min(step, depths - done);
    for (std::int64_t at = 0; at < count; at += most) {
      const std::int64_t some = std::min(most, count - at);
      worker_.run_tile({first + at, some, d + done, n});
      table_.copy[log_bytes](panel + ((done * width + at) << log_bytes), width, 1, worker_.slots()[factor_.values.slot],
                             1, n, n, some);
    }
  }
}

void Packer::pack_panel(char* panel, std::int64_t width, int log_bytes, std::int64_t d, std::int64_t depths,
                        std::int64_t first, std::int64_t count) {
  if (factor_.order == codegen::PackOrder::Points) return pack_points(panel, width, log_bytes, d, depths, first, count);
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
