#include "source/items/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "source/items/factors.hpp"
#include "source/items/work_division.hpp"

namespace oriel::source::items {
namespace {

using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;
using graph::Op;

constexpr int kLanes = 4;
// Padding after each row of a slab, so that lanes that are stored one by one fall on different banks. A multiple of
// kLanes, because slabs are arrays of vectors.
constexpr int kPitch = 4;
// An epilogue of at most this many statements is unrolled result by result. A longer one becomes a loop over the
// results.
constexpr std::size_t kMostEpilogueStatements = 256;

std::int64_t slab_bytes(const TileShape& s, const Contraction& c) {
  return static_cast<std::int64_t>(itemsize(c.dtype)) * s.depth * (s.block_rows() + s.block_columns() + 2 * kPitch);
}

class TileRenderer : private FactorStatements {
 public:
  TileRenderer(const LoopProgram& program, const Dialect& dialect, const Factors& factors, const Contraction& c,
               const DeviceTraits& table, const WorkDivision& work, const TileShape& shape)
      : FactorStatements(program, dialect, factors, c, table, work),
        shape_(shape),
        fma_(table.fma && is_floating(c.dtype)),
        type_(dialect.value_type(c.dtype)),
        vector_(dialect.value_type(c.dtype, kLanes)),
        left_(pack_of(true)),
        right_(pack_of(false)) {}

  Rendered run() {
    const std::string text = capture([&] { write_kernel(); });
    Rendered out;
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
    return finished(std::move(out), original_, {text});
  }

 private:
  int pitch(bool left) const { return (left ? shape_.block_rows() : shape_.block_columns()) + kPitch; }
  int vectors() const { return shape_.columns / kLanes; }

  /// Do vectors of neighbouring rows or columns lie within the last of these loops?
  bool runs_of_lanes(const std::vector<std::size_t>& loops) const {
    return loops.size() == 1 || (!loops.empty() && original_.outer[loops.back()].value() % kLanes == 0);
  }

  /// How the items of a group load a slab of a factor, vector by vector, or element by element where no axis that is
  /// contiguous in memory is one loop.
  struct Pack {
    bool along_depth = false;
    int width = 1;
    int fast = -1;
    int vectors = 1;  // of the whole slab
    int turns = 1;    // an item loads one in each
  };

  Pack pack_of(bool left) const {
    const bool one_loop = runs_of_lanes(left ? c_.row_loops : c_.column_loops);
    const bool one_depth = original_.stages[c_.stage].inner.size() == 1;
    const std::size_t last = original_.stages[c_.stage].inner.size() + c_.batch_loops.size() +
                             (left ? c_.row_loops : c_.column_loops).size() - 1;
    Pack pack;
    pack.along_depth = one_depth && runs_along(left, 0) && !(one_loop && runs_along(left, last));
    pack.width = pack.along_depth || one_loop ? kLanes : 1;
    if (pack.width > 1) pack.fast = static_cast<int>(pack.along_depth ? 0 : last);
    pack.vectors = shape_.depth * across(left) / pack.width;
    pack.turns = (pack.vectors + items() - 1) / items();
    return pack;
  }
  const Pack& pack(bool left) const { return left ? left_ : right_; }
  int slab_vectors(bool left) const { return shape_.depth * pitch(left) / kLanes; }
  int across(bool left) const { return left ? shape_.block_rows() : shape_.block_columns(); }
  int items() const { return shape_.group_rows * shape_.group_columns; }

  static std::string loaded(bool left, int turn) { return fmt::format("next_{}{}", left ? "left" : "right", turn); }

  void write_kernel() {
    const TileShape& s = shape_;
    for (const bool left : {true, false})
      line("{};", dialect_.local_array(vector_, left ? "left_slab" : "right_slab", slab_vectors(left)));
    line("const int x = (int){}, y = (int){};", dialect_.local_id(0), dialect_.local_id(1));
    line("const int item = y * {} + x;", s.group_columns);
    line("const {0} column = ({0}){2} * {1};", int_, s.block_columns(), dialect_.group_id(0));
    line("const {0} row = ({0}){2} * {1};", int_, s.block_rows(), dialect_.group_id(1));
    line("const {0} batch = ({0}){1};", int_, dialect_.global_id(2));
    for (const bool left : {true, false}) {
      line("const int whole_{0} = {0} + {1} <= {2};", left ? "row" : "column", across(left), total(left));
      for (int e = 0; e < pack(left).turns; ++e) {
        const std::string type = value_type(c_.dtype, pack(left).width);
        line("{0} {1} = ({0})(0);", type, loaded(left, e));
      }
    }
    for (int r = 0; r < s.rows; ++r)
      for (int v = 0; v < vectors(); ++v) line("{0} t{1}_{2} = ({0})(0);", vector_, r, v);
    const std::string depth = extent("depth", c_.depth);
    line("{} depth = 0;", int_);
    for (const bool left : {true, false}) write_loads(left, depth);
    open("while (1) {{");
    for (const bool left : {true, false}) write_slab(left);
    line("{}", dialect_.barrier);
    line("depth += {};", s.depth);
    // The next slabs come from memory while these are multiplied.
    open("if (depth < {}) {{", depth);
    for (const bool left : {true, false}) write_loads(left, depth);
    close();
    write_products();
    line("if (depth >= {}) break;", depth);
    line("{}", dialect_.barrier);
    close();
    write_epilogue();
  }

  /// Where an item's vector of a slab lies: k along the depth, j along rows or columns.
  void open_vector(bool left, int turn) {
    const Pack& p = pack(left);
    const int runs = (p.along_depth ? shape_.depth : across(left)) / p.width;
    open("{{");
    line("const int e = item + {};", turn * items());
    const std::string fast = fmt::format("e % {} * {}", runs, p.width), slow = fmt::format("e / {}", runs);
    line("const int k = {}, j = {};", p.along_depth ? fast : slow, p.along_depth ? slow : fast);
    // Items beyond the slab have no vector of it.
    if ((turn + 1) * items() > p.vectors) line("if (e < {})", p.vectors);
    open("{{");
  }
  void close_vector() {
    close();
    close();
  }

  /// Writes loads of a factor's next slab into registers, with zeros for missing elements. Whole slabs ask nothing.
  void write_loads(bool left, const std::string& depth_end) {
    const Pack& p = pack(left);
    const char* first = left ? "row" : "column";
    for (int e = 0; e < p.turns; ++e) {
      open_vector(left, e);
      line("const {} at_depth = depth + k, position = {} + j;", int_, first);
      CodePosition place;
      place.names = factor_point(left, "at_depth", "position");
      place.width = p.width;
      place.fast = p.fast;
      const auto write = [&](const std::string& count) {
        place.count = count;
        write_each(factor(left), place);
        return read(left ? c_.left : c_.right, place);
      };
      open("if (whole_{} && depth + {} <= {}) {{", first, shape_.depth, depth_end);
      line("{} = {};", loaded(left, e), write(std::to_string(p.width)));
      close();
      open("else {{");
      const std::string inside = fmt::format("(at_depth < {} && position < {})", depth_end, total(left));
      const std::string left_over =
          p.along_depth ? fmt::format("{} - at_depth", depth_end) : fmt::format("{} - position", total(left));
      line("const int there = {} ? (int)min(({}){}, {}) : 0;", inside, int_, p.width, left_over);
      line("{0} = ({1})(0);", loaded(left, e), value_type(c_.dtype, p.width));
      open("if (there > 0) {{");
      const std::string value = write("there");
      line("{} = {};", loaded(left, e),
           p.width > 1 ? helpers_.keep_lanes(Op::Sum, c_.dtype, p.width, value, "there") : value);
      close();
      close();
      close_vector();
    }
  }

  /// Writes the stores of a slab that registers hold.
  void write_slab(bool left) {
    const Pack& p = pack(left);
    const std::string slab = left ? "left_slab" : "right_slab";
    const std::string elements = fmt::format("(({}){})", local_pointer(type_, false), slab);
    for (int e = 0; e < p.turns; ++e) {
      open_vector(left, e);
      const std::string value = loaded(left, e);
      if (p.width == 1) {
        line("{}[k * {} + j] = {};", elements, pitch(left), value);
      } else if (!p.along_depth) {
        line("{}[k * {} + j / {}] = {};", slab, pitch(left) / kLanes, kLanes, value);
      } else {
        for (int k = 0; k < kLanes; ++k)
          line("{}[(k + {}) * {} + j] = {};", elements, k, pitch(left), dialect_.lane(value, std::to_string(k)));
      }
      close_vector();
    }
  }

  void write_products() {
    const TileShape& s = shape_;
    line("#pragma unroll");
    open("for (int k = 0; k < {}; ++k) {{", s.depth);
    for (int r = 0; r < s.rows; r += kLanes)
      line("const {0} a{1} = left_slab[k * {2} + y * {3} + {1}];", vector_, r / kLanes, pitch(true) / kLanes,
           s.rows / kLanes);
    for (int v = 0; v < vectors(); ++v)
      line("const {} b{} = right_slab[k * {} + x + {}];", vector_, v, pitch(false) / kLanes, v * s.group_columns);
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
    const bool one_loop = runs_of_lanes(c_.column_loops);
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

  const TileShape shape_;
  const bool fma_;
  const std::string type_, vector_;
  const Pack left_, right_;
};

}  // namespace

std::vector<TileShape> tile_shapes(const Contraction& c, const DeviceTraits& table) {
  const bool small = itemsize(c.dtype) <= 4;
  // Slabs of which each item loads a vector or two. Deep ones take registers from the sums.
  std::vector<TileShape> all{{16, 16, 8, 8, 8}, {16, 16, 8, 4, 16}, {16, 16, 4, 8, 16}, {16, 16, 4, 4, 16},
                             {8, 8, 8, 8, 8},   {8, 8, 4, 4, 16},   {4, 4, 4, 4, 8}};
  std::erase_if(all, [&](const TileShape& s) {
    const auto items = static_cast<std::size_t>(s.group_rows * s.group_columns);
    return items > table.group_size || items > table.group_extent * table.group_extent ||
           slab_bytes(s, c) > table.local_memory || (!small && s.rows * s.columns > 32);
  });
  // The default comes first: the shape that takes the least time if units run one group each, and the time of a group
  // grows with its results. An item with fewer results reads more of the slabs for each.
  const auto time = [&](const TileShape& s) {
    const auto blocks = [](std::int64_t n, std::int64_t block) { return (n + block - 1) / block; };
    const std::int64_t groups = c.batches * blocks(c.rows, s.block_rows()) * blocks(c.columns, s.block_columns());
    // Small groups have few items to hide the time that memory takes.
    const double few = s.group_rows < 16 ? 160.0 / (s.block_rows() * s.group_rows) : 0;
    const double reads = 1 + 2.0 / s.rows + 2.0 / s.columns + few;
    return static_cast<double>(std::max<std::int64_t>(groups, table.units)) * s.block_rows() * s.block_columns() *
           reads;
  };
  std::ranges::stable_sort(all, {}, time);
  return all;
}

std::optional<Rendered> render_tiles(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                                     const RenderOptions& options) {
  if (table.cpu) return std::nullopt;
  const codegen::Contraction* c = codegen::contraction_in(program.form);
  if (c == nullptr || std::min(c->rows, c->columns) < kTilePatterns.product_side ||
      c->depth < kTilePatterns.product_depth)
    return std::nullopt;
  const std::vector<TileShape> shapes = tile_shapes(*c, table);
  if (shapes.empty()) return std::nullopt;
  const WorkDivision work = divide_work(program, table, options);
  const Factors factors(program, *c);
  if (factors.overwritten()) return std::nullopt;
  const auto picked = static_cast<std::size_t>(std::max(options.shape, 0)) % shapes.size();
  Rendered out = TileRenderer(program, dialect, factors, *c, table, work, shapes[picked]).run();
  out.shapes = static_cast<int>(shapes.size());
  return out;
}

}  // namespace oriel::source::items
