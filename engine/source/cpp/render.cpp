#include "source/cpp/render.hpp"

#include <fmt/format.h>

#include <functional>

#include "codegen/cost.hpp"
#include "codegen/join.hpp"
#include "oriel/error.hpp"
#include "source/cpp/contraction_source.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loop_order.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/scan_source.hpp"
#include "source/cpp/scatter_source.hpp"
#include "source/cpp/sort_source.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

/// No source holds a program's function: a dump says so, and an export refuses it.
[[noreturn]] void refuse_host(const codegen::LoopProgram& program) {
  throw ArgumentError(
      "export_cpp",
      fmt::format("kernel {} calls the host function \"{}\", which is no source; export what comes before "
                  "and after it, and call it between the two",
                  program.name, program.hosting->function->name));
}

LoopsSource render_one(const codegen::LoopProgram& program, Keep keep, int longest_tile,
                       SharedHelpers* shared = nullptr) {
  if (program.sorting) return render_sort(program, keep);
  if (program.scanning) return render_scan(program, keep);
  if (program.scattering) return render_scatter(program, keep);
  if (program.hosting) refuse_host(program);
  if (const auto plan = rendered_contraction(program))
    return render_contraction(program, *plan, keep, longest_tile, shared);
  return render_loops(with_long_last_loop(program), {keep, longest_tile, -1, shared});
}

std::string host_text(const codegen::LoopProgram& program) {
  return fmt::format("// {} calls a function of the program.\n", program.name);
}

}  // namespace

std::string render(const codegen::LoopProgram& program) {
  if (program.hosting) return host_text(program);
  if (codegen::parts_of(program) > 1) return render_parts(program, false, 256);
  return render_one(program, Keep::Heap, 256).source;
}

std::string render_beside(const codegen::LoopProgram& program, SharedHelpers& shared) {
  if (program.hosting) return host_text(program);
  if (codegen::parts_of(program) > 1) return render_parts(program, false, 256, &shared);
  return render_one(program, Keep::Heap, 256, &shared).source;
}

std::string render_embedded(const codegen::LoopProgram& program, int longest_tile) {
  if (codegen::parts_of(program) > 1) return render_parts(program, true, longest_tile);
  return render_one(program, Keep::Stack, longest_tile).source;
}

FramedKernel render_framed(const codegen::LoopProgram& program, int longest_tile) {
  LoopsSource framed = render_one(program, Keep::Frame, longest_tile);
  return {std::move(framed.source), framed.bytes, framed.eigen};
}

FramedKernel render_symbolic(const codegen::LoopProgram& symbolic, const codegen::LoopProgram& program,
                             SizeTable& table, std::span<const SizeNumber> numbers, int longest_tile, bool framed) {
  if (codegen::parts_of(program) > 1) {
    throw ArgumentError("export_cpp",
                        fmt::format("kernel {} consists of kernels that were fused row by row, whose form depends on "
                                    "the numbers; export the computation at one size (export_cpp of tensors)",
                                    program.name));
  }
  const Keep keep = framed ? Keep::Frame : Keep::Stack;
  const SymbolicSizes sizes{&symbolic, &table, numbers};
  if (program.sorting) return {render_sort(program, keep, &sizes).source, 0, false};
  if (program.scanning) return {render_scan(program, keep, &sizes).source, 0, false};
  if (program.scattering) return {render_scatter(program, keep, &sizes).source, 0, false};
  if (program.hosting) refuse_host(program);
  const std::optional<codegen::ProductForm> product = codegen::symbolic_form(symbolic, program);
  if (!product) {
    LoopsSource made = render_loops(program, {keep, longest_tile, -1, nullptr, &sizes});
    return {std::move(made.source), made.bytes, made.eigen};
  }
  // Which of the two runs depends on the sizes.
  codegen::LoopProgram plain = program;
  plain.name += "_loops";
  const LoopsSource loops = render_loops(plain, {keep, longest_tile, -1, nullptr, &sizes});
  LoopsSource made =
      render_contraction(program, *product, keep, longest_tile, sizes, {identifier(plain.name), loops.bytes});
  return {loops.source + "\n" + made.source, made.bytes, loops.eigen || made.eigen};
}

std::string render_unit(const codegen::LoopProgram& symbolic, const codegen::LoopProgram& program,
                        std::span<const std::int32_t> accesses, SizeTable& table, std::string& name) {
  codegen::LoopProgram named = program;
  named.name = identifier("sized_" + codegen::name_without_sizes(program));
  const SymbolicSizes sizes{&symbolic, &table, {}, true, accesses};
  const auto source = [&] { return render_loops(named, {Keep::Heap, 256, -1, nullptr, &sizes}).source; };
  const std::size_t hash = std::hash<std::string>{}(source());
  name = named.name = fmt::format("{}_{:016x}", named.name, hash);
  return source();
}

}  // namespace oriel::source::cpp
