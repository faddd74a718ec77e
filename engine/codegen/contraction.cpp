#include "codegen/contraction.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "oriel/error.hpp"

namespace oriel::codegen {

using graph::Op;

namespace {

/// Where each value that a factor may use is made: an instruction, never a reduction.
class Makers {
 public:
  Makers(const LoopProgram& program, std::size_t stage) : program_(program), maker_(program.values.size(), nullptr) {
    for (std::size_t s = 0; s < stage; ++s) {
      add(program.stages[s].body);
      add(program.stages[s].outer);
    }
    add(program.stages[stage].body);
  }
  const Instr* of(ValueId v) const { return v == kNoValue ? nullptr : maker_[static_cast<std::size_t>(v)]; }

  /// The instructions that make v, producers first; nothing where one of them is no instruction.
  bool gather(ValueId v, std::vector<Instr>& list) const {
    // Depth first with an explicit stack: a chain may be long.
    std::vector<bool> done(program_.values.size(), false);
    std::vector<ValueId> pending{v};
    while (!pending.empty()) {
      const ValueId at = pending.back();
      const auto k = static_cast<std::size_t>(at);
      const Instr* in = of(at);
      if (in == nullptr) return false;
      bool ready = true;
      for (const ValueId operand : {in->a, in->b, in->c}) {
        if (operand == kNoValue || done[static_cast<std::size_t>(operand)]) continue;
        pending.push_back(operand);
        ready = false;
      }
      if (!ready) continue;
      pending.pop_back();
      if (done[k]) continue;
      done[k] = true;
      list.push_back(*in);
    }
    return true;
  }

 private:
  void add(const std::vector<Instr>& list) {
    for (const Instr& in : list) {
      if (in.result != kNoValue) maker_[static_cast<std::size_t>(in.result)] = &in;
    }
  }

  const LoopProgram& program_;
  std::vector<const Instr*> maker_;
};

bool reads(const Instr& in) { return in.code == Code::Load || in.code == Code::Index || in.code == Code::Valid; }

// Does what an access yields depend on axis d?
bool varies(const Access& access, std::size_t d) {
  const View& top = access.tracker.views().back();
  if (d >= top.rank() || top.shape[d] == 1) return false;
  const bool masked = top.masked() && (top.mask[d].lo > 0 || top.mask[d].hi < top.shape[d]);
  return masked || top.strides[d] != 0;
}

std::vector<bool> varying_loops(const LoopProgram& program, const std::vector<Instr>& list) {
  std::vector<bool> loops(program.outer.size(), false);
  for (const Instr& in : list) {
    if (!reads(in)) continue;
    for (std::size_t d = 0; d < loops.size(); ++d) {
      if (varies(program.accesses[static_cast<std::size_t>(in.aux)], d)) loops[d] = true;
    }
  }
  return loops;
}

// A body without loops is done once a point, like what is outer.
bool has_loops(const Stage& stage) {
  return !stage.reductions.empty() || (!stage.body.empty() && !stage.inner.empty());
}

std::int64_t points(const LoopProgram& program, const std::vector<std::size_t>& loops) {
  Ints extents;
  for (const std::size_t d : loops) extents.push_back(program.outer[d]);
  return numel(extents, "contraction").value();
}

/// A program with the given outer loops and one stage, which has no loops of its own.
LoopProgram without_loops(const LoopProgram& program, Ints outer) {
  LoopProgram out;
  out.name = program.name;
  out.outer = std::move(outer);
  out.stages.emplace_back();
  out.arguments = program.arguments;
  out.constants = program.constants;
  out.values = program.values;
  return out;
}

}  // namespace

std::optional<Contraction> find_contraction(const LoopProgram& program, std::size_t batches) {
  const auto& stages = program.stages;
  const auto stage = std::find_if(stages.begin(), stages.end(), has_loops);
  if (stage == stages.end() || std::count_if(stages.begin(), stages.end(), has_loops) != 1) return std::nullopt;
  if (stage->reductions.size() != 1 || stage->reductions[0].op != Op::Sum) return std::nullopt;
  const Reduction& sum = stage->reductions[0];
  if (std::any_of(stage->body.begin(), stage->body.end(), [](const Instr& in) { return in.code == Code::Store; })) {
    return std::nullopt;
  }
  Contraction c;
  c.stage = static_cast<std::size_t>(stage - stages.begin());
  c.dtype = sum.dtype;
  c.result = sum.result;
  const Makers makers(program, c.stage);
  const Instr* product = makers.of(sum.input);
  if (product == nullptr || product->code != Code::Elementwise || product->op != Op::Mul ||
      product->dtype != sum.dtype || product->from != sum.dtype || sum.dtype == DType::bool_) {
    return std::nullopt;
  }
  c.left = product->a;
  c.right = product->b;
  std::vector<Instr> left;
  std::vector<Instr> right;
  if (!makers.gather(c.left, left) || !makers.gather(c.right, right)) return std::nullopt;
  const std::vector<bool> in_left = varying_loops(program, left);
  const std::vector<bool> in_right = varying_loops(program, right);
  for (std::size_t d = 0; d < program.outer.size(); ++d) {
    (d < batches || in_left[d] == in_right[d] ? c.batch_loops : in_left[d] ? c.row_loops : c.column_loops).push_back(d);
  }
  if (c.row_loops.empty() && c.column_loops.empty()) return std::nullopt;
  if (c.column_loops.empty() || (!c.row_loops.empty() && c.row_loops.back() > c.column_loops.back())) {
    std::swap(c.left, c.right);
    std::swap(c.row_loops, c.column_loops);
  }
  c.batches = points(program, c.batch_loops);
  c.rows = points(program, c.row_loops);
  c.columns = points(program, c.column_loops);
  c.depth = numel(stage->inner, "contraction").value();
  return c;
}

LoopProgram factor_program(const LoopProgram& program, const Contraction& c, bool left) {
  const Stage& stage = program.stages[c.stage];
  const std::size_t outer = program.outer.size();
  const std::size_t inner = stage.inner.size();
  Ints order;
  Ints extents = stage.inner;
  for (std::size_t d = 0; d < inner; ++d) order.push_back(outer + d);
  for (const auto* loops : {&c.batch_loops, left ? &c.row_loops : &c.column_loops}) {
    for (const std::size_t d : *loops) {
      order.push_back(d);
      extents.push_back(program.outer[d]);
    }
  }
  const std::size_t kept = order.size();
  for (const std::size_t d : left ? c.column_loops : c.row_loops) order.push_back(d);

  Shape all = program.outer;
  all.insert(all.end(), stage.inner.begin(), stage.inner.end());
  LoopProgram out = without_loops(program, extents);
  std::vector<Instr>& list = out.stages[0].outer;
  if (!Makers(program, c.stage).gather(left ? c.left : c.right, list)) {
    throw InternalError("contraction", "a factor of " + program.name + " is made by no instruction");
  }
  for (Instr& in : list) {
    if (!reads(in)) continue;
    Access access = program.accesses[static_cast<std::size_t>(in.aux)];
    ShapeTracker& t = access.tracker;
    if (t.shape().size() < all.size()) {
      Shape padded = t.shape();
      padded.resize(all.size(), SymInt(1));
      t = t.reshape(padded).expand(all);
    }
    t = t.permute(order);
    Ranges first;
    for (std::size_t d = 0; d < t.shape().size(); ++d) first.push_back({0, d < kept ? t.shape()[d] : SymInt(1)});
    t = t.shrink(first).reshape(extents);
    in.aux = static_cast<std::int32_t>(out.accesses.size());
    out.accesses.push_back(std::move(access));
  }
  return out;
}

LoopProgram epilogue_program(const LoopProgram& program, const Contraction& c) {
  Ints order;
  Ints extents;
  for (const auto* loops : {&c.batch_loops, &c.row_loops, &c.column_loops}) {
    for (const std::size_t d : *loops) {
      order.push_back(d);
      extents.push_back(program.outer[d]);
    }
  }
  LoopProgram out = without_loops(program, extents);
  const auto append = [&](const std::vector<Instr>& list) {
    for (Instr in : list) {
      if (in.code != Code::Const && in.aux >= 0) {
        Access access = program.accesses[static_cast<std::size_t>(in.aux)];
        access.tracker = access.tracker.permute(order);
        in.aux = static_cast<std::int32_t>(out.accesses.size());
        out.accesses.push_back(std::move(access));
      }
      out.stages[0].outer.push_back(in);
    }
  };
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    if (s != c.stage) append(program.stages[s].body);
    append(program.stages[s].outer);
  }
  return out;
}

std::string to_string(const Contraction& c) {
  return fmt::format("batch {}, {} x {} x {}", c.batches, c.rows, c.columns, c.depth);
}

}  // namespace oriel::codegen
