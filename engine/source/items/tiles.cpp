#include "source/items/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "source/items/factors.hpp"
#include "source/items/source.hpp"
#include "source/items/work_division.hpp"

namespace oriel::source::items {
namespace {

using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;
using graph::Op;

constexpr int kLanes = 4;
// Padding after each row of a slab, so that lanes that are stored one by one fall on different banks.
constexpr int kPitch = 4;
// The number of blocks that each unit should have before tiles grow.
constexpr std::int64_t kBlocksAUnit = 2;
// An epilogue of at most this many statements is unrolled result by result. A longer one becomes a loop over the
// results.
constexpr std::size_t kMostEpilogueStatements = 256;

std::int64_t slab_bytes(const TileShape& s, const Contraction& c) {
  return static_cast<std::int64_t>(itemsize(c.dtype)) * s.depth * (s.block_rows() + s.block_columns() + 2 * kPitch);
}

class TileRenderer : private FactorStatements {
 public:
  TileRenderer(const LoopProgram& program, const ItemDialect& dialect, const Factors& factors, const Contraction& c,
               const DeviceTraits& table, const WorkDivision& work, const TileShape& shape, std::size_t room)
      : FactorStatements(program, dialect, factors, c, room),
        work_(work),
        shape_(shape),
        fma_(table.fma && is_floating(c.dtype)),
        int_(dialect.position_type(work.wide)),
        type_(dialect.value_type(c.dtype)),
        vector_(dialect.value_type(c.dtype, kLanes)) {}

  Rendered run() {
    const std::string text = capture([&] { write_kernel(); });
    Rendered out;
    out.helpers = helpers_.all();
    out.numbers = numbers_.all();
    out.parameters = parameters_.all();
    out.wide = work_.wide;
    out.fp64 = work_.fp64;
    const auto items = [](std::int64_t n, int block, int group) {
      return static_cast<std::size_t>((n + block - 1) / block) * static_cast<std::size_t>(group);
    };
    const TileShape& s = shape_;
    out.grids = {Grid{{items(c_.columns, s.block_columns(), s.group_columns),
                       items(c_.rows, s.block_rows(), s.group_rows), static_cast<std::size_t>(c_.batches)},
                      {static_cast<std::size_t>(s.group_columns), static_cast<std::size_t>(s.group_rows), 1}}};
    out.method = fmt::format(
        "{}: tiles of {} x {} results a group of {} x {} items, {} x {} an item in registers, slabs of {} deep in "
        "local "
        "memory",
        to_string(c_), s.block_rows(), s.block_columns(), s.group_rows, s.group_columns, s.rows, s.columns, s.depth);
    finish_source(original_, dialect_, out, {text}, parameters_.names());
    return out;
  }

 private:
  int pitch(bool left) const { return (left ? shape_.block_rows() : shape_.block_columns()) + kPitch; }
  int vectors() const { return shape_.columns / kLanes; }

  void write_kernel() {
    const TileShape& s = shape_;
    line("{};", dialect_.local_array(type_, "left_slab", s.depth * pitch(true)));
    line("{};", dialect_.local_array(type_, "right_slab", s.depth * pitch(false)));
    line("const int x = (int){}, y = (int){};", dialect_.local_id(0), dialect_.local_id(1));
    line("const int item = y * {} + x;", s.group_columns);
    line("const {0} column = ({0}){2} * {1};", int_, s.block_columns(), dialect_.group_id(0));
    line("const {0} row = ({0}){2} * {1};", int_, s.block_rows(), dialect_.group_id(1));
    line("const {0} batch = ({0}){1};", int_, dialect_.global_id(2));
    for (int r = 0; r < s.rows; ++r)
      for (int v = 0; v < vectors(); ++v) line("{0} t{1}_{2} = ({0})(0);", vector_, r, v);
    const std::string depth = extent("depth", c_.depth);
    open("for ({0} depth = 0; depth < {1}; depth += {2}) {{", int_, depth, s.depth);
    write_slab(true, depth);
    write_slab(false, depth);
    line("{}", dialect_.barrier(false));
    write_products();
    line("{}", dialect_.barrier(false));
    close();
    write_epilogue();
  }

  /// Writes the packing of a factor's slab by all items of the group: vectors along the axis that is contiguous in
  /// memory, zeros for missing elements.
  void write_slab(bool left, const std::string& depth_end) {
    const bool one_loop = (left ? c_.row_loops : c_.column_loops).size() == 1;
    const bool one_depth = original_.stages[c_.stage].inner.size() == 1;
    const std::size_t depth_axis = 0;
    const char* first = left ? "row" : "column";
    const int across = left ? shape_.block_rows() : shape_.block_columns();
    CodePosition place;
    place.names = factor_point(left, "at_depth", "position");
    const std::size_t last = place.names.size() - 1;
    const bool along_depth = one_depth && runs_along(left, depth_axis) && !(one_loop && runs_along(left, last));
    place.width = along_depth || one_loop ? kLanes : 1;
    if (place.width > 1) place.fast = static_cast<int>(along_depth ? depth_axis : last);
    const int fast_points = along_depth ? shape_.depth : across;
    const int runs = fast_points / place.width;
    open("for (int e = item; e < {}; e += {}) {{", shape_.depth * across / place.width,
         shape_.group_rows * shape_.group_columns);
    const std::string fast = fmt::format("e % {} * {}", runs, place.width);
    const std::string slow = fmt::format("e / {}", runs);
    line("const int k = {}, j = {};", along_depth ? fast : slow, along_depth ? slow : fast);
    line("const {} at_depth = depth + k, position = {} + j;", int_, first);
    const std::string inside = fmt::format("(at_depth < {} && position < {})", depth_end, total(left));
    const std::string left_over =
        along_depth ? fmt::format("{} - at_depth", depth_end) : fmt::format("{} - position", total(left));
    line("const int there = {} ? (int)min(({}){}, {}) : 0;", inside, int_, place.width, left_over);
    place.count = "there";
    line("{0} element = ({0})(0);", value_type(c_.dtype, place.width));
    open("if (there > 0) {{");
    write_each(factor(left), place);
    const std::string value = read(left ? c_.left : c_.right, place);
    line("element = {};",
         place.width > 1 ? helpers_.keep_lanes(Op::Sum, c_.dtype, place.width, value, "there") : value);
    close();
    const std::string slab = fmt::format("{} + k * {} + j", left ? "left_slab" : "right_slab", pitch(left));
    if (place.width == 1) {
      line("*({}) = element;", slab);
    } else if (!along_depth) {
      line("{};", dialect_.store_vector(kLanes, "element", slab));
    } else {
      for (int k = 0; k < kLanes; ++k)
        line("*({} + {}) = {};", slab, k * pitch(left), dialect_.lane("element", std::to_string(k)));
    }
    close();
  }

  void write_products() {
    const TileShape& s = shape_;
    open("for (int k = 0; k < {}; ++k) {{", s.depth);
    line("{} a = left_slab + k * {} + y * {};", local_pointer(type_, true), pitch(true), s.rows);
    line("{} b = right_slab + k * {} + x * {};", local_pointer(type_, true), pitch(false), kLanes);
    for (int r = 0; r < s.rows; r += kLanes)
      line("const {} a{} = {};", vector_, r / kLanes, dialect_.load_vector(kLanes, fmt::format("a + {}", r)));
    for (int v = 0; v < vectors(); ++v)
      line("const {} b{} = {};", vector_, v,
           dialect_.load_vector(kLanes, fmt::format("b + {}", v * s.group_columns * kLanes)));
    Instr product;
    product.op = Op::Mul;
    product.dtype = product.from = c_.dtype;
    for (int r = 0; r < s.rows; ++r) {
      for (int v = 0; v < vectors(); ++v) {
        const std::string x =
            fmt::format("({})({})", vector_, dialect_.lane(fmt::format("a{}", r / kLanes), std::to_string(r % kLanes)));
        const std::string y = fmt::format("b{}", v), t = fmt::format("t{}_{}", r, v);
        line("{} = {};", t,
             fma_ ? helpers_.fused(c_.dtype, kLanes, x, y, t)
                  : helpers_.join(Op::Sum, c_.dtype, kLanes, t, helpers_.spell(product, kLanes, {x, y})));
      }
    }
    close();
  }

  /// Writes the operations after the sum, on registers. `value` is the vector of row `i` of the tile that begins at
  /// column `j`.
  void write_results(const std::string& i, const std::string& j, const std::string& value) {
    const bool one_loop = c_.column_loops.size() == 1;
    line("const {} at_row = row + y * {} + {}, at_column = column + x * {} + {};", int_, shape_.rows, i, kLanes, j);
    const std::string columns = total(false);
    open("if (at_row < {} && at_column < {}) {{", total(true), columns);
    line("const int run = (int)min(({}){}, {} - at_column);", int_, kLanes, columns);
    CodePosition place;
    if (one_loop) {
      place.width = kLanes;
      place.count = "run";
      place.names = result_point("at_row", "at_column");
      place.fast = static_cast<int>(place.names.size()) - 1;
      define(c_.result, value, kLanes);
      write_each(factors_.epilogue, place);
    } else {
      line("{} lanes[{}];", type_, kLanes);
      line("{};", dialect_.store_vector(kLanes, value, "lanes"));
      open("for (int lane = 0; lane < run; ++lane) {{");
      place.names = result_point("at_row", "at_column + lane");
      define(c_.result, "lanes[lane]", 1);
      write_each(factors_.epilogue, place);
      close();
    }
    close();
  }

  void write_epilogue() {
    const int apart = shape_.group_columns * kLanes;
    const auto tiles = static_cast<std::size_t>(shape_.rows * vectors());
    if (tiles * factors_.epilogue.size() <= kMostEpilogueStatements) {
      for (int r = 0; r < shape_.rows; ++r) {
        for (int v = 0; v < vectors(); ++v) {
          open("{{");
          write_results(std::to_string(r), std::to_string(v * apart), fmt::format("t{}_{}", r, v));
          close();
        }
      }
      return;
    }
    std::string all;
    for (int r = 0; r < shape_.rows; ++r)
      for (int v = 0; v < vectors(); ++v) all += fmt::format("{}t{}_{}", all.empty() ? "" : ", ", r, v);
    line("const {} results[{}] = {{{}}};", vector_, tiles, all);
    open("for (int e = 0; e < {}; ++e) {{", tiles);
    write_results(fmt::format("e / {}", vectors()), fmt::format("e % {} * {}", vectors(), apart), "results[e]");
    close();
  }

  const WorkDivision work_;
  const TileShape shape_;
  const bool fma_;
  const std::string int_, type_, vector_;
};

}  // namespace

std::vector<TileShape> tile_shapes(const Contraction& c, const DeviceTraits& table) {
  const bool small = itemsize(c.dtype) <= 4;
  std::vector<TileShape> all{{16, 16, 8, 8, 16}, {16, 16, 8, 8, 8}, {16, 16, 4, 8, 16}, {16, 16, 4, 4, 16},
                             {8, 8, 8, 8, 16},   {8, 8, 4, 4, 16},  {4, 4, 4, 4, 8}};
  const auto groups = [&](const TileShape& s) {
    return c.batches * ((c.rows + s.block_rows() - 1) / s.block_rows()) *
           ((c.columns + s.block_columns() - 1) / s.block_columns());
  };
  std::erase_if(all, [&](const TileShape& s) {
    const auto items = static_cast<std::size_t>(s.group_rows * s.group_columns);
    return items > table.group_size || items > table.group_extent * table.group_extent ||
           slab_bytes(s, c) > table.local_memory || (!small && s.rows * s.columns > 32);
  });
  // The default is the largest shape with enough groups, else the smallest shape. The other shapes can be tried by
  // tuning.
  const auto enough =
      std::find_if(all.begin(), all.end(), [&](const TileShape& s) { return groups(s) >= kBlocksAUnit * table.units; });
  if (enough != all.end()) {
    std::rotate(all.begin(), enough, enough + 1);
  } else {
    std::reverse(all.begin(), all.end());
  }
  return all;
}

std::optional<Rendered> render_tiles(const LoopProgram& program, const ItemDialect& dialect, const DeviceTraits& table,
                                     const RenderOptions& options) {
  if (table.cpu) return std::nullopt;
  const codegen::Contraction* c = codegen::contraction_in(program.form);
  if (c == nullptr || std::min(c->rows, c->columns) < kTileForms.product_side || c->depth < kTileForms.product_depth)
    return std::nullopt;
  const std::vector<TileShape> shapes = tile_shapes(*c, table);
  if (shapes.empty()) return std::nullopt;
  const WorkDivision work = divide_work(program, table, options);
  const Factors factors(program, *c);
  if (factors.overwritten()) return std::nullopt;
  const auto picked = static_cast<std::size_t>(std::max(options.shape, 0)) % shapes.size();
  Rendered out =
      TileRenderer(program, dialect, factors, *c, table, work, shapes[picked], room_for_numbers(program, table)).run();
  out.shapes = static_cast<int>(shapes.size());
  return out;
}

}  // namespace oriel::source::items
