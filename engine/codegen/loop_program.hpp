// A kernel as a loop program: what every backend runs and every dump shows.
//
//   for each point of the outer loops (parallel)
//     stage 1: for each point of its inner loops: body; reductions gather body values into outer values
//              then, once an outer point: outer instructions
//     stage 2: ...
//
// Elementwise kernels are one stage without inner loops whose instructions are all in `outer`.
// Values are in SSA form: written once, by one instruction or one reduction. An inner instruction may read an outer
// value: it is the same for all inner points. It may also read what the body of an earlier stage with the same inner
// loops computed at the same point: that value is kept for the row (keep.hpp).
//
// The program of fused kernels (join.hpp) has several parts. The stages of a part also run for every point of the
// part's own columns. A part passes values to the next one in a row for each outer point. The row is a local argument,
// which has memory for one row only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/access.hpp"
#include "codegen/form.hpp"
#include "graph/host_function.hpp"
#include "graph/op.hpp"
#include "graph/scalar.hpp"
#include "oriel/dtype.hpp"
#include "oriel/shape.hpp"
#include "schedule/pattern_limits.hpp"

namespace oriel::codegen {

/// The dtype of the value that stands for an element of `dtype`: no value is a half.
inline DType register_dtype(DType dtype) { return is_half(dtype) ? DType::float32 : dtype; }

/// Instruction codes: every elementwise graph::Op, and what only a loop program has.
enum class Code : std::uint8_t {
  Elementwise,  // `op` says which
  Load,         // element of access `aux`'s buffer; 0 where the access is invalid
  Index,        // position that access `aux` yields, int64; 0 where invalid
  Gather,  // element of access `aux`'s buffer at the position that operand a, int64, holds; 0 where that is outside
           // of the argument. The access itself is of position 0 everywhere
  Valid,   // bool: is access `aux` valid here
  Const,   // constant `aux`
  Round,   // float32 value rounded to the half dtype `from`, still a float32 value
  Store,   // operand a to access `aux`; no result. Skipped where the access is invalid.
};

/// Does an instruction of this code have an access, whose number is its `aux`? All code that numbers, moves or compares
/// accesses calls this function. A code that the switch lacks does not compile.
constexpr bool has_access(Code code) noexcept {
  switch (code) {
    case Code::Load:
    case Code::Index:
    case Code::Gather:
    case Code::Valid:
    case Code::Store:
      return true;
    case Code::Elementwise:
    case Code::Const:
    case Code::Round:
      break;
  }
  return false;
}

/// `dtype` is the result's, `from` the operands'. Values of dtype float16/bfloat16 never exist: loads widen them to
/// float32, arithmetic is float32 followed by Round, stores narrow (exactly). In Cast and Bitcast `from` and `dtype`
/// may name a half: then the operand (or result) is a float32 value that stands for that half; Cast to a half is
/// written Round.
struct Instr {
  Code code = Code::Elementwise;
  graph::Op op = graph::Op::Add;
  DType dtype = DType::float32;
  DType from = DType::float32;
  ValueId result = kNoValue;
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  ValueId c = kNoValue;
  std::int32_t aux = -1;
  friend bool operator==(const Instr&, const Instr&) = default;
};
inline bool has_access(const Instr& in) noexcept { return has_access(in.code); }

/// Gathers `input` (an inner value) over all inner loops of the stage, in row-major order of the inner extents, into
/// `result` (an outer value of the same dtype). engine/backend/eigen/tile/README.md states the order of sums, which
/// depends only on the number of inner points.
struct Reduction {
  graph::Op op = graph::Op::Sum;
  DType dtype = DType::float32;
  schedule::ReductionSource source = schedule::ReductionSource::Values;
  bool windows = false;  // may neighbouring results read overlapping or alternating elements?
  ValueId input = kNoValue;
  ValueId result = kNoValue;
  /// `windows` follows from the rest: with symbolic sizes the schedule says more often that they may be.
  friend bool operator==(const Reduction& a, const Reduction& b) {
    return a.op == b.op && a.dtype == b.dtype && a.source == b.source && a.input == b.input && a.result == b.result;
  }
};

struct Stage {
  std::int32_t part = 0;              // ascending; the stages of one part have the same columns
  Ints columns;                       // extents of parallel loops that this part alone has, between outer and inner
  Ints inner;                         // extents; {} when the stage has no inner loops
  std::vector<Instr> body;            // per inner point; stores allowed
  std::vector<Reduction> reductions;  // may be empty: a stage that only stores
  std::vector<Instr> outer;           // once per outer point (and column), after the loops
};

struct Argument {
  DType dtype = DType::float32;
  SymInt elements = 0;
  bool output = false;
  std::string name;          // "in0", "out0"
  std::int32_t shares = -1;  // of an output: the input in the same memory. A point reads no element there that another
                             // point writes, and all that a point reads comes before all that it writes
  bool local = false;        // elements / outer points of it belong to each outer point, in their order; a part stores
                             // them, later ones load them. Local arguments come last and are not given at launch
};

struct Constant {
  graph::Scalar value;          // used unless parameter >= 0
  std::int32_t parameter = -1;  // index into the scalars given at launch: a changed number needs no new kernel
  SymInt size = 0;              // if it is symbolic, the value is this size
};

/// Which loops run along a tile's fast axis.
enum class Orientation : std::uint8_t {
  Inner,  // rows: a tile holds whole or part rows of inner points
  Outer,  // columns: a tile holds neighbouring outer points at one (or a few) inner points
};

/// What a program that sorts does: each of `rows` successive rows of `extent` elements of argument 0, which lie one
/// after the other in memory, goes to argument 1 in order (graph::Op::Sort), or the int64 positions of its elements do
/// (graph::Op::ArgSort). While sizes are symbols, the loops of the accesses tell them.
struct Sorting {
  std::int64_t rows = 0;
  std::int64_t extent = 0;
  bool descending = false;
  bool positions = false;
  friend bool operator==(const Sorting&, const Sorting&) = default;
};

/// What a program that scans does: argument 0 has `rows` blocks of `extent` successive lines of `inner` elements, one
/// after the other in memory. Element i of line k of a block goes to argument 1 combined with elements i of the lines
/// before it, by a scan's op. The result has the dtype graph::scanned. Of Recurrence, arguments 0 and 1 are its
/// sources, and 2 its result. engine/backend/eigen/tile/README.md states the order of the combinations, which depends
/// only on `extent`.
struct Scanning {
  graph::Op op = graph::Op::CumSum;
  std::int64_t rows = 0;
  std::int64_t extent = 0;
  std::int64_t inner = 0;
  bool number = false;    // of Recurrence: argument 0 is one number
  bool restarts = false;  // of Recurrence: a factor of 0 forgets what was before
  friend bool operator==(const Scanning&, const Scanning&) = default;
};

/// What a program that scatters does: the last argument has `rows` blocks of `extent` entries, each a line of `inner`
/// elements. Argument 0, int64, has `keys` positions, which name the entries that all blocks combine lines of
/// argument 1 into; with `each` it has a position for each element: rows x keys x inner of them. Argument 1 has the
/// elements, or is one number (`number`) for all of them; ScatterLast has no argument 1. The elements of an entry are
/// combined in the order of their keys, the first one with the identity. A position outside [-extent, extent) is left
/// out.
struct Scattering {
  graph::Op op = graph::Op::ScatterSum;
  std::int64_t axis = 0;  // of the shape that the sizes are taken from
  std::int64_t rows = 0;
  std::int64_t keys = 0;
  std::int64_t extent = 0;
  std::int64_t inner = 0;
  bool each = false;
  bool number = false;
  friend bool operator==(const Scattering&, const Scattering&) = default;
};

/// A program that calls a host function: it passes the arguments with these shapes. The last argument is the result.
struct Hosting {
  graph::HostFunctionPtr function;
  std::vector<Shape> shapes;  // none while sizes are symbols
  friend bool operator==(const Hosting& a, const Hosting& b) {
    return a.function->number == b.function->number && a.shapes == b.shapes;
  }
};

/// Extents, accesses, elements and constants may be symbols. Then sizes.hpp gives the program at given sizes; names,
/// costs, kept rows and what the form says in numbers are those of a program of numbers.
struct LoopProgram {
  std::string name;  // readable: "sum_f32_512x1024_7ops"
  Ints outer;        // extents of the parallel loops, outermost first
  std::vector<Stage> stages;
  std::vector<Access> accesses;
  std::vector<Argument> arguments;
  std::vector<Constant> constants;
  std::vector<DType> values;  // dtype of each ValueId
  Orientation orientation = Orientation::Inner;
  bool online = false;                   // its softmax may run with a running maximum and sum: then its form says how
  std::optional<Sorting> sorting;        // then there are no stages and no constants; the outer loop is over rows
  std::optional<Scanning> scanning;      // the same
  std::optional<Scattering> scattering;  // the same
  std::optional<Hosting> hosting;        // the same; the outer loop has one point
  std::int64_t flops = 0;                // elementwise and reduction operations, whole kernel
  std::int64_t bytes = 0;                // distinct bytes read and written, whole kernel
  Form form;                             // what it is: form.hpp
};

/// Calls f(instruction) for those of a stage, or of all stages of a program: of the loops first, then the outer ones.
template <class From, class F>
void each_instruction(From& from, F&& f) {
  if constexpr (requires { from.stages; }) {
    for (auto& stage : from.stages) each_instruction(stage, f);
  } else {
    for (auto* list : {&from.body, &from.outer})
      for (auto& in : *list) f(in);
  }
}
/// Calls f(value) for each operand.
template <class In, class F>
void each_operand(In& in, F&& f) {
  for (auto* v : {&in.a, &in.b, &in.c})
    if (*v != kNoValue) f(*v);
}

/// Does it sort, scan, scatter or call the host? Then it has no instructions.
inline bool runs_alone(const LoopProgram& program) noexcept {
  return program.sorting || program.scanning || program.scattering || program.hosting;
}

/// Structural hash and equality, names excluded: what kernels are cached by. Symbolic sizes are equal if they are the
/// same expression.
std::uint64_t hash_value(const LoopProgram& program) noexcept;
bool same_program(const LoopProgram& a, const LoopProgram& b) noexcept;
/// Checks the invariants above (SSA, levels, dtypes, access shapes) and what the schedule decided. Throws InternalError
/// naming the first broken one.
void verify(const LoopProgram& program);
/// Text: domain, arguments, accesses as index expressions, instructions. Deterministic.
std::string to_string(const LoopProgram& program);
/// The loops that an access runs over, as the text names them: o0, o1, ..., then c0, ... of its part, then r0, ...
std::vector<std::string> access_names(const LoopProgram& program, std::size_t access);

}  // namespace oriel::codegen
