#include "codegen/join.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "codegen/cost.hpp"
#include "oriel/error.hpp"

namespace oriel::codegen {

namespace {

std::int64_t points(const Ints& extents) { return numel(extents, "join").value(); }

template <class Program, class F>
void for_instructions(Program& program, F&& f) {
  for (auto& stage : program.stages) {
    for (auto* list : {&stage.body, &stage.outer})
      for (auto& in : *list) f(in);
  }
}

/// One kernel's loops as rows and columns.
struct Part {
  const LoweredKernel* kernel = nullptr;
  std::vector<std::int64_t> unit;  // of each outer loop: rows that a step goes on, 0 for a column
  const LoopProgram& program() const { return kernel->program; }
};

class Joiner {
 public:
  explicit Joiner(std::span<const LoweredKernel* const> kernels) {
    for (const LoweredKernel* k : kernels) parts_.push_back({k, {}});
  }

  std::optional<LoweredKernel> run() {
    if (parts_.size() < 2 || !find_rows() || !cut_rows()) return std::nullopt;
    for (std::size_t p = 0; p < parts_.size(); ++p) add(p);
    finish_program();
    return std::move(out_);
  }

 private:
  // The argument of part p by which it stores its local value, or loads that of the part before.
  static std::int32_t local_argument(const Part& part, schedule::EntryId entry, bool output) {
    for (std::size_t a = 0; a < part.kernel->bindings.size(); ++a) {
      const Binding& b = part.kernel->bindings[a];
      if (b.entry == entry && !b.leaf && part.program().arguments[a].output == output) {
        return static_cast<std::int32_t>(a);
      }
    }
    return -1;
  }

  // What part p stores for part p + 1.
  schedule::EntryId local_entry(std::size_t p) const {
    for (std::size_t a = 0; a < parts_[p].kernel->bindings.size(); ++a) {
      const Binding& b = parts_[p].kernel->bindings[a];
      if (parts_[p].program().arguments[a].output && local_argument(parts_[p + 1], b.entry, false) >= 0) return b.entry;
    }
    return schedule::kNone;
  }

  // The rows that every access to a local value walks.
  bool find_rows() {
    for (const Part& part : parts_) {
      for (const Argument& a : part.program().arguments)
        if (a.shares >= 0 || a.local) return false;
    }
    for (std::size_t p = 0; p + 1 < parts_.size(); ++p) {
      const schedule::EntryId entry = local_entry(p);
      if (entry == schedule::kNone) return false;
      entries_.push_back(entry);
      const std::int32_t stored = local_argument(parts_[p], entry, true);
      const std::int32_t loaded = local_argument(parts_[p + 1], entry, false);
      const std::int64_t elements = parts_[p].program().arguments[static_cast<std::size_t>(stored)].elements;
      // A row is what the reader's parallel loops leave.
      std::int64_t rows = 0;
      for (const Access& access : parts_[p + 1].program().accesses) {
        if (access.buffer == loaded) rows = std::max(rows, varying_points(parts_[p + 1].program(), access));
      }
      if (rows < 2 || elements % rows != 0 || elements == rows) return false;
      if (rows_ != 0 && rows_ != rows) return false;
      rows_ = rows;
      if (!read_units(parts_[p], stored, elements / rows) || !read_units(parts_[p + 1], loaded, elements / rows)) {
        return false;
      }
    }
    return true;
  }

  static std::int64_t varying_points(const LoopProgram& program, const Access& access) {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < program.outer.size(); ++d) {
      if (access.tracker.views().back().strides[d] != 0) n *= program.outer[d].value();
    }
    return n;
  }

  bool read_units(Part& part, std::int32_t argument, std::int64_t length) const {
    const LoopProgram& program = part.program();
    for (const Access& access : program.accesses) {
      if (access.buffer != argument) continue;
      if (!access.affine() || access.view().masked() || access.view().offset != 0) return false;
      std::vector<std::int64_t> unit;
      std::int64_t farthest = 0;  // inside of the row
      for (std::size_t d = 0; d < access.view().rank(); ++d) {
        const std::int64_t stride = access.view().strides[d].value();
        const std::int64_t extent = access.view().shape[d].value();
        const bool outer = d < program.outer.size();
        if (stride < 0) return false;
        if (outer && stride >= length) {
          if (stride % length != 0) return false;
          unit.push_back(stride / length);
          continue;
        }
        if (outer) unit.push_back(0);
        farthest += stride * (extent - 1);
      }
      if (farthest >= length || (!part.unit.empty() && part.unit != unit)) return false;
      part.unit = std::move(unit);
    }
    return !part.unit.empty() || program.outer.empty();
  }

  // The rows' loops that all parts can be written with: a row's number has these places.
  bool cut_rows() {
    std::set<std::int64_t> cuts{1};
    for (const Part& part : parts_) {
      std::vector<std::pair<std::int64_t, std::int64_t>> places;
      for (std::size_t d = 0; d < part.unit.size(); ++d) {
        if (part.unit[d] != 0) places.emplace_back(part.unit[d], part.program().outer[d].value());
      }
      std::sort(places.begin(), places.end());
      std::int64_t next = 1;
      for (const auto& [unit, extent] : places) {
        if (unit != next) return false;
        cuts.insert(unit);
        next *= extent;
      }
      if (next != rows_) return false;
    }
    std::int64_t above = rows_;
    for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
      if (above % *cut != 0) return false;
      extents_.push_back(SymInt(above / *cut));
      units_.push_back(*cut);
      above = *cut;
    }
    return true;
  }

  // A tracker over a part's loops, over the joined program's.
  ShapeTracker moved(const Part& part, const ShapeTracker& tracker) const {
    const std::size_t outer = part.program().outer.size();
    Shape split;
    std::vector<std::size_t> row_axis(extents_.size());
    std::vector<std::size_t> columns;
    for (std::size_t d = 0; d < outer; ++d) {
      if (part.unit[d] == 0) {
        columns.push_back(split.size());
        split.push_back(part.program().outer[d]);
        continue;
      }
      const std::int64_t end = part.unit[d] * part.program().outer[d].value();
      for (std::size_t k = 0; k < units_.size(); ++k) {
        if (units_[k] < part.unit[d] || units_[k] >= end) continue;
        row_axis[k] = split.size();
        split.push_back(extents_[k]);
      }
    }
    const std::size_t loops = split.size();
    Ints order;
    for (const std::size_t d : row_axis) order.push_back(SymInt(static_cast<std::int64_t>(d)));
    for (const std::size_t d : columns) order.push_back(SymInt(static_cast<std::int64_t>(d)));
    for (std::size_t d = outer; d < tracker.shape().size(); ++d) {
      order.push_back(SymInt(static_cast<std::int64_t>(loops + d - outer)));
      split.push_back(tracker.shape()[d]);
    }
    return tracker.reshape(split).permute(order);
  }

  std::int32_t argument_of(const Part& part, std::size_t a) {
    const Binding& binding = part.kernel->bindings[a];
    const Argument& argument = part.program().arguments[a];
    const bool local = !binding.leaf && std::find(entries_.begin(), entries_.end(), binding.entry) != entries_.end();
    for (std::size_t k = 0; k < out_.bindings.size(); ++k) {
      const Argument& known = out_.program.arguments[k];
      if (out_.bindings[k].entry == binding.entry && out_.bindings[k].leaf == binding.leaf &&
          (local || known.output == argument.output)) {
        return static_cast<std::int32_t>(k);
      }
    }
    int serial = 0;
    for (const Argument& known : out_.program.arguments)
      serial += known.local == local && (local || known.output == argument.output);
    Argument added = argument;
    added.local = local;
    added.output = argument.output || local;
    added.name = fmt::format("{}{}", local ? "row" : argument.output ? "out" : "in", serial);
    out_.program.arguments.push_back(std::move(added));
    out_.bindings.push_back(binding);
    return static_cast<std::int32_t>(out_.bindings.size()) - 1;
  }

  void add(std::size_t p) {
    const Part& part = parts_[p];
    const LoopProgram& from = part.program();
    LoopProgram& to = out_.program;
    const auto values = static_cast<ValueId>(to.values.size());
    const auto accesses = static_cast<std::int32_t>(to.accesses.size());
    const auto constants = static_cast<std::int32_t>(to.constants.size());
    to.outer = extents_;
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    to.constants.insert(to.constants.end(), from.constants.begin(), from.constants.end());
    for (const Access& access : from.accesses) {
      Access here = access;
      if (here.buffer >= 0) here.buffer = argument_of(part, static_cast<std::size_t>(access.buffer));
      here.tracker = moved(part, access.tracker);
      to.accesses.push_back(std::move(here));
    }
    Ints columns;
    for (std::size_t d = 0; d < part.unit.size(); ++d)
      if (part.unit[d] == 0) columns.push_back(from.outer[d]);
    for (Stage stage : from.stages) {
      stage.part = static_cast<std::int32_t>(p);
      stage.columns = columns;
      const auto shift = [&](ValueId& v) { v += v == kNoValue ? 0 : values; };
      for (std::vector<Instr>* list : {&stage.body, &stage.outer}) {
        for (Instr& in : *list) {
          for (ValueId* v : {&in.result, &in.a, &in.b, &in.c}) shift(*v);
          if (in.code == Code::Const) in.aux += constants;
          if (has_access(in)) in.aux += accesses;
        }
      }
      for (Reduction& r : stage.reductions) {
        shift(r.input);
        shift(r.result);
      }
      to.stages.push_back(std::move(stage));
    }
    out_.notes.insert(out_.notes.end(), part.kernel->notes.begin(), part.kernel->notes.end());
    out_.domain_before += (p == 0 ? "" : "; ") + part.kernel->domain_before;
    out_.change.refined = out_.change.refined || part.kernel->change.refined;
    out_.change.permuted = out_.change.permuted || part.kernel->change.permuted;
    out_.change.coalesced = out_.change.coalesced || part.kernel->change.coalesced;
  }

  // Inputs, then outputs; local arguments are not given at launch: they come last.
  void finish_program() {
    LoopProgram& program = out_.program;
    std::vector<std::size_t> order(program.arguments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Argument& x = program.arguments[a];
      const Argument& y = program.arguments[b];
      return x.output + x.local < y.output + y.local;
    });
    std::vector<std::int32_t> place(order.size());
    std::vector<Argument> arguments;
    std::vector<Binding> bindings;
    for (const std::size_t a : order) {
      place[a] = static_cast<std::int32_t>(arguments.size());
      arguments.push_back(program.arguments[a]);
      if (!program.arguments[a].local) bindings.push_back(out_.bindings[a]);
    }
    program.arguments = std::move(arguments);
    out_.bindings = std::move(bindings);
    for (Access& access : program.accesses) {
      if (access.buffer >= 0) access.buffer = place[static_cast<std::size_t>(access.buffer)];
    }
    finish(program);
    program.orientation = Orientation::Inner;
  }

  std::vector<Part> parts_;
  std::vector<schedule::EntryId> entries_;  // local, by the part that stores them
  std::int64_t rows_ = 0;
  Ints extents_;
  std::vector<std::int64_t> units_;
  LoweredKernel out_;
};

}  // namespace

std::optional<LoweredKernel> join(std::span<const LoweredKernel* const> kernels) { return Joiner(kernels).run(); }

int parts_of(const LoopProgram& program) { return program.stages.empty() ? 1 : program.stages.back().part + 1; }

LoopProgram part_program(const LoopProgram& program, int part, bool one_row) {
  LoopProgram out;
  out.name = fmt::format("{}_part{}", program.name, part);
  out.outer = program.outer;
  out.arguments = program.arguments;
  out.constants = program.constants;
  out.values = program.values;
  const std::int64_t rows = points(program.outer);
  if (one_row) {
    for (Argument& a : out.arguments)
      if (a.local) a.elements /= rows;
  }
  std::vector<std::int32_t> number(program.accesses.size(), -1);
  for (Stage stage : program.stages) {
    if (stage.part != part) continue;
    if (out.stages.empty()) out.outer.insert(out.outer.end(), stage.columns.begin(), stage.columns.end());
    stage.part = 0;
    stage.columns.clear();
    out.stages.push_back(std::move(stage));
  }
  for_instructions(out, [&](Instr& in) {
    if (!has_access(in)) return;
    std::int32_t& known = number[static_cast<std::size_t>(in.aux)];
    if (known < 0) {
      known = static_cast<std::int32_t>(out.accesses.size());
      Access access = program.accesses[static_cast<std::size_t>(in.aux)];
      if (one_row && access.buffer >= 0 && program.arguments[static_cast<std::size_t>(access.buffer)].local) {
        View view = access.view();
        for (std::size_t d = 0; d < program.outer.size(); ++d) view.strides[d] = SymInt(0);
        access.tracker = ShapeTracker(view.canonical());
      }
      out.accesses.push_back(std::move(access));
    }
    in.aux = known;
  });
  const std::string name = out.name;
  finish(out);
  out.name = name;
  // What walks rows was lowered as rows, and may keep some of them.
  if (out.outer.size() == program.outer.size()) out.orientation = Orientation::Inner;
  return out;
}

std::int64_t local_row_bytes(const LoopProgram& program) {
  const std::int64_t rows = std::max<std::int64_t>(1, points(program.outer));
  std::int64_t bytes = 0;
  for (const Argument& a : program.arguments) {
    if (a.local) bytes += a.elements / rows * static_cast<std::int64_t>(itemsize(a.dtype));
  }
  return bytes;
}

}  // namespace oriel::codegen
