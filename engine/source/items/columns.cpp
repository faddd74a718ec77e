#include "source/items/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "codegen/keep.hpp"
#include "source/items/statements.hpp"
#include "source/items/work_division.hpp"

namespace oriel::source::items {
namespace {

using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Reduction;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

// Bytes of a row that an item takes, so that it reads that many of a memory page before it goes on. The first is the
// default.
constexpr std::int64_t kStripBytes[] = {512, 256, 1024};
// The most sums that an item holds for all reductions together, in vectors. Registers are few.
constexpr std::int64_t kMostSums = 16;
// With at most this many instructions, whole strips are unrolled vector by vector, which keeps their sums in registers.
// Not every compiler of kernels unrolls such loops itself.
constexpr std::size_t kMostWrittenOut = 24;

class ColumnRenderer : private ItemStatementWriter {
 public:
  ColumnRenderer(const LoopProgram& program, const Dialect& dialect, const WorkDivision& work, std::int64_t vectors,
                 const DeviceTraits& table)
      : ItemStatementWriter(program, dialect, table, work), vectors_(vectors) {
    find_crossing();
  }

  Rendered run() {
    Rendered out;
    const std::size_t rank = program_.outer.size();
    const auto columns = static_cast<std::size_t>(program_.outer.back().value());
    std::size_t others = 1;
    for (std::size_t d = 0; d + 1 < rank; ++d) others *= static_cast<std::size_t>(program_.outer[d].value());
    const auto strips = [&](std::size_t unit) { return (columns + unit - 1) / unit; };
    const auto lanes = static_cast<std::size_t>(work_.outer_width);
    std::vector<std::string> bodies{capture([&] { write_strip(); })};
    out.grids.push_back(
        {{strips(lanes * static_cast<std::size_t>(vectors_)), others, static_cast<std::size_t>(work_.parts)},
         {1, 1, 1}});
    Places partials;
    if (work_.parts > 1) {
      bodies.push_back(capture([&] { write_join(); }));
      out.grids.push_back({{strips(lanes), others, 1}, {1, 1, 1}});
      partials = partials_of(program_.stages[0], out);
    }
    out.method =
        fmt::format("{} columns an item, {} vectors of {}", work_.outer_width * vectors_, vectors_, work_.outer_width);
    if (work_.parts > 1) out.method += "; reductions in parts, joined by a second function";
    return finished(std::move(out), program_, bodies, partials);
  }

 private:
  std::size_t fast() const { return program_.outer.size() - 1; }
  static void each_list(const Stage& stage, const auto& f) {
    f(stage.body);
    f(stage.outer);
  }

  /// Finds the outer values that a later stage reads. They are kept for each vector of the strip.
  void find_crossing() {
    std::map<ValueId, std::size_t> made;
    crossing_.resize(program_.stages.size());
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      const Stage& stage = program_.stages[s];
      const auto use = [&](ValueId v) {
        const auto found = made.find(v);
        if (found == made.end() || found->second == s) return;
        crossing_[s].insert(v);
        saved_.insert(v);
      };
      for (const Reduction& r : stage.reductions) made[r.result] = s;
      for (const Instr& in : stage.outer)
        if (in.result != kNoValue && in.code != codegen::Code::Const) made[in.result] = s;
      each_list(stage, [&](const std::vector<Instr>& list) {
        for (const Instr& in : list)
          for (const ValueId v : {in.a, in.b, in.c})
            if (v != kNoValue) use(v);
      });
      for (const Reduction& r : stage.reductions) use(r.input);
    }
  }

  CodePosition open_points(const std::string& first) {
    CodePosition place;
    place.width = work_.outer_width;
    place.fast = place.width > 1 ? static_cast<int>(fast()) : -1;
    for (std::size_t d = 0; d <= fast(); ++d) place.names.push_back(fmt::format("o{}", d));
    line("const {0} strip = ({0}){2} * {1};", int_, first, dialect_.global_id(0));
    std::vector<std::size_t> others(fast());
    std::iota(others.begin(), others.end(), std::size_t{0});
    write_points(others, dialect_.global_id(1));
    return place;
  }

  /// Writes `f` for each vector of the strip: unrolled for whole strips, else as a loop. `f` receives the suffix of the
  /// names of the vector's sums.
  template <class F>
  void each_vector(CodePosition& place, std::size_t s, F f) {
    for (std::int64_t u = 0; u < (whole_ ? vectors_ : 1); ++u) {
      const std::string end = whole_ ? fmt::format("_{}", u) : "[u]";
      if (whole_) {
        open("{{");
        line("const {} o{} = strip + {};", int_, fast(), u * place.width);
        place.count = std::to_string(place.width);
      } else {
        open("for (int u = 0; u < {}; ++u) {{", vectors_);
        line("const {} o{} = strip + u * {};", int_, fast(), place.width);
        line("const int lanes = {};",
             dialect_.clamped(fmt::format("{} - o{}", outer_extent(fast()), fast()), 0, place.width));
        place.count = "lanes";
      }
      for (const ValueId v : crossing_[s]) define(v, fmt::format("all{}{}", v, end), place.width);
      f(end);
      close();
    }
  }

  void declare(const std::string& name, DType dtype, int width, const std::string& first) {
    const std::string type = value_type(dtype, width);
    if (!whole_) {
      line("{} {}[{}];", type, name, vectors_);
      if (!first.empty()) line("for (int u = 0; u < {}; ++u) {}[u] = ({})({});", vectors_, name, type, first);
      return;
    }
    for (std::int64_t u = 0; u < vectors_; ++u)
      line("{} {}_{}{};", type, name, u, first.empty() ? "" : fmt::format(" = ({})({})", type, first));
  }

  void write_strip() {
    const std::int64_t columns = work_.outer_width * vectors_;
    const CodePosition place = open_points(std::to_string(columns));
    if (work_.parts > 1) line("const {0} part = ({0}){1};", int_, dialect_.global_id(2));
    std::size_t instructions = 0;
    for (const Stage& s : program_.stages) instructions += s.body.size() + s.outer.size() + s.reductions.size();
    if (instructions <= kMostWrittenOut) {
      open("if (strip + {} <= {}) {{", columns, outer_extent(fast()));
      whole_ = true;
      write_stages(place);
      whole_ = false;
      line("return;");
      close();
    }
    write_stages(place);
  }

  void write_stages(const CodePosition& place) {
    for (const ValueId v : saved_) declare(fmt::format("all{}", v), program_.values[at(v)], place.width, "");
    each_stage(
        [&](std::size_t s) {
          open("{{");
          write_loops(s, place);
          if (work_.parts > 1 || !program_.stages[s].reductions.empty()) write_after(s, place);
          close();
        },
        [&](std::size_t s) {
          if (program_.stages[s].reductions.empty()) write_after(s, place);
        });
  }

  void write_loops(std::size_t s, CodePosition place) {
    const Stage& stage = program_.stages[s];
    const std::size_t rank = stage.inner.size();
    const auto sums = [&](const char* kind) {
      for (const Reduction& r : stage.reductions)
        declare(fmt::format("{}{}", kind, r.result), r.dtype, place.width, helpers_.identity(r.op, r.dtype));
    };
    const auto join = [&](const char* into, const Reduction& r, const std::string& end, const std::string& value) {
      const std::string name = fmt::format("{}{}{}", into, r.result, end);
      line("{} = {};", name, helpers_.join(r.op, r.dtype, place.width, name, value));
    };
    sums("sum");
    const bool blocks = rank > 0 && stage.inner.back().value() > kSummedInARow &&
                        std::any_of(stage.reductions.begin(), stage.reductions.end(), blocked);
    if (work_.parts > 1) {
      const std::string n = inner_extent(s, work_.split_loop);
      const std::string parts = extent("parts", work_.parts);
      line("const {0} share = ({1} + {2} - 1) / {2};", int_, n, parts);
      line("const {0} first = min({1}, part * share);", int_, n);
      line("const {0} end = min({1}, first + share);", int_, n);
    }
    for (std::size_t d = 0; d < rank; ++d) {
      place.names.push_back(fmt::format("r{}", d));
      if (d + 1 < rank || !blocks) {
        open("for ({0} r{1} = {2}; r{1} < {3}; ++r{1}) {{", int_, d, first_of(d), end_of(s, d));
        continue;
      }
      open("for ({0} b = {1}; b < {2}; b += {3}) {{", int_, first_of(d), end_of(s, d), kSummedInARow);
      line("const {0} block_end = min({1}, b + {2});", int_, end_of(s, d), kSummedInARow);
      sums("block");
      open("for ({0} r{1} = b; r{1} < block_end; ++r{1}) {{", int_, d);
    }
    each_vector(place, s, [&](const std::string& end) {
      write_each(stage.body, place);
      for (const Reduction& r : stage.reductions) join(blocks ? "block" : "sum", r, end, read(r.input, place));
    });
    for (std::size_t d = 0; d < rank; ++d) {
      close();
      if (d > 0 || !blocks) continue;
      each_vector(place, s, [&](const std::string& end) {
        for (const Reduction& r : stage.reductions) join("sum", r, end, fmt::format("block{}{}", r.result, end));
      });
      close();
    }
  }

  /// Writes what follows a stage's loops, vector by vector, or stores its partial results.
  void write_after(std::size_t s, CodePosition place) {
    const Stage& stage = program_.stages[s];
    if (work_.parts > 1 && !looped(stage)) return;
    if (stage.reductions.empty() && stage.outer.empty()) return;
    each_vector(place, s, [&](const std::string& end) {
      if (work_.parts > 1) {
        for (const Reduction& r : stage.reductions)
          line("{};", store_partial(r, place, fmt::format("sum{}{}", r.result, end)));
        return;
      }
      for (const Reduction& r : stage.reductions) define(r.result, fmt::format("sum{}{}", r.result, end), place.width);
      write_each(stage.outer, place);
      const auto save = [&](ValueId v) {
        if (saved_.contains(v)) line("all{}{} = {};", v, end, read(v, place));
      };
      for (const Reduction& r : stage.reductions) save(r.result);
      for (const Instr& in : stage.outer)
        if (in.result != kNoValue) save(in.result);
    });
  }

  void write_join() {
    CodePosition place = open_points(std::to_string(work_.outer_width));
    line("const {} o{} = strip;", int_, fast());
    line("const int lanes = {};",
         dialect_.clamped(fmt::format("{} - o{}", outer_extent(fast()), fast()), 0, place.width));
    place.count = "lanes";
    for (const Reduction& r : program_.stages[0].reductions) {
      const std::string name = fmt::format("sum{}", r.result);
      line("{0} {1} = ({0})({2});", value_type(r.dtype, place.width), name, helpers_.identity(r.op, r.dtype));
      const std::string loaded = load_partial(r, place);
      line("for ({0} part = 0; part < {1}; ++part) {2} = {3};", int_, extent("parts", work_.parts), name,
           helpers_.join(r.op, r.dtype, place.width, name, loaded));
      define(r.result, name, place.width);
    }
    for (const Stage& s : program_.stages) write_each(s.outer, place);
  }

  const std::int64_t vectors_;
  std::vector<std::set<ValueId>> crossing_;  // by stage: the values of earlier stages that it reads
  std::set<ValueId> saved_;
  bool whole_ = false;  // writing for strips without missing columns
};

}  // namespace

std::optional<Rendered> render_columns(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                                       const RenderOptions& options) {
  if (!table.cpu || program.orientation != codegen::Orientation::Outer || program.outer.empty()) return std::nullopt;
  if (std::none_of(program.stages.begin(), program.stages.end(),
                   [](const Stage& s) { return !s.reductions.empty() && !s.inner.empty(); }))
    return std::nullopt;
  if (!codegen::kept_values(program).empty()) return std::nullopt;
  const std::int64_t columns = program.outer.back().value();
  WorkDivision work = divide_work(program, table, options);
  std::size_t most = 1;
  for (const Stage& s : program.stages) most = std::max(most, s.reductions.size());
  std::int64_t bytes = 1;
  for (const codegen::Argument& a : program.arguments)
    bytes = std::max(bytes, static_cast<std::int64_t>(itemsize(a.dtype)));
  const std::int64_t strip = kStripBytes[static_cast<std::size_t>(std::max(options.shape, 0)) % std::size(kStripBytes)];
  std::int64_t vectors = std::min(strip / (bytes * work.outer_width), kMostSums / static_cast<std::int64_t>(most));
  while (vectors > 1 && (vectors / 2) * work.outer_width >= columns) vectors /= 2;
  if (work.outer_width < 2 || vectors < 2 || columns < 2 * work.outer_width) return std::nullopt;
  choose_column_parts(program, table, work.outer_width * vectors, work);
  Rendered out = ColumnRenderer(program, dialect, work, vectors, table).run();
  out.shapes = static_cast<int>(std::size(kStripBytes));
  return out;
}

}  // namespace oriel::source::items
