#include "runtime/open_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/keep.hpp"
#include "oriel/error.hpp"
#include "source/cpp/render.hpp"
#include "sym/program.hpp"

namespace oriel::runtime {

using Kind = ArgumentSource::Kind;

/// Reads what an open plan holds.
class OpenExporter {
 public:
  OpenExporter(OpenExport& unit, const OpenPlan& plan, std::span<const std::int64_t> hints)
      : unit_(unit), plan_(plan), at_(plan.sizes_.at(hints)) {}

  void add(std::span<const std::int32_t> output_of) {
    for (const OpenPlan::Program& program : plan_.programs_) add_kernel(program);
    for (const OpenPlan::Step& step : plan_.steps_) add_call(step, output_of);
    for (std::size_t t = 0; t < plan_.lifetimes_.size(); ++t) {
      const schedule::Entry& entry = (*plan_.plan_.arena)[plan_.first_values_[t]];
      const SymInt bytes = numel(entry.shape()) * static_cast<std::int64_t>(itemsize(entry.dtype));
      unit_.values.push_back({plan_.lifetimes_[t].first, plan_.lifetimes_[t].last, bytes});
    }
  }
  static std::span<const std::int32_t> outputs_of_roots(const OpenPlan& plan) { return plan.plan_.output_of_root; }

 private:
  // A program is named after its shape at the hints, so only the words before that are kept.
  std::string name_of(const std::string& program) const {
    std::string text = fmt::format("{}_k{:02}", unit_.kernel_prefix, unit_.kernels.size());
    bool word = false;
    for (std::size_t k = 0; k < program.size() && k < 40; ++k) {
      const auto c = static_cast<unsigned char>(program[k]);
      if ((!word && std::isdigit(c) != 0) || (std::isalnum(c) == 0 && c != '_')) break;
      if (!word) text += '_';
      word = c != '_';
      if (word) text += static_cast<char>(c);
    }
    while (text.back() == '_') text.pop_back();
    return text;
  }

  // Numbers become constants. Those that are sizes stay parameters, which the source reads from the table.
  void add_kernel(const OpenPlan::Program& program) {
    if (!program.runs) throw InternalError("export_cpp", "a plan for one device copies between devices");
    if (program.open.kernels.size() != 1) throw InternalError("export_cpp", "kernels of an open export are joined");
    const codegen::OpenKernel& kernel = program.open.kernels.front();
    codegen::LoopProgram at_hints = codegen::close_at(program.open, at_, 0).program;
    if (!codegen::kept_values(at_hints).empty()) throw InternalError("export_cpp", "an open kernel keeps rows");
    std::vector<source::cpp::SizeNumber> sizes;
    for (const Key::SizeParameter& p : plan_.size_parameters_)
      sizes.push_back({static_cast<std::int32_t>(p.parameter), p.size, p.dtype});
    for (codegen::Constant& c : at_hints.constants) {
      if (c.parameter < 0) continue;
      if (std::ranges::any_of(sizes, [&](const auto& s) { return s.parameter == c.parameter; })) continue;
      c = {plan_.parameters_[static_cast<std::size_t>(c.parameter)].cast(c.value.dtype), -1};
    }
    at_hints.name = name_of(at_hints.name);
    const bool framed = unit_.tiles_in_scratch;
    source::cpp::SizeTable unused;
    const source::cpp::FramedKernel measured =
        source::cpp::render_open(kernel, at_hints, unused, sizes, unit_.longest_tile, true);
    std::string text =
        source::cpp::render_open(kernel, at_hints, unit_.table, sizes, unit_.longest_tile, framed).source;
    unit_.tile_bytes = std::max(unit_.tile_bytes, measured.bytes);
    unit_.needs_eigen = unit_.needs_eigen || measured.eigen;
    SymInt points = 1;
    if (kernel.lowered.program.sorting) {
      const Shape& shape = *kernel.shapes[1];
      for (std::size_t d = 0; d + 1 < shape.size(); ++d) points *= shape[d];
    } else if (const codegen::LoopProgram& alone = kernel.lowered.program; codegen::runs_alone(alone)) {
      const std::int64_t axis = alone.scanning ? alone.scanning->axis : alone.scattering->axis;
      for (std::size_t d = 0; d < static_cast<std::size_t>(axis); ++d) points *= (*kernel.shapes.back())[d];
    } else {
      points = numel(kernel.lowered.program.outer);
    }
    points_.push_back(points);
    unit_.kernels.push_back({at_hints.name, std::move(text)});
  }

  void add_call(const OpenPlan::Step& step, std::span<const std::int32_t> output_of) {
    OpenExport::Call call{step.program, points_[step.program], {}};
    for (const codegen::Binding& b : plan_.programs_[step.program].open.kernels.front().lowered.bindings)
      call.arguments.push_back(step.values[static_cast<std::size_t>(b.entry)]);
    for (ArgumentSource& a : call.arguments)
      if (a.kind == Kind::Output) a.index = output_of[static_cast<std::size_t>(a.index)];
    unit_.calls.push_back(std::move(call));
  }

  OpenExport& unit_;
  const OpenPlan& plan_;
  const graph::Sizes::At at_;
  std::vector<SymInt> points_;  // of each kernel
};

bool serves(const OpenExport& unit, std::span<const std::int64_t> values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!unit.symbols[k].symbol->bounds.contains(values[k])) return false;
  return std::ranges::all_of(unit.guards, [&](const OpenExport::Guard& guard) {
    sym::Program program(guard.condition);
    std::vector<std::int64_t> given;
    for (const sym::Expr variable : program.variables()) {
      const auto symbol = std::ranges::find(unit.symbols, variable, &OpenExport::Symbol::symbol);
      given.push_back(values[static_cast<std::size_t>(symbol - unit.symbols.begin())]);
    }
    return program.run(given)[0].is(1);
  });
}

void add_open_plan(OpenExport& unit, const OpenPlan& plan, std::span<const std::int64_t> hints,
                   std::span<const std::int32_t> output_of) {
  OpenExporter(unit, plan, hints).add(output_of);
}

std::span<const std::int32_t> outputs_of_roots(const OpenPlan& plan) { return OpenExporter::outputs_of_roots(plan); }

}  // namespace oriel::runtime
