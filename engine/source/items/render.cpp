#include "source/items/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "source/items/mappings.hpp"
#include "source/items/statements.hpp"
#include "source/items/work_division.hpp"

namespace oriel::source::items {
namespace {

using codegen::Instr;
using codegen::LoopProgram;
using codegen::Reduction;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

// So many items of a GPU come in large groups: it starts only so many groups in a time.
constexpr std::int64_t kManyItems = 1 << 16;
// A body of at most this many instructions is written twice: for whole vectors and for the rest.
constexpr std::size_t kMostTwice = 8;

class Renderer : private ItemStatementWriter {
 public:
  Renderer(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table, const RenderOptions& options)
      : ItemStatementWriter(program, dialect, table, divide_work(program, table, options)), table_(table) {}

  Rendered run() {
    for (std::size_t v = 0; v < kept_.size(); ++v)
      if (!kept_[v].empty()) kept_values_.push_back(static_cast<ValueId>(v));
    Rendered out;
    std::vector<std::string> bodies;
    bodies.push_back(kernel_body(false));
    out.grids.push_back(grid_);
    if (work_.parts > 1) {
      bodies.push_back(kernel_body(true));
      out.grids.push_back(grid_);
    }
    out.method = method();
    out.shapes = work_.shapes;
    Places partials, kept;
    if (work_.parts > 1) partials = partials_of(split_stage(), out);
    for (const ValueId v : kept_values_) {
      const std::int64_t elements = numel(program_.stages[at(home_[at(v)])].inner, "render").value();
      kept.emplace_back(program_.values[at(v)], kept_[at(v)]);
      out.kept_bytes.push_back(elements * static_cast<std::int64_t>(itemsize(program_.values[at(v)])));
    }
    return finished(std::move(out), program_, bodies, partials, kept);
  }

 private:
  std::string method() const {
    std::string text =
        work_.rows ? (work_.group > 1 ? fmt::format("a row for each group of {} items", work_.group) : "a row an item")
                   : fmt::format("{} outer {} an item", work_.outer_width, work_.outer_width == 1 ? "point" : "points");
    if (work_.parts > 1) text += fmt::format("; reductions in {} parts, joined by a second function", work_.parts);
    return text;
  }

  // --- functions ----------------------------------------------------------------------------------------------------

  std::string kernel_body(bool join) {
    return capture([&] {
      const CodePosition outer = open_outer(join);
      if (join) {
        write_join(outer);
      } else {
        each_stage([&](std::size_t s) { write_loops(s, outer); },
                   [&](std::size_t s) {
                     if (work_.parts == 1) write_outer(program_.stages[s], outer);
                   });
      }
    });
  }

  /// Writes the computation of an item's outer point or points.
  CodePosition open_outer(bool join) {
    CodePosition place;
    const std::size_t rank = program_.outer.size();
    place.width = work_.outer_width;
    place.fast = work_.outer_width > 1 ? static_cast<int>(rank) - 1 : -1;
    const bool parts = work_.parts > 1 && !join;
    const int items = work_.rows ? work_.group : 1;
    const auto count = [&](std::size_t d) { return program_.outer[d].value(); };
    grid_ = {};
    std::int64_t first = rank > 0 ? (count(rank - 1) + place.width - 1) / place.width : 1;
    std::int64_t second = rank > 1 ? count(rank - 2) : 1;
    std::int64_t third = 1;
    for (std::size_t d = 0; d + 2 < rank; ++d) third *= count(d);
    // The items of a group. If rows are kept, each group has one row, so that the row has all of the group's local
    // memory.
    std::int64_t group = items > 1                                                  ? 1
                         : work_.rows && (!kept_values_.empty() || work_.long_rows) ? 1
                         : table_.cpu                                               ? 32
                         : first * second * third >= kManyItems                     ? 256
                                                                                    : 64;
    if (parts && table_.cpu) group = 1;
    group =
        std::min(group, static_cast<std::int64_t>(std::bit_floor(std::min(table_.group_size, table_.group_extent))));
    const std::int64_t along = std::min<std::int64_t>(
        group, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(first, 1)))));
    // The other items of a group lie along the next axis, if there is one.
    const std::int64_t across = rank > 1 ? group / along : 1;
    const auto whole = [](std::int64_t n, std::int64_t unit) {
      return static_cast<std::size_t>((n + unit - 1) / unit * unit);
    };
    grid_.local = {static_cast<std::size_t>(items > 1 ? items : along), static_cast<std::size_t>(across), 1};
    grid_.global = {items > 1 ? static_cast<std::size_t>(first) * static_cast<std::size_t>(items) : whole(first, along),
                    whole(second, across),
                    static_cast<std::size_t>(third) * static_cast<std::size_t>(parts ? work_.parts : 1)};

    for (std::size_t d = 0; d < rank; ++d) place.names.push_back(fmt::format("o{}", d));
    if (items > 1) line("const int item = (int){};", dialect_.local_id(0));
    if (rank > 0) {
      const std::string id = items > 1 ? dialect_.group_id(0) : dialect_.global_id(0);
      line("const {} o{} = ({}){}{};", int_, rank - 1, int_, id,
           place.width > 1 ? fmt::format(" * {}", place.width) : "");
    }
    if (rank > 1) line("const {} o{} = ({}){};", int_, rank - 2, int_, dialect_.global_id(1));
    if (parts) line("const int part = (int)({} % {});", dialect_.global_id(2), work_.parts);
    std::vector<std::size_t> others;
    for (std::size_t d = 0; d + 2 < rank; ++d) others.push_back(d);
    write_points(others, fmt::format("({}{})", dialect_.global_id(2), parts ? fmt::format(" / {}", work_.parts) : ""));
    std::string outside;
    if (rank > 0 && grid_.local[0] > 1 && items == 1)
      outside = fmt::format("o{} >= {}", rank - 1, outer_extent(rank - 1));
    if (rank > 1 && grid_.local[1] > 1)
      outside += fmt::format("{}o{} >= {}", outside.empty() ? "" : " || ", rank - 2, outer_extent(rank - 2));
    if (!outside.empty()) line("if ({}) return;", outside);
    if (place.width > 1) {
      line("const int lanes = (int)min(({}){}, {} - o{});", int_, place.width, outer_extent(rank - 1), rank - 1);
      place.count = "lanes";
    }
    return place;
  }

  /// In a group every item computes what is outer; one stores it.
  void write_outer(const Stage& stage, const CodePosition& outer) {
    const bool stores = std::any_of(stage.outer.begin(), stage.outer.end(),
                                    [](const Instr& in) { return in.code == codegen::Code::Store; });
    if (work_.group == 1 || !work_.rows || !stores) return write_each(stage.outer, outer);
    // Others may still read what is about to be overwritten.
    line("{}", dialect_.global_barrier);
    std::vector<Instr> values;
    std::vector<Instr> last;
    for (const Instr& in : stage.outer) (in.code == codegen::Code::Store ? last : values).push_back(in);
    write_each(values, outer);
    open("if (item == 0) {{");
    write_each(last, outer);
    close();
  }

  void write_loops(std::size_t s, const CodePosition& outer) {
    const Stage& stage = program_.stages[s];
    const std::size_t rank = stage.inner.size();
    CodePosition place = outer;
    if (work_.rows) {
      place.width = rank == 0 ? 1 : work_.width_along(stage.inner.back().value());
      place.fast = place.width > 1 ? static_cast<int>(program_.outer.size() + rank) - 1 : -1;
      place.count = "1";
    }
    const int width = place.width;
    const int step = work_.rows ? width * work_.group : 1;
    const auto declare = [&](const std::string& name, const Reduction& r) {
      line("{0} {1} = ({0})({2});", value_type(r.dtype, width), name, helpers_.identity(r.op, r.dtype));
    };
    const auto joined = [&](const std::string& name, const Reduction& r, const std::string& value) {
      line("{} = {};", name, helpers_.join(r.op, r.dtype, width, name, value));
    };
    const auto sum_name = [](const Reduction& r) { return fmt::format("sum{}", r.result); };
    const auto block_name = [](const Reduction& r) { return fmt::format("block{}", r.result); };
    for (const Reduction& r : stage.reductions) declare(sum_name(r), r);
    bool twice = false;  // whole vectors have a loop of their own, without tails
    std::string row_end;
    bool blocks = false;
    for (const Reduction& r : stage.reductions) blocks = blocks || blocked(r);
    blocks = blocks && rank > 0 && stage.inner.back().value() > kSummedInARow * step;
    if (work_.parts > 1) {
      const std::string n = inner_extent(s, work_.split_loop);
      const int unit = work_.split_loop + 1 == rank ? std::max(step, 1) : 1;
      line("const {0} share = ({1} + {2}) / {3} * {4};", int_, n, work_.parts * unit - 1, work_.parts * unit, unit);
      line("const {} first = min({}, part * share);", int_, n);
      line("const {} end = min({}, first + share);", int_, n);
    }
    for (std::size_t d = 0; d < rank; ++d) {
      place.names.push_back(fmt::format("r{}", d));
      const bool last = d + 1 == rank;
      if (!last || (work_.rows && work_.group == 1 && width == 1 && !blocks) || (!work_.rows && !blocks)) {
        open("for ({0} r{1} = {2}; r{1} < {3}; ++r{1}) {{", int_, d, first_of(d), end_of(s, d));
        continue;
      }
      if (blocks) {
        open("for ({0} b = {1}; b < {2}; b += {3}) {{", int_, first_of(d), end_of(s, d), kSummedInARow * step);
        line("const {0} block_end = min({1}, b + {2});", int_, end_of(s, d), kSummedInARow * step);
        for (const Reduction& r : stage.reductions) declare(block_name(r), r);
      }
      const std::string from = blocks ? "b" : first_of(d);
      const std::string to = blocks ? "block_end" : end_of(s, d);
      const std::string start = work_.rows && work_.group > 1 ? fmt::format("{} + item * {}", from, width) : from;
      twice = work_.rows && work_.group == 1 && width > 1 && stage.body.size() <= kMostTwice;
      if (twice) {
        open("{{");
        line("{} r{} = {};", int_, d, start);
        row_end = to;
        open("for (; r{0} <= {1} - {2}; r{0} += {2}) {{", d, to, step);
        place.count = std::to_string(width);
        continue;
      }
      open("for ({0} r{1} = {2}; r{1} < {3}; r{1} += {4}) {{", int_, d, start, to, step);
      if (work_.rows && width > 1) {
        line("const int run = (int)min(({}){}, {} - r{});", int_, width, to, d);
        place.count = "run";
      }
    }
    if (rank == 0) open("{{");
    kept_at_ = "0";
    for (std::size_t d = 0; d < rank; ++d)
      kept_at_ =
          d == 0 ? place.names[program_.outer.size()]
                 : fmt::format("({}) * {} + {}", kept_at_, inner_extent(s, d), place.names[program_.outer.size() + d]);
    const auto gather = [&](bool whole) {
      write_each(stage.body, place);
      for (const Reduction& r : stage.reductions) {
        std::string value = read(r.input, place);
        if (work_.rows && width > 1 && !whole) value = helpers_.keep_lanes(r.op, r.dtype, width, value, place.count);
        joined(blocks ? block_name(r) : sum_name(r), r, value);
      }
    };
    gather(twice);
    if (twice) {
      close();
      open("if (r{} < {}) {{", rank - 1, row_end);
      line("const int run = (int)({} - r{});", row_end, rank - 1);
      place.count = "run";
      gather(false);
      close();
    }
    for (std::size_t d = 0; d < std::max<std::size_t>(rank, 1); ++d) {
      close();
      if (d == 0 && blocks) {
        for (const Reduction& r : stage.reductions) joined(sum_name(r), r, block_name(r));
        close();
      }
    }
    finish_reductions(stage, outer, width);
  }

  /// Combines a value of each item of a group by a tree.
  std::string over_group(const Reduction& r, const std::string& sum) {
    line("{};", dialect_.local_array(value_type(r.dtype), fmt::format("tree{}", r.result), work_.group));
    line("tree{}[item] = {};", r.result, sum);
    open("for (int half_way = {}; half_way > 0; half_way /= 2) {{", work_.group / 2);
    line("{}", dialect_.barrier);
    line("if (item < half_way) tree{0}[item] = {1};", r.result,
         helpers_.join(r.op, r.dtype, 1, fmt::format("tree{}[item]", r.result),
                       fmt::format("tree{}[item + half_way]", r.result)));
    close();
    line("{}", dialect_.barrier);
    return fmt::format("tree{}[0]", r.result);
  }

  /// Combines lanes, then the items of a group. The results are values of the outer point, or partial results in
  /// memory.
  void finish_reductions(const Stage& stage, const CodePosition& outer, int width) {
    for (const Reduction& r : stage.reductions) {
      std::string sum = fmt::format("sum{}", r.result);
      const std::string type = value_type(r.dtype);
      if (work_.rows) sum = helpers_.fold(r.op, r.dtype, width, sum);
      if (work_.rows && work_.group > 1) sum = over_group(r, sum);
      if (work_.parts == 1) {
        define(r.result, sum, work_.rows ? 1 : width);
        continue;
      }
      line("{}{};", work_.rows && work_.group > 1 ? "if (item == 0) " : "", store_partial(r, outer, sum));
    }
  }

  void write_join(const CodePosition& outer) {
    const bool group = work_.rows && work_.group > 1;
    for (const Reduction& r : split_stage().reductions) {
      const std::string name = fmt::format("sum{}", r.result);
      const std::string type = value_type(r.dtype, outer.width);
      line("{0} {1} = ({0})({2});", type, name, helpers_.identity(r.op, r.dtype));
      const std::string loaded = load_partial(r, outer);
      line("for ({0} part = {1}; part < {2}; part += {3}) {4} = {5};", int_, group ? "item" : "0", work_.parts,
           group ? work_.group : 1, name, helpers_.join(r.op, r.dtype, outer.width, name, loaded));
      define(r.result, group ? over_group(r, name) : name, outer.width);
    }
    write_outer(split_stage(), outer);
    for (const Stage& s : program_.stages)
      if (&s != &split_stage()) write_outer(s, outer);
  }

  const Stage& split_stage() const { return program_.stages[static_cast<std::size_t>(work_.split)]; }

  const DeviceTraits& table_;
  std::vector<ValueId> kept_values_;
  Grid grid_;
};

}  // namespace

std::string Rendered::source() const {
  std::string text = header + dialect->prelude(fp64);
  for (const auto& [name, function] : helpers) text += function + "\n";
  return text + body;
}

std::string Rendered::source_beside(SharedHelpers& shared) const {
  const std::string section = shared.prefix();
  shared.add_lines(dialect->prelude(fp64));
  shared.open(section, "", "");
  // Each helper comes after those that it calls.
  for (const auto& [name, function] : helpers) shared.add(section, 0, name, function + "\n");
  return fmt::format("{}#include \"{}\"\n{}", header, shared.file(), body);
}

Rendered render(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                const RenderOptions& options) {
  const auto in = [](WorkMapping mapping, Rendered out) {
    out.mapping = mapping;
    return out;
  };
  if (auto scan = render_scan(program, dialect, table)) return std::move(*scan);
  if (auto sort = render_sort(program, dialect, table)) return std::move(*sort);
  if (options.products) {
    if (auto product = render_product(program, dialect, table, options))
      return in(WorkMapping::Blocked, std::move(*product));
    if (auto tiles = render_tiles(program, dialect, table, options)) return in(WorkMapping::Blocked, std::move(*tiles));
  }
  if (auto squares = render_squares(program, dialect, table, options))
    return in(WorkMapping::Squares, std::move(*squares));
  if (auto columns = render_columns(program, dialect, table, options)) return std::move(*columns);
  return Renderer(program, dialect, table, options).run();
}

}  // namespace oriel::source::items
