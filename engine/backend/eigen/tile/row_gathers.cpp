#include "backend/eigen/tile/row_gathers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::ValueId;
using graph::Op;

namespace {

class Finder {
 public:
  explicit Finder(const LoopProgram& program) : program_(program), list_(program.stages.front().outer) {
    const std::size_t values = program.values.size();
    step_.resize(values);
    maker_.assign(values, nullptr);
    out_.rows.assign(values, false);
    out_.starts.assign(values, false);
  }

  RowGathers run() {
    for (const Instr& in : list_) {
      if (in.result == kNoValue) continue;
      maker_[at(in.result)] = &in;
      step_[at(in.result)] = step_of(in);
      if (in.code == Code::Gather && step_[at(in.a)] == 1) out_.rows[at(in.result)] = true;
    }
    do {
      mark_starts();
    } while (drop_shared());
    std::ptrdiff_t others = 0;
    for (const Instr& in : list_) {
      if (in.code == Code::Const || (in.result != kNoValue && out_.starts[at(in.result)])) continue;
      const bool gather = in.result != kNoValue && out_.rows[at(in.result)];
      out_.any = out_.any || gather;
      if (!gather && in.code != Code::Store) ++others;
    }
    out_.alone = out_.any && others == 0;
    return std::move(out_);
  }

 private:
  static std::size_t at(ValueId v) { return static_cast<std::size_t>(v); }

  /// By how much a value grows along the last loop, if that is known.
  std::optional<std::int64_t> step_of(const Instr& in) const {
    if (in.code == Code::Const) return 0;
    if (in.code == Code::Load || in.code == Code::Index) {
      const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
      if (!access.affine() || access.boxed()) return std::nullopt;
      const std::int64_t step = access.coefficient(program_.outer.size() - 1);
      return in.code == Code::Index || step == 0 ? std::optional(step) : std::nullopt;
    }
    if (in.code == Code::Valid) return std::nullopt;
    bool same = true;
    for (const ValueId v : {in.a, in.b, in.c})
      same = same && (v == kNoValue || step_[at(v)] == std::optional<std::int64_t>(0));
    if (same) return 0;
    if (in.code != Code::Elementwise || in.dtype != DType::int64) return std::nullopt;
    if (in.op != Op::Add && in.op != Op::Sub) return std::nullopt;
    const std::optional<std::int64_t> a = step_[at(in.a)], b = step_[at(in.b)];
    if (!a || !b) return std::nullopt;
    return in.op == Op::Add ? *a + *b : *a - *b;
  }

  /// Marks what the positions of row gathers are made of. Constants are in registers of their own.
  void mark_starts() {
    out_.starts.assign(out_.starts.size(), false);
    for (auto in = list_.rbegin(); in != list_.rend(); ++in) {
      if (in->result == kNoValue) continue;
      const bool row = out_.rows[at(in->result)];
      if (!row && !out_.starts[at(in->result)]) continue;
      for (const ValueId v : {in->a, in->b, in->c})
        if (v != kNoValue && maker_[at(v)] != nullptr && maker_[at(v)]->code != Code::Const) out_.starts[at(v)] = true;
    }
  }

  /// Drops the row gathers whose positions are needed elsewhere too, or are made of floats, which form chains with
  /// other operations. True if there was one.
  bool drop_shared() {
    std::vector<bool> shared(out_.starts.size(), false);
    for (const Instr& in : list_) {
      const bool start = in.result != kNoValue && out_.starts[at(in.result)];
      const bool row = in.result != kNoValue && out_.rows[at(in.result)];
      if (start && (row || is_floating(program_.values[at(in.result)]))) shared[at(in.result)] = true;
      for (const ValueId v : {in.a, in.b, in.c})
        if (v != kNoValue && out_.starts[at(v)] && !start && !row) shared[at(v)] = true;
    }
    // What is made of a shared value is not for it alone.
    for (const Instr& in : list_) {
      if (in.result == kNoValue) continue;
      for (const ValueId v : {in.a, in.b, in.c})
        if (v != kNoValue && out_.starts[at(v)] && shared[at(v)]) shared[at(in.result)] = true;
    }
    bool dropped = false;
    for (const Instr& in : list_) {
      if (in.result == kNoValue || !out_.rows[at(in.result)] || !shared[at(in.a)]) continue;
      out_.rows[at(in.result)] = false;
      dropped = true;
    }
    return dropped;
  }

  const LoopProgram& program_;
  const std::vector<Instr>& list_;
  std::vector<std::optional<std::int64_t>> step_;
  std::vector<const Instr*> maker_;
  RowGathers out_;
};

}  // namespace

RowGathers find_row_gathers(const LoopProgram& program) {
  if (program.stages.size() != 1 || !program.stages[0].body.empty() || !program.stages[0].reductions.empty()) return {};
  if (program.outer.empty() || program.outer.back().value() < 2) return {};
  // Parts that share rows begin at any row.
  for (const codegen::Argument& a : program.arguments)
    if (a.local) return {};
  return Finder(program).run();
}

}  // namespace oriel::backend::eigen
