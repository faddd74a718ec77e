#include "backend/eigen/tile/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backend/eigen/tile/machine.hpp"
#include "ops/functions/scatter.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

using graph::Op;
using ops::ScatterBlock;
/// Combines one block. Element j of line k is x[k * line + j * step].
using Combine = void (*)(void* out, const ScatterBlock& block, const void* x, std::int64_t line, std::int64_t step);

// Threads share lines if each of them has at least so many bytes of one.
constexpr std::int64_t kSharedLineBytes = 64;

template <class F, class Identity, class T>
void combine_block(void* out, const ScatterBlock& block, const void* x, std::int64_t line, std::int64_t step) {
  ops::scatter<F, Identity>(static_cast<T*>(out), block, static_cast<const T*>(x), line, step);
}

void number(void* out, const ScatterBlock& block, const void* /*x*/, std::int64_t /*line*/, std::int64_t /*step*/) {
  ops::scatter_last(static_cast<std::int64_t*>(out), block);
}

template <class T>
Combine combine_of(Op op) {
  switch (op) {
    case Op::ScatterSum:
      return combine_block<ops::Add, ops::Zero, T>;
    case Op::ScatterProd:
      return combine_block<ops::Mul, ops::One, T>;
    case Op::ScatterMax:
      return combine_block<ops::Max, ops::Lowest, T>;
    case Op::ScatterMin:
      return combine_block<ops::Min, ops::Highest, T>;
    default:
      return number;
  }
}

Combine combine_of(Op op, DType dtype) {
  switch (dtype) {
    case DType::bool_:  // bytes that hold 0 and 1
      return op == Op::ScatterMax ? combine_block<ops::Max, ops::Zero, std::uint8_t>
                                  : combine_block<ops::Min, ops::One, std::uint8_t>;
    case DType::int8:
      return combine_of<std::int8_t>(op);
    case DType::uint8:
      return combine_of<std::uint8_t>(op);
    case DType::int16:
      return combine_of<std::int16_t>(op);
    case DType::uint16:
      return combine_of<std::uint16_t>(op);
    case DType::int32:
      return combine_of<std::int32_t>(op);
    case DType::uint32:
      return combine_of<std::uint32_t>(op);
    case DType::int64:
      return combine_of<std::int64_t>(op);
    case DType::uint64:
      return combine_of<std::uint64_t>(op);
    case DType::float32:
      return combine_of<float>(op);
    case DType::float64:
      return combine_of<double>(op);
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  throw InternalError("scatter", "halves are combined in float32");
}

void check_positions(const codegen::Scattering& s, const std::int64_t* positions) {
  const std::int64_t n = s.each ? s.rows * s.keys * s.inner : s.keys;
  // The least and greatest of a block of positions take vector instructions; a search takes branches.
  constexpr std::int64_t kBlock = 1024;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(n, begin + kBlock);
    std::int64_t least = 0, greatest = -1;
    for (std::int64_t i = begin; i < end; ++i) {
      least = std::min(least, positions[i]);
      greatest = std::max(greatest, positions[i]);
    }
    if (least >= -s.extent && greatest < s.extent) continue;
    const auto* const found = std::find_if(positions + begin, positions + end,
                                           [&](std::int64_t p) { return p < -s.extent || p >= s.extent; });
    throw IndexError("scatter", fmt::format("index {} is out of range for axis {} of size {}; valid are {} to {}",
                                            *found, s.axis, s.extent, -s.extent, s.extent - 1));
  }
}

}  // namespace

std::shared_ptr<const ScatterPlan> make_scatter_plan(const codegen::LoopProgram& program) {
  auto plan = std::make_shared<ScatterPlan>();
  plan->scatter = *program.scattering;
  plan->dtype = program.arguments.back().dtype;
  return plan;
}

// Measured on a Zen 3 core: 1.2 ns for a line of one element among entries in the second-level cache.
double scatter_nanoseconds(const ScatterPlan& plan) {
  const codegen::Scattering& s = plan.scatter;
  const auto lines = static_cast<double>(s.rows) * static_cast<double>(s.keys);
  const auto inner = static_cast<double>(s.inner);
  return lines * (s.each ? 1.2 * inner : 1 + 0.2 * inner) +
         static_cast<double>(s.rows) * static_cast<double>(s.extent) * inner * 0.2;
}

std::string describe_scatter(const ScatterPlan& plan) {
  const codegen::Scattering& s = plan.scatter;
  return s.each || s.inner == 1 ? "scatter: element by element, in the order of the positions"
                                : "scatter: whole lines, in the order of the positions";
}

void run_scatter(const ScatterPlan& plan, const Team& threads, std::span<void* const> arguments) {
  const codegen::Scattering& s = plan.scatter;
  const Combine combine = combine_of(s.op, plan.dtype);
  const auto item_bytes = static_cast<std::int64_t>(itemsize(plan.dtype));
  const auto* positions = static_cast<const std::int64_t*>(arguments[0]);
  if (s.checked) check_positions(s, positions);
  const auto work = static_cast<double>(s.rows) * static_cast<double>(s.keys) * static_cast<double>(s.inner);
  const std::int64_t most = threads.count() == 1 || work < kParallelWork ? 1 : threads.count();
  std::int64_t rows = 1, columns = 1, entries = 1;  // shares of each; at most one of them is not 1
  if (s.rows >= most)
    rows = most;
  else if (s.inner * item_bytes >= most * kSharedLineBytes)
    columns = most;
  else
    entries = std::min(most, s.extent);
  const auto share = [&](std::int64_t t) {
    const auto part = [t](std::int64_t total, std::int64_t shares) {
      const std::int64_t own = shares == 1 ? 0 : t;
      return std::pair(share_begin(total, own, shares), share_begin(total, own + 1, shares));
    };
    const auto [first_row, last_row] = part(s.rows, rows);
    const auto [from, to] = part(s.inner, columns);
    const auto [first, last] = part(s.extent, entries);
    for (std::int64_t row = first_row; row < last_row; ++row) {
      const std::int64_t elements = row * s.keys * s.inner;
      const ScatterBlock block{
          positions + (s.each ? elements : 0), s.keys, s.extent, s.inner, s.each, first, last, from, to};
      // ScatterLast reads no elements: its argument 1 is the result.
      const char* const x = static_cast<const char*>(arguments[1]) + (s.number ? 0 : elements * item_bytes);
      combine(static_cast<char*>(arguments.back()) + row * s.extent * s.inner * item_bytes, block, x,
              s.number ? 0 : s.inner, s.number ? 0 : 1);
    }
  };
  const std::int64_t tasks = rows * columns * entries;
  if (tasks == 1) return share(0);
  threads.run(tasks, share);
}

}  // namespace oriel::backend::eigen
