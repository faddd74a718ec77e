#include "source/items/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "source/items/statements.hpp"
#include "source/items/work_division.hpp"

namespace oriel::source::items {
namespace {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::LoopProgram;

// On CPUs an item takes this many squares along both axes, so that it reads more of each memory page that it enters.
constexpr int kSquares = 8;
// Lanes of a square on other devices: 16 bytes of float32.
constexpr int kGpuLanes = 4;
constexpr std::size_t kGpuGroup = 8;

/// Loads that are contiguous along `across` and strided along the last loop.
std::set<std::int32_t> transposed_loads(const LoopProgram& program, std::size_t across) {
  std::set<std::int32_t> loads;
  for (const codegen::Stage& s : program.stages) {
    for (const Instr& in : s.outer) {
      if (in.code != Code::Load) continue;
      const Access& a = program.accesses[at(in.aux)];
      if (!a.affine()) continue;
      const std::int64_t last = a.coefficient(a.loops() - 1);
      if (a.coefficient(across) == 1 && last != 0 && last != 1) loads.insert(in.aux);
    }
  }
  return loads;
}

class SquareRenderer : private ItemStatementWriter {
 public:
  SquareRenderer(const LoopProgram& program, const Dialect& dialect, const WorkDivision& work,
                 const DeviceTraits& table, int lanes, std::size_t across, std::set<std::int32_t> transposed)
      : ItemStatementWriter(program, dialect, table, work),
        lanes_(lanes),
        squares_(table.cpu ? kSquares : 1),
        group_(table.cpu || table.group_size < kGpuGroup * kGpuGroup ? 1 : kGpuGroup),
        across_(across),
        transposed_(std::move(transposed)) {}

  Rendered run() {
    Rendered out;
    const auto block = static_cast<std::int64_t>(lanes_ * squares_);
    const auto items = [&](std::int64_t n) {
      const auto blocks = static_cast<std::size_t>((n + block - 1) / block);
      return (blocks + group_ - 1) / group_ * group_;
    };
    std::size_t others = 1;
    for (std::size_t d = 0; d < last(); ++d)
      if (d != across_) others *= static_cast<std::size_t>(program_.outer[d].value());
    const std::string text = capture([&] { write_kernel(); });
    out.grids.push_back(
        {{items(program_.outer[last()].value()), items(program_.outer[across_].value()), others}, {group_, group_, 1}});
    out.method = fmt::format(
        "squares of {0} x {0} along o{1} and o{2}, loaded along o{1} and transposed in registers; {3}", lanes_, across_,
        last(), squares_ > 1 ? fmt::format("{0} x {0} squares an item", squares_) : "a square an item");
    return finished(std::move(out), program_, {text});
  }

 private:
  std::size_t last() const { return program_.outer.size() - 1; }

  /// Adds the function that transposes a square. Each round separates the even lanes of neighbouring rows from the odd
  /// ones: the lowest bit of the lane's number becomes the highest bit of the row's, and vice versa.
  std::string turn(DType dtype) {
    std::string name = fmt::format("turn_{}x{}", short_type(dtype), lanes_);
    if (helpers_.has(name)) return name;
    const std::string type = value_type(dtype, lanes_);
    std::string body;
    for (int r = 0; r < lanes_; ++r) body += fmt::format("  const {} a0_{} = t[{}];\n", type, r, r);
    int round = 0;
    for (int n = lanes_; n > 1; n /= 2, ++round) {
      for (int r = 0; r < lanes_; ++r) {
        const int from = 2 * r % lanes_;
        body += fmt::format("  const {} a{}_{} = {};\n", type, round + 1, r,
                            dialect_.parted(dtype, lanes_, fmt::format("a{}_{}", round, from),
                                            fmt::format("a{}_{}", round, from + 1), r >= lanes_ / 2));
      }
    }
    for (int r = 0; r < lanes_; ++r) body += fmt::format("  t[{}] = a{}_{};\n", r, round, r);
    helpers_.add(name, fmt::format("// Rows of a square become its columns.\n{}void {}({}* t) {{\n{}}}\n",
                                   dialect_.function_prefix, name, type, body));
    return name;
  }

  void write_kernel() {
    const std::size_t rows = across_, columns = last();
    const int block = lanes_ * squares_;
    CodePosition place;
    for (std::size_t d = 0; d <= columns; ++d) place.names.push_back(fmt::format("o{}", d));
    line("const {0} first_column = ({0}){2} * {1};", int_, block, dialect_.global_id(0));
    line("const {0} first_row = ({0}){2} * {1};", int_, block, dialect_.global_id(1));
    std::vector<std::size_t> others;
    for (std::size_t d = 0; d < columns; ++d)
      if (d != rows) others.push_back(d);
    write_points(others, dialect_.global_id(2));
    const std::string row_end = outer_extent(rows), column_end = outer_extent(columns);
    line("const {} last_row = min(first_row + {}, {});", int_, block, row_end);
    line("const {} last_column = min(first_column + {}, {});", int_, block, column_end);
    open("for ({0} row = first_row; row < last_row; row += {1}) {{", int_, lanes_);
    open("for ({0} column = first_column; column < last_column; column += {1}) {{", int_, lanes_);
    line("const int rows_here = (int)min(({}){}, last_row - row);", int_, lanes_);
    line("const int columns_here = (int)min(({}){}, last_column - column);", int_, lanes_);
    open("if (rows_here == {0} && columns_here == {0}) {{", lanes_);
    write_square(place, true);
    otherwise();
    write_square(place, false);
    close();
    close();
    close();
  }

  void write_square(CodePosition place, bool whole) {
    place.width = lanes_;
    const std::string all = std::to_string(lanes_);
    for (const std::int32_t aux : transposed_) {
      const Access& a = program_.accesses[at(aux)];
      line("{} square{}[{}];", value_type(a.dtype, lanes_), aux, lanes_);
      open("for (int k = 0; k < {}; ++k) {{", whole ? all : "columns_here");
      line("const {0} o{1} = row, o{2} = column + k;", int_, across_, last());
      CodePosition rows = place;
      rows.fast = static_cast<int>(across_);
      rows.count = whole ? all : "rows_here";
      line("square{}[k] = {};", aux, run_of(a, rows));
      close();
      if (!whole)
        line("for (int k = columns_here; k < {}; ++k) square{}[k] = ({})(0);", lanes_, aux,
             value_type(a.dtype, lanes_));
      line("{}(square{});", turn(a.dtype), aux);
      at_hand_[aux] = fmt::format("square{}[k]", aux);
    }
    open("for (int k = 0; k < {}; ++k) {{", whole ? all : "rows_here");
    line("const {0} o{1} = row + k, o{2} = column;", int_, across_, last());
    place.fast = static_cast<int>(last());
    place.count = whole ? all : "columns_here";
    for (const codegen::Stage& s : program_.stages) write_each(s.outer, place);
    close();
  }

  const int lanes_;
  const int squares_;
  const std::size_t group_;
  const std::size_t across_;
  const std::set<std::int32_t> transposed_;
};

}  // namespace

std::optional<Rendered> render_squares(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                                       const RenderOptions& options) {
  if (program.outer.size() < 2 || std::any_of(program.stages.begin(), program.stages.end(), looped))
    return std::nullopt;
  for (const codegen::Argument& a : program.arguments)
    if (a.shares >= 0) return std::nullopt;  // one point's store may overwrite what another point has yet to load
  const std::size_t last = program.outer.size() - 1;
  std::set<std::int32_t> transposed;
  std::size_t across = 0;
  for (std::size_t d = 0; d < last; ++d) {
    std::set<std::int32_t> loads = transposed_loads(program, d);
    if (loads.size() <= transposed.size()) continue;
    transposed = std::move(loads);
    across = d;
  }
  if (transposed.empty()) return std::nullopt;
  const WorkDivision work = divide_work(program, table, options);
  const int lanes = table.cpu ? work.widest : std::max(work.widest, kGpuLanes);
  const std::int64_t least = std::min(program.outer[across].value(), program.outer[last].value());
  // On short axes squares would be half empty.
  if (lanes < 2 || least < lanes) return std::nullopt;
  return SquareRenderer(program, dialect, work, table, lanes, across, std::move(transposed)).run();
}

}  // namespace oriel::source::items
