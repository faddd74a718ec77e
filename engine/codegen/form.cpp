#include "codegen/form.hpp"

#include <algorithm>

#include "codegen/contraction.hpp"
#include "codegen/join.hpp"
#include "codegen/running.hpp"
#include "codegen/windows.hpp"

namespace oriel::codegen {
namespace {

std::optional<SharedRows> shared_rows(const LoopProgram& program) {
  const std::size_t outer = program.outer.size();
  SharedRows shared;
  std::vector<std::optional<LoopProgram>> products;
  for (int p = 0; p < parts_of(program); ++p) {
    LoopProgram part = part_program(program, p, false);
    products.emplace_back();
    if (part.outer.size() == outer) continue;
    if (!part.form.contraction) return std::nullopt;
    for (const std::size_t d : part.form.contraction->batch_loops) {
      if (d >= outer) return std::nullopt;
      shared.batches = std::max(shared.batches, d + 1);
    }
    products.back() = std::move(part);
  }
  // The first `batches` loops are batches to each product, the other outer loops are its rows, and all others its
  // columns.
  for (const std::optional<LoopProgram>& part : products) {
    shared.products.emplace_back();
    if (!part) continue;
    std::optional<Contraction> c = find_contraction(*part, shared.batches);
    if (!c || c->row_loops.empty() || c->column_loops.empty()) return std::nullopt;
    if (c->row_loops.front() < shared.batches || c->row_loops.back() >= outer || c->column_loops.front() < outer)
      return std::nullopt;
    shared.products.back() = std::move(c);
  }
  return shared;
}

}  // namespace

Form form_of(const LoopProgram& program) {
  Form form;
  if (parts_of(program) > 1) {
    form.rows = shared_rows(program);
    if (program.running) form.running = find_running_softmax(program);
  } else {
    form.contraction = find_contraction(program);
    form.windows = find_windows(program);
  }
  return form;
}

}  // namespace oriel::codegen
