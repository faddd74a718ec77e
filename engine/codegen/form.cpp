#include "codegen/form.hpp"

#include <algorithm>
#include <utility>

#include "codegen/contraction.hpp"
#include "codegen/definitions.hpp"
#include "codegen/join.hpp"
#include "codegen/windows.hpp"

namespace oriel::codegen {
namespace {

std::optional<SharedRows> shared_rows(const LoopProgram& program) {
  SharedRows shared;
  shared.products.resize(static_cast<std::size_t>(parts_of(program)));
  // The first `batches` loops are batches to each product, the other outer loops are its rows, and all others its
  // columns.
  for (const bool known : {false, true}) {
    for (std::size_t s = 0; s < program.stages.size(); ++s) {
      const Stage& stage = program.stages[s];
      if (stage.columns.empty() || stage.reductions.empty()) continue;
      std::optional<Contraction> c = contraction_of(program, s, known ? shared.batches : 0);
      if (!c) return std::nullopt;
      for (const std::size_t d : c->batch_loops) shared.batches = std::max(shared.batches, d + 1);
      shared.products[static_cast<std::size_t>(stage.part)] = std::move(c);
    }
  }
  return shared;
}

// The only loops of a program, which reduce: windows, else a product, where the numbers allow it.
Form reduction(const LoopProgram& program, std::size_t at) {
  const Stage& stage = program.stages[at];
  if (stage.reductions.size() != 1 ||
      std::any_of(stage.body.begin(), stage.body.end(), [](const Instr& in) { return in.code == Code::Store; }))
    return PlainReduction{at};
  std::optional<Contraction> product = contraction_of(program, at);
  if (std::optional<Windows> windows = stage.reductions[0].windows ? windows_of(program, at) : std::nullopt) {
    windows->product = std::move(product);
    return *std::move(windows);
  }
  if (product) return *std::move(product);
  return PlainReduction{at};
}

}  // namespace

const Contraction* contraction_in(const Form& form) noexcept {
  if (const Windows* windows = std::get_if<Windows>(&form)) return windows->product ? &*windows->product : nullptr;
  return std::get_if<Contraction>(&form);
}

const Windows* windows_in(const Form& form) noexcept { return std::get_if<Windows>(&form); }

const SharedRows* shared_rows_in(const Form& form) noexcept {
  const Parts* parts = std::get_if<Parts>(&form);
  return parts != nullptr && parts->rows ? &*parts->rows : nullptr;
}

const OnlineSoftmax* online_softmax_in(const Form& form) noexcept {
  const Parts* parts = std::get_if<Parts>(&form);
  return parts != nullptr && parts->online ? &*parts->online : nullptr;
}

bool reduces(const Form& form) noexcept {
  return !std::holds_alternative<Elementwise>(form) && !std::holds_alternative<Sort>(form) &&
         !std::holds_alternative<Scan>(form) && !std::holds_alternative<Scatter>(form) &&
         !std::holds_alternative<Host>(form);
}

Form form_of(const LoopProgram& program) {
  if (program.sorting) return Sort{};
  if (program.scanning) return Scan{};
  if (program.scattering) return Scatter{};
  if (program.hosting) return Host{};
  if (parts_of(program) > 1)
    return Parts{shared_rows(program), program.online ? std::optional(online_softmax_of(program)) : std::nullopt};
  const std::vector<Stage>& stages = program.stages;
  if (std::none_of(stages.begin(), stages.end(), [](const Stage& s) { return !s.reductions.empty(); }))
    return Elementwise{};
  if (const std::size_t stage = only_loops(program); stage < stages.size()) return reduction(program, stage);
  return Rows{static_cast<std::size_t>(std::count_if(stages.begin(), stages.end(), has_loops))};
}

}  // namespace oriel::codegen
