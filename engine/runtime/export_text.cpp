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
    "xor xor_eq Eigen Inputs Outputs Numbers Status Element kDType kShape kStrides kElements kBytes ";

constexpr const char* kFlags = "-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-strict-aliasing";

class Text {
 public:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(arguments)...);
    text_ += '\n';
  }
  void add(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string list(const Ints& ints) {
  std::string text;
  for (const SymInt i : ints) text += (text.empty() ? "" : ", ") + std::to_string(i.value());
  return text;
}

std::string described(const ExportedTensor& t) {
  return fmt::format("{} {}{}", name(t.dtype), to_string(t.shape),
                     t.strides == contiguous_strides(t.shape) ? "" : ", in strides of " + to_string(t.strides));
}

void write_constants(Text& text, const ExportedTensor& t) {
  text.line("/// {}", described(t));
  text.line("struct {} {{", t.name);
  text.line("  using Element = {};", memory_type(t.dtype));
  text.line("  static constexpr const char* kDType = \"{}\";", name(t.dtype));
  text.line("  static constexpr std::array<std::int64_t, {}> kShape{{{}}};", t.shape.size(), list(t.shape));
  text.line("  static constexpr std::array<std::int64_t, {}> kStrides{{{}}};  // in elements", t.strides.size(),
            list(t.strides));
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

std::string number_type(DType dtype) { return dtype == DType::bool_ ? "bool" : memory_type(dtype); }

/// Does an embedded array hold a NaN? A literal cannot state its payload, so such arrays are written as integers with
/// the same bits. (Nothing stores to an embedded array, so kernels may read these integers as floats.)
bool holds_nan(const ExportLeaf& leaf) {
  const auto any = [&]<class T>(T value) {
    for (std::size_t i = 0; i < leaf.data.size(); i += sizeof value) {
      std::memcpy(&value, leaf.data.data() + i, sizeof value);
      if (std::isnan(value)) return true;
    }
    return false;
  };
  if (leaf.tensor.dtype == DType::float32) return any(float());
  return leaf.tensor.dtype == DType::float64 && any(double());
}

/// The type in which the elements of an embedded array are written.
DType written_dtype(const ExportLeaf& leaf) {
  if (!holds_nan(leaf)) return leaf.tensor.dtype;
  return leaf.tensor.dtype == DType::float32 ? DType::uint32 : DType::uint64;
}

/// The text of an element between braces; halves are written as their bits.
std::string element(DType dtype, const unsigned char* at) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  graph::Scalar value;
  value.dtype = dtype;
  switch (dtype) {
    case DType::bool_:
      value.i = *at != 0 ? 1 : 0;
      break;
    case DType::int8:
      value.i = as(std::int8_t());
      break;
    case DType::int16:
      value.i = as(std::int16_t());
      break;
    case DType::int32:
      value.i = as(std::int32_t());
      break;
    case DType::int64:
    case DType::uint64:
      value.i = as(std::int64_t());
      break;
    case DType::uint8:
      value.i = *at;
      break;
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      value.dtype = DType::uint16;
      value.i = as(std::uint16_t());
      break;
    case DType::uint32:
      value.i = as(std::uint32_t());
      break;
    case DType::float32:
      value.f = static_cast<double>(as(float()));
      break;
    case DType::float64:
      value.f = as(double());
      break;
  }
  return source::cpp::literal(value);
}

void write_array(Text& text, const ExportLeaf& leaf) {
  const ExportedTensor& t = leaf.tensor;
  if (t.bytes == 0) return;
  const std::size_t size = itemsize(t.dtype);
  const DType written = written_dtype(leaf);
  text.line("/// {}{}", described(t), written != t.dtype ? ", by its bits" : "");
  text.add(fmt::format("alignas({}) constexpr {} {}[{}] = {{", kExportAlignment, memory_type(written), t.name,
                       leaf.data.size() / size));
  std::size_t width = 200;
  for (std::size_t i = 0; i < leaf.data.size(); i += size) {
    const std::string one = element(written, leaf.data.data() + i);
    if (width + one.size() > 112) {
      text.add("\n   ");
      width = 3;
    }
    text.add(" " + one + ",");
    width += one.size() + 2;
  }
  text.add("};\n");
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

void write_check(Text& text) {
  text.add(R"(/// What is handed over to run.
struct Memory {
  const void* data;
  std::size_t bytes;
  std::size_t alignment;
  bool written;
};

Status check(const Memory* all, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].bytes == 0) continue;
    if (all[i].data == nullptr) return Status::null_pointer;
    const auto begin = reinterpret_cast<std::uintptr_t>(all[i].data);
    if (begin % all[i].alignment != 0) return Status::misaligned;
    for (std::size_t k = 0; k < i; ++k) {
      const auto other = reinterpret_cast<std::uintptr_t>(all[k].data);
      const bool apart = all[k].bytes == 0 || begin + all[i].bytes <= other || other + all[k].bytes <= begin;
      if (!apart && (all[i].written || all[k].written)) return Status::overlapping;
    }
  }
  return Status::ok;
}
)");
}

void write_call(Text& text, const ExportUnit& unit, const ExportUnit::Call& call) {
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

void write_run(Text& text, const ExportUnit& unit) {
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
  Text text;
  text.line("// Written by Oriel: {} of {} kernels, on the caller's memory. C++17, GCC or Clang.", unit.name,
            unit.kernels.size());
  text.line("//\n// Build {}.cpp with {}", unit.name, kFlags);
  text.line(
      "// for the bits that Oriel gives; none of these flags is needed for right results. Where that file includes");
  text.line("// Eigen, 3.4 is meant.");
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
  text.line("/// {}", unit.tiles_in_scratch ? "Of these, what its tiles take; on the stack are less than 2 KiB."
                                            : "About what its tiles take of the stack.");
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
  Text text;
  text.line("// Written by Oriel; see {}.hpp.", unit.name);
  text.line("#include \"{}.hpp\"\n\n#include <cstring>\n#include <limits>\n", unit.name);
  // What Clang does unless it is told: a*b+c in one rounding. And GCC warns of its own headers.
  text.line("#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#else");
  text.line("// About variables in the headers of AVX-512, which are meant to hold anything.");
  text.line("#pragma GCC diagnostic ignored \"-Wuninitialized\"");
  text.line("#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#endif\n");
  for (const codegen::LoopProgram& program : unit.kernels) {
    text.add(unit.tiles_in_scratch ? source::cpp::render_framed(program, unit.longest_tile).source
                                   : source::cpp::render_embedded(program, unit.longest_tile));
    text.line("");
  }
  text.line("namespace {} {{\n\nnamespace {{\n", unit.name);
  for (const ExportLeaf& leaf : unit.leaves)
    if (leaf.embedded) write_array(text, leaf);
  write_check(text);
  text.line("\n}}  // namespace\n");
  write_run(text, unit);
  text.line("\n}}  // namespace {}", unit.name);
  return text.take();
}

}  // namespace oriel::runtime
