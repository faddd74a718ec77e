#include "backend/eigen/products/parts.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "backend/eigen/products/kept_panels.hpp"
#include "backend/eigen/products/online_softmax.hpp"
#include "backend/eigen/products/row_product.hpp"
#include "backend/eigen/tile/machine.hpp"
#include "codegen/join.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

// Bytes that the rows of a block may take in the second-level cache, beside the factors that stream through it; and the
// most rows.
constexpr std::int64_t kRowsBytes = std::int64_t{256} * 1024;
constexpr std::int64_t kMostRows = 128;
constexpr std::int64_t kFewestRows = 16;
// Rows in a block of an online softmax.
constexpr std::int64_t kOnlineRows = 64;
// Numbers of a thread's memories: its rows, then those of each part.
constexpr int kRows = kFirstPartMemory;
constexpr int kTiles = kRows + 1;
static_assert(kRows + OnlineRows::kMemories <= kThreadMemories);
static_assert(kTiles + kMostParts * RowProduct::kMemories <= kThreadMemories);

/// One thread's work on blocks of rows.
class PartsWorker {
 public:
  /// `kept`: panels by part.
  PartsWorker(const PartsPlan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
              std::span<const KeptPanels> kept)
      : plan_(plan), arguments_(arguments.begin(), arguments.end()) {
    arguments_.resize(plan.arguments, nullptr);
    if (plan.online != nullptr) {
      online_ = std::make_unique<OnlineRows>(*plan.online, arguments_, parameters, plan.block, kRows);
      return;
    }
    rows_ = thread_memory(kRows, plan.local_bytes);
    place_rows(0);
    int memory = kTiles;
    for (const PartPlan& part : plan.parts) {
      State s;
      if (part.product != nullptr) {
        s.product = std::make_unique<RowProduct>(*part.product, arguments_, parameters, memory, &kept[states_.size()]);
        memory += RowProduct::kMemories;
      } else {
        s.launch = std::make_unique<BoundLaunch>(*part.tiles, arguments_, parameters);
        s.worker = std::make_unique<Worker>(s.launch->launch(), memory++);
      }
      states_.push_back(std::move(s));
    }
  }

  void run(std::int64_t batch, std::int64_t row, std::int64_t rows) {
    const std::int64_t first = batch * plan_.rows + row;
    if (online_ != nullptr) return online_->run(batch, row, rows, first);
    place_rows(first);
    for (std::size_t p = 0; p < states_.size(); ++p) {
      const PartPlan& part = plan_.parts[p];
      if (states_[p].product != nullptr) {
        states_[p].product->run(batch, row, rows);
      } else {
        states_[p].worker->run_points(first * part.columns, rows * part.columns);
      }
    }
  }

 private:
  struct State {
    std::unique_ptr<RowProduct> product;
    std::unique_ptr<BoundLaunch> launch;
    std::unique_ptr<Worker> worker;
  };

  // Positions count all rows, but only the rows of the current block lie in this thread's memory. So pointers are
  // shifted.
  void place_rows(std::int64_t first) {
    for (const LocalRows& local : plan_.locals) {
      const auto begin = reinterpret_cast<std::uintptr_t>(rows_ + local.offset);
      arguments_[local.argument] =
          reinterpret_cast<void*>(begin - static_cast<std::uintptr_t>(first * local.bytes));  // NOLINT
    }
  }

  const PartsPlan& plan_;
  std::vector<void*> arguments_;
  char* rows_ = nullptr;
  std::vector<State> states_;
  std::unique_ptr<OnlineRows> online_;
};

}  // namespace

std::shared_ptr<const PartsPlan> plan_parts(const codegen::LoopProgram& program, const isa::Table& table,
                                            std::int64_t tile) {
  auto plan = std::make_shared<PartsPlan>();
  if (codegen::parts_of(program) > kMostParts) {
    throw DeviceError("compile", fmt::format("kernel {} on eigen: {} parts, at most {} are run as one kernel",
                                             program.name, codegen::parts_of(program), kMostParts));
  }
  const codegen::SharedRows* shared = codegen::shared_rows_in(program.form);
  if (shared == nullptr) throw DeviceError("compile", "kernel " + program.name + " on eigen: its parts share no rows");
  plan->arguments = program.arguments.size();
  for (std::size_t d = 0; d < program.outer.size(); ++d) {
    (d < shared->batches ? plan->batches : plan->rows) *= program.outer[d].value();
  }
  const std::int64_t points = plan->batches * plan->rows;
  plan->block = std::clamp(kRowsBytes / std::max<std::int64_t>(1, codegen::local_row_bytes(program)) / 8 * 8,
                           kFewestRows, kMostRows);
  if (codegen::online_softmax_in(program.form) != nullptr) plan->online = plan_online(program, table);
  if (plan->online != nullptr) {
    plan->block = std::min(kOnlineRows, plan->rows);
    return plan;
  }
  plan->block = std::min(plan->block, plan->rows);
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    if (!program.arguments[a].local) continue;
    LocalRows local;
    local.argument = a;
    local.bytes = program.arguments[a].elements.value() / points *
                  static_cast<std::int64_t>(itemsize(program.arguments[a].dtype));
    local.offset = plan->local_bytes;
    plan->local_bytes += round_up(local.bytes * plan->block, 64) + 64;
    plan->locals.push_back(local);
  }
  for (int p = 0; p < codegen::parts_of(program); ++p) {
    const codegen::LoopProgram part = codegen::part_program(program, p, false);
    PartPlan made;
    for (std::size_t d = program.outer.size(); d < part.outer.size(); ++d) made.columns *= part.outer[d].value();
    if (const auto& product = shared->products[static_cast<std::size_t>(p)])
      made.product = plan_part(part, *product, table);
    if (made.product == nullptr) made.tiles = make_tile_plan(part, table, tile);
    plan->parts.push_back(std::move(made));
  }
  return plan;
}

std::string describe_parts(const PartsPlan& plan) {
  if (plan.online != nullptr) {
    const OnlinePlan& r = *plan.online;
    return fmt::format("online softmax: {} of {} x {} rows by {} of {} columns at a time; {}; {}", plan.block,
                       plan.batches, plan.rows, r.block, r.softmax.columns, describe_product(*r.scores),
                       describe_product(*r.products));
  }
  std::string text =
      fmt::format("{} parts, {} of {} x {} rows at a time", plan.parts.size(), plan.block, plan.batches, plan.rows);
  for (const PartPlan& part : plan.parts) {
    text += part.product != nullptr ? "; " + describe_product(*part.product) : std::string("; rows, tile by tile");
  }
  return text;
}

std::vector<std::size_t> packed_arguments(const PartsPlan& plan) {
  std::vector<std::size_t> out;
  for (const PartPlan& part : plan.parts) {
    const std::int32_t argument = part.product != nullptr ? packed_argument(*part.product) : -1;
    const auto local = [&](const LocalRows& l) { return static_cast<std::int32_t>(l.argument) == argument; };
    if (argument >= 0 && std::none_of(plan.locals.begin(), plan.locals.end(), local))
      out.push_back(static_cast<std::size_t>(argument));
  }
  return out;
}

void run_parts(const PartsPlan& plan, const Team& threads, std::span<void* const> arguments,
               std::span<const graph::Scalar> parameters, const Keeping* keeping) {
  std::vector<KeptPanels> kept(plan.parts.size());
  for (std::size_t p = 0; keeping != nullptr && p < kept.size(); ++p) {
    const PartPlan& part = plan.parts[p];
    if (part.product != nullptr) kept[p] = kept_panels(*part.product, threads, arguments, parameters, keeping);
  }
  const std::int64_t blocks = quotient_up(plan.rows, plan.block);  // blocks of one batch
  // Each thread that takes a part of a batch packs the batch's factors. So batches are cut only if there are few.
  const std::int64_t wanted = threads.count() > 1 ? threads.count() * kTasksPerThread : 1;
  const std::int64_t pieces = std::clamp<std::int64_t>(wanted / plan.batches, 1, blocks);
  const std::int64_t tasks = std::min(plan.batches * pieces, std::max(wanted, pieces));
  threads.run(tasks, [&](std::int64_t task) {
    PartsWorker worker(plan, arguments, parameters, kept);
    const std::int64_t all = plan.batches * pieces;
    const std::int64_t last = share_begin(all, task + 1, tasks);
    for (std::int64_t t = share_begin(all, task, tasks); t < last; ++t) {
      const std::int64_t piece = t % pieces;
      const std::int64_t end = share_begin(blocks, piece + 1, pieces);
      for (std::int64_t b = share_begin(blocks, piece, pieces); b < end; ++b) {
        worker.run(t / pieces, b * plan.block, std::min(plan.block, plan.rows - b * plan.block));
      }
    }
  });
}

}  // namespace oriel::backend::eigen
