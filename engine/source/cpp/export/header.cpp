// The header of an export.
#include <algorithm>

#include "source/cpp/export/parts.hpp"
#include "source/cpp/spelling.hpp"

namespace oriel::source::cpp {

namespace {

std::string numbers_text(const Ints& ints) {
  std::string text;
  for (const SymInt i : ints) text += (text.empty() ? "" : ", ") + to_string(i);
  return text;
}

/// What the header says of a tensor: constants, or functions of the sizes.
void write_struct(ExportWriter& text, const ExportUnit& unit, const ExportedTensor& t) {
  const std::string type = fmt::format("std::array<std::int64_t, {}>", t.shape.size());
  text.line("/// {}", described(unit, t));
  text.line("struct {} {{\n  using Element = {};\n  static constexpr const char* kDType = \"{}\";", t.name,
            memory_type(t.dtype), name(t.dtype));
  if (unit.sized()) {
    text.line("  static {} shape(const Sizes& sizes) noexcept;", type);
    text.line("  static {} strides(const Sizes& sizes) noexcept;  // in elements", type);
    text.line("  static std::size_t elements(const Sizes& sizes) noexcept;");
    text.line("  static std::size_t bytes(const Sizes& sizes) noexcept {{ return elements(sizes) * {}; }}\n}};",
              itemsize(t.dtype));
    return;
  }
  text.line("  static constexpr {} kShape{{{}}};", type, numbers_text(t.shape));
  text.line("  static constexpr {} kStrides{{{}}};  // in elements", type, numbers_text(t.strides));
  text.line("  static constexpr std::size_t kElements{{{}}};", numel(t.shape).value());
  text.line("  static constexpr std::size_t kBytes{{{}}};\n}};", t.bytes);
}

void write_sizes(ExportWriter& text, std::span<const ExportUnit* const> plans) {
  text.line("/// The sizes of a call.");
  for (std::size_t k = 0; k < plans.size(); ++k) {
    if (plans[k]->guards.empty()) continue;
    text.line("/// {}:", k == 0 ? "They must satisfy" : "Or");
    for (const ExportUnit::Guard& guard : plans[k]->guards) text.line("///   {}", guard.text);
  }
  text.line("struct Sizes {{");
  for (const ExportUnit::Symbol& s : plans.front()->symbols) {
    std::string about = s.source;
    if (s.symbol->bounds.has_lo()) about += fmt::format(", at least {}", s.symbol->bounds.lo);
    if (s.symbol->bounds.has_hi()) about += fmt::format(", at most {}", s.symbol->bounds.hi);
    text.line("  std::int64_t {} = 0;  // {}", s.name, about);
  }
  text.line("}};\n");
}

}  // namespace

std::string export_header(std::span<const ExportUnit* const> plans) {
  const ExportUnit& unit = *plans.front();
  const bool sized = unit.sized();
  std::vector<const ExportedTensor*> inputs;
  for (const ExportLeaf* leaf : leaves_of(plans))
    if (leaf->kind == ExportLeaf::Kind::input) inputs.push_back(&leaf->tensor);
  const std::vector<NumberMember> numbers = numbers_of(plans);
  std::size_t kernels = 0;
  std::int64_t tile_bytes = 0;
  for (const ExportUnit* plan : plans) {
    kernels += plan->kernels.size();
    tile_bytes = std::max(tile_bytes, plan->tile_bytes);
  }
  ExportWriter text;
  text.line("// Written by Oriel: {} of {} kernels{}, on the caller's memory. C++17, GCC or Clang.", unit.name, kernels,
            sized ? " for many sizes" : "");
  text.line("//\n// Build {}.cpp with {}", unit.name, kExportFlags);
  text.line("// With these flags the results equal Oriel's bit for bit; without them they are still correct.");
  text.line("// Needs Eigen 3.4 if the source includes it.");
  text.line("#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n{}\nnamespace {} {{\n",
            numbers.empty() ? "" : "#include <limits>\n", unit.name);
  if (sized) write_sizes(text, plans);
  if (!inputs.empty()) {
    text.line("namespace input {{");
    for (const ExportedTensor* t : inputs) write_struct(text, unit, *t);
    text.line("}}  // namespace input\n");
  }
  text.line("namespace output {{");
  for (const ExportedTensor& t : unit.outputs) write_struct(text, unit, t);
  text.line("}}  // namespace output\n");
  text.line("/// What is read. Float16 and bfloat16 are their 16 bits, bool is 0 or 1.\nstruct Inputs {{");
  for (const ExportedTensor* t : inputs)
    text.line("  const {}* {} = nullptr;  // {}", memory_type(t->dtype), t->name, described(unit, *t));
  text.line("}};\n\n/// What is written, all of it.\nstruct Outputs {{");
  for (const ExportedTensor& t : unit.outputs)
    text.line("  {}* {} = nullptr;  // {}", memory_type(t.dtype), t.name, described(unit, t));
  text.line("}};\n");
  if (!numbers.empty()) {
    text.line("/// Numbers that enter arithmetic{}.\nstruct Numbers {{",
              sized ? "" : ", with those that were exported as defaults");
    for (const NumberMember& n : numbers) text.line("  {} {} = {};", n.type, n.name, n.value);
    text.line("}};\n");
  }
  if (!sized) {
    text.line("/// What run() keeps intermediate values in: bytes, and the alignment of the first.");
    text.line("inline constexpr std::size_t kScratchBytes{{{}}};", unit.scratch_bytes);
  } else {
    text.line("/// The alignment of scratch, where run() keeps intermediate values.");
  }
  text.line("inline constexpr std::size_t kScratchAlignment{{{}}};", kExportAlignment);
  text.line("/// {}", !unit.tiles_in_scratch ? "About what its tiles take of the stack."
                      : sized
                          ? "Bytes of its tiles, which are part of scratch; on the stack are sizes and positions of "
                            "values."
                          : "The part of kScratchBytes that tiles use. run() needs less than 2 KiB of stack.");
  text.line("inline constexpr std::size_t kTileBytes{{{}}};\n", tile_bytes);
  text.add(R"(enum class Status : int {
  ok = 0,
  null_pointer,  // of a tensor that has bytes, or of scratch where some are needed
  misaligned,    // a tensor to its elements' alignment, or scratch to kScratchAlignment
  overlapping,   // an output or scratch with anything else; inputs may overlap each other
  position,      // an element of an input names a position outside its axis; outputs may have been written
)");
  if (sized)
    text.add(R"(  guard,         // the function does not serve these sizes; explain() says which guard does not hold
  overflow,      // a size does not fit a signed 64-bit integer
};

/// Does the function serve these sizes? Status::ok, guard or overflow.
[[nodiscard]] Status check_sizes(const Sizes& sizes) noexcept;
/// Writes why it does not: the guard and the sizes; nothing if it does. Returns the length of the text, as snprintf.
std::size_t explain(const Sizes& sizes, char* text, std::size_t capacity) noexcept;
/// The bytes of scratch for sizes that pass check_sizes; 0 for others.
[[nodiscard]] std::size_t scratch_bytes(const Sizes& sizes) noexcept;
)");
  else
    text.add("};\n");
  text.add(R"(
/// Computes all outputs, on the calling thread. Unless the status is ok or position nothing was written. Allocates
/// nothing, throws nothing and keeps no state: calls with other outputs and scratch may run at the same time.
)");
  text.line("[[nodiscard]] Status run({}{}) noexcept;\n\n}}  // namespace {}", run_parameters(unit, !numbers.empty()),
            sized ? "" : " = nullptr", unit.name);
  return text.take();
}

}  // namespace oriel::source::cpp
