#include "backend/eigen/tile/one_op.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "backend/eigen/tile/machine.hpp"
#include "ops/functions/scatter.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

using graph::Op;
using ops::ScatterBlock;
struct Functions {
  /// Combines one block. Element j of line k is x[k * line + j * step].
  void (*combine)(void* out, const ScatterBlock& block, const void* x, std::int64_t line, std::int64_t step);
  /// Combines entries with others.
  void (*join)(void* out, const void* x, std::int64_t elements);
};

// Threads share lines if each of them has at least so many bytes of one.
constexpr std::int64_t kSharedLineBytes = 64;

template <class F, class Identity, class T>
void combine_block(void* out, const ScatterBlock& block, const void* x, std::int64_t line, std::int64_t step) {
  ops::scatter<F, Identity>(static_cast<T*>(out), block, static_cast<const T*>(x), line, step);
}

void number(void* out, const ScatterBlock& block, const void* /*x*/, std::int64_t /*line*/, std::int64_t /*step*/) {
  ops::scatter_last(static_cast<std::int64_t*>(out), block);
}

template <class F, class T>
void join_entries(void* out, const void* x, std::int64_t elements) {
  for (std::int64_t e = 0; e < elements; ++e)
    static_cast<T*>(out)[e] = F::of(static_cast<T*>(out)[e], static_cast<const T*>(x)[e]);
}

template <class F, class Identity, class T>
constexpr Functions kFunctions{combine_block<F, Identity, T>, join_entries<F, T>};

template <class T>
Functions functions_of(Op op) {
  switch (op) {
    case Op::ScatterSum:
      return kFunctions<ops::Add, ops::Zero, T>;
    case Op::ScatterProd:
      return kFunctions<ops::Mul, ops::One, T>;
    case Op::ScatterMax:
      return kFunctions<ops::Max, ops::Lowest, T>;
    case Op::ScatterMin:
      return kFunctions<ops::Min, ops::Highest, T>;
    default:
      return {number, nullptr};
  }
}

Functions functions_of(Op op, DType dtype) {
  switch (dtype) {
    case DType::bool_:  // bytes that hold 0 and 1
      return op == Op::ScatterMax ? kFunctions<ops::Max, ops::Zero, std::uint8_t>
                                  : kFunctions<ops::Min, ops::One, std::uint8_t>;
    case DType::int8:
      return functions_of<std::int8_t>(op);
    case DType::uint8:
      return functions_of<std::uint8_t>(op);
    case DType::int16:
      return functions_of<std::int16_t>(op);
    case DType::uint16:
      return functions_of<std::uint16_t>(op);
    case DType::int32:
      return functions_of<std::int32_t>(op);
    case DType::uint32:
      return functions_of<std::uint32_t>(op);
    case DType::int64:
      return functions_of<std::int64_t>(op);
    case DType::uint64:
      return functions_of<std::uint64_t>(op);
    case DType::float32:
      return functions_of<float>(op);
    case DType::float64:
      return functions_of<double>(op);
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  throw InternalError("scatter", "halves are combined in float32");
}

/// Nanoseconds of a line.
double line_nanoseconds(const codegen::Scattering& s) {
  return s.each ? 1.2 * static_cast<double>(s.inner) : 1 + 0.2 * static_cast<double>(s.inner);
}

/// How threads share one block.
enum class Sharing {
  not_at_all,
  runs,    ///< positions ascend: each thread takes the keys of some entries
  copies,  ///< each thread combines some keys into entries of its own, which are joined: for integers, as order changes
           ///< no bit of theirs
  entries,  ///< each thread reads all positions and combines those of its entries
};

/// Part of a block.
struct Part {
  std::int64_t first_key, last_key;
  std::int64_t first, last;  // entries
  std::int64_t from, to;     // of each line
};

class Scatter {
 public:
  Scatter(const ScatterPlan& plan, std::span<void* const> arguments)
      : s_(plan.scatter),
        functions_(functions_of(plan.scatter.op, plan.dtype)),
        item_bytes_(static_cast<std::int64_t>(itemsize(plan.dtype))),
        any_order_(s_.op != Op::ScatterLast && !is_floating(plan.dtype)),
        positions_(static_cast<const std::int64_t*>(arguments[0])),
        x_(static_cast<const char*>(arguments[1])),  // ScatterLast reads no elements: its argument 1 is the result
        out_(static_cast<char*>(arguments.back())) {}

  std::int64_t item_bytes() const noexcept { return item_bytes_; }

  void rows(std::int64_t first, std::int64_t last) const {
    for (std::int64_t row = first; row < last; ++row) run(row, {0, s_.keys, 0, s_.extent, 0, s_.inner});
  }
  void run(std::int64_t row, const Part& part) const { run(row, part, out_ + row * block_bytes()); }

  Sharing shared_by(int tasks) const {
    if (!s_.each && s_.op != Op::ScatterLast && ascending()) return Sharing::runs;
    // A position of another thread's entry costs reading it, and often a branch that was predicted wrongly.
    const auto keys = static_cast<double>(s_.keys), entries = static_cast<double>(s_.extent * s_.inner);
    const double line = line_nanoseconds(s_), share = 1.0 / tasks;
    const double read = s_.each ? static_cast<double>(s_.inner) : 1;
    const double alone = keys * line;
    const double by_entries = keys * (line * share + read * (0.5 + 10 * share * (1 - share)));
    const double by_copies = any_order_ ? alone * share + 0.3 * entries * tasks : alone;
    if (by_copies < std::min(alone, by_entries)) return Sharing::copies;
    return by_entries < alone && s_.extent >= tasks ? Sharing::entries : Sharing::not_at_all;
  }

  /// The keys from one entry's first on to another's.
  Part share_of_runs(std::int64_t t, int tasks) const {
    const auto first_of = [&](std::int64_t task) {
      const std::int64_t key = share_begin(s_.keys, task, tasks);
      if (key == 0 || key == s_.keys) return key;
      return std::lower_bound(positions_, positions_ + key, positions_[key]) - positions_;
    };
    const std::int64_t begin = first_of(t), end = first_of(t + 1);
    const auto entry = [&](std::int64_t task, std::int64_t key) {
      return task == 0 ? 0 : task == tasks || key == s_.keys ? s_.extent : std::min(positions_[key], s_.extent);
    };
    return {begin, end, entry(t, begin), entry(t + 1, end), 0, s_.inner};
  }

  void in_copies(std::int64_t row, int tasks, const Team& threads) const {
    const std::int64_t bytes = block_bytes();
    const auto copies = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes * (tasks - 1)));
    char* const out = out_ + row * bytes;
    threads.run(tasks, [&](std::int64_t t) {
      run(row, {share_begin(s_.keys, t, tasks), share_begin(s_.keys, t + 1, tasks), 0, s_.extent, 0, s_.inner},
          t == 0 ? out : copies.get() + (t - 1) * bytes);
    });
    for (std::int64_t t = 1; t < tasks; ++t) functions_.join(out, copies.get() + (t - 1) * bytes, s_.extent * s_.inner);
  }

 private:
  std::int64_t block_bytes() const noexcept { return s_.extent * s_.inner * item_bytes_; }

  /// From the first entry on, so that none counts from the end.
  bool ascending() const {
    return s_.keys > 0 && positions_[0] >= 0 && std::is_sorted(positions_, positions_ + s_.keys);
  }

  void run(std::int64_t row, const Part& part, char* out) const {
    const std::int64_t elements = row * s_.keys * s_.inner + part.first_key * s_.inner;
    const ScatterBlock block{positions_ + (s_.each ? elements : part.first_key),
                             part.last_key - part.first_key,
                             s_.extent,
                             s_.inner,
                             s_.each,
                             part.first,
                             part.last,
                             part.from,
                             part.to};
    functions_.combine(out, block, x_ + (s_.number ? 0 : elements * item_bytes_), s_.number ? 0 : s_.inner,
                       s_.number ? 0 : 1);
  }

  const codegen::Scattering& s_;
  const Functions functions_;
  const std::int64_t item_bytes_;
  const bool any_order_;
  const std::int64_t* positions_;
  const char* x_;
  char* out_;
};

}  // namespace

std::shared_ptr<const ScatterPlan> make_scatter_plan(const codegen::LoopProgram& program) {
  auto plan = std::make_shared<ScatterPlan>();
  plan->scatter = *program.scattering;
  plan->dtype = program.arguments.back().dtype;
  return plan;
}

// Measured on a Zen 3 core: 1.2 ns for a line of one element among entries in the second-level cache.
double ScatterPlan::nanoseconds() const {
  const codegen::Scattering& s = scatter;
  const auto rows = static_cast<double>(s.rows);
  return rows * static_cast<double>(s.keys) * line_nanoseconds(s) +
         rows * static_cast<double>(s.extent) * static_cast<double>(s.inner) * 0.2;
}

std::string ScatterPlan::describe(const codegen::LoopProgram& /*program*/) const {
  const codegen::Scattering& s = scatter;
  return s.each || s.inner == 1 ? "scatter: element by element, in the order of the positions"
                                : "scatter: whole lines, in the order of the positions";
}

void ScatterPlan::run(const Team& threads, std::span<void* const> arguments,
                      std::span<const graph::Scalar> /*parameters*/) const {
  const codegen::Scattering& s = scatter;
  const auto work = static_cast<double>(s.rows) * static_cast<double>(s.keys) * static_cast<double>(s.inner);
  const int most = threads.count() == 1 || work < kParallelWork ? 1 : threads.count();
  const Scatter work_on(*this, arguments);
  const auto part = [most](std::int64_t total, std::int64_t t) {
    return std::pair(share_begin(total, t, most), share_begin(total, t + 1, most));
  };
  if (most == 1) return work_on.rows(0, s.rows);
  if (s.rows >= most) {
    return threads.run(most, [&](std::int64_t t) {
      const auto [first, last] = part(s.rows, t);
      work_on.rows(first, last);
    });
  }
  if (s.inner * work_on.item_bytes() >= most * kSharedLineBytes) {
    return threads.run(most, [&](std::int64_t t) {
      const auto [from, to] = part(s.inner, t);
      for (std::int64_t row = 0; row < s.rows; ++row) work_on.run(row, {0, s.keys, 0, s.extent, from, to});
    });
  }
  const Sharing sharing = work_on.shared_by(most);
  for (std::int64_t row = 0; row < s.rows; ++row) {
    switch (sharing) {
      case Sharing::runs:
        threads.run(most, [&](std::int64_t t) { work_on.run(row, work_on.share_of_runs(t, most)); });
        break;
      case Sharing::copies:
        work_on.in_copies(row, most, threads);
        break;
      case Sharing::entries:
        threads.run(most, [&](std::int64_t t) {
          const auto [first, last] = part(s.extent, t);
          work_on.run(row, {0, s.keys, first, last, 0, s.inner});
        });
        break;
      case Sharing::not_at_all:
        work_on.rows(row, row + 1);
        break;
    }
  }
}

}  // namespace oriel::backend::eigen
