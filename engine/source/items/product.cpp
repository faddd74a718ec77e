#include "source/items/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "codegen/contraction.hpp"
#include "source/items/factors.hpp"
#include "source/items/work_division.hpp"

namespace oriel::source::items {
namespace {

using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

// The sizes of a block: rows, tiles of columns, depth. The first is the default.
struct Shape {
  std::int64_t rows, tiles, depth;
};
constexpr Shape kShapes[] = {{128, 8, 256}, {64, 8, 256}, {256, 4, 256}, {128, 8, 128}};

class ProductRenderer : private FactorStatements {
 public:
  ProductRenderer(const LoopProgram& program, const Dialect& dialect, const Factors& factors, const Contraction& c,
                  const DeviceTraits& table, const WorkDivision& work, std::size_t shape)
      : FactorStatements(program, dialect, factors, c, table, work), fma_(table.fma) {
    type_ = value_type(c.dtype);
    const auto item = static_cast<std::int64_t>(itemsize(c.dtype));
    lanes_ = std::max(2, table.width(itemsize(c.dtype)));
    tile_rows_ = lanes_ * item >= 64 ? 8 : 4;
    tile_columns_ = 2 * lanes_;
    block_rows_ = kShapes[shape].rows;
    block_columns_ = kShapes[shape].tiles * tile_columns_;
    depth_ = kShapes[shape].depth;
    while (bytes() > table.local_memory && depth_ > 32) depth_ /= 2;
    while (bytes() > table.local_memory && block_rows_ > 2 * tile_rows_) block_rows_ /= 2;
  }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(itemsize(c_.dtype)) *
           (depth_ * (block_rows_ + block_columns_) + block_rows_ * block_columns_);
  }

  Rendered run() {
    Rendered out;
    const std::string text = capture([&] { write_kernel(); });
    const auto blocks = [](std::int64_t n, std::int64_t unit) {
      return static_cast<std::size_t>((n + unit - 1) / unit);
    };
    out.grids = {
        Grid{{blocks(c_.columns, block_columns_), blocks(c_.rows, block_rows_), static_cast<std::size_t>(c_.batches)},
             {1, 1, 1}}};
    out.method =
        fmt::format("{}: blocks of {} x {} results an item, panels of {} deep in local memory, {} x {} in registers",
                    to_string(c_), block_rows_, block_columns_, depth_, tile_rows_, tile_columns_);
    out.shapes = static_cast<int>(std::size(kShapes));
    return finished(std::move(out), original_, {text});
  }

 private:
  /// Writes the packing of a factor's block into its panel: `unit` rows side by side at each depth, zeros for missing
  /// rows.
  void write_panel(bool left) {
    const std::vector<Instr>& list = factor(left);
    const bool single = (left ? c_.row_loops : c_.column_loops).size() == 1;
    const char* panel = left ? "left_panel" : "right_panel";
    const char* first = left ? "row" : "column";
    const int unit = left ? tile_rows_ : tile_columns_;
    CodePosition place;
    place.width = single ? std::min(unit, lanes_) : 1;
    const std::string j = fmt::format("{} + j", first);
    place.names = factor_point(left, "depth + p", j);  // not k, which names a lane
    const std::size_t last = place.names.size() - 1;
    if (place.width > 1) place.fast = static_cast<int>(last);
    const std::string rows_loop = fmt::format("for (int j = 0; j < {0} * {1}; j += {2}) {{",
                                              left ? "row_tiles" : "column_tiles", unit, place.width);
    const std::string depth_loop = "for (int p = 0; p < deep; ++p) {";
    const bool depth_first = single && runs_along(left, last);
    open("{}", depth_first ? depth_loop : rows_loop);
    open("{}", depth_first ? rows_loop : depth_loop);
    line("const int there = {};", dialect_.clamped(fmt::format("{} - ({})", total(left), j), 0, place.width));
    place.count = "there";
    const auto value_of = [&] { return read(left ? c_.left : c_.right, place); };
    const std::string to = fmt::format("{} + (j / {}) * {} + p * {} + j % {}", panel, unit, unit * depth_, unit, unit);
    if (place.width == 1) {
      line("{} element = 0;", type_);
      open("if (there > 0) {{");
      write_each(list, place);
      line("element = {};", value_of());
      close();
      line("*({}) = element;", to);
    } else {
      write_each(list, place);
      const std::string value = value_of();
      line("{};", dialect_.store_vector(
                      place.width, helpers_.keep_lanes(graph::Op::Sum, c_.dtype, place.width, value, "there"), to));
    }
    close();
    close();
  }

  /// Writes the loop over tiles: a tile of results over the block's depth, in registers, is added to the block's sums.
  void write_tiles() {
    const std::string vector = value_type(c_.dtype, lanes_);
    open("for (int jc = 0; jc < column_tiles; ++jc) {{");
    open("for (int jr = 0; jr < row_tiles; ++jr) {{");
    line("{} a = left_panel + jr * {};", local_pointer(type_, true), tile_rows_ * depth_);
    line("{} b = right_panel + jc * {};", local_pointer(type_, true), tile_columns_ * depth_);
    for (int r = 0; r < tile_rows_; ++r) line("{0} t{1}0 = 0, t{1}1 = 0;", vector, r);
    open("for (int k = 0; k < deep; ++k, a += {}, b += {}) {{", tile_rows_, tile_columns_);
    line("const {} b0 = {}, b1 = {};", vector, dialect_.load_vector(lanes_, "b"),
         dialect_.load_vector(lanes_, fmt::format("b + {}", lanes_)));
    for (int r = 0; r < tile_rows_; ++r) {
      line("const {0} a{1} = ({0})(a[{1}]);", vector, r);
      for (int v = 0; v < 2; ++v)
        line("{}", fma_ ? fmt::format("t{0}{1} = fma(a{0}, b{1}, t{0}{1});", r, v)
                        : fmt::format("t{0}{1} = t{0}{1} + a{0} * b{1};", r, v));
    }
    close();
    line("{} s = sums + jr * {} + jc * {};", local_pointer(type_, false), tile_rows_ * block_columns_, tile_columns_);
    open("if (depth > 0) {{");
    for (int r = 0; r < tile_rows_; ++r)
      for (int v = 0; v < 2; ++v)
        line("t{0}{1} = {2} + t{0}{1};", r, v,
             dialect_.load_vector(lanes_, fmt::format("s + {}", r * block_columns_ + v * lanes_)));
    close();
    for (int r = 0; r < tile_rows_; ++r)
      for (int v = 0; v < 2; ++v)
        line("{};", dialect_.store_vector(lanes_, fmt::format("t{}{}", r, v),
                                          fmt::format("s + {}", r * block_columns_ + v * lanes_)));
    close();
    close();
  }

  void write_epilogue() {
    CodePosition place;
    place.width = c_.column_loops.size() == 1 ? lanes_ : 1;
    place.names = result_point("row + i", "column + j");
    if (place.width > 1) place.fast = static_cast<int>(place.names.size()) - 1;
    open("for (int i = 0; i < rows_here; ++i) {{");
    open("for (int j = 0; j < columns_here; j += {}) {{", place.width);
    if (place.width > 1) {
      line("const int run = min({}, columns_here - j);", place.width);
      place.count = "run";
    }
    const std::string from = fmt::format("sums + i * {} + j", block_columns_);
    define(c_.result, place.width > 1 ? dialect_.load_vector(place.width, from) : fmt::format("*({})", from),
           place.width);
    write_each(factors_.epilogue, place);
    close();
    close();
  }

  void write_kernel() {
    line("{};", dialect_.local_array(type_, "left_panel", depth_ * block_rows_));
    line("{};", dialect_.local_array(type_, "right_panel", depth_ * block_columns_));
    line("{};", dialect_.local_array(type_, "sums", block_rows_ * block_columns_));
    line("const {0} column = ({0}){2} * {1};", int_, block_columns_, dialect_.global_id(0));
    line("const {0} row = ({0}){2} * {1};", int_, block_rows_, dialect_.global_id(1));
    line("const {0} batch = ({0}){1};", int_, dialect_.global_id(2));
    line("const int rows_here = (int)min(({}){}, {} - row);", int_, block_rows_, total(true));
    line("const int columns_here = (int)min(({}){}, {} - column);", int_, block_columns_, total(false));
    line("const int row_tiles = (rows_here + {}) / {};", tile_rows_ - 1, tile_rows_);
    line("const int column_tiles = (columns_here + {}) / {};", tile_columns_ - 1, tile_columns_);
    const std::string depth = extent("depth", c_.depth);
    open("for ({0} depth = 0; depth < {1}; depth += {2}) {{", int_, depth, depth_);
    line("const int deep = (int)min(({}){}, {} - depth);", int_, depth_, depth);
    write_panel(true);
    write_panel(false);
    write_tiles();
    close();
    write_epilogue();
  }

  bool fma_;
  std::string type_;
  int lanes_ = 1, tile_rows_ = 1, tile_columns_ = 1;
  std::int64_t block_rows_ = 1, block_columns_ = 1, depth_ = 1;
};

}  // namespace

std::optional<Rendered> render_product(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                                       const RenderOptions& options) {
  if (!table.cpu) return std::nullopt;
  const codegen::Contraction* c = codegen::contraction_in(program.form);
  if (c == nullptr || !is_floating(c->dtype) || std::min(c->rows, c->columns) < kProductPatterns.product_side ||
      c->depth < kProductPatterns.product_depth)
    return std::nullopt;
  const WorkDivision work = divide_work(program, table, {});
  const Factors factors(program, *c);
  if (factors.overwritten()) return std::nullopt;
  const auto shape = static_cast<std::size_t>(std::max(options.shape, 0)) % std::size(kShapes);
  return ProductRenderer(program, dialect, factors, *c, table, work, shape).run();
}

}  // namespace oriel::source::items
