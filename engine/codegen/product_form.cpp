#include "codegen/product_form.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ops/functions/reduction_order.hpp"

namespace oriel::codegen {
namespace {

// With fewer taps than this in all, no plane is made.
constexpr double kSmallestWindows = 4096;
// A convolution runs as windows if at most this many rows (or columns) share its factors. With more of them, the
// register blocks of a product do more with each element that they load.
constexpr std::int64_t kMostSharingRows = 4;

/// Is a load contiguous along the depth (the first `inner` axes), and strided along the last axis?
bool runs_along_depth(const Access& access, std::size_t inner) {
  const std::size_t rank = access.loops();
  // A symbolic step counts as a long one.
  const auto step = [&](std::size_t d) {
    const SymInt coefficient = access.axis(d).coefficient;
    return coefficient.is_symbolic() ? INT64_MAX : std::abs(coefficient.value());
  };
  if (access.buffer < 0 || rank == inner || step(rank - 1) < 2) return false;
  for (std::size_t d = 0; d < inner; ++d) {
    if (step(d) == 1) return true;
  }
  return false;
}

/// How loops walk memory: `run` elements one after the other, `rows` such runs in a box.
struct MemoryRun {
  double run = 1;
  double rows = 1;
  std::int64_t step = 0;  // from element to element of a run

  /// The time per element in ns: each box and each run have to be found, and packets need near neighbours.
  double time() const {
    constexpr std::int64_t near = 8;
    constexpr double box = 40, row = 4, element = 0.1, single = 1;
    return box / (run * rows) + row / run + (std::abs(step) <= near ? element : single);
  }
};

/// Of the last of loops [from, to); `moves` if the access has two maps.
MemoryRun memory_run(const Access& access, const std::optional<LoopMoves>& moves, std::size_t from, std::size_t to) {
  const auto stride = [&](std::size_t d) { return moves ? moves->loops[d].stride : access.coefficient(d); };
  const auto bound = [&](std::size_t d) {
    if (!moves) return access.map().axes[d].cut();
    const int axis = moves->loops[d].axis;
    return axis >= 0 && access.maps()[1].axes[static_cast<std::size_t>(axis)].cut();
  };
  MemoryRun out;
  bool ends = true, row = false;  // no element yet; is the box of several runs?
  for (std::size_t d = to; d-- > from;) {
    const auto extent = static_cast<double>(access.extent(d));
    if (access.extent(d) == 1) continue;
    if (out.run == 1) {
      out.run = extent;
      out.step = stride(d);
      ends = bound(d);
    } else if (!row && !ends && !bound(d) &&
               static_cast<double>(stride(d)) == static_cast<double>(out.step) * out.run) {
      out.run *= extent;
    } else if (!row) {
      out.rows = extent;
      row = true;
    }
  }
  return out;
}

/// The order in which a factor's loads are read best. `factor`: its program, whose first `inner` loops are the depth.
PackOrder pack_order(const LoopProgram& factor, std::size_t inner) {
  constexpr double transposing = 0.3;  // per element
  double depths = 0, points = transposing;
  bool squares = false;
  for (const Access& access : factor.accesses) {
    if (access.buffer < 0) continue;
    const std::size_t rank = access.loops();
    const bool across = access.affine() && runs_along_depth(access, inner);
    squares = squares || across;
    if (access.is_symbolic()) continue;
    const std::optional<LoopMoves> moves = access.affine() ? std::nullopt : loop_moves(access);
    if (!access.affine() && !moves) return PackOrder::Depths;
    MemoryRun down = memory_run(access, moves, 0, inner);
    MemoryRun along = memory_run(access, moves, inner, rank);
    if (!moves) {  // a box is of both
      along.rows = down.run;
      down.rows = along.run;
    }
    if (across) along = {std::max(down.run, along.run), std::min(down.run, along.run), 1};
    depths += along.time();
    points += down.time();
  }
  return points < depths ? PackOrder::Points : squares ? PackOrder::Squares : PackOrder::Depths;
}

void exchange_sides(Contraction& c) {
  std::swap(c.left, c.right);
  std::swap(c.row_loops, c.column_loops);
  std::swap(c.rows, c.columns);
}

/// Chooses the path. False if the program runs as well element by element.
bool choose_path(ProductForm& form) {
  const Contraction& c = form.shape;
  const std::optional<Matrices>& memory = form.right.memory;
  const bool floats = is_floating(c.dtype);
  if (memory && memory->step == 1 && memory->row != 1 && c.rows == 1 && floats) {
    form.path = ProductPath::Dots;
  } else if ((memory && memory->row == 1 && c.rows <= kStreamedRows && floats) ||
             (c.rows == 1 && floats && c.columns >= order::kGatheredColumns && !form.right.transposed)) {
    form.path = ProductPath::Streamed;
  } else {
    return c.rows > 1;
  }
  return true;
}

void choose_segments(ProductForm& form) {
  const Contraction& c = form.shape;
  const std::int64_t least = order::least_segment(c.batches, c.rows, c.columns, c.depth);
  if (least == c.depth) return;
  if (form.path == ProductPath::Dots) {
    // A segment is a whole subtree of the order in which reductions are summed.
    form.segment = ops::reduction::kBlock;
    while (form.segment < least) form.segment *= 2;
  } else {
    form.segment = round_up(least, form.depth_block);
  }
}

std::optional<ProductForm> form_of_product(const LoopProgram& program, const Contraction& product, bool part) {
  if (!has_products(product.dtype)) return std::nullopt;
  ProductForm form;
  form.shape = product;
  Contraction& c = form.shape;
  // Packets lie along columns, so with few columns most of their lanes would be idle. The limit is the same for every
  // instruction set, because the order of a long sum depends on which loops are the rows.
  if (!part && order::exchanges_sides(c.rows, c.columns, static_cast<std::int64_t>(itemsize(c.dtype))))
    exchange_sides(c);
  if (!order::is_product(c.rows, c.columns, c.depth)) return std::nullopt;
  form.depth_block = order::depth_block(c.depth);
  form.left = factor_form(program, c, true);
  form.right = factor_form(program, c, false);
  if (!part && !choose_path(form)) return std::nullopt;
  form.segment = c.depth;
  if (!part) choose_segments(form);
  return form;
}

}  // namespace

FactorForm factor_form(const LoopProgram& program, const Contraction& c, bool left) {
  const LoopProgram factor = factor_program(program, c, left);
  const std::size_t inner = program.stages[c.stage].inner.size();
  FactorForm out;
  out.points = left ? c.rows : c.columns;
  for (const Access& access : factor.accesses) out.transposed = out.transposed || runs_along_depth(access, inner);
  out.order = pack_order(factor, inner);
  const std::vector<Instr>& list = factor.stages[0].outer;
  if (list.size() != 1 || list[0].code != Code::Load) return out;
  const Access& access = factor.accesses[0];
  const std::size_t own = inner + c.batch_loops.size();
  if (access.dtype == c.dtype && !access.is_symbolic())
    out.memory = matrices_of(access, {inner, own}, {own, access.loops()}, {0, inner});
  return out;
}

LoopProgram by_points(LoopProgram factor, std::size_t inner) {
  const std::size_t rank = factor.outer.size();
  Ints order;
  Ints extents;
  for (std::size_t d = 0; d < rank; ++d) {
    order.push_back((d + inner) % rank);
    extents.push_back(factor.outer[(d + inner) % rank]);
  }
  for (Access& access : factor.accesses) access.permute(order);
  factor.outer = extents;
  return factor;
}

std::optional<Matrices> matrices_of(const Access& access, AxisRange batches, AxisRange rows, AxisRange depths) {
  if (!access.affine() || access.boxed()) return std::nullopt;
  const auto row = even_stride(access, rows.from, rows.to);
  const auto step = even_stride(access, depths.from, depths.to);
  if (!row || !step) return std::nullopt;
  Matrices m{access.buffer, access.offset(), *row, *step, {}, {}};
  for (std::size_t d = batches.from; d < batches.to; ++d) {
    m.extents.push_back(access.extent(d));
    m.strides.push_back(access.coefficient(d));
  }
  return m;
}

std::optional<ProductForm> product_form(const LoopProgram& program) {
  const Contraction* product = contraction_in(program.form);
  if (product == nullptr) return std::nullopt;
  return form_of_product(program, *product, false);
}

std::optional<ProductForm> symbolic_form(const LoopProgram& program) {
  const Contraction* const product = contraction_in(program.form);
  if (product == nullptr || !has_products(product->dtype)) return std::nullopt;
  ProductForm form;
  Contraction& c = form.shape;
  c = *product;
  form.depth_block = order::kMostDepthBlock;
  const bool few = c.columns * static_cast<std::int64_t>(itemsize(c.dtype)) < order::kWidestPacket;
  const auto is_number = [&](std::size_t d) { return !program.outer[d].is_symbolic(); };
  if (few && std::ranges::all_of(c.column_loops, is_number) && !std::ranges::all_of(c.row_loops, is_number))
    exchange_sides(c);
  form.left = factor_form(program, form.shape, true);
  form.right = factor_form(program, form.shape, false);
  return form;
}

std::optional<ProductForm> part_form(const LoopProgram& part, const Contraction& product) {
  return form_of_product(part, product, true);
}

std::optional<Windows> window_form(const LoopProgram& program) {
  const Windows* found = windows_in(program.form);
  if (found == nullptr || !has_products(found->dtype)) return std::nullopt;
  const double taps = static_cast<double>(found->slow_points) * static_cast<double>(found->y_points) *
                      static_cast<double>(found->x_points) * static_cast<double>(found->taps.size());
  if (taps < kSmallestWindows) return std::nullopt;
  if (const auto& product = found->product) {
    if (std::min(product->rows, product->columns) > kMostSharingRows) return std::nullopt;
  }
  return *found;
}

}  // namespace oriel::codegen
