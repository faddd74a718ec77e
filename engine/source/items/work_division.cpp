#include "source/items/work_division.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "oriel/error.hpp"
#include "source/items/spelling.hpp"
#include "source/statements.hpp"

namespace oriel::source::items {

using codegen::Access;
using codegen::Argument;
using codegen::Instr;
using codegen::LoopProgram;
using codegen::Orientation;
using codegen::Stage;

namespace {

// A reduction is split into parts if it has fewer outer points than kFewPoints and at least kManyGathered inner points.
constexpr std::int64_t kFewPoints = 64;
constexpr std::int64_t kManyGathered = 16384;
// The first is the default.
constexpr std::int64_t kParts[] = {64, 16, 256};
// A unit of a GPU hides the time that memory takes if it has this many items. Fewer parts of a reduction are joined in
// less time.
constexpr std::int64_t kItemsAUnit[] = {1024, 512, 2048};
constexpr std::int64_t kFewestSplit = 512;
// Of a GPU so many items reduce a row together that each of them reads a few vectors.
constexpr std::int64_t kVectorsAnItem[] = {2, 4, 1};
constexpr int kFewestItems = 32, kMostItems = 512;
constexpr std::size_t kWays = 3;
static_assert(std::size(kParts) == kWays && std::size(kVectorsAnItem) == kWays && std::size(kItemsAUnit) == kWays);
// The least rows in a part of a strip of columns, and the number of parts for each unit of a CPU.
constexpr std::int64_t kPartRows = 64;
constexpr std::int64_t kPartsAUnit = 8;
// On CPUs a group takes many rows if they have at most this many inner points.
constexpr std::int64_t kShortRow = 256;

void check_device(const LoopProgram& program, const DeviceTraits& table, bool fp64) {
  std::size_t parameters = 0;
  for (const codegen::Constant& c : program.constants) parameters += c.parameter >= 0 ? 1 : 0;
  const std::size_t bytes = 8 * (program.arguments.size() + parameters);
  if (bytes > table.argument_bytes) {
    throw DeviceError("compile", fmt::format("kernel {} takes {} bytes of arguments; {} has room for {}", program.name,
                                             bytes, table.name, table.argument_bytes));
  }
  if (fp64 && !table.fp64) {
    throw DeviceError("compile", fmt::format("kernel {} computes in float64, which {} lacks; use float32 there, or "
                                             "to(Device::eigen())",
                                             program.name, table.name));
  }
}

bool needs_wide(const LoopProgram& program) {
  __extension__ using Big = __int128;
  const auto points = [](const Ints& extents) {
    Big n = 1;
    for (const SymInt e : extents) n *= std::max<std::int64_t>(e.value(), 1);
    return n;
  };
  Big most = points(program.outer);
  for (const Stage& s : program.stages) most = std::max(most, points(s.inner));
  for (const Access& a : program.accesses) {
    const bool flat = a.maps().size() > 1;  // positions are unravelled over the extents of a view
    for (const codegen::AffineMap& map : a.maps()) {
      Big farthest = map.offset < 0 ? -static_cast<Big>(map.offset) : map.offset;
      Big all = 1;
      for (const codegen::AccessAxis& axis : map.axes) {
        const Big extent = std::max<std::int64_t>(axis.extent, 1);
        const Big coefficient = axis.coefficient;
        farthest += (coefficient < 0 ? -coefficient : coefficient) * extent;
        all *= extent;
      }
      most = std::max({most, farthest, flat ? all : 0});
    }
  }
  return most > kMostNarrow;
}

/// The longest inner loop of the only stage with loops, if its points may be split into parts; else nullopt.
std::optional<std::size_t> loop_to_deal_out(const LoopProgram& program) {
  // A later stage may need the values before the loops; only the first stage has none before it.
  const Stage& first = program.stages.front();
  if (first.reductions.empty() || first.inner.empty()) return std::nullopt;
  if (std::count_if(program.stages.begin(), program.stages.end(), looped) != 1) return std::nullopt;
  for (const Instr& in : first.body)
    if (in.code == codegen::Code::Store) return std::nullopt;
  std::size_t longest = 0;
  for (std::size_t d = 1; d < first.inner.size(); ++d)
    if (first.inner[d].value() > first.inner[longest].value()) longest = d;
  return longest;
}

/// Do loops inside of a stage read or write the argument?
bool in_loops(const LoopProgram& program, std::size_t argument) {
  return std::ranges::any_of(program.stages, [&](const Stage& stage) {
    return std::ranges::any_of(stage.body, [&](const Instr& in) {
      return has_access(in) && program.accesses[static_cast<std::size_t>(in.aux)].buffer == static_cast<int>(argument);
    });
  });
}

/// Chooses the items that reduce a row together.
void choose_group(const LoopProgram& program, const DeviceTraits& table, const RenderOptions& options, std::size_t way,
                  WorkDivision& work) {
  std::int64_t longest = 1;
  for (const Stage& s : program.stages) longest = std::max(longest, numel(s.inner, "render").value());
  work.long_rows = longest > kShortRow;
  if (options.group_items > 0) {
    work.group = options.group_items;
  } else if (!table.cpu && longest >= 2 * kFewestItems) {
    const std::int64_t items = longest / (kVectorsAnItem[way] * work.widest);
    work.group = static_cast<int>(
        std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(items, kFewestItems, kMostItems))));
    work.shapes = static_cast<int>(kWays);
  }
  work.group = static_cast<int>(std::bit_floor(std::min(static_cast<std::size_t>(work.group), table.group_size)));
}

/// Splits a reduction with few results and many reduced points into parts. A second function combines them.
void choose_parts(const LoopProgram& program, const DeviceTraits& table, std::size_t way, WorkDivision& work) {
  const auto loop = loop_to_deal_out(program);
  if (!loop) return;
  const Stage& first = program.stages.front();
  const std::int64_t results = numel(program.outer, "render").value();
  const std::int64_t gathered = numel(first.inner, "render").value(), longest = first.inner[*loop].value();
  std::int64_t parts = kParts[way];
  if (table.cpu) {
    if (results / work.outer_width >= kFewPoints || gathered < kManyGathered || longest < parts) return;
  } else {
    const std::int64_t items = work.rows ? results * work.group : results / work.outer_width;
    // Each item of a part reads a few vectors of a row, or the rows of a column.
    const std::int64_t share = work.rows ? 4 * work.group * work.widest : kPartRows;
    parts = std::min(kItemsAUnit[way] * table.units / std::max<std::int64_t>(items, 1), longest / share);
    if (parts < 2 || gathered < kFewestSplit) return;
  }
  work.split = 0;
  work.split_loop = *loop;
  work.parts = parts;
}

}  // namespace

int WorkDivision::width_along(std::int64_t extent) const {
  int width = widest;
  while (width > 1 && width / 2 >= extent) width /= 2;
  // Short runs: use a width that divides the extent, if that wastes few of the device's lanes.
  if (extent < 4 * widest) {
    int whole = width;
    while (extent % whole != 0) whole /= 2;
    if (4 * whole >= width) width = whole;
  }
  return width;
}

WorkDivision divide_work(const LoopProgram& program, const DeviceTraits& table, const RenderOptions& options) {
  WorkDivision work;
  for (const DType dtype : program.values) work.fp64 = work.fp64 || dtype == DType::float64;
  for (const Argument& a : program.arguments) work.fp64 = work.fp64 || a.dtype == DType::float64;
  check_device(program, table, work.fp64);
  const bool loops = std::any_of(program.stages.begin(), program.stages.end(), looped);
  work.rows = loops && program.orientation == Orientation::Inner;
  work.wide = needs_wide(program);
  // As wide as the device prefers for the widest elements in memory.
  work.widest = program.arguments.empty() ? 1 : 16;
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    // What groups store once a row does not go by vectors.
    if (work.rows && !table.cpu && !in_loops(program, a)) continue;
    const DType dtype = program.arguments[a].dtype;
    work.widest = std::min(work.widest, table.width(is_half(dtype) ? 4 : itemsize(dtype)));
  }
  if (work.widest == 16 && !table.cpu) work.widest = table.width(4);  // the loops read no memory
  if (options.lanes > 0) work.widest = options.lanes;
  work.outer_width = work.rows || program.outer.empty() ? 1 : work.width_along(program.outer.back().value());
  const std::size_t way = static_cast<std::size_t>(std::max(options.shape, 0)) % kWays;
  if (work.rows) choose_group(program, table, options, way, work);
  if (loops) choose_parts(program, table, way, work);
  if (work.parts > 1) work.shapes = static_cast<int>(kWays);
  return work;
}

void choose_column_parts(const LoopProgram& program, const DeviceTraits& table, std::int64_t columns,
                         WorkDivision& work) {
  work.parts = 1;
  work.split = -1;
  const auto loop = loop_to_deal_out(program);
  if (!loop) return;
  const std::int64_t last = program.outer.back().value();
  const std::int64_t items =
      (last + columns - 1) / columns * (numel(program.outer, "render").value() / std::max<std::int64_t>(last, 1));
  if (items >= kPartsAUnit / 2 * table.units) return;
  const std::int64_t parts = std::min(kPartsAUnit * table.units / std::max<std::int64_t>(items, 1),
                                      program.stages.front().inner[*loop].value() / kPartRows);
  if (parts < 2) return;
  work.split = 0;
  work.split_loop = *loop;
  work.parts = parts;
}

}  // namespace oriel::source::items
