// The two files of an export.
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/escape.hpp"
#include "graph/scalar.hpp"
#include "oriel/error.hpp"
#include "runtime/export.hpp"
#include "runtime/export_parts.hpp"
#include "runtime/reserved_names.hpp"
#include "source/cpp/render.hpp"
#include "source/cpp/spelling.hpp"

namespace oriel::runtime {

using source::cpp::memory_type;
using Kind = ArgumentSource::Kind;

namespace {

// Keywords of C++ up to 23, and names that the files use themselves.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast std struct switch template "
    "this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while "
    "xor xor_eq Eigen Inputs Outputs Numbers Sizes Status Element kDType kShape kStrides kElements kBytes ";

std::string described(const ExportedTensor& t) {
  return fmt::format("{} {}{}", name(t.dtype), to_string(t.shape),
                     t.strides == contiguous_strides(t.shape) ? "" : ", in strides of " + to_string(t.strides));
}

void write_constants(ExportWriter& text, const ExportedTensor& t) {
  text.line("/// {}", described(t));
  text.line("struct {} {{", t.name);
  text.line("  using Element = {};", memory_type(t.dtype));
  text.line("  static constexpr const char* kDType = \"{}\";", name(t.dtype));
  text.line("  static constexpr std::array<std::int64_t, {}> kShape{{{}}};", t.shape.size(), number_list(t.shape));
  text.line("  static constexpr std::array<std::int64_t, {}> kStrides{{{}}};  // in elements", t.strides.size(),
            number_list(t.strides));
  text.line("  static constexpr std::size_t kElements{{{}}};", numel(t.shape).value());
  text.line("  static constexpr std::size_t kBytes{{{}}};", t.bytes);
  text.line("}};");
}

std::vector<const ExportedTensor*> inputs_of(const ExportUnit& unit) {
  std::vector<const ExportedTensor*> inputs;
  for (const ExportLeaf& leaf : unit.leaves)
    if (!leaf.embedded) inputs.push_back(&leaf.tensor);
  return inputs;
}

std::string arguments(const ExportUnit& unit, bool defaults) {
  return fmt::format("const Inputs& inputs, const Outputs& outputs, {}void* scratch{}",
                     unit.numbers.empty() ? "" : "const Numbers& numbers, ", defaults ? " = nullptr" : "");
}

/// The memory as a C++ expression: `void*`, or `const void*` if it is only read.
std::string memory(const ExportUnit& unit, const ArgumentSource& source) {
  const auto i = static_cast<std::size_t>(source.index);
  if (source.kind == Kind::Output) return "outputs." + unit.outputs[i].name;
  if (source.kind == Kind::Temporary) return fmt::format("block + {}", unit.blocks[i]);
  const ExportLeaf& leaf = unit.leaves[i];
  if (!leaf.embedded) return "inputs." + leaf.tensor.name;
  return leaf.tensor.bytes == 0 ? "nullptr" : leaf.tensor.name;
}

void write_call(ExportWriter& text, const ExportUnit& unit, const ExportUnit::Call& call) {
  const codegen::LoopProgram& program = unit.kernels[static_cast<std::size_t>(call.kernel)];
  text.line("  {{");
  std::string list;
  for (const ArgumentSource& source : call.arguments) {
    std::string one = memory(unit, source);
    if (source.kind == Kind::Leaf && one != "nullptr") {
      const ExportLeaf& leaf = unit.leaves[static_cast<std::size_t>(source.index)];
      const DType dtype = leaf.embedded ? written_dtype(leaf) : leaf.tensor.dtype;
      one = fmt::format("const_cast<{}*>({})", memory_type(dtype), one);
    }
    list += (list.empty() ? "" : ", ") + one;
  }
  text.line("    void* const arguments[] = {{{}}};", list);
  if (!call.numbers.empty()) {
    text.line("    kernel_{}::Scalar parameters[{}];", program.name, call.numbers.size());
    for (std::size_t p = 0; p < call.numbers.size(); ++p) {
      const bool floating = is_floating(unit.numbers[static_cast<std::size_t>(call.numbers[p])].dtype);
      text.line("    parameters[{}].{} = static_cast<{}>(numbers.number{});", p, floating ? "f" : "i",
                floating ? "double" : "std::int64_t", call.numbers[p]);
    }
  }
  text.line("    kernel_{0}::{0}(arguments, {1}, 0, {2}{3});", program.name,
            call.numbers.empty() ? "nullptr" : "parameters", numel(program.outer, "export_cpp").value(),
            unit.tiles_in_scratch ? fmt::format(", block + {}", unit.tiles_at) : "");
  text.line("  }}");
}

void write_run(ExportWriter& text, const ExportUnit& unit) {
  text.line("Status run({}) noexcept {{", arguments(unit, false));
  text.line("  static_cast<void>(inputs);");
  text.line("  const Memory all[] = {{");
  for (const ExportedTensor* t : inputs_of(unit))
    text.line("      {{inputs.{0}, input::{0}::kBytes, alignof(input::{0}::Element), false}},", t->name);
  for (const ExportedTensor& t : unit.outputs)
    text.line("      {{outputs.{0}, output::{0}::kBytes, alignof(output::{0}::Element), true}},", t.name);
  text.line("      {{scratch, kScratchBytes, kScratchAlignment, true}},");
  text.line("  }};");
  text.line("  const Status status = check(all, sizeof all / sizeof all[0]);");
  text.line("  if (status != Status::ok) return status;");
  if (!unit.blocks.empty() || (unit.tiles_in_scratch && !unit.calls.empty()))
    text.line("  auto* const block = static_cast<unsigned char*>(scratch);");
  if (!unit.numbers.empty()) text.line("  static_cast<void>(numbers);");
  for (const ExportUnit::Call& call : unit.calls) write_call(text, unit, call);
  for (const ExportUnit::Copy& copy : unit.copies) {
    const ExportedTensor& to = unit.outputs[static_cast<std::size_t>(copy.to)];
    if (to.bytes > 0)
      text.line("  std::memcpy(outputs.{0}, {1}, output::{0}::kBytes);", to.name, memory(unit, copy.from));
  }
  text.line("  return Status::ok;");
  text.line("}}");
}

}  // namespace

void check_export_name(const std::string& name, const std::string& what) {
  bool fits = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  for (const char c : name) fits = fits && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  fits = fits && name.find("__") == std::string::npos && kKeywords.find(" " + name + " ") == std::string_view::npos;
  if (fits && is_macro_name(name)) {
    throw ArgumentError("export_cpp", fmt::format("\"{}\" cannot be the name of {}: it is a macro of a header that the "
                                                  "files include; another case or a suffix would do",
                                                  base::escaped(name), what));
  }
  if (fits) return;
  throw ArgumentError("export_cpp",
                      fmt::format("\"{}\" cannot be the name of {}; accepted are a letter and then letters, "
                                  "digits and single underscores, but no keyword",
                                  base::escaped(name), what));
}

void check_export_namespace(const std::string& name, const std::string& what) {
  check_export_name(name, what);
  if (!is_library_name(name)) return;
  throw ArgumentError("export_cpp",
                      fmt::format("\"{}\" cannot be the name of {}: the C library declares it; a prefix or "
                                  "a suffix would do",
                                  base::escaped(name), what));
}

std::string export_header(const ExportUnit& unit) {
  ExportWriter text;
  text.line("// Written by Oriel: {} of {} kernels, on the caller's memory. C++17, GCC or Clang.", unit.name,
            unit.kernels.size());
  text.line("//\n// Build {}.cpp with {}", unit.name, kExportFlags);
  text.line("// With these flags the results equal Oriel's bit for bit; without them they are still correct.");
  text.line("// Needs Eigen 3.4 if that file includes it.");
  text.line("#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n{}\nnamespace {} {{\n",
            unit.numbers.empty() ? "" : "#include <limits>\n", unit.name);
  const std::vector<const ExportedTensor*> inputs = inputs_of(unit);
  if (!inputs.empty()) {
    text.line("namespace input {{");
    for (const ExportedTensor* t : inputs) write_constants(text, *t);
    text.line("}}  // namespace input\n");
  }
  text.line("namespace output {{");
  for (const ExportedTensor& t : unit.outputs) write_constants(text, t);
  text.line("}}  // namespace output\n");

  text.line("/// What is read. Float16 and bfloat16 are their 16 bits, bool is 0 or 1.");
  text.line("struct Inputs {{");
  for (const ExportedTensor* t : inputs)
    text.line("  const {}* {} = nullptr;  // {}", memory_type(t->dtype), t->name, described(*t));
  text.line("}};\n");
  text.line("/// What is written, all of it.");
  text.line("struct Outputs {{");
  for (const ExportedTensor& t : unit.outputs)
    text.line("  {}* {} = nullptr;  // {}", memory_type(t.dtype), t.name, described(t));
  text.line("}};\n");
  if (!unit.numbers.empty()) {
    text.line("/// Numbers that enter arithmetic, with those that were exported as defaults.");
    text.line("struct Numbers {{");
    for (std::size_t p = 0; p < unit.numbers.size(); ++p) {
      const graph::Scalar& number = unit.numbers[p];
      const std::string value =
          number.dtype == DType::bool_ ? (number.i != 0 ? "true" : "false") : source::cpp::literal(number);
      text.line("  {} number{} = {};", number_type(number.dtype), p, value);
    }
    text.line("}};\n");
  }
  text.line("/// What run() keeps intermediate values in: bytes, and the alignment of the first.");
  text.line("inline constexpr std::size_t kScratchBytes{{{}}};", unit.scratch_bytes);
  text.line("inline constexpr std::size_t kScratchAlignment{{{}}};", kExportAlignment);
  text.line("/// {}", unit.tiles_in_scratch
                          ? "The part of kScratchBytes that tiles use. run() needs less than 2 KiB of stack."
                          : "About the bytes of the stack that its tiles use.");
  text.line("inline constexpr std::size_t kTileBytes{{{}}};\n", unit.tile_bytes);
  text.add(R"(enum class Status : int {
  ok = 0,
  null_pointer,  // of a tensor that has bytes, or of scratch where some are needed
  misaligned,    // a tensor to its elements' alignment, or scratch to kScratchAlignment
  overlapping,   // an output or scratch with anything else; inputs may overlap each other
};

/// Computes all outputs, on the calling thread. Unless the status is ok nothing was written. Allocates nothing, throws
/// nothing and keeps no state: calls with other outputs and scratch may run at the same time.
)");
  text.line("[[nodiscard]] Status run({}) noexcept;\n", arguments(unit, true));
  text.line("}}  // namespace {}", unit.name);
  return text.take();
}

std::string export_source(const ExportUnit& unit) {
  ExportWriter text;
  text.line("// Written by Oriel; see {}.hpp.", unit.name);
  text.line("#include \"{}.hpp\"\n\n#include <cstring>\n#include <limits>\n", unit.name);
  text.add(export_pragmas());
  for (const codegen::LoopProgram& program : unit.kernels) {
    text.add(unit.tiles_in_scratch ? source::cpp::render_framed(program, unit.longest_tile).source
                                   : source::cpp::render_embedded(program, unit.longest_tile));
    text.line("");
  }
  text.line("namespace {} {{\n\nnamespace {{\n", unit.name);
  for (const ExportLeaf& leaf : unit.leaves)
    if (leaf.embedded) write_array(text, leaf, described(leaf.tensor));
  text.add(export_check());
  text.line("\n}}  // namespace\n");
  write_run(text, unit);
  text.line("\n}}  // namespace {}", unit.name);
  return text.take();
}

}  // namespace oriel::runtime
