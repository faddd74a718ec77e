// The passes that make the steps of a plan from a program's instructions: which function runs each, which operations
// run together, and what is written, kept or fetched where.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/plan_tables.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// What a tile holds.
enum class SummedRows : std::uint8_t {
  None,     // parts of rows
  One,      // whole blocks of one row
  Several,  // several whole rows
  Given,    // several rows of a caller that reduces them, one reduction a stage
  Columns,  // a part of several columns, row by row
};

/// What a reduction reads: its input, or the operands from which the elements of its input are computed on the fly.
struct RowSum {
  isa::SumFns fns;            // null: the reduction reads its input
  isa::MomentFns moments;     // not null: its pass also computes the sum of squares of reduction `squares`
  std::int32_t squares = -1;  // of the stage
  bool computed = false;      // by the pass of another reduction
  bool is_uniform = false;    // b is one number for each outer point
  codegen::ValueId a = codegen::kNoValue;
  codegen::ValueId b = codegen::kNoValue;
};

/// What each reduction of the stage reads. Conversions to float64, products and squares that only the reduction reads
/// are removed from the body where the table has their sum. `readers`: of each value (count_readers). `outer`: is a
/// value the same along all loops of the stage?
std::vector<RowSum> row_sums(const std::vector<int>& readers, const isa::Table& table, SummedRows rows,
                             codegen::Stage& stage, const std::function<bool(codegen::ValueId)>& outer);

/// How often instructions and reductions read each of `values` values.
std::vector<int> count_readers(const std::vector<codegen::Stage>& stages, std::size_t values);

/// Removes the instructions whose results nothing reads, and their reads.
void remove_unread(std::vector<codegen::Instr>& list, std::vector<int>& readers);

/// Marks the stage's broadcasts that need not be spread.
void find_uniform_values(TileStage& stage, const std::vector<Chain>& chains);

/// The stages with the operations of each chain next to each other, after everything that they read. Operations whose
/// result only the next one reads are marked. `values`: of the program. `wanted` stays a value of its own.
std::vector<codegen::Stage> chained_stages(std::vector<codegen::Stage> stages, std::size_t values,
                                           const isa::Table& table, codegen::ValueId wanted);

/// Joins the steps of marked operations if they still follow each other: to the function of a pair, if the table has
/// it, or to a chain. `made` has the instruction of each step. `number` says which registers hold one number in all
/// elements.
void join_chains(Plan& plan, std::vector<TileStep>& steps, const std::vector<const codegen::Instr*>& made,
                 const std::function<bool(Slot)>& number);

/// If a store takes a computed value unchanged, the value may be written to memory directly, and the store does
/// nothing. This is not done for values in `kept`, nor if a later instruction still reads the memory. `copied_inputs`:
/// inputs that outputs overwrite are copied first.
void pair_stores(const codegen::LoopProgram& program, const Plan& plan, bool copied_inputs,
                 const std::vector<Kept>& kept, std::vector<TileStep>& steps);

/// Sets `ahead` for loads in stages that go through rows of large inputs. Hardware prefetches to the end of a page,
/// which is a tile, so rows are prefetched tile by tile: the next row if a later stage reads the row again, else the
/// next tile.
void look_ahead(const codegen::LoopProgram& program, Plan& plan);

/// Fills in the kind and the function of `step`. `by_numbers`: each operand except a is one number for the whole tile.
/// Throws DeviceError, which names the kernel, if the table lacks the operation.
void element_step(const codegen::Instr& in, const std::string& kernel, const isa::Table& table, bool by_numbers,
                  TileStep& step);

/// By value of the program.
struct ValueSlots {
  std::vector<Slot> slot;      // kNoSlot for values that only the loops of one stage use
  std::vector<bool> outer;     // computed once for each outer point
  std::vector<bool> pinned;    // in a register that is filled once
  std::vector<bool> kept;      // read again by a later stage
  std::vector<bool> repeated;  // loaded once: the same in every block
};

/// Gives registers to pinned, outer and kept values, which stay until the values' last uses. Expects the blocks and
/// stages of `plan`; `tile` is the length of the loops' registers. `frame`: null for a plan of its own.
ValueSlots place_values(const codegen::LoopProgram& program, const std::vector<codegen::Stage>& stages,
                        const TileFrame* frame, std::int64_t tile, PlanTables& tables, Plan& plan);

}  // namespace oriel::backend::eigen
