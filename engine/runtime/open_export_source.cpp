// The source of an export of open sizes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/export_parts.hpp"
#include "runtime/open_export.hpp"
#include "source/cpp/spelling.hpp"
#include "sym/print.hpp"
#include "sym/program.hpp"

namespace oriel::runtime {

using source::cpp::memory_type;
using Kind = ArgumentSource::Kind;

namespace {

/// Writes the functions of the source. Sizes are elements of z, the array of the table's sizes.
class OpenSource {
 public:
  explicit OpenSource(OpenExport& unit) : unit_(unit), table_(&unit.table) {
    for (const OpenExport::Symbol& s : unit_.symbols) names_[s.symbol] = "sizes." + s.name;
  }

  /// The kernels, and the functions of one plan in a namespace of their own.
  std::string write_kernels() const {
    std::string text;
    for (const OpenExport::Kernel& kernel : unit_.kernels) text += kernel.source + "\n";
    return text;
  }
  std::string write_plan(std::size_t number, bool numbers) {
    ExportWriter body;
    write_place(body);
    write_checks(body);
    write_explain(body);
    write_run(body, numbers);
    // What the functions above asked for is known only now.
    ExportWriter text;
    text.line("namespace plan{} {{\nnamespace {{\n", number);
    for (const OpenExport::Leaf& leaf : unit_.leaves)
      if (leaf.kind == OpenExport::Leaf::Kind::embedded)
        write_array(text, leaf.leaf, std::string(name(leaf.leaf.tensor.dtype)));
    write_sizes(text, unit_.table);
    write_guards(text);
    text.add(body.take());
    text.line("\n}}  // namespace\n}}  // namespace plan{}\n", number);
    return text.take();
  }
  /// The functions that give the shapes of inputs and outputs, whatever plan runs.
  std::string write_shapes() {
    table_ = &shapes_;
    ExportWriter body;
    write_tensors(body);
    ExportWriter text;
    text.line("namespace {{");
    write_sizes(text, shapes_);
    text.line("}}  // namespace\n");
    text.add(body.take());
    return text.take();
  }

 private:
  std::string size(SymInt n) {
    return n.is_symbolic() ? fmt::format("z[{}]", table_->place(n)) : std::to_string(n.value());
  }
  std::string sizes(const Ints& ints) {
    std::string text;
    for (const SymInt n : ints) text += (text.empty() ? "" : ", ") + size(n);
    return text;
  }
  std::string bytes(const ExportedTensor& t) {
    return size(numel(t.shape) * static_cast<std::int64_t>(itemsize(t.dtype)));
  }
  void write_sizes(ExportWriter& text, const source::cpp::SizeTable& table) {
    source::cpp::SizeStatements statements(names_);
    std::string stores;
    const std::vector<sym::Expr>& all = table.sizes();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string variable = statements.of(all[k]);
      stores += fmt::format("  z[{0}] = {1}.value;\n  known = known && {1}.known;\n", k, variable);
    }
    text.line("\nconstexpr int kSizes = {};\n", std::max<std::size_t>(all.size(), 1));
    text.line("/// All sizes that the functions below use. False if one has no value.");
    text.line("bool compute([[maybe_unused]] const Sizes& sizes, Int* z) {{\n  bool known = true;\n  z[0] = 0;");
    text.add(statements.text() + stores);
    text.line("  return known;\n}}");
  }

  void write_guards(ExportWriter& text) {
    source::cpp::SizeStatements statements(names_);
    std::string tests;
    int number = 0;
    for (const OpenExport::Symbol& s : unit_.symbols) {
      const sym::Interval range = s.symbol->bounds;
      if (range.has_lo()) tests += fmt::format("  if (sizes.{} < {}) return {};\n", s.name, range.lo, number++);
      if (range.has_hi()) tests += fmt::format("  if (sizes.{} > {}) return {};\n", s.name, range.hi, number++);
    }
    for (const OpenExport::Guard& guard : unit_.guards) {
      const std::string variable = statements.of(guard.condition);
      tests += fmt::format("  if (!{0}.known || {0}.value == 0) return {1};\n", variable, number++);
    }
    text.line("\n/// The number of the first guard that does not hold, or -1.");
    text.line("int broken_guard([[maybe_unused]] const Sizes& sizes) {{");
    text.add(statements.text() + tests);
    text.line("  return -1;\n}}");
  }

  // As schedule::plan_memory: each value gets the free block that fits it best, and the largest one grows if none fits.
  void write_place(ExportWriter& text) {
    const std::size_t n = unit_.values.size();
    text.line(
        "\n/// Bytes of scratch. Sets where each value between kernels lies. Negative if they do not fit an Int.");
    text.line("Int place([[maybe_unused]] const Int* z, [[maybe_unused]] Int* offsets) {{");
    const std::int64_t tiles = unit_.tiles_in_scratch ? unit_.tile_bytes : 0;
    if (n == 0) return text.line("  return {};\n}}", tiles);
    std::vector<std::size_t> by_start(n);
    for (std::size_t k = 0; k < n; ++k) by_start[k] = k;
    std::ranges::stable_sort(by_start, {}, [&](std::size_t k) { return unit_.values[k].first; });
    std::string list;
    for (const std::size_t k : by_start) {
      const OpenExport::Value& v = unit_.values[k];
      list += fmt::format("      {{{}, {}, {}, {}}},\n", k, v.first, v.last, size(v.bytes));
    }
    text.line(
        "  const struct {{\n    int value;\n    Int first;  // the step that writes it\n    Int last;   // that reads "
        "it last\n    Int bytes;\n  }} values[] = {{\n{}  }};",
        list);
    text.line("  constexpr int kValues = {};\n  constexpr Int kApart = {};", n, kExportAlignment);
    text.add(R"(  Int bytes[kValues];
  Int busy[kValues];
  int block_of[kValues];
  int blocks = 0;
  for (const auto& v : values) {
    int fit = -1;
    for (int b = 0; b < blocks; ++b) {
      if (busy[b] >= v.first) continue;
      const bool fits = bytes[b] >= v.bytes;
      const bool fitted = fit >= 0 && bytes[fit] >= v.bytes;
      if (fit < 0 || (fits && (!fitted || bytes[b] < bytes[fit])) || (!fits && !fitted && bytes[b] > bytes[fit])) fit = b;
    }
    if (fit < 0) {
      fit = blocks++;
      bytes[fit] = 0;
    }
    if (bytes[fit] < v.bytes) bytes[fit] = v.bytes;
    busy[fit] = v.last;
    block_of[v.value] = fit;
  }
  Int begin[kValues];
  Int end = 0;
  for (int b = 0; b < blocks; ++b) {
    begin[b] = end;
    if (__builtin_add_overflow(end, bytes[b], &end) || __builtin_add_overflow(end, kApart - 1, &end)) return -1;
    end = end / kApart * kApart;
  }
  for (int v = 0; v < kValues; ++v) offsets[v] = begin[block_of[v]];
)");
    text.line("  return __builtin_add_overflow(end, Int{{{}}}, &end) ? -1 : end;\n}}", tiles);
  }

  void write_tensor(ExportWriter& text, const char* space, const ExportedTensor& t) {
    const std::string type = fmt::format("std::array<std::int64_t, {}>", t.shape.size());
    const auto array = [&](const char* what, const Ints& ints) {
      const std::string list = sizes(ints);
      text.line("{} {}::{}::{}(const Sizes& sizes) noexcept {{", type, space, t.name, what);
      text.line("  Int z[kSizes];\n  if (!compute(sizes, z)) return {{}};\n  return {{{}}};\n}}",
                list.empty() ? "" : "{" + list + "}");
    };
    array("shape", t.shape);
    array("strides", t.strides);
    text.line("std::size_t {}::{}::elements(const Sizes& sizes) noexcept {{", space, t.name);
    text.line("  Int z[kSizes];\n  return compute(sizes, z) ? static_cast<std::size_t>({}) : 0;\n}}\n",
              size(numel(t.shape)));
  }
  void write_tensors(ExportWriter& text) {
    for (const OpenExport::Leaf& leaf : unit_.leaves)
      if (leaf.kind == OpenExport::Leaf::Kind::input) write_tensor(text, "input", leaf.leaf.tensor);
    for (const ExportedTensor& t : unit_.outputs) write_tensor(text, "output", t);
  }

  void write_checks(ExportWriter& text) {
    const std::string offsets = fmt::format("  Int offsets[{}];\n", std::max<std::size_t>(unit_.values.size(), 1));
    text.add(
        "Status check_plan(const Sizes& sizes) noexcept {\n  if (broken_guard(sizes) >= 0) return Status::guard;\n"
        "  Int z[kSizes];\n" +
        offsets +
        "  return compute(sizes, z) && place(z, offsets) >= 0 ? Status::ok : Status::overflow;\n}\n\n"
        "std::size_t scratch_bytes(const Sizes& sizes) noexcept {\n"
        "  if (check_plan(sizes) != Status::ok) return 0;\n  Int z[kSizes];\n" +
        offsets + "  compute(sizes, z);\n  return static_cast<std::size_t>(place(z, offsets));\n}\n\n");
  }

  /// A piece of a format of printf.
  static std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '%') out += '%';
      out += c;
    }
    return out;
  }
  void write_explain(ExportWriter& text) {
    text.line("std::size_t explain(const Sizes& sizes, char* text, std::size_t capacity) noexcept {{");
    text.line("  int length = 0;\n  switch (broken_guard(sizes)) {{");
    int number = 0;
    std::string all, all_arguments;
    for (const OpenExport::Symbol& s : unit_.symbols) {
      all += all.empty() ? "%lld" : ", %lld";
      all_arguments += fmt::format(", static_cast<long long>(sizes.{})", s.name);
    }
    // `planned`: another plan may do without the guard.
    const auto add = [&](const std::string& guard, std::span<const sym::Expr> variables, bool planned) {
      std::string values;
      std::string arguments;
      for (const OpenExport::Symbol& s : unit_.symbols) {
        if (std::ranges::find(variables, s.symbol) == variables.end()) continue;
        values += fmt::format("{}{} = %lld", values.empty() ? "" : ", ", s.name);
        if (!s.source.empty()) values += " (" + quoted(s.source) + ")";
        arguments += fmt::format(", static_cast<long long>(sizes.{})", s.name);
      }
      const std::string remedy =
          planned ? fmt::format("; an export with .serve = {{{{{}}}}} has a plan for these sizes", all) : std::string();
      text.line("    case {}:\n      length = std::snprintf(text, capacity, \"{}; {}{}\"{}{});\n      break;", number++,
                quoted(guard), values, remedy, arguments, planned ? all_arguments : std::string());
    };
    for (const OpenExport::Symbol& s : unit_.symbols) {
      const sym::Interval range = s.symbol->bounds;
      if (range.has_lo()) add(fmt::format("{} >= {}", s.name, range.lo), {&s.symbol, 1}, false);
      if (range.has_hi()) add(fmt::format("{} <= {}", s.name, range.hi), {&s.symbol, 1}, false);
    }
    for (const OpenExport::Guard& guard : unit_.guards)
      add(guard.text, sym::variables_of(guard.condition), guard.planned);
    text.line("    default:");
    text.line(
        "      length = std::snprintf(text, capacity, \"sizes of values that fit a signed 64-bit integer\");\n  }}");
    text.line("  return length < 0 ? 0 : static_cast<std::size_t>(length);\n}}\n");
  }

  std::string memory(const ArgumentSource& source) {
    const auto i = static_cast<std::size_t>(source.index);
    if (source.kind == Kind::Output) return "outputs." + unit_.outputs[i].name;
    if (source.kind == Kind::Temporary) return fmt::format("block + offsets[{}]", i);
    const OpenExport::Leaf& leaf = unit_.leaves[i];
    if (leaf.kind == OpenExport::Leaf::Kind::input) return "inputs." + leaf.leaf.tensor.name;
    if (leaf.kind == OpenExport::Leaf::Kind::number) return "&numbers." + leaf.leaf.tensor.name;
    return leaf.leaf.tensor.bytes == 0 ? "nullptr" : leaf.leaf.tensor.name;
  }

  void write_call(ExportWriter& text, const OpenExport::Call& call) {
    std::string list;
    for (const ArgumentSource& source : call.arguments) {
      std::string one = memory(source);
      if (source.kind == Kind::Leaf && one != "nullptr") {
        const OpenExport::Leaf& leaf = unit_.leaves[static_cast<std::size_t>(source.index)];
        const bool embedded = leaf.kind == OpenExport::Leaf::Kind::embedded;
        const DType dtype = embedded ? written_dtype(leaf.leaf) : leaf.leaf.tensor.dtype;
        one = fmt::format("const_cast<{}*>({})", memory_type(dtype), one);
      }
      list += (list.empty() ? "" : ", ") + one;
    }
    const std::string& name = unit_.kernels[call.kernel].name;
    text.line("  {{\n    void* const arguments[] = {{{}}};", list);
    text.line("    kernel_{0}::{0}(arguments, nullptr, 0, {1}, z{2});\n  }}", name, size(call.points),
              unit_.tiles_in_scratch ? ", tiles" : "");
  }

  void write_run(ExportWriter& text, bool numbers) {
    text.line(
        "Status run(const Sizes& sizes, [[maybe_unused]] const Inputs& inputs, const Outputs& outputs, {}void* "
        "scratch) noexcept {{",
        numbers ? "[[maybe_unused]] const Numbers& numbers, " : "");
    text.line("  if (const Status sized = check_plan(sizes); sized != Status::ok) return sized;");
    text.line("  Int z[kSizes];\n  Int offsets[{}];\n  compute(sizes, z);",
              std::max<std::size_t>(unit_.values.size(), 1));
    text.line("  const Int scratch_needed = place(z, offsets);\n  const Memory all[] = {{");
    for (const OpenExport::Leaf& leaf : unit_.leaves) {
      if (leaf.kind != OpenExport::Leaf::Kind::input) continue;
      const ExportedTensor& t = leaf.leaf.tensor;
      text.line("      {{inputs.{0}, static_cast<std::size_t>({1}), alignof(input::{0}::Element), false}},", t.name,
                bytes(t));
    }
    for (const ExportedTensor& t : unit_.outputs)
      text.line("      {{outputs.{0}, static_cast<std::size_t>({1}), alignof(output::{0}::Element), true}},", t.name,
                bytes(t));
    text.line("      {{scratch, static_cast<std::size_t>(scratch_needed), kScratchAlignment, true}},\n  }};");
    text.line(
        "  const Status status = check(all, sizeof all / sizeof all[0]);\n  if (status != Status::ok) return status;");
    text.line("  [[maybe_unused]] auto* const block = static_cast<unsigned char*>(scratch);");
    if (unit_.tiles_in_scratch)
      text.line("  [[maybe_unused]] void* const tiles = block + (scratch_needed - {});", unit_.tile_bytes);
    for (const OpenExport::Call& call : unit_.calls) write_call(text, call);
    for (const ExportUnit::Copy& copy : unit_.copies) {
      const ExportedTensor& to = unit_.outputs[static_cast<std::size_t>(copy.to)];
      const std::string n = bytes(to);
      if (n == "0") continue;
      const std::string from = memory(copy.from);
      text.line("  if ({0} > 0) std::memcpy(outputs.{1}, {2}, static_cast<std::size_t>({0}));", n, to.name, from);
    }
    text.line("  return Status::ok;\n}}");
  }

  OpenExport& unit_;
  source::cpp::SizeTable* table_;
  source::cpp::SizeTable shapes_;
  std::unordered_map<sym::Expr, std::string> names_;
};

/// The functions of the header, which ask the plans in turn.
void write_dispatch(ExportWriter& text, const std::string& name, std::size_t plans, bool numbers) {
  text.line("Status check_sizes(const Sizes& sizes) noexcept {{\n  const Status first = plan0::check_plan(sizes);");
  for (std::size_t k = 1; k < plans; ++k)
    text.line("  if (plan{}::check_plan(sizes) == Status::ok) return Status::ok;", k);
  text.line("  return first;\n}}\n");
  text.line("std::size_t explain(const Sizes& sizes, char* text, std::size_t capacity) noexcept {{");
  text.line("  if (capacity > 0) text[0] = 0;\n  if (check_sizes(sizes) == Status::ok) return 0;");
  text.line("  std::size_t length = 0;");
  text.line("  const auto rest = [&] {{ return length < capacity ? capacity - length : 0; }};");
  text.line("  const auto at = [&] {{ return length < capacity ? text + length : nullptr; }};");
  for (std::size_t k = 0; k < plans; ++k) {
    text.line("  length += static_cast<std::size_t>(std::snprintf(at(), rest(), \"{}\"));",
              k == 0 ? name + " needs " : "; or ");
    text.line("  length += plan{}::explain(sizes, at(), rest());", k);
  }
  text.line("  return length;\n}}\n");
  text.line("std::size_t scratch_bytes(const Sizes& sizes) noexcept {{");
  for (std::size_t k = 0; k < plans; ++k)
    text.line("  if (plan{0}::check_plan(sizes) == Status::ok) return plan{0}::scratch_bytes(sizes);", k);
  text.line("  return 0;\n}}\n");
  text.line("Status run(const Sizes& sizes, const Inputs& inputs, const Outputs& outputs, {}void* scratch) noexcept {{",
            numbers ? "const Numbers& numbers, " : "");
  for (std::size_t k = 0; k < plans; ++k) {
    text.line("  {}plan{}::run(sizes, inputs, outputs, {}scratch);",
              k + 1 == plans ? "return " : fmt::format("if (plan{}::check_plan(sizes) == Status::ok) return ", k), k,
              numbers ? "numbers, " : "");
  }
  text.line("}}");
}

}  // namespace

std::string open_export_source(std::span<const std::unique_ptr<OpenExport>> plans) {
  const std::string& name = plans.front()->name;
  const bool numbers = any_numbers(leaves_of(plans));
  ExportWriter text;
  text.line("// Written by Oriel; see {}.hpp.", name);
  text.line("#include \"{}.hpp\"\n\n#include <cstdio>\n#include <cstring>\n#include <limits>\n", name);
  text.add(export_pragmas());
  std::vector<OpenSource> sources;
  for (const std::unique_ptr<OpenExport>& plan : plans) text.add(sources.emplace_back(*plan).write_kernels());
  text.line("namespace {} {{\n\nnamespace {{\n", name);
  text.add(source::cpp::size_functions());
  text.add(export_check());
  text.line("}}  // namespace\n");
  for (std::size_t k = 0; k < sources.size(); ++k) text.add(sources[k].write_plan(k, numbers));
  text.add(OpenSource(*plans.front()).write_shapes());
  write_dispatch(text, name, plans.size(), numbers);
  text.line("\n}}  // namespace {}", name);
  return text.take();
}

}  // namespace oriel::runtime
