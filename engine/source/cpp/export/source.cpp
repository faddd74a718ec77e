// The source of an export.
#include <algorithm>
#include <unordered_map>

#include "source/cpp/export/parts.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/spelling.hpp"
#include "sym/program.hpp"

namespace oriel::source::cpp {

namespace {

std::string export_helpers(std::initializer_list<std::string_view> names) {
  Snippets helpers;
  for (const std::string_view name : names) helpers.need(name);
  return helpers.text();
}

/// Writes the functions of the source. A size is a literal, or an element of z, the array of the table's sizes.
class PlanSource {
 public:
  explicit PlanSource(ExportUnit& unit) : unit_(unit), table_(&unit.table) {
    for (const ExportUnit::Symbol& s : unit_.symbols) names_[s.symbol] = "sizes." + s.name;
  }

  /// The kernels, and the functions of one plan; of symbolic sizes in a namespace of their own.
  std::string write_kernels() const {
    std::string text;
    for (const ExportUnit::Kernel& kernel : unit_.kernels) text += kernel.source + "\n";
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
    write_arrays(text);
    write_sizes(text, unit_.table);
    write_guards(text);
    text.add(body.take());
    text.line("\n}}  // namespace\n}}  // namespace plan{}\n", number);
    return text.take();
  }
  /// Constants, and the function run, where all sizes are numbers.
  std::string write_fixed() {
    ExportWriter text;
    text.line("namespace {{\n");
    write_arrays(text);
    text.add(export_helpers({"memory_check"}));
    text.line("\n}}  // namespace\n");
    write_run(text, !unit_.numbers.empty());
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
  std::string size(SymInt n) { return n.is_symbolic() ? fmt::format("z[{}]", table_->place(n)) : to_string(n); }
  void write_arrays(ExportWriter& text) const {
    for (const ExportLeaf& leaf : unit_.leaves)
      if (leaf.kind == ExportLeaf::Kind::embedded) write_array(text, leaf, described(unit_, leaf.tensor));
  }
  std::string sizes(const Ints& ints) {
    std::string text;
    for (const SymInt n : ints) text += (text.empty() ? "" : ", ") + size(n);
    return text;
  }
  std::string bytes(const ExportedTensor& t) {
    return size(numel(t.shape) * static_cast<std::int64_t>(itemsize(t.dtype)));
  }
  void write_sizes(ExportWriter& text, const SizeTable& table) {
    SizeStatements statements(names_);
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
    SizeStatements statements(names_);
    std::string tests;
    int number = 0;
    for (const ExportUnit::Symbol& s : unit_.symbols) {
      const sym::Interval range = s.symbol->bounds;
      if (range.has_lo()) tests += fmt::format("  if (sizes.{} < {}) return {};\n", s.name, range.lo, number++);
      if (range.has_hi()) tests += fmt::format("  if (sizes.{} > {}) return {};\n", s.name, range.hi, number++);
    }
    for (const ExportUnit::Guard& guard : unit_.guards) {
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
      const ExportUnit::Value& v = unit_.values[k];
      list += fmt::format("      {{{}, {}, {}, {}}},\n", k, v.first, v.last, size(v.bytes));
    }
    text.line("  const PlacedValue values[] = {{\n{}  }};\n  Int end = place_values(values, {}, offsets);", list,
              kExportAlignment);
    text.line("  return end < 0 || __builtin_add_overflow(end, Int{{{}}}, &end) ? -1 : end;\n}}", tiles);
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
    for (const ExportLeaf& leaf : unit_.leaves)
      if (leaf.kind == ExportLeaf::Kind::input) write_tensor(text, "input", leaf.tensor);
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
    for (const ExportUnit::Symbol& s : unit_.symbols) {
      all += all.empty() ? "%lld" : ", %lld";
      all_arguments += fmt::format(", static_cast<long long>(sizes.{})", s.name);
    }
    // `planned`: another plan may do without the guard.
    const auto add = [&](const std::string& guard, std::span<const sym::Expr> variables, bool planned) {
      std::string values;
      std::string arguments;
      for (const ExportUnit::Symbol& s : unit_.symbols) {
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
    for (const ExportUnit::Symbol& s : unit_.symbols) {
      const sym::Interval range = s.symbol->bounds;
      if (range.has_lo()) add(fmt::format("{} >= {}", s.name, range.lo), {&s.symbol, 1}, false);
      if (range.has_hi()) add(fmt::format("{} <= {}", s.name, range.hi), {&s.symbol, 1}, false);
    }
    for (const ExportUnit::Guard& guard : unit_.guards)
      add(guard.text, sym::variables_of(guard.condition), guard.planned);
    text.line("    default:");
    text.line(
        "      length = std::snprintf(text, capacity, \"sizes of values that fit a signed 64-bit integer\");\n  }}");
    text.line("  return length < 0 ? 0 : static_cast<std::size_t>(length);\n}}\n");
  }

  /// As a C++ expression: `void*`, or `const void*` if it is only read.
  std::string memory(const ExportMemory& memory) const {
    if (memory.kind == ExportMemory::Kind::output) return "outputs." + unit_.outputs[memory.index].name;
    if (memory.kind == ExportMemory::Kind::value)
      return unit_.sized() ? fmt::format("block + offsets[{}]", memory.index)
                           : fmt::format("block + {}", unit_.values[memory.index].offset);
    const ExportLeaf& leaf = unit_.leaves[memory.index];
    if (leaf.kind == ExportLeaf::Kind::input) return "inputs." + leaf.tensor.name;
    if (leaf.kind == ExportLeaf::Kind::number) return "&numbers." + leaf.tensor.name;
    return leaf.tensor.bytes == 0 ? "nullptr" : leaf.tensor.name;
  }

  void write_call(ExportWriter& text, const ExportUnit::Call& call) {
    std::string list;
    for (const ExportMemory& from : call.arguments) {
      std::string one = memory(from);
      if (from.kind == ExportMemory::Kind::leaf && one != "nullptr") {
        const ExportLeaf& leaf = unit_.leaves[from.index];
        const bool embedded = leaf.kind == ExportLeaf::Kind::embedded;
        one = fmt::format("const_cast<{}*>({})", memory_type(embedded ? written_dtype(leaf) : leaf.tensor.dtype), one);
      }
      list += (list.empty() ? "" : ", ") + one;
    }
    text.line("  {{\n    void* const arguments[] = {{{}}};", list);
    if (!call.check.empty()) return write_check(text, call.check);
    const ExportUnit::Kernel& kernel = unit_.kernels[call.kernel];
    if (!call.numbers.empty()) text.line("    kernel_{}::Scalar parameters[{}];", kernel.name, call.numbers.size());
    for (std::size_t p = 0; p < call.numbers.size(); ++p) {
      const bool floating = is_floating(unit_.numbers[static_cast<std::size_t>(call.numbers[p])].dtype);
      text.line("    parameters[{}].{} = static_cast<{}>(numbers.number{});", p, floating ? "f" : "i",
                floating ? "double" : "std::int64_t", call.numbers[p]);
    }
    text.line("    kernel_{0}::{0}(arguments, {1}, 0, {2}{3}{4});\n  }}", kernel.name,
              call.numbers.empty() ? "nullptr" : "parameters", size(kernel.points), unit_.sized() ? ", z" : "",
              unit_.tiles_in_scratch ? ", tiles" : "");
  }

  /// What the host function of a check does (formula/position_check).
  static void write_check(ExportWriter& text, const std::string& least) {
    text.add(R"(    const auto number = [&](int k) { return *static_cast<const std::int64_t*>(arguments[k]); };
    const std::int64_t least = number(0), greatest = number(1);
    const auto extent =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(number(2)) + static_cast<std::uint64_t>(greatest));
)");
    text.line("    if (least <= greatest && !({} && greatest < extent)) return Status::position;", least);
    text.line("    *static_cast<std::uint8_t*>(arguments[3]) = 1;\n  }}");
  }

  void write_memory(ExportWriter& text, const char* space, const char* group, const ExportedTensor& t, bool written) {
    const std::string n = unit_.sized() ? fmt::format("static_cast<std::size_t>({})", bytes(t))
                                        : fmt::format("{}::{}::kBytes", space, t.name);
    text.line("      {{{0}.{1}, {2}, alignof({3}::{1}::Element), {4}}},", group, t.name, n, space, written);
  }

  void write_run(ExportWriter& text, bool numbers) {
    const bool sized = unit_.sized();
    text.line("Status run({}) noexcept {{", run_parameters(unit_, numbers));
    text.line("  static_cast<void>(inputs);");
    if (numbers) text.line("  static_cast<void>(numbers);");
    if (sized) {
      text.line("  if (const Status sized = check_plan(sizes); sized != Status::ok) return sized;");
      text.line("  Int z[kSizes];\n  Int offsets[{}];\n  compute(sizes, z);",
                std::max<std::size_t>(unit_.values.size(), 1));
      text.line("  const auto scratch_needed = static_cast<std::size_t>(place(z, offsets));");
    }
    const std::string scratch = sized ? "scratch_needed" : "kScratchBytes";
    text.line("  const Memory all[] = {{");
    for (const ExportLeaf& leaf : unit_.leaves)
      if (leaf.kind == ExportLeaf::Kind::input) write_memory(text, "input", "inputs", leaf.tensor, false);
    for (const ExportedTensor& t : unit_.outputs) write_memory(text, "output", "outputs", t, true);
    text.line("      {{scratch, {}, kScratchAlignment, true}},\n  }};", scratch);
    text.line(
        "  const Status status = check(all, sizeof all / sizeof all[0]);\n  if (status != Status::ok) return status;");
    text.line("  [[maybe_unused]] auto* const block = static_cast<unsigned char*>(scratch);");
    if (unit_.tiles_in_scratch)
      text.line("  [[maybe_unused]] void* const tiles = block + ({} - {});", scratch, unit_.tile_bytes);
    for (const ExportUnit::Call& call : unit_.calls) write_call(text, call);
    for (const ExportUnit::Copy& copy : unit_.copies) {
      const ExportedTensor& to = unit_.outputs[copy.to];
      const std::string n = bytes(to);
      if (n == "0") continue;
      text.line("  {}std::memcpy(outputs.{}, {}, static_cast<std::size_t>({}));",
                sized ? fmt::format("if ({} > 0) ", n) : "", to.name, memory(copy.from), n);
    }
    text.line("  return Status::ok;\n}}");
  }

  ExportUnit& unit_;
  SizeTable* table_;
  SizeTable shapes_;
  std::unordered_map<sym::Expr, std::string> names_;
};

/// The functions of the header, which ask the plans in turn.
void write_dispatch(ExportWriter& text, const ExportUnit& unit, std::size_t plans, bool numbers) {
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
              k == 0 ? unit.name + " needs " : "; or ");
    text.line("  length += plan{}::explain(sizes, at(), rest());", k);
  }
  text.line("  return length;\n}}\n");
  text.line("std::size_t scratch_bytes(const Sizes& sizes) noexcept {{");
  for (std::size_t k = 0; k < plans; ++k)
    text.line("  if (plan{0}::check_plan(sizes) == Status::ok) return plan{0}::scratch_bytes(sizes);", k);
  text.line("  return 0;\n}}\n");
  text.line("Status run({}) noexcept {{", run_parameters(unit, numbers));
  for (std::size_t k = 0; k < plans; ++k) {
    text.line("  {}plan{}::run(sizes, inputs, outputs, {}scratch);",
              k + 1 == plans ? "return " : fmt::format("if (plan{}::check_plan(sizes) == Status::ok) return ", k), k,
              numbers ? "numbers, " : "");
  }
  text.line("}}");
}

}  // namespace

std::string export_source(std::span<ExportUnit* const> plans) {
  const ExportUnit& unit = *plans.front();
  ExportWriter text;
  text.line("// Written by Oriel; see {}.hpp.", unit.name);
  text.line("#include \"{}.hpp\"\n{}\n#include <cstring>\n#include <limits>\n", unit.name,
            unit.sized() ? "\n#include <cstdio>" : "");
  text.add(export_pragmas());
  std::vector<PlanSource> sources;
  sources.reserve(plans.size());
  for (ExportUnit* plan : plans) text.add(sources.emplace_back(*plan).write_kernels());
  text.line("namespace {} {{\n", unit.name);
  if (!unit.sized()) {
    text.add(sources.front().write_fixed());
  } else {
    const bool numbers = !numbers_of({plans.begin(), plans.end()}).empty();
    text.line("namespace {{\n");
    text.add("using Int = std::int64_t;\n" + export_helpers({"size_arithmetic", "place_values", "memory_check"}));
    text.line("}}  // namespace\n");
    for (std::size_t k = 0; k < sources.size(); ++k) text.add(sources[k].write_plan(k, numbers));
    text.add(PlanSource(*plans.front()).write_shapes());
    write_dispatch(text, unit, plans.size(), numbers);
  }
  text.line("\n}}  // namespace {}", unit.name);
  return text.take();
}

}  // namespace oriel::source::cpp
