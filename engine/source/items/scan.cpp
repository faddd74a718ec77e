#include "source/items/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "source/items/statements.hpp"

namespace oriel::source::items {
namespace {

using codegen::LoopProgram;
using codegen::Scanning;
using graph::Op;

// Items of a group that scans a tile, and the neighbouring elements of each.
constexpr int kItems = 256;
constexpr int kRun = 8;
constexpr int kTile = kItems * kRun;
// Shares for each unit: groups of a GPU, items where lines lie side by side there, and items of a CPU.
constexpr std::int64_t kGroupShares = 16, kItemShares = 1024, kCpuShares = 4;
// A CPU takes lines in groups if each unit has so many.
constexpr std::int64_t kLinesInGroups = 64;
// The least elements of a share.
constexpr std::int64_t kLeastShare = 64;

std::int64_t lines_of(const Scanning& scan) { return scan.rows * scan.inner; }

WorkDivision work_of(const LoopProgram& program) {
  const Scanning& s = *program.scanning;
  WorkDivision work;
  work.wide = std::max({s.rows, s.extent, s.inner}) * 2 > kMostNarrow || s.rows * s.extent * s.inner > kMostNarrow;
  for (const codegen::Argument& a : program.arguments) work.fp64 = work.fp64 || a.dtype == DType::float64;
  return work;
}

Op reduction_of(Op op) {
  switch (op) {
    case Op::CumProd:
      return Op::Prod;
    case Op::CumMax:
      return Op::ReduceMax;
    case Op::CumMin:
      return Op::ReduceMin;
    default:
      return Op::Sum;
  }
}

class ScanRenderer : private ItemStatementWriter {
 public:
  ScanRenderer(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table)
      : ItemStatementWriter(program, dialect, table, work_of(program)),
        scan_(*program.scanning),
        to_(program.arguments.back().dtype),
        type_(dialect.value_type(to_)),
        recurs_(scan_.op == Op::Recurrence),
        has_rest_(scan_.op == Op::CumSum && is_floating(to_)),
        tiled_(!table.cpu && scan_.inner == 1 && scan_.extent >= kItems && table.group_size >= kItems),
        group_(table.cpu && lines_of(scan_) < kLinesInGroups * table.units ? 1 : 64) {
    const std::int64_t lines = std::max<std::int64_t>(lines_of(scan_), 1);
    const std::int64_t wanted = table.units * (tiled_ ? kGroupShares : table.cpu ? kCpuShares : kItemShares);
    shares_ = std::clamp<std::int64_t>(wanted / lines, 1, std::max<std::int64_t>(scan_.extent / kLeastShare, 1));
    share_ = (scan_.extent + shares_ - 1) / shares_;
    if (tiled_) share_ = (share_ + kTile - 1) / kTile * kTile;
    shares_ = std::max<std::int64_t>((scan_.extent + share_ - 1) / std::max<std::int64_t>(share_, 1), 1);
  }

  Rendered run() {
    Rendered out;
    Places partials;
    std::vector<std::string> bodies;
    const bool parts = shares_ > 1;
    if (parts) {
      for (const std::string& c : components()) {
        partials.emplace_back(to_, "before_" + c);
        out.partial_bytes.push_back(shares_ * scan_.rows * scan_.inner * static_cast<std::int64_t>(itemsize(to_)));
      }
      bodies.push_back(capture([&] { write_share(false, true); }));
      out.grids.push_back(grid(true));
      bodies.push_back(capture([&] { write_before(); }));
      out.grids.push_back(grid(false));
    }
    bodies.push_back(capture([&] { write_share(true, parts); }));
    out.grids.push_back(grid(true));
    out.method = tiled_ ? fmt::format("a scan: groups of {} items, {} elements in local memory", kItems, kTile)
                        : std::string("a scan: a line, or a share of one, an item");
    if (parts) out.method += "; lines in shares, whose totals are scanned before them";
    return finished(std::move(out), program_, bodies, partials);
  }

 private:
  /// What is combined has one number, of recurrences a pair: y becomes a * y + b.
  std::vector<std::string> components() const {
    return recurs_ ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"b"};
  }
  std::string identity(const std::string& component) const {
    if (recurs_) return component == "a" ? "1" : "0";
    return helpers_.identity(reduction_of(scan_.op), to_);
  }
  void declare(const std::string& name) {
    for (const std::string& c : components()) line("{0} {1}_{2} = ({0})({3});", type_, name, c, identity(c));
  }
  /// `into` becomes `first`, then `second`.
  void combine(const std::string& into, const std::string& first, const std::string& second) {
    if (!recurs_)
      return line("{}_b = {};", into, helpers_.join(reduction_of(scan_.op), to_, 1, first + "_b", second + "_b"));
    if (!scan_.restarts) {
      line("{0}_b = {2}_a * {1}_b + {2}_b;", into, first, second);
      return line("{0}_a = {1}_a * {2}_a;", into, first, second);
    }
    // A factor of 0 forgets what is before it, infinities and NaN too.
    line("{0}_b = {2}_a == 0 ? {2}_b : {2}_a * {1}_b + {2}_b;", into, first, second);
    line("{0}_a = {1}_a == 0 || {2}_a == 0 ? ({3})0 : {1}_a * {2}_a;", into, first, second, type_);
  }
  /// What is combined before a run of elements. A sum of floats has its rounding error beside it, so that the error of
  /// a result does not grow with the number of runs.
  /// @{
  void declare_carry() {
    declare("carry");
    if (has_rest_) line("{0} rest = ({0})({1});", type_, identity("b"));
  }
  /// `name` becomes the carry, then `name`.
  void add_carry(const std::string& name) {
    if (!has_rest_) return combine(name, "carry", name);
    line("{0}_b = carry_b + (rest + {0}_b);", name);
  }
  /// The carry becomes itself, then `name`: with the error of the sum by Knuth's two-sum. The error of an infinite sum
  /// is NaN, and is dropped.
  void advance_carry(const std::string& name) {
    if (!has_rest_) return combine("carry", "carry", name);
    open("{{");
    line("const {0} part = rest + {1}_b, total = carry_b + part, back = total - carry_b;", type_, name);
    line("const {} error = (carry_b - (total - back)) + (part - back);", type_);
    line("rest = error - error == 0 && error != 0 ? error : ({})({});", type_, identity("b"));
    line("carry_b = total;");
    close();
  }
  /// Stores the carry as the share's.
  void store_carry(const std::string& share) {
    for (const std::string& c : components())
      line("before_{0}[({1}) * {2} + line] = carry_{0}{3};", c, share, lines(), has_rest_ ? " + rest" : "");
  }
  /// @}
  /// Reads the element at a position into `name`.
  void read_element(const std::string& name, const std::string& at) {
    const auto element = [&](std::size_t argument, const std::string& where) {
      const DType from = program_.arguments[argument].dtype;
      const std::string value = helpers_.load_one(from, buffers_[argument], where);
      return from == to_ ? value : dialect_.converted(value_type(to_), value);
    };
    if (recurs_) line("{} = {};", name + "_a", element(0, scan_.number ? "0" : at));
    line("{} = {};", name + "_b", element(recurs_ ? 1 : 0, at));
  }
  void store_result(const std::string& at, const std::string& value) {
    line("{};", helpers_.store_one(to_, buffers_.back(), at, value));
  }

  std::string share_length() { return extent("share", share_); }
  std::string share_count() { return extent("shares", shares_); }
  std::string length() { return extent("scanned", scan_.extent); }
  std::string inner() { return extent("inner", scan_.inner); }
  std::string lines() { return extent("lines", scan_.rows * scan_.inner); }

  Grid grid(bool each_share) const {
    const auto count = static_cast<std::size_t>(scan_.rows * scan_.inner);
    const std::size_t second = each_share ? static_cast<std::size_t>(shares_) : 1;
    if (tiled_) return {{kItems * count, second, 1}, {kItems, 1, 1}};
    return {{(count + group_ - 1) / group_ * group_, second, 1}, {group_, 1, 1}};
  }

  void write_place() {
    if (tiled_) {
      line("const int item = (int){};", dialect_.local_id(0));
      line("const {0} line = ({0}){1};", int_, dialect_.group_id(0));
    } else {
      line("const {0} line = ({0}){1};", int_, dialect_.global_id(0));
      line("if (line >= {}) return;", lines());
    }
    line("const {0} share = ({0}){1};", int_, dialect_.global_id(1));
  }

  /// Combines the elements of a share, or scans them.
  void write_share(bool scans, bool parts) {
    write_place();
    line("const {0} begin = share * {1}, end = min(({0}){2}, begin + {1});", int_, share_length(), length());
    declare_carry();
    if (scans && parts)
      for (const std::string& c : components()) line("carry_{0} = before_{0}[share * {1} + line];", c, lines());
    if (tiled_) {
      line("const {} start = line * {};", int_, length());
      write_tiles(
          "begin", "end", [&](const std::string& at) { read_element("element", "start + " + at); },
          [&](const std::string& at, const std::string& stage) {
            if (scans) store_result("start + " + at, stage);
          },
          scans, false);
    } else {
      line("const {0} start = line / {1} * {1} * {2} + line % {1};", int_, inner(), length());
      declare("element");
      if (has_rest_) {
        open("for ({0} k = begin; k < end;) {{", int_);
        declare("run");
        line("const {} stop = min(end, k + {});", int_, ops::kScanRun);
        open("for (; k < stop; ++k) {{");
      } else {
        open("for ({0} k = begin; k < end; ++k) {{", int_);
      }
      line("const {} at = start + k * {};", int_, inner());
      read_element("element", "at");
      combine(has_rest_ ? "run" : "carry", has_rest_ ? "run" : "carry", "element");
      if (scans) store_result("at", has_rest_ ? "carry_b + (rest + run_b)" : "carry_b");
      close();
      if (has_rest_) {
        advance_carry("run");
        close();
      }
    }
    if (scans) return;
    if (tiled_) open("if (item == 0) {{");
    store_carry("share");
    if (tiled_) close();
  }

  /// Replaces the total of each share by what is before it.
  void write_before() {
    write_place();
    declare_carry();
    if (tiled_) {
      write_tiles(
          "0", share_count(),
          [&](const std::string& at) {
            for (const std::string& c : components())
              line("element_{0} = before_{0}[({1}) * {2} + line];", c, at, lines());
          },
          [&](const std::string& at, const std::string&) {
            for (const std::string& c : components())
              line("before_{0}[({1}) * {2} + line] = stage_{0}[{3}];", c, at, lines(),
                   slot("e * " + std::to_string(kItems) + " + item"));
          },
          true, true);
      return;
    }
    declare("element");
    open("for ({0} k = 0; k < {1}; ++k) {{", int_, share_count());
    for (const std::string& c : components()) line("element_{0} = before_{0}[k * {1} + line];", c, lines());
    store_carry("k");
    advance_carry("element");
    close();
  }

  /// Scans elements [begin, end) tile by tile, with `carry` before them. `read` reads one, `write` stores one from
  /// local memory. `exclusive`: what is before an element takes its place.
  template <class Read, class Write>
  void write_tiles(const std::string& begin, const std::string& end, const Read& read, const Write& write, bool stores,
                   bool exclusive) {
    for (const std::string& c : components()) {
      line("{};", dialect_.local_array(type_, "stage_" + c, padded(kTile)));
      line("{};", dialect_.local_array(type_, "total_" + c, 2 * kItems));
    }
    declare("element");
    open("for ({0} tile = {1}; tile < {2}; tile += {3}) {{", int_, begin, end, kTile);
    open("for (int e = 0; e < {}; ++e) {{", kRun);
    line("const {} at = tile + e * {} + item;", int_, kItems);
    for (const std::string& c : components()) line("element_{} = ({})({});", c, type_, identity(c));
    open("if (at < {}) {{", end);
    read("at");
    close();
    for (const std::string& c : components())
      line("stage_{0}[{1}] = element_{0};", c, slot(fmt::format("e * {} + item", kItems)));
    close();
    line("{}", dialect_.barrier);
    // A run of neighbouring elements in registers.
    declare("sum");
    const std::string mine = slot(fmt::format("item * {} + k", kRun));
    const auto each_of_run = [&](const auto& body) {
      line("#pragma unroll");
      open("for (int k = 0; k < {}; ++k) {{", kRun);
      body();
      close();
    };
    each_of_run([&] {
      for (const std::string& c : components()) line("element_{0} = stage_{0}[{1}];", c, mine);
      combine("sum", "sum", "element");
    });
    // The totals of the runs, each with those before it.
    for (const std::string& c : components()) line("total_{0}[item] = sum_{0};", c);
    line("int from = 0;");
    open("for (int apart = 1; apart < {}; apart *= 2) {{", kItems);
    line("{}", dialect_.barrier);
    declare("earlier");
    open("if (item >= apart) {{");
    for (const std::string& c : components()) line("earlier_{0} = total_{0}[from + item - apart];", c);
    combine("sum", "earlier", "sum");
    close();
    line("from = {} - from;", kItems);
    for (const std::string& c : components()) line("total_{0}[from + item] = sum_{0};", c);
    close();
    line("{}", dialect_.barrier);
    if (stores) {
      declare("sofar");
      open("if (item > 0) {{");
      for (const std::string& c : components()) line("sofar_{0} = total_{0}[from + item - 1];", c);
      close();
      add_carry("sofar");
      each_of_run([&] {
        for (const std::string& c : components()) line("element_{0} = stage_{0}[{1}];", c, mine);
        if (exclusive)
          for (const std::string& c : components()) line("stage_{0}[{1}] = sofar_{0};", c, mine);
        combine("sofar", "sofar", "element");
        if (!exclusive) line("stage_b[{}] = sofar_b;", mine);
      });
    }
    for (const std::string& c : components()) line("element_{0} = total_{0}[from + {1}];", c, kItems - 1);
    advance_carry("element");
    line("{}", dialect_.barrier);
    if (stores) {
      open("for (int e = 0; e < {}; ++e) {{", kRun);
      line("const {} at = tile + e * {} + item;", int_, kItems);
      open("if (at < {}) {{", end);
      write("at", fmt::format("stage_b[{}]", slot(fmt::format("e * {} + item", kItems))));
      close();
      close();
      line("{}", dialect_.barrier);
    }
    close();
  }

  const Scanning& scan_;
  const DType to_;
  const std::string type_;
  const bool recurs_, has_rest_, tiled_;
  const std::size_t group_;
  std::int64_t shares_ = 1, share_ = 1;
};

}  // namespace

std::optional<Rendered> render_scan(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table) {
  if (!program.scanning) return std::nullopt;
  return ScanRenderer(program, dialect, table).run();
}

}  // namespace oriel::source::items
