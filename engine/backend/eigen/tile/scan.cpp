#include "backend/eigen/tile/one_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backend/eigen/tile/machine.hpp"
#include "backend/eigen/tile/worker.hpp"
#include "memory/buffer.hpp"
#include "memory/host.hpp"
#include "ops/functions/recurrence.hpp"

namespace oriel::backend::eigen {
namespace {

using ops::kScanRun;

// Rows that are shorter are scanned side by side; else the runs of one row are.
constexpr std::int64_t kShortScan = 8 * kScanRun;
// Elements that are converted at a time, and columns of them. They stay in the first-level cache, or in the second.
constexpr std::int64_t kConverted = 4 * kScanRun;
constexpr std::int64_t kConvertedColumns = 64;

/// Works on the columns of one program. `strand` numbers strips of columns, row by row.
class Scanner {
 public:
  Scanner(const ScanPlan& plan, std::span<void* const> arguments)
      : plan_(plan),
        fns_(*plan.fns),
        in_(static_cast<const char*>(arguments[0])),
        out_(static_cast<char*>(arguments[1])) {}

  std::int64_t strips() const { return (plan_.scan.inner + plan_.strip - 1) / plan_.strip; }
  std::int64_t strands() const { return plan_.scan.rows * strips(); }
  std::int64_t runs() const { return (plan_.scan.extent + kScanRun - 1) / kScanRun; }
  std::int64_t width(std::int64_t strand) const {
    return std::min(plan_.strip, plan_.scan.inner - strand % strips() * plan_.strip);
  }
  /// The totals of a run, and the state of the widest strand.
  /// @{
  std::int64_t total_bytes(std::int64_t strand) const { return width(strand) * to_bytes_; }
  std::int64_t state_bytes() const { return 3 * plan_.strip * to_bytes_; }
  /// @}

  void start(std::int64_t strand, void* state) const { fns_.start(state, width(strand)); }

  /// Scans runs [first, last) of a strand, from a state before them.
  void scan(std::int64_t strand, std::int64_t first, std::int64_t last, void* state) const {
    each_piece(strand, first, last, [&](isa::ScanLines lines, std::int64_t at) {
      lines.out = out_ + at * to_bytes_;
      if (lines.pitch == plan_.scan.inner) return fns_.scan(lines, state);
      // The operand was converted into lines of another pitch.
      scan_apart(lines, at, state);
    });
  }

  /// Writes a line of totals for each of the runs [first, last).
  void totals(std::int64_t strand, std::int64_t first, std::int64_t last, char* to) const {
    const std::int64_t n = width(strand);
    each_piece(strand, first, last, [&](isa::ScanLines lines, std::int64_t /*at*/) {
      lines.out = to;
      fns_.totals(lines);
      to += (lines.lines + kScanRun - 1) / kScanRun * n * to_bytes_;
    });
  }

  void advance(std::int64_t strand, void* state, const char* totals, std::int64_t runs) const {
    fns_.advance(state, totals, width(strand), runs);
  }

  /// Scans whole rows of one column.
  void rows(std::int64_t first, std::int64_t last) const {
    const std::int64_t extent = plan_.scan.extent;
    const std::int64_t step = converts() ? std::max<std::int64_t>(1, 4 * kConverted / extent) : last - first;
    for (std::int64_t row = first; row < last; row += step) {
      const std::int64_t count = std::min(step, last - row);
      const void* x = in_ + row * extent * from_bytes_;
      if (converts()) {
        char* const converted = thread_memory(0, room(count * extent));
        convert(converted, static_cast<const char*>(x), count * extent);
        x = converted;
      }
      fns_.rows(out_ + row * extent * to_bytes_, x, count, extent);
    }
  }

 private:
  bool converts() const { return plan_.from != plan_.to; }
  std::int64_t room(std::int64_t elements) const { return (elements + isa::kPacket) * to_bytes_; }

  /// Calls f(lines, element at which they begin) for the lines of these runs, in pieces that are converted if needed.
  template <class F>
  void each_piece(std::int64_t strand, std::int64_t first, std::int64_t last, const F& f) const {
    const codegen::Scanning& s = plan_.scan;
    const std::int64_t n = width(strand);
    const std::int64_t origin = strand / strips() * s.extent * s.inner + strand % strips() * plan_.strip;
    const std::int64_t end = std::min(last * kScanRun, s.extent);
    const std::int64_t step = !converts() ? end : n == 1 ? kConverted : kScanRun;
    for (std::int64_t line = first * kScanRun; line < end; line += step) {
      const std::int64_t at = origin + line * s.inner, count = std::min(step, end - line);
      isa::ScanLines lines{in_ + at * from_bytes_, nullptr, s.inner, n, count, line == 0};
      if (converts()) {
        lines.pitch = s.inner == n ? n : (n + isa::kPacket - 1) / isa::kPacket * isa::kPacket;
        char* const converted = thread_memory(0, room(count * lines.pitch));
        if (s.inner == n) {
          convert(converted, static_cast<const char*>(lines.x), count * n);
        } else {
          for (std::int64_t k = 0; k < count; ++k)
            convert(converted + k * lines.pitch * to_bytes_, in_ + (at + k * s.inner) * from_bytes_, n);
        }
        lines.x = converted;
      }
      f(lines, at);
    }
  }

  /// Scans converted lines in place and copies them out.
  void scan_apart(isa::ScanLines lines, std::int64_t at, void* state) const {
    lines.out = const_cast<void*>(lines.x);
    fns_.scan(lines, state);
    for (std::int64_t k = 0; k < lines.lines; ++k)
      std::memcpy(out_ + (at + k * plan_.scan.inner) * to_bytes_,
                  static_cast<const char*>(lines.x) + k * lines.pitch * to_bytes_,
                  static_cast<std::size_t>(lines.width * to_bytes_));
  }

  // The operand may be a program's memory, so nothing behind it is read.
  void convert(char* to, const char* from, std::int64_t n) const {
    const isa::Table& table = *plan_.table;
    if (is_half(plan_.from)) {
      return (plan_.from == DType::float16 ? table.widen_float16 : table.widen_bfloat16)(to, n, 1, from, n, 1, 1, n);
    }
    const isa::ElementFn cast = table.cast[static_cast<std::size_t>(plan_.from)][static_cast<std::size_t>(plan_.to)];
    const std::int64_t whole = n / isa::kPacket * isa::kPacket;
    if (whole > 0) cast(to, from, nullptr, nullptr, whole);
    if (whole == n) return;
    alignas(64) char rest[isa::kPacket * 8] = {};
    std::memcpy(rest, from + whole * from_bytes_, static_cast<std::size_t>((n - whole) * from_bytes_));
    cast(to + whole * to_bytes_, rest, nullptr, nullptr, isa::kPacket);
  }

  const ScanPlan& plan_;
  const isa::ScanFns& fns_;
  const char* const in_;
  char* const out_;
  const std::int64_t from_bytes_ = static_cast<std::int64_t>(itemsize(plan_.from));
  const std::int64_t to_bytes_ = static_cast<std::int64_t>(itemsize(plan_.to));
};

/// All threads scan one strand.
void scan_together(const Scanner& scanner, std::int64_t strand, const Team& threads) {
  const std::int64_t runs = scanner.runs();
  const std::int64_t shares = std::min<std::int64_t>(threads.count(), runs);
  const std::int64_t state = scanner.state_bytes();
  const auto host = [](std::int64_t bytes) {
    return mem::Buffer(mem::host_allocator(), static_cast<std::size_t>(bytes));
  };
  // The last share's totals are not needed.
  const std::int64_t totalled = share_begin(runs, shares - 1, shares);
  const mem::Buffer totals = host(totalled * scanner.total_bytes(strand)), states = host(shares * state);
  char* const total = static_cast<char*>(totals.data());
  threads.run(shares, [&](std::int64_t t) {
    const std::int64_t first = share_begin(totalled, t, shares), last = share_begin(totalled, t + 1, shares);
    scanner.totals(strand, first, last, total + first * scanner.total_bytes(strand));
  });
  char* const at = static_cast<char*>(states.data());
  scanner.start(strand, at);
  for (std::int64_t t = 1; t < shares; ++t) {
    const std::int64_t first = share_begin(runs, t - 1, shares), last = share_begin(runs, t, shares);
    std::memcpy(at + t * state, at + (t - 1) * state, static_cast<std::size_t>(state));
    scanner.advance(strand, at + t * state, total + first * scanner.total_bytes(strand), last - first);
  }
  threads.run(shares, [&](std::int64_t t) {
    scanner.scan(strand, share_begin(runs, t, shares), share_begin(runs, t + 1, shares), at + t * state);
  });
}

/// Rows of a recurrence that run side by side, and the fewest columns that a thread gets.
constexpr int kRowsSideBySide = 4;
constexpr std::int64_t kColumnsEach = 64;

template <bool restarts, class T>
void recur(const codegen::Scanning& s, const Team& threads, std::span<void* const> arguments) {
  const auto* const a = static_cast<const T*>(arguments[0]);
  const auto* const b = static_cast<const T*>(arguments[1]);
  auto* const y = static_cast<T*>(arguments[2]);
  const std::int64_t block = s.extent * s.inner, step = s.number ? 0 : 1;
  const auto rows = [&](std::int64_t first, std::int64_t last, std::int64_t from, std::int64_t to) {
    for (; s.inner == 1 && first + kRowsSideBySide <= last; first += kRowsSideBySide)
      ops::recur_rows<restarts, kRowsSideBySide>(y + first * block, a + first * block * step, step, b + first * block,
                                                 s.extent);
    for (; first < last; ++first)
      ops::recur<restarts>(y + first * block, a + first * block * step, step, b + first * block, s.extent, s.inner,
                           from, to);
  };
  const auto work = static_cast<double>(s.rows) * static_cast<double>(block);
  const std::int64_t most = threads.count() == 1 || work < kParallelWork ? 1 : threads.count();
  const std::int64_t by_row = std::min(most, s.rows);
  const std::int64_t tasks = by_row < most ? std::max(std::min(most, s.inner / kColumnsEach), std::int64_t(1)) : by_row;
  if (tasks == 1) return rows(0, s.rows, 0, s.inner);
  threads.run(tasks, [&](std::int64_t t) {
    if (by_row == tasks) return rows(share_begin(s.rows, t, tasks), share_begin(s.rows, t + 1, tasks), 0, s.inner);
    rows(0, s.rows, share_begin(s.inner, t, tasks), share_begin(s.inner, t + 1, tasks));
  });
}

template <bool restarts>
void run_recurrence(const ScanPlan& plan, const Team& threads, std::span<void* const> arguments) {
  switch (plan.to) {
    case DType::float32:
      return recur<restarts, float>(plan.scan, threads, arguments);
    case DType::float64:
      return recur<restarts, double>(plan.scan, threads, arguments);
    default:  // integers wrap
      return recur<restarts, std::uint64_t>(plan.scan, threads, arguments);
  }
}

}  // namespace

std::shared_ptr<const ScanPlan> make_scan_plan(const codegen::LoopProgram& program, const isa::Table& table) {
  auto plan = std::make_shared<ScanPlan>();
  plan->scan = *program.scanning;
  plan->from = program.arguments[0].dtype;
  plan->to = program.arguments.back().dtype;
  plan->table = &table;
  if (plan->scan.op == graph::Op::Recurrence) return plan;
  plan->fns = &table.scan[isa::scan_index(plan->scan.op)][static_cast<std::size_t>(plan->to)];
  plan->side_by_side = plan->scan.inner == 1 && plan->scan.extent < kShortScan;
  plan->strip = std::min(plan->scan.inner, plan->from == plan->to ? isa::kScanStrip : kConvertedColumns);
  return plan;
}

// Measured on a Zen 4 core: 0.35 ns an element along the last axis, if the rows are not very short; converted, or along
// another axis, about as much.
double ScanPlan::nanoseconds() const {
  const codegen::Scanning& s = scan;
  const auto elements = static_cast<double>(s.rows) * static_cast<double>(s.extent) * static_cast<double>(s.inner);
  return elements * 0.35 + static_cast<double>(s.rows) * 2;
}

std::string ScanPlan::describe(const codegen::LoopProgram& /*program*/) const {
  if (scan.op == graph::Op::Recurrence) {
    return scan.inner > 1 ? "recurrence: line by line" : "recurrence: element by element, several rows side by side";
  }
  if (side_by_side) return "scan: several rows side by side";
  if (scan.inner == 1) return fmt::format("scan: runs of {} elements side by side, then joined", kScanRun);
  return fmt::format("scan: {} columns side by side, in runs of {} lines", strip, kScanRun);
}

void ScanPlan::run(const Team& threads, std::span<void* const> arguments,
                   std::span<const graph::Scalar> /*parameters*/) const {
  if (scan.op == graph::Op::Recurrence) {
    return scan.restarts ? run_recurrence<true>(*this, threads, arguments)
                         : run_recurrence<false>(*this, threads, arguments);
  }
  const Scanner scanner(*this, arguments);
  const codegen::Scanning& s = scan;
  const auto work = static_cast<double>(s.rows) * static_cast<double>(s.extent) * static_cast<double>(s.inner);
  const bool alone = threads.count() == 1 || work < kParallelWork;
  const std::int64_t strands = scanner.strands();
  if (!alone && strands < threads.count() && scanner.runs() > 1) {
    for (std::int64_t strand = 0; strand < strands; ++strand) scan_together(scanner, strand, threads);
    return;
  }
  const std::int64_t tasks =
      alone ? 1 : tasks_for(work, kTaskWork, std::min<std::int64_t>(strands, threads.count() * kTasksPerThread));
  const auto share = [&](std::int64_t t) {
    const std::int64_t first = share_begin(strands, t, tasks), last = share_begin(strands, t + 1, tasks);
    if (side_by_side) return scanner.rows(first, last);
    char* const state = thread_memory(1, scanner.state_bytes());
    for (std::int64_t strand = first; strand < last; ++strand) {
      scanner.start(strand, state);
      scanner.scan(strand, 0, scanner.runs(), state);
    }
  };
  if (tasks == 1) return share(0);
  threads.run(tasks, share);
}

}  // namespace oriel::backend::eigen
