#include "source/cpp/render.hpp"

#include "codegen/join.hpp"
#include "source/cpp/contraction_source.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/sort_source.hpp"

namespace oriel::source::cpp {
namespace {

LoopsSource render_one(const codegen::LoopProgram& program, Keep keep, int longest_tile,
                       SharedHelpers* shared = nullptr) {
  if (program.sorting) return render_sort(program, keep);
  if (const auto plan = rendered_contraction(program))
    return render_contraction(program, *plan, keep, longest_tile, shared);
  return render_loops(program, {keep, longest_tile, -1, shared});
}

}  // namespace

std::string render(const codegen::LoopProgram& program) {
  if (codegen::parts_of(program) > 1) return render_parts(program, false, 256);
  return render_one(program, Keep::Heap, 256).source;
}

std::string render_beside(const codegen::LoopProgram& program, SharedHelpers& shared) {
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

}  // namespace oriel::source::cpp
