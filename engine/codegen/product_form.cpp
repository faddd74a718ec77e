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
  const std::vector<Instr>& list = factor.stages[0].outer;
  if (list.size() != 1 || list[0].code != Code::Load) return out;
  const Access& access = factor.accesses[0];
  const std::size_t own = inner + c.batch_loops.size();
  if (access.dtype == c.dtype && !access.is_symbolic())
    out.memory = matrices_of(access, {inner, own}, {own, access.loops()}, {0, inner});
  return out;
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
