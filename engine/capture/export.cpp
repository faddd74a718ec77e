// Exports of captured entries as C++ source.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/escape.hpp"
#include "capture/captured.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "oriel/function_export.hpp"
#include "runtime/dump.hpp"
#include "runtime/export.hpp"
#include "schedule/describe.hpp"
#include "source/cpp/export/names.hpp"
#include "source/names.hpp"
#include "sym/environment.hpp"

namespace oriel::detail {

using api::CapturedEntry;
using api::CapturedResult;
using api::CapturedValue;
using api::StageGraph;
using graph::NodePtr;
using source::cpp::ExportLeaf;
using source::cpp::ExportUnit;

namespace {

constexpr const char* kOperation = "export_cpp";
constexpr std::string_view kFixedInstead = "export the computation at one size (export_cpp of tensors)";

[[noreturn]] void refuse(const std::string& why) { throw ArgumentError(kOperation, why); }

std::size_t choose_entry(const Captured& captured, const std::vector<const CapturedEntry*>& entries,
                         std::optional<std::size_t> wanted) {
  if (wanted) {
    if (*wanted >= entries.size())
      refuse(
          fmt::format("{} has {}; there is no entry {}", called(captured), counted(entries.size(), "entry"), *wanted));
    if (!entries[*wanted]->symbolic())
      refuse(
          fmt::format("entry {} of {} has no symbolic sizes; call the function with other sizes first, mark sizes "
                      "with mark_dynamic, or {}",
                      *wanted, called(captured), kFixedInstead));
    return *wanted;
  }
  std::vector<std::size_t> symbolic;
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (entries[k]->symbolic()) symbolic.push_back(k);
  if (symbolic.size() == 1) return symbolic[0];
  if (symbolic.empty())
    refuse(
        fmt::format("no entry of {} has symbolic sizes; call the function with other sizes first, mark sizes with "
                    "mark_dynamic, or {}",
                    called(captured), kFixedInstead));
  refuse(fmt::format("{} entries of {} have symbolic sizes; choose one by its number (Function::entry_of)",
                     symbolic.size(), called(captured)));
}

using CallValues = std::vector<std::int64_t>;  // of a call, without counts

/// Makes an export of one entry, planned for the sizes of some call. A `general` plan asks less of the sizes: each
/// reduction that may have a form of its own has a kernel to itself, whether that pays or not.
class EntryExport {
 public:
  EntryExport(const CapturedEntry& entry, std::size_t number, const FunctionExportOptions& options, CallValues call,
              std::size_t which, bool general)
      : entry_(entry),
        number_(number),
        general_(general),
        options_(options),
        key_(std::move(call)),
        symbols_(checked(entry, number).symbols, key_, entry.graph.trusted, ShapeEnv::Mode::minimal) {
    unit_.name = options.name;
    unit_.kernel_prefix = which == 0 ? options.name : fmt::format("{}_p{}", options.name, which);
    unit_.longest_tile = options.longest_tile;
    unit_.tiles_in_scratch = options.tiles_in_scratch;
    source::cpp::check_export_namespace(options_.name, "the export");
    runtime::check_longest_tile(options_.longest_tile);
    name_symbols();
    graph_ = std::make_unique<StageGraph::Symbolic>(stage().over(symbols_));
    find_results();
    plan();
    order_leaves();
    read_guards();
  }

  ExportUnit& unit() noexcept { return unit_; }
  /// Does it serve the sizes of a call?
  bool serves(std::span<const std::int64_t> call) const {
    CallValues values;
    for (const sym::Environment::Symbol& s : symbols_.env().environment().symbols.all())
      values.push_back(call[symbols_.fact_of(s.expr)]);
    return source::cpp::serves(unit_, values);
  }
  /// The fact that a size of the export is.
  std::size_t fact_of(std::size_t size) const { return symbols_.fact_of(unit_.symbols[size].symbol); }

 private:
  const StageGraph& stage() const { return entry_.stages.front().graph(); }

  static const CapturedEntry& checked(const CapturedEntry& entry, std::size_t number) {
    if (!entry.graph.unbacked.empty())
      refuse(
          fmt::format("entry {} finds sizes in its data (nonzero, masked_select, unique), which needs the engine "
                      "between two of its kernels; export what comes before and behind as functions of their own",
                      number));
    if (!entry.graph.trusted)
      refuse(
          fmt::format("entry {} comes from a file, and is not exported; export it from the program that captures "
                      "it, or {}",
                      number, kFixedInstead));
    return entry;
  }

  void name_symbols() {
    const auto& all = symbols_.env().environment().symbols.all();
    if (!options_.sizes.empty() && options_.sizes.size() != all.size())
      refuse(fmt::format("{} names for {} sizes; give one for each, or none", options_.sizes.size(), all.size()));
    std::set<std::string> taken;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string name = options_.sizes.empty() ? std::string(all[k].expr->name) : options_.sizes[k];
      source::cpp::check_export_name(name, "a size");
      if (!taken.insert(name).second) refuse(fmt::format("two sizes are named {}; give each a name of its own", name));
      const std::size_t fact = symbols_.fact_of(all[k].expr);
      std::string source;
      for (const api::SizeSymbols::Symbol& s : entry_.symbols.symbols()) {
        if (entry_.symbols.fact_of(s.size.node()) != fact) continue;
        source += (source.empty() ? "" : ", ") + entry_.names[s.fact].subject;
      }
      unit_.symbols.push_back({all[k].expr, name, source});
    }
  }

  NodePtr node_of(const CapturedValue& value) const {
    switch (value.kind) {
      case CapturedValue::Kind::input:
      case CapturedValue::Kind::number:
        return stage().leaf(value, symbols_, *graph_);
      case CapturedValue::Kind::constant:
        return entry_.constants[value.index];
      case CapturedValue::Kind::unbacked:
        break;
      case CapturedValue::Kind::output:
        for (std::size_t k = 0; k < stage().computes().size(); ++k)
          if (stage().computes()[k] == value.index) return graph_->roots[k];
        break;
    }
    throw InternalError(kOperation, "a result of a captured function is computed in no stage");
  }

  /// The contents of a storage of the call behind it.
  CapturedValue contents(std::size_t storage) const {
    for (const CapturedEntry::Write& write : entry_.writes)
      if (write.storage == storage) return write.value;
    return {CapturedValue::Kind::input, storage};
  }

  void find_results() {
    for (std::size_t r = 0; r < entry_.results.size(); ++r) {
      const CapturedResult& result = entry_.results[r];
      CapturedValue base;
      if (result.kind == CapturedResult::Kind::fresh) {
        base = entry_.fresh[result.index];
      } else if (result.kind == CapturedResult::Kind::input) {
        base = contents(result.index);
      } else {
        const api::CapturedOrigin::Argument& argument = entry_.origin->tensors[result.index];
        if (argument.is_view)
          refuse(
              fmt::format("result {} is an argument that is a view, or a view of one; return a copy of it "
                          "(contiguous), or {}",
                          r, kFixedInstead));
        base = contents(argument.storage);
      }
      NodePtr node = node_of(base);
      for (const NodePtr& movement : entry_.graph.movements[r])
        node = graph::resized(*movement, graph_->at, {&node, 1});
      results_.push_back(std::move(node));
    }
    for (const CapturedEntry::Write& write : entry_.writes) results_.push_back(node_of(write.value));
    if (results_.empty()) refuse("the function returns no tensor and writes none");
    runtime::name_outputs(unit_, results_, options_.outputs, "results and written arguments");
  }

  std::string unique_name(const std::string& wanted) {
    std::string name = source::identifier(wanted);
    while (name.find("__") != std::string::npos) name.erase(name.find("__"), 1);
    while (!name.empty() && name.front() == '_') name.erase(0, 1);
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty()) name = "in";
    for (int k = 2; !taken_.insert(name).second; ++k) name = fmt::format("{}_{}", source::identifier(wanted), k);
    source::cpp::check_export_name(name, "an input");
    return name;
  }

  void add_leaf(const mem::BufferPtr& buffer) {
    const CapturedValue from = stage().leaf_of(buffer, *graph_);
    froms_.push_back(from);
    const NodePtr node = node_of(from);
    ExportLeaf& leaf = unit_.leaves.emplace_back();
    using Kind = ExportLeaf::Kind;
    if (from.kind == CapturedValue::Kind::input) {
      const auto& tensors = entry_.origin->tensors;
      const auto tensor = std::ranges::find(tensors, from.index, &api::CapturedOrigin::Argument::storage);
      const auto k = static_cast<std::size_t>(tensor - tensors.begin());
      leaf.tensor = runtime::exported_tensor(*node, unique_name(entry_.origin->names.tensors[k]));
    } else if (from.kind == CapturedValue::Kind::number) {
      leaf.kind = Kind::number;
      leaf.tensor = runtime::exported_tensor(*node, unique_name(entry_.origin->names.numbers[from.index]));
    } else {
      leaf.kind = Kind::embedded;
      leaf.tensor = runtime::exported_tensor(*node, fmt::format("constant{}", from.index));
      leaf.data = runtime::elements_of(*node, leaf.tensor.bytes);
    }
  }

  void plan() {
    const auto name_leaves = [&](std::span<const graph::Node* const> nodes) {
      for (const graph::Node* node : nodes) add_leaf(node->buffer);
    };
    runtime::add_roots(
        unit_, results_, name_leaves,
        {.general = general_,
         .works = "the entry works",
         .instead = "capture the parts as functions of their own",
         .unplanned = fmt::format("entry {} cannot be planned for symbolic sizes: {{}}; {}", number_, kFixedInstead)});
  }

  void order_leaves() {
    for (std::size_t k = 0; k < unit_.leaves.size(); ++k)
      if (unit_.leaves[k].kind != ExportLeaf::Kind::embedded) unit_.order.push_back(k);
    std::ranges::stable_sort(unit_.order, {}, [&](std::size_t k) { return froms_[k].index; });
  }

  /// The guards of the trace, and what planning and rendering decided; over the names of the sizes.
  void read_guards() {
    for (const sym::Environment::Guard& guard : symbols_.env().environment().guards.all()) {
      std::string text = source::cpp::size_text(unit_, guard.condition);
      const std::string line = schedule::site_text(guard.site);
      if (!line.empty()) text += fmt::format(" ({})", base::escaped(line));
      unit_.guards.push_back({guard.condition, std::move(text), !symbols_.traced(guard.condition)});
    }
  }

  const CapturedEntry& entry_;
  const std::size_t number_;
  const bool general_;
  const FunctionExportOptions& options_;
  const CallValues key_;
  api::PlanSymbols symbols_;  // owns the environment of all expressions, so it is destroyed last
  std::unique_ptr<StageGraph::Symbolic> graph_;
  std::vector<NodePtr> results_;
  std::vector<CapturedValue> froms_;  // of unit_.leaves
  std::set<std::string> taken_;
  ExportUnit unit_;
};

/// The key of a call of these sizes: each is set wherever it is an argument's.
CallValues with_sizes(const CapturedEntry& entry, EntryExport& first, CallValues call,
                      const std::vector<std::int64_t>& sizes) {
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::size_t fact = first.fact_of(k);
    call[fact] = sizes[k];
    for (const api::SizeSymbols::Symbol& s : entry.symbols.symbols())
      if (entry.symbols.fact_of(s.size.node()) == fact) call[s.fact] = sizes[k];
  }
  return call;
}

/// The most sizes of which all sets of those that grow by one are tried.
constexpr std::size_t kMostGrown = 5;
/// The most plans for sizes that nobody asked for.
constexpr std::size_t kMostFurther = 4;

/// The plans of one entry: for the traced call, and for the sizes that are asked for and that no earlier plan serves.
/// Where all ask something of the sizes, others that ask less serve the rest: the traced call, and calls of which some
/// sizes are larger by one, so that questions such as whether windows fill an axis have either answer.
std::vector<std::unique_ptr<EntryExport>> plans_of(const CapturedEntry& entry, std::size_t number,
                                                   const FunctionExportOptions& options) {
  std::vector<std::unique_ptr<EntryExport>> made;
  const auto add = [&](const CallValues& call, bool general) {
    made.push_back(std::make_unique<EntryExport>(entry, number, options, call, made.size(), general));
  };
  const auto served = [&](const CallValues& call) {
    return std::ranges::any_of(made, [&](const auto& plan) { return plan->serves(call); });
  };
  const CallValues traced(entry.traced.begin(), entry.traced.end());
  add(traced, false);
  EntryExport& first = *made.front();
  const std::size_t symbols = first.unit().symbols.size();
  for (const std::vector<std::int64_t>& sizes : options.serve) {
    if (sizes.size() != symbols)
      refuse(fmt::format("a set of {} sizes to serve; the entry has {} sizes", sizes.size(), symbols));
    const CallValues call = with_sizes(entry, first, traced, sizes);
    if (const auto miss = entry.size_guards.value().first_miss(call.data()))
      refuse(fmt::format("sizes to serve that entry {} does not: it needs {}; they have {}", number, miss->guard,
                         miss->value));
    if (!served(call)) add(call, false);
  }
  const auto asks = [](const auto& plan) {
    return std::ranges::any_of(plan->unit().guards, [](const ExportUnit::Guard& guard) { return guard.planned; });
  };
  const std::size_t most = made.size() + kMostFurther;
  for (std::size_t grown = 0; grown < std::size_t{1} << std::min(symbols, kMostGrown); ++grown) {
    if (made.size() == most || !std::ranges::all_of(made, asks)) break;
    std::vector<std::int64_t> sizes;
    for (std::size_t k = 0; k < symbols; ++k)
      sizes.push_back(traced[first.fact_of(k)] + (k < kMostGrown ? static_cast<std::int64_t>(grown >> k & 1) : 0));
    const CallValues call = with_sizes(entry, first, traced, sizes);
    if (grown != 0 && (served(call) || entry.size_guards.value().first_miss(call.data()))) continue;
    try {
      add(call, true);
    } catch (const ArgumentError&) {  // it would only serve sizes that nobody asked for
    }
  }
  return made;
}

ExportedArgument described_argument(const ExportUnit& unit, const ExportedTensor& t) {
  ExportedArgument out{t.name, t.dtype, {}};
  for (const SymInt n : t.shape) out.shape.push_back(source::cpp::size_text(unit, n));
  return out;
}

}  // namespace

std::optional<std::size_t> entry_of(const Captured& captured, const CapturedArguments& arguments) {
  api::CallKey key;
  api::CapturedInputs inputs;
  api::gather(arguments, inputs, key);
  const std::vector<const CapturedEntry*> entries = captured.entries();
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (entries[k]->holds(key)) return k;
  return std::nullopt;
}

ExportedFunction export_captured(const Captured& captured, const std::string& directory,
                                 const FunctionExportOptions& options) {
  const std::vector<const CapturedEntry*> entries = captured.entries();
  const std::size_t number = choose_entry(captured, entries, options.entry);
  const std::vector<std::unique_ptr<EntryExport>> plans = plans_of(*entries[number], number, options);
  std::vector<ExportUnit*> units;
  units.reserve(plans.size());
  for (const std::unique_ptr<EntryExport>& plan : plans) units.push_back(&plan->unit());
  const std::string source = source::cpp::export_source(units);
  const std::vector<runtime::DumpFile> files{{options.name + ".hpp", source::cpp::export_header(units)},
                                             {options.name + ".cpp", source}};
  runtime::write_files(kOperation, directory, files);

  ExportedFunction result;
  result.header = (std::filesystem::path(directory) / files[0].name).string();
  result.source = (std::filesystem::path(directory) / files[1].name).string();
  result.entry = number;
  const ExportUnit& first = *units.front();
  for (const ExportUnit::Symbol& s : first.symbols) result.sizes.push_back(s.name);
  for (const ExportUnit* unit : units) {
    std::vector<std::string>& guards = result.guards.emplace_back();
    for (const ExportUnit::Guard& guard : unit->guards) guards.push_back(guard.text);
    result.tile_bytes = std::max(result.tile_bytes, unit->tile_bytes);
    result.kernels += unit->kernels.size();
    result.needs_eigen = result.needs_eigen || unit->needs_eigen;
  }
  for (const ExportLeaf* leaf : source::cpp::leaves_of(units)) {
    if (leaf->kind == ExportLeaf::Kind::number) result.numbers.push_back(leaf->tensor.name);
    if (leaf->kind == ExportLeaf::Kind::input) result.inputs.push_back(described_argument(first, leaf->tensor));
  }
  for (const ExportedTensor& t : first.outputs) result.outputs.push_back(described_argument(first, t));
  return result;
}

}  // namespace oriel::detail
