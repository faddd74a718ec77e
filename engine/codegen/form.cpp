#include "codegen/form.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codegen/contraction.hpp"
#include "codegen/definitions.hpp"
#include "codegen/join.hpp"
#include "codegen/online_softmax.hpp"
#include "codegen/stencil.hpp"
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
    const Contraction* product = contraction_in(part.form);
    if (product == nullptr) return std::nullopt;
    for (const std::size_t d : product->batch_loops) {
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

struct FormRefiner {
  const LoopProgram& program;

  Form elementwise() const {
    if (std::optional<Stencil> stencil = find_stencil(program)) return *std::move(stencil);
    return Elementwise{};
  }
  Form reduction() const {
    std::optional<Contraction> product = find_contraction(program);
    if (std::optional<Windows> windows = find_windows(program)) {
      windows->product = std::move(product);
      return *std::move(windows);
    }
    if (product) return *std::move(product);
    return PlainReduction{only_loops(program)};
  }

  Form operator()(const Elementwise&) const { return elementwise(); }
  Form operator()(const Stencil&) const { return elementwise(); }
  Form operator()(const PlainReduction&) const { return reduction(); }
  Form operator()(const Contraction&) const { return reduction(); }
  Form operator()(const Windows&) const { return reduction(); }
  Form operator()(const Rows&) const {
    return Rows{static_cast<std::size_t>(std::count_if(program.stages.begin(), program.stages.end(), has_loops))};
  }
  Form operator()(const Parts&) const {
    return Parts{shared_rows(program), program.online ? find_online_softmax(program) : std::nullopt};
  }
  Form operator()(const Sort&) const { return Sort{}; }
  Form operator()(const Scan&) const { return Scan{}; }
  Form operator()(const Scatter&) const { return Scatter{}; }
  Form operator()(const Host&) const { return Host{}; }
};

struct FormWriter {
  const LoopProgram& program;

  std::string operator()(const Elementwise&) const { return "elementwise"; }
  std::string operator()(const Stencil& s) const {
    return fmt::format("stencil: {} reads of {} in {}", s.reads, program.arguments[s.argument].name,
                       fmt::join(s.extents, " x "));
  }
  std::string operator()(const PlainReduction&) const { return "reduction"; }
  std::string operator()(const Rows& r) const { return fmt::format("rows in {} stages", r.stages); }
  std::string operator()(const Contraction& c) const { return "contraction: " + to_string(c); }
  std::string operator()(const Windows& w) const { return "windows: " + to_string(w); }
  std::string operator()(const Parts& p) const {
    return fmt::format("{} parts{}", parts_of(program), p.online ? " with an online softmax" : "");
  }
  std::string operator()(const Sort&) const { return "sort"; }
  std::string operator()(const Scan&) const { return "scan"; }
  std::string operator()(const Scatter&) const { return "scatter"; }
  std::string operator()(const Host&) const { return "host function"; }
};

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
  return !std::holds_alternative<Elementwise>(form) && !std::holds_alternative<Stencil>(form) &&
         !std::holds_alternative<Sort>(form) && !std::holds_alternative<Scan>(form) &&
         !std::holds_alternative<Scatter>(form) && !std::holds_alternative<Host>(form);
}

Form refined_form(const LoopProgram& program) { return std::visit(FormRefiner{program}, program.form); }

Form decided_form(const LoopProgram& program) {
  if (program.sorting) return Sort{};
  if (program.scanning) return Scan{};
  if (program.scattering) return Scatter{};
  if (program.hosting) return Host{};
  if (parts_of(program) > 1) return Parts{};
  if (std::none_of(program.stages.begin(), program.stages.end(), [](const Stage& s) { return !s.reductions.empty(); }))
    return Elementwise{};
  if (const std::size_t stage = only_loops(program); stage < program.stages.size()) return PlainReduction{stage};
  return Rows{};
}

Form form_of(const LoopProgram& program) { return std::visit(FormRefiner{program}, decided_form(program)); }

std::string form_text(const LoopProgram& program) { return std::visit(FormWriter{program}, program.form); }

}  // namespace oriel::codegen
