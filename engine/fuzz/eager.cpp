#include "fuzz/eager.hpp"

#include <algorithm>

namespace oriel::fuzz {
namespace {

std::int64_t count_of(const Extents& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// A box of indices and their positions, start + sum of index * stride, valid where lo <= index < hi on every axis. It
/// uses plain integers, so that an entry of a table costs about a nanosecond.
struct StridedBox {
  Extents shape;
  Extents stride;
  Extents lo;
  Extents hi;
  std::int64_t start = 0;
};

/// Calls row(first entry, position of index 0 of the last axis, whether the outer axes are valid) for each row.
template <class Row>
void for_each_row(const StridedBox& box, Row row) {
  const std::size_t rank = box.shape.size();
  const std::int64_t count = count_of(box.shape);
  if (count == 0) return;
  const std::int64_t width = box.shape[rank - 1];
  Extents index(rank, 0);
  std::int64_t position = box.start;
  for (std::int64_t n = 0; n < count; n += width) {
    bool valid = true;
    for (std::size_t d = 0; d + 1 < rank; ++d) valid = valid && index[d] >= box.lo[d] && index[d] < box.hi[d];
    row(n, position, valid);
    for (std::size_t d = rank - 1; d-- > 0;) {
      position = sum(position, box.stride[d]);
      if (++index[d] < box.shape[d]) break;
      position = sum(position, -product(box.stride[d], box.shape[d]));
      index[d] = 0;
    }
  }
}

/// The box of a view. A scalar becomes a row of one entry, so that the rank is at least 1.
StridedBox box_of(const View& view) {
  StridedBox box;
  box.start = view.offset.value();
  for (std::size_t d = 0; d < view.rank(); ++d) {
    box.shape.push_back(view.shape[d].value());
    box.stride.push_back(view.strides[d].value());
    box.lo.push_back(view.mask.empty() ? 0 : view.mask[d].lo.value());
    box.hi.push_back(view.mask.empty() ? view.shape[d].value() : view.mask[d].hi.value());
  }
  if (box.shape.empty()) box = {{1}, {0}, {0}, {1}, box.start};
  return box;
}

/// Fills `out` with source(position) at the box' valid entries.
template <class Source>
void fill(const StridedBox& box, std::vector<std::int64_t>& out, Source source) {
  out.resize(static_cast<std::size_t>(count_of(box.shape)));
  const std::int64_t width = box.shape.back();
  const std::int64_t step = box.stride.back();
  const std::int64_t lo = box.lo.back();
  const std::int64_t hi = std::max(lo, box.hi.back());
  for_each_row(box, [&](std::int64_t n, std::int64_t position, bool valid) {
    std::int64_t* row = out.data() + n;
    if (!valid) {
      std::fill(row, row + width, kInvalid);
      return;
    }
    std::fill(row, row + lo, kInvalid);
    position = sum(position, product(lo, step));
    for (std::int64_t i = lo; i < hi; ++i) {
      row[i] = source(position);
      position = sum(position, step);
    }
    std::fill(row + hi, row + width, kInvalid);
  });
}

}  // namespace

void Eager::tabulate(std::span<const View> innermost_first, Table& table) {
  const View& outer = innermost_first.back();
  table.shape.clear();
  for (const SymInt extent : outer.shape) table.shape.push_back(extent.value());
  if (innermost_first.size() == 1) {
    fill(box_of(outer), table.at, [](std::int64_t n) { return n; });
    return;
  }
  fill(box_of(innermost_first[0]), inner_, [](std::int64_t n) { return n; });
  for (std::size_t k = 1; k < innermost_first.size(); ++k) {
    fill(box_of(innermost_first[k]), table.at, [this](std::int64_t n) {
      return static_cast<std::uint64_t>(n) < inner_.size() ? inner_[static_cast<std::size_t>(n)] : kOutside;
    });
    if (k + 1 < innermost_first.size()) std::swap(table.at, inner_);
  }
}

void Eager::move(Table& table, const Movement& movement) {
  const auto map_of = graph::movement(movement.kind).map;
  if (map_of == nullptr) {  // a reshape
    table.shape.clear();
    for (const SymInt extent : movement.ints) table.shape.push_back(extent.value());
    return;
  }
  const std::size_t rank = table.shape.size();
  // The row-major stride of each old axis, in entries of the old table.
  Extents weight(rank, 1);
  for (std::size_t d = rank; d-- > 1;) weight[d - 1] = weight[d] * table.shape[d];
  const graph::IndexMap map = map_of({table.shape.begin(), table.shape.end()}, move_of(movement));
  StridedBox box{{}, Extents(rank, 0), Extents(rank, 0), {}, 0};
  for (const SymInt extent : map.shape) box.shape.push_back(extent.value());
  box.hi = box.shape;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t axis = map.axes[d].axis;
    const std::int64_t start = map.axes[d].start.value();
    box.stride[axis] = map.axes[d].step.value() * weight[d];
    box.start += start * weight[d];
    if (map.pads) {
      box.lo[axis] = -start;
      box.hi[axis] = table.shape[d] - start;
    }
  }
  table.shape = box.shape;
  if (rank == 0) return;
  fill(box, other_, [&table](std::int64_t n) { return table.at[static_cast<std::size_t>(n)]; });
  std::swap(table.at, other_);
}

void Eager::run(const Case& c, Table& table) {
  tabulate(c.start, table);
  for (const Movement& movement : c.movements) move(table, movement);
}

bool Eager::equal(const View& view, const Table& table) {
  if (view.rank() != table.shape.size()) return false;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    if (view.shape[d].value() != table.shape[d]) return false;
  }
  fill(box_of(view), other_, [](std::int64_t n) { return n; });
  return other_ == table.at;
}

std::optional<View> Eager::fit(const Table& table) {
  const std::size_t rank = table.shape.size();
  View view;
  for (const std::int64_t extent : table.shape) view.shape.push_back(extent);
  view.strides.assign(rank, 0);
  if (table.at.empty()) return view;
  if (rank == 0) {
    if (table.at[0] == kInvalid) return std::nullopt;
    view.offset = table.at[0];
    return view;
  }
  // The least box around the valid entries.
  Extents lo = table.shape;
  Extents hi(rank, 0);
  std::int64_t valid_count = 0;
  const std::int64_t width = table.shape.back();
  Extents index(rank, 0);
  for (std::size_t n = 0; n < table.at.size(); n += static_cast<std::size_t>(width)) {
    const std::int64_t* row = table.at.data() + n;
    std::int64_t first = 0;
    std::int64_t last = width;
    while (first < width && row[first] == kInvalid) ++first;
    if (first < width) {
      while (row[last - 1] == kInvalid) --last;
      for (std::size_t d = 0; d + 1 < rank; ++d) {
        lo[d] = std::min(lo[d], index[d]);
        hi[d] = std::max(hi[d], index[d] + 1);
      }
      lo[rank - 1] = std::min(lo[rank - 1], first);
      hi[rank - 1] = std::max(hi[rank - 1], last);
      for (std::int64_t i = first; i < last; ++i) valid_count += row[i] == kInvalid ? 0 : 1;
    }
    for (std::size_t d = rank - 1; d-- > 0;) {
      if (++index[d] < table.shape[d]) break;
      index[d] = 0;
    }
  }
  if (valid_count == 0) {
    view.mask.assign(rank, Range{0, 0});
    return view;
  }
  std::int64_t volume = 1;
  bool whole = true;
  for (std::size_t d = 0; d < rank; ++d) {
    volume *= hi[d] - lo[d];
    whole = whole && lo[d] == 0 && hi[d] == table.shape[d];
  }
  if (volume != valid_count) return std::nullopt;
  // Measures the slopes at the box's lowest corner. The comparison below checks them everywhere.
  std::int64_t corner = 0;
  for (std::size_t d = 0; d < rank; ++d) corner = corner * table.shape[d] + lo[d];
  const std::int64_t origin = table.at[static_cast<std::size_t>(corner)];
  std::int64_t weight = 1;
  std::int64_t offset = origin;
  for (std::size_t d = rank; d-- > 0;) {
    if (hi[d] - lo[d] > 1) {
      const std::int64_t slope = sum(table.at[static_cast<std::size_t>(corner + weight)], -origin);
      view.strides[d] = slope;
      offset = sum(offset, -product(slope, lo[d]));
    }
    weight *= table.shape[d];
  }
  view.offset = offset;
  if (!whole) {
    for (std::size_t d = 0; d < rank; ++d) view.mask.push_back({lo[d], hi[d]});
  }
  if (!equal(view, table)) return std::nullopt;
  return view;
}

__extension__ using Wide = __int128;

std::int64_t position(std::span<const View> innermost_first, const Extents& index) {
  Extents digits = index;
  for (std::size_t k = innermost_first.size(); k-- > 0;) {
    const View& view = innermost_first[k];
    Wide sum = view.offset.value();
    for (std::size_t d = 0; d < view.rank(); ++d) {
      if (!view.mask.empty() && (digits[d] < view.mask[d].lo.value() || digits[d] >= view.mask[d].hi.value())) {
        return kInvalid;
      }
      sum += static_cast<Wide>(view.strides[d].value()) * digits[d];
    }
    if (sum <= INT64_MIN || sum > INT64_MAX) return kInvalid;
    auto n = static_cast<std::int64_t>(sum);
    if (k == 0) return n;
    const View& below = innermost_first[k - 1];
    digits.resize(below.rank());
    for (std::size_t d = below.rank(); d-- > 0;) {
      digits[d] = n % below.shape[d].value();
      n /= below.shape[d].value();
    }
  }
  return kInvalid;
}

}  // namespace oriel::fuzz
