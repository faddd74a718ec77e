#include "source/cpp/contraction_blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace oriel::source::cpp {

using codegen::quotient_up;
using codegen::round_up;

namespace {

// The rows of a block of results, and its panels of columns. The packed factors of a block stay in the second cache,
// and the block is large enough that packing takes little time beside multiplying. Blocks on the stack are smaller.
constexpr std::int64_t kHeapRows = 256;
constexpr std::int64_t kLeastRows = 64;
constexpr std::int64_t kStackRowBytes = 512;  // the bytes of all rows at one depth
constexpr std::int64_t kPanels = 5;
constexpr std::int64_t kStackPanels = 2;
// With at least this many blocks of results, threads have enough to share.
constexpr std::int64_t kEnoughBlocks = 16;
// A factor is read where it lies if its depths are at most this many bytes apart.
constexpr std::int64_t kNear = 4096;
// With at most this many rows, packing never pays off.
constexpr std::int64_t kFewRows = 64;
// Elements added between rows whose distance would be a multiple of a high power of two.
constexpr std::int64_t kApart = 16;

/// The pitch of rows of this many elements: a whole number of cache lines, but never one at which rows compete for the
/// same cache sets.
std::int64_t pitch_of(std::int64_t elements, std::int64_t element_bytes) {
  const std::int64_t pitch = round_up(elements, kApart);
  return pitch * element_bytes % 256 == 0 ? pitch + kApart : pitch;
}

bool by_depths(const codegen::FactorForm& factor) { return factor.order == codegen::PackOrder::Depths; }

/// Sets what is kept. `rest`: do the last columns fill no register?
void set_sizes(ContractionBlocks& b, std::int64_t bytes, bool rest, bool segments, bool carries) {
  if (b.left == FactorLayout::ByRows) {
    b.left_pitch = pitch_of(b.chunk, bytes);
    b.left_size = kStrip * b.left_pitch;
  } else if (b.left == FactorLayout::ByDepths) {
    b.left_pitch = b.chunk * kStrip + 64 / bytes;
    b.left_size = b.rows / kStrip * b.left_pitch;
    if (!b.left_in_memory) b.line_size = b.rows;
  }
  if (b.right != FactorLayout::InMemory) {
    b.right_pitch = pitch_of(b.columns, bytes);
    b.right_size = b.chunk * b.right_pitch;
  } else if (rest) {
    b.right_size = b.chunk * (64 / bytes);
  }
  if (b.right == FactorLayout::Transposed && !b.right_in_memory) {
    b.transposed_pitch = pitch_of(b.chunk, bytes);
    b.transposed_size = 64 / bytes * b.transposed_pitch;
  }
  b.sums_size = (b.strips ? kStrip : b.rows) * b.columns;
  if (carries) b.carry_size = b.rows * b.columns;
  if (segments) b.total_size = b.rows * b.columns;
  for (std::int64_t* size :
       {&b.left_size, &b.line_size, &b.right_size, &b.transposed_size, &b.sums_size, &b.carry_size, &b.total_size})
    *size = round_up(*size, 64 / bytes);
}

std::optional<FactorMemory> numbers_of(const codegen::FactorForm& factor) {
  if (!factor.memory) return std::nullopt;
  const codegen::Matrices& m = *factor.memory;
  return FactorMemory{
      m.buffer, m.offset, m.row, m.step, {m.extents.begin(), m.extents.end()}, {m.strides.begin(), m.strides.end()}};
}

}  // namespace

ContractionBlocks choose_blocks(const codegen::LoopProgram& program, const codegen::ProductForm& plan, Keep keep,
                                int longest_tile, bool symbolic) {
  const codegen::Contraction& c = plan.shape;
  const auto bytes = static_cast<std::int64_t>(itemsize(c.dtype));
  const bool small = longest_tile < 256;
  ContractionBlocks b;
  // Two or three registers of 64 bytes, a multiple of the panels of shorter registers.
  b.panel = (is_floating(c.dtype) ? 192 : 128) / bytes;
  b.chunk = small ? std::min<std::int64_t>(plan.depth_block, longest_tile) : plan.depth_block;
  const std::int64_t most = small ? 1 : keep == Keep::Heap ? kPanels : kStackPanels;
  const std::int64_t panels = quotient_up(c.columns, b.panel);
  b.columns = (symbolic ? most : quotient_up(panels, quotient_up(panels, most))) * b.panel;

  // Steps are constants of the source, except those between rows of the left factor.
  const auto is_one = [](SymInt n) { return identical(n, 1); };
  const auto is_number = [](SymInt n) { return !n.is_symbolic(); };
  const auto& left = b.left_factor = symbolic ? factor_memory(program, c, true) : numbers_of(plan.left);
  const auto& right = b.right_factor = symbolic ? factor_memory(program, c, false) : numbers_of(plan.right);
  if (left && (is_one(left->step) || (!symbolic && is_one(left->row) && c.columns <= 4 * b.panel))) {
    b.left = FactorLayout::InMemory;
  } else {
    b.left = by_depths(plan.left) ? FactorLayout::ByDepths : FactorLayout::ByRows;
    b.left_in_memory = b.left == FactorLayout::ByDepths && left && is_one(left->row);
  }
  if (right && is_one(right->row) && is_number(right->step) &&
      ((!symbolic && c.rows <= kFewRows) || std::abs(right->step.value()) * bytes <= kNear)) {
    b.right = FactorLayout::InMemory;
  } else {
    b.right = by_depths(plan.right) ? FactorLayout::ByDepths : FactorLayout::Transposed;
    b.right_in_memory = b.right == FactorLayout::Transposed && right && is_one(right->step) && is_number(right->row);
  }

  b.rows = small                ? std::max<std::int64_t>(longest_tile / 2, kStrip)
           : keep == Keep::Heap ? kHeapRows
                                : kStackRowBytes / bytes;
  if (!symbolic) {
    b.rows = std::min(b.rows, round_up(c.rows, kStrip));
    const auto blocks = [&] { return c.batches * quotient_up(c.rows, b.rows) * quotient_up(c.columns, b.columns); };
    const std::int64_t least = b.right == FactorLayout::InMemory ? kLeastRows : 2 * kLeastRows;
    while (!small && blocks() < kEnoughBlocks && b.rows > least) b.rows = round_up(b.rows / 2, kStrip);
    b.strips = c.depth <= b.chunk;
  }
  set_sizes(b, bytes, symbolic || c.columns % (64 / bytes) != 0, symbolic || plan.segment < c.depth,
            b.chunk < plan.depth_block);
  return b;
}

using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

namespace {

/// As codegen::even_stride, for all sizes.
bool steps_evenly(const Access& access, std::size_t from, std::size_t to, SymInt& stride) {
  SymInt extent = 1;
  for (std::size_t d = to; d-- > from;) {
    const codegen::SymbolicAxis axis = access.axis(d);
    if (identical(axis.extent, 1)) continue;
    if (identical(extent, 1)) {
      stride = axis.coefficient;
    } else if (!identical(axis.coefficient, stride * extent)) {
      return false;
    }
    extent *= axis.extent;
  }
  return true;
}

/// Joins loops d - 1 and d if they are one loop in all operands.
void merge_loop(LoopProgram& program, std::size_t d) {
  std::vector<Access> joined;
  for (const Access& access : program.accesses) {
    std::optional<Access> one = access.with_joined(d);
    if (!one) return;
    joined.push_back(std::move(*one));
  }
  program.accesses = std::move(joined);
  program.outer[d - 1] = program.outer[d - 1] * program.outer[d];
  program.outer.erase(program.outer.begin() + static_cast<std::ptrdiff_t>(d));
}

/// Sets the strides of loops [begin, end) to those of row-major order, with neighbours `step` apart.
void count_strides(const Ints& extents, std::size_t begin, std::size_t end, SymInt step, Ints& strides) {
  for (std::size_t d = end; d-- > begin; step *= extents[d]) strides[d] = step;
}

int add_memory(LoopProgram& program, const Contraction& c, const char* name, std::int64_t elements, const Ints& strides,
               bool written) {
  codegen::Argument argument;
  argument.dtype = c.dtype;
  argument.elements = elements;
  argument.output = argument.local = written;
  argument.name = name;
  const auto index = static_cast<std::int32_t>(program.arguments.size());
  program.arguments.push_back(argument);
  program.accesses.push_back(Access::strided(index, c.dtype, program.outer, strides));
  return index;
}

}  // namespace

// Runs are as long as memory allows.
void merge_loops(LoopProgram& program) {
  for (std::size_t d = program.outer.size(); d-- > 1;) merge_loop(program, d);
}

std::optional<FactorMemory> factor_memory(const LoopProgram& program, const Contraction& c, bool left) {
  const LoopProgram factor = codegen::factor_program(program, c, left);
  const std::vector<Instr>& list = factor.stages[0].outer;
  if (list.size() != 1 || list[0].code != Code::Load) return std::nullopt;
  const Access& access = factor.accesses[0];
  if (access.dtype != c.dtype || !access.affine() || access.boxed()) return std::nullopt;
  const std::size_t inner = program.stages[c.stage].inner.size(), own = inner + c.batch_loops.size();
  FactorMemory m{access.buffer, access.start(), 0, 0, {}, {}};
  if (!steps_evenly(access, own, access.loops(), m.row) || !steps_evenly(access, 0, inner, m.step)) return std::nullopt;
  for (std::size_t d = inner; d < own; ++d) {
    m.extents.push_back(access.axis(d).extent);
    m.strides.push_back(access.axis(d).coefficient);
  }
  return m;
}

PackedProgram packing_program(const LoopProgram& program, const Contraction& c, bool left, bool by_rows,
                              std::int64_t pitch) {
  LoopProgram out = codegen::factor_program(program, c, left);
  out.name += left ? "_left" : "_right";
  const std::size_t rank = out.outer.size();
  const std::size_t inner = program.stages[c.stage].inner.size();
  const std::size_t batches = c.batch_loops.size();
  const std::int64_t points = left ? c.rows : c.columns;
  if (by_rows) out = codegen::by_points(std::move(out), inner);
  Ints strides(rank, SymInt(0));
  if (by_rows) {
    count_strides(out.outer, rank - inner, rank, 1, strides);
    count_strides(out.outer, batches, rank - inner, pitch, strides);
  } else {
    count_strides(out.outer, 0, inner, pitch, strides);
    count_strides(out.outer, inner + batches, rank, 1, strides);
  }
  const std::int64_t elements = by_rows ? (points - 1) * pitch + c.depth : (c.depth - 1) * pitch + points;
  const int argument = add_memory(out, c, "panel", elements, strides, true);
  Instr store;
  store.code = Code::Store;
  store.dtype = store.from = c.dtype;
  store.a = left ? c.left : c.right;
  store.aux = static_cast<std::int32_t>(out.accesses.size()) - 1;
  out.stages[0].outer.push_back(store);
  return {std::move(out), argument};
}

PackedProgram results_program(const LoopProgram& program, const Contraction& c, std::int64_t pitch) {
  LoopProgram out = codegen::epilogue_program(program, c);
  out.name += "_results";
  const std::size_t rank = out.outer.size();
  const std::size_t rows = c.batch_loops.size();
  const std::size_t columns = rows + c.row_loops.size();
  Ints strides(rank, SymInt(0));
  count_strides(out.outer, columns, rank, 1, strides);
  count_strides(out.outer, rows, columns, pitch, strides);
  const int argument = add_memory(out, c, "sums", (c.rows - 1) * pitch + c.columns, strides, false);
  Instr load;
  load.code = Code::Load;
  load.dtype = load.from = c.dtype;
  load.result = c.result;
  load.aux = static_cast<std::int32_t>(out.accesses.size()) - 1;
  out.stages[0].outer.insert(out.stages[0].outer.begin(), load);
  return {std::move(out), argument};
}

}  // namespace oriel::source::cpp
