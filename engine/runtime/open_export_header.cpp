// The header of an export of open sizes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/export_parts.hpp"
#include "runtime/open_export.hpp"
#include "source/cpp/spelling.hpp"
#include "sym/print.hpp"
#include "sym/program.hpp"

namespace oriel::runtime {

using source::cpp::memory_type;

std::string size_text(const OpenExport& unit, sym::Expr e) {
  sym::Replacements named;
  for (const OpenExport::Symbol& s : unit.symbols) named[s.symbol] = s.symbol->pool->symbol(s.name, s.symbol->bounds);
  return sym::to_string(sym::substitute(e, named));
}
std::string size_text(const OpenExport& unit, SymInt n) {
  return n.is_symbolic() ? size_text(unit, n.node()) : std::to_string(n.value());
}

std::vector<const OpenExport::Leaf*> leaves_of(std::span<const std::unique_ptr<OpenExport>> plans) {
  std::vector<const OpenExport::Leaf*> leaves;
  for (const std::unique_ptr<OpenExport>& plan : plans) {
    for (const std::size_t k : plan->order) {
      const OpenExport::Leaf& leaf = plan->leaves[k];
      const auto same = [&](const OpenExport::Leaf* other) { return other->leaf.tensor.name == leaf.leaf.tensor.name; };
      if (std::ranges::none_of(leaves, same)) leaves.push_back(&leaf);
    }
  }
  return leaves;
}

bool any_numbers(std::span<const OpenExport::Leaf* const> leaves) {
  return std::ranges::any_of(leaves, [](const auto* leaf) { return leaf->kind == OpenExport::Leaf::Kind::number; });
}

namespace {

std::string described_open(const OpenExport& unit, const ExportedTensor& t) {
  const auto list = [&](const Ints& ints) {
    std::string text;
    for (const SymInt n : ints) text += (text.empty() ? "" : ", ") + size_text(unit, n);
    return "(" + text + ")";
  };
  const Ints plain = contiguous_strides(t.shape);
  const bool row_major = std::ranges::equal(t.strides, plain, [](SymInt a, SymInt b) { return identical(a, b); });
  return fmt::format("{} {}{}", name(t.dtype), list(t.shape), row_major ? "" : ", in strides of " + list(t.strides));
}

void write_struct(ExportWriter& text, const OpenExport& unit, const ExportedTensor& t) {
  const std::string type = fmt::format("std::array<std::int64_t, {}>", t.shape.size());
  text.line("/// {}", described_open(unit, t));
  text.line("struct {} {{\n  using Element = {};\n  static constexpr const char* kDType = \"{}\";", t.name,
            memory_type(t.dtype), name(t.dtype));
  text.line("  static {} shape(const Sizes& sizes) noexcept;", type);
  text.line("  static {} strides(const Sizes& sizes) noexcept;  // in elements", type);
  text.line("  static std::size_t elements(const Sizes& sizes) noexcept;");
  text.line("  static std::size_t bytes(const Sizes& sizes) noexcept {{ return elements(sizes) * {}; }}\n}};",
            itemsize(t.dtype));
}

}  // namespace

std::string open_export_header(std::span<const std::unique_ptr<OpenExport>> plans) {
  using LeafKind = OpenExport::Leaf::Kind;
  const OpenExport& unit = *plans.front();
  const std::vector<const OpenExport::Leaf*> leaves = leaves_of(plans);
  const bool numbers = any_numbers(leaves);
  std::size_t kernels = 0;
  std::int64_t tile_bytes = 0;
  for (const std::unique_ptr<OpenExport>& plan : plans) {
    kernels += plan->kernels.size();
    tile_bytes = std::max(tile_bytes, plan->tile_bytes);
  }
  ExportWriter text;
  text.line("// Written by Oriel: {} of {} kernels for many sizes, on the caller's memory. C++17, GCC or Clang.",
            unit.name, kernels);
  text.line("//\n// Build {}.cpp with {}", unit.name, kExportFlags);
  text.line("// With these flags the results equal Oriel's bit for bit; without them they are still correct.");
  text.line("// Needs Eigen 3.4 if that file includes it.");
  text.line("#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n\nnamespace {} {{\n", unit.name);
  text.line("/// The sizes of a call.");
  for (std::size_t k = 0; k < plans.size(); ++k) {
    if (plans[k]->guards.empty()) continue;
    text.line("/// {}:", k == 0 ? "They must satisfy" : "Or");
    for (const OpenExport::Guard& guard : plans[k]->guards) text.line("///   {}", guard.text);
  }
  text.line("struct Sizes {{");
  for (const OpenExport::Symbol& s : unit.symbols) {
    std::string about = s.source;
    if (s.symbol->bounds.has_lo()) about += fmt::format(", at least {}", s.symbol->bounds.lo);
    if (s.symbol->bounds.has_hi()) about += fmt::format(", at most {}", s.symbol->bounds.hi);
    text.line("  std::int64_t {} = 0;  // {}", s.name, about);
  }
  text.line("}};\n");
  text.line("namespace input {{");
  for (const OpenExport::Leaf* leaf : leaves)
    if (leaf->kind == LeafKind::input) write_struct(text, unit, leaf->leaf.tensor);
  text.line("}}  // namespace input\n\nnamespace output {{");
  for (const ExportedTensor& t : unit.outputs) write_struct(text, unit, t);
  text.line("}}  // namespace output\n");
  text.line("/// What is read. Float16 and bfloat16 are their 16 bits, bool is 0 or 1.\nstruct Inputs {{");
  for (const OpenExport::Leaf* leaf : leaves) {
    const ExportedTensor& t = leaf->leaf.tensor;
    if (leaf->kind == LeafKind::input)
      text.line("  const {}* {} = nullptr;  // {}", memory_type(t.dtype), t.name, described_open(unit, t));
  }
  text.line("}};\n\n/// What is written, all of it.\nstruct Outputs {{");
  for (const ExportedTensor& t : unit.outputs)
    text.line("  {}* {} = nullptr;  // {}", memory_type(t.dtype), t.name, described_open(unit, t));
  text.line("}};\n");
  if (numbers) {
    text.line("/// The numbers of a call.\nstruct Numbers {{");
    for (const OpenExport::Leaf* leaf : leaves) {
      const ExportedTensor& t = leaf->leaf.tensor;
      if (leaf->kind == LeafKind::number) text.line("  {} {} = 0;", number_type(t.dtype), t.name);
    }
    text.line("}};\n");
  }
  text.line("/// The alignment of scratch, where run() keeps intermediate values.");
  text.line("inline constexpr std::size_t kScratchAlignment{{{}}};", kExportAlignment);
  text.line("/// {}",
            unit.tiles_in_scratch
                ? "The part of scratch that tiles use. On the stack run() keeps sizes and positions of values."
                : "About the bytes of the stack that its tiles use.");
  text.line("inline constexpr std::size_t kTileBytes{{{}}};\n", tile_bytes);
  text.add(R"(enum class Status : int {
  ok = 0,
  null_pointer,  // of a tensor that has bytes, or of scratch where some are needed
  misaligned,    // a tensor to its elements' alignment, or scratch to kScratchAlignment
  overlapping,   // an output or scratch with anything else; inputs may overlap each other
  guard,         // the function does not serve these sizes; explain() says which guard does not hold
  overflow,      // a size does not fit a signed 64-bit integer
};

/// Does the function serve these sizes? Status::ok, guard or overflow.
[[nodiscard]] Status check_sizes(const Sizes& sizes) noexcept;
/// Writes why it does not: the guard and the sizes; nothing if it does. Returns the length of the text, as snprintf.
std::size_t explain(const Sizes& sizes, char* text, std::size_t capacity) noexcept;
/// The bytes of scratch for sizes that pass check_sizes; 0 for others.
[[nodiscard]] std::size_t scratch_bytes(const Sizes& sizes) noexcept;

/// Computes all outputs, on the calling thread. Unless the status is ok nothing was written. Allocates nothing, throws
/// nothing and keeps no state: calls with other outputs and scratch may run at the same time.
)");
  text.line(
      "[[nodiscard]] Status run(const Sizes& sizes, const Inputs& inputs, const Outputs& outputs, {}void* scratch) "
      "noexcept;\n\n}}  // namespace {}",
      numbers ? "const Numbers& numbers, " : "", unit.name);
  return text.take();
}

}  // namespace oriel::runtime
