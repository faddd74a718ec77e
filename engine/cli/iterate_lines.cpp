#include "cli/lines.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cli/guards_lines.hpp"
#include "cli/guards_session.hpp"
#include "cli/json.hpp"
#include "fuzz/case_json.hpp"
#include "graph/build.hpp"
#include "oriel/error.hpp"
#include "oriel/layout_conditions.hpp"
#include "sym/decide.hpp"
#include "view/layouts/iterate.hpp"
#include "view/layouts/layout.hpp"

namespace oriel::cli {
namespace {

struct IterateOp {
  std::string_view name;
  std::size_t operands;
  bool number = false;  // a number (without axes) follows the operands
};

constexpr std::array kOps{
    IterateOp{"none", 1},   IterateOp{"neg", 1},
    IterateOp{"exp", 1},    IterateOp{"abs", 1},
    IterateOp{"add", 2},    IterateOp{"sub", 2},
    IterateOp{"mul", 2},    IterateOp{"div", 2},
    IterateOp{"eq", 2},     IterateOp{"maximum", 2},
    IterateOp{"where", 3},  IterateOp{"addcmul", 3},
    IterateOp{"lerp", 3},   IterateOp{"add_scalar", 1, true},
    IterateOp{"reduce", 1},
};

[[noreturn]] void refuse(const std::string& message) { throw ParseError("iterate", message); }

const IterateOp& read_op(const Json& request) {
  const auto found = request.find("op");
  if (found == request.end() || !found->is_string()) refuse(R"("op" must be given, as a string)");
  const auto& name = found->get_ref<const std::string&>();
  std::string known;
  for (const IterateOp& op : kOps) {
    if (op.name == name) return op;
    known += known.empty() ? "" : ", ";
    known += op.name;
  }
  refuse(fmt::format("unknown op '{}'; there are {}", name, known));
}

// The symbols of a line, and how its layouts are read.
struct Symbols {
  GuardsSession session;
  bool trace = false;

  Layout layout(const Json& object) {
    Layout read = read_symbolic_layout("iterate", object,
                                       [this](const std::string& text) { return session.number(text, "iterate"); });
    // The notebook does not ask for signs.
    return trace ? read : Layout::make(std::move(read.shape), std::move(read.strides));
  }
};

std::unique_ptr<Symbols> symbols_of(const Json& request) {
  const auto trace = request.find("trace");
  if (trace != request.end() && !trace->is_boolean()) refuse(R"("trace" is true or false)");
  const bool traced = trace != request.end() && trace->get<bool>();
  if (!request.contains("symbols") && !request.contains("unbacked")) {
    if (traced) refuse(R"("trace" lists guards; give "symbols")");
    return nullptr;
  }
  std::unique_ptr<Symbols> symbols(
      new Symbols{GuardsSession(traced ? ShapeEnv::Mode::trace : ShapeEnv::Mode::minimal), traced});
  read_symbols(request, symbols->session, "iterate");
  return symbols;
}

Layout read_operand(const Json& object, Symbols* symbols) {
  return symbols != nullptr ? symbols->layout(object) : read_layout("iterate", object);
}

std::vector<Layout> read_operands(const IterateOp& op, const Json& request, Symbols* symbols) {
  const auto found = request.find("operands");
  if (found == request.end() || !found->is_array()) refuse(R"("operands" must be given, as an array of layouts)");
  if (found->size() != op.operands) {
    refuse(fmt::format("{} takes {} operands, but {} came", op.name, op.operands, found->size()));
  }
  std::vector<Layout> operands;
  for (const Json& operand : *found) operands.push_back(read_operand(operand, symbols));
  if (op.number) operands.push_back(Layout{});
  return operands;
}

struct Output {
  Layout layout;
  std::vector<detail::MemoryPlace> places;  // the output's place, then those of the operands
};

// Operands with an "offset" share one storage; the others have their own.
detail::MemoryPlace read_place(const Json& operand) {
  const auto found = operand.find("offset");
  if (found == operand.end() || found->is_null()) return {};
  return {0, fuzz::read_ints(Json::array({*found}), "iterate", "offset")[0]};
}

std::optional<Output> read_output(const IterateOp& op, const Json& request, Symbols* symbols) {
  const auto found = request.find("out");
  if (found == request.end() || found->is_null()) return std::nullopt;
  Output output{read_operand(*found, symbols), {read_place(*found)}};
  for (const Json& operand : request["operands"]) output.places.push_back(read_place(operand));
  if (op.number) output.places.push_back({});
  return output;
}

void write_list(runtime::JsonWriter& json, const detail::StridesList& list) {
  json.begin('[');
  for (const Ints& ints : list) fuzz::write(json, ints);
  json.end(']');
}

/// The first members of an answer.
runtime::JsonWriter begin_answer(const Layout& layout) {
  runtime::JsonWriter json;
  fuzz::write(json.begin('{').key("shape"), layout.shape);
  fuzz::write(json.key("strides"), layout.strides);
  return json;
}

void write_formats(runtime::JsonWriter& json, const Layout& layout) {
  json.key("is_contiguous").boolean(layout.is_contiguous());
  json.key("is_channels_last").boolean(layout.is_contiguous(MemoryFormat::channels_last));
  json.key("is_channels_last_3d").boolean(layout.is_contiguous(MemoryFormat::channels_last_3d));
  json.key("non_overlapping_and_dense").boolean(layout.is_non_overlapping_and_dense());
  json.key("like_channels_last").boolean(layout.is_like(MemoryFormat::channels_last));
  json.key("like_channels_last_3d").boolean(layout.is_like(MemoryFormat::channels_last_3d));
  json.key("suggest").text(name(layout.suggest_memory_format()));
  json.key("suggest_exact").text(name(layout.suggest_memory_format(true)));
}

std::string describe(const Layout& layout) {
  runtime::JsonWriter json = begin_answer(layout);
  write_formats(json, layout);
  for (const char* const absent : {"path", "perm", "effective_strides", "loop_shape", "loop_strides"})
    json.key(absent).null();
  json.key("numel").number(layout.numel().value()).key("storage_span").number(layout.span().value());
  json.key("nod_sort_only").boolean(detail::dense_when_sorted(layout.shape, layout.strides));
  fuzz::write(json.key("empty_like_strides"), layout.preserved().strides);
  return json.end('}').str();
}

void write_condition(runtime::JsonWriter& json, std::string_view name, SymBool condition) {
  json.key(name);
  if (const std::optional<bool> known = sym::known(condition))
    json.boolean(*known);
  else
    json.raw('"' + fuzz::whole_text(to_string(condition)) + '"');
}

// The memory formats of a layout over symbols, as conditions. Records no guard.
void write_conditions(runtime::JsonWriter& json, const Layout& layout) {
  write_condition(json, "contiguous_if", contiguity(layout));
  if (layout.rank() == 4) write_condition(json, "channels_last_if", contiguity(layout, MemoryFormat::channels_last));
  if (layout.rank() == 5)
    write_condition(json, "channels_last_3d_if", contiguity(layout, MemoryFormat::channels_last_3d));
  write_condition(json, "non_overlapping_and_dense_if", density(layout));
}

// Contiguity by a branch on each size and stride, which records a guard for each decision; null if a symbol without a
// hint leaves it open.
std::string_view branching_contiguity(const Layout& layout, const Symbols& symbols) {
  sym::Checkpoint before(symbols.session.environment().environment());
  try {
    return layout.is_contiguous() ? "true" : "false";
  } catch (const DataDependentError&) {
    before.undo();
    return "null";
  }
}

std::string describe(const Layout& layout, const Symbols& symbols) {
  runtime::JsonWriter json = begin_answer(layout);
  fuzz::write(json.key("numel"), layout.numel());
  write_conditions(json, layout);
  json.key("contiguous").raw(branching_contiguity(layout, symbols));
  write_guards(json.key("guards"), symbols.session);
  return json.end('}').str();
}

std::string describe(const detail::Iteration& it, const Layout& result, const Symbols* symbols) {
  runtime::JsonWriter json = begin_answer(result);
  if (symbols != nullptr)
    write_conditions(json, result);
  else
    write_formats(json, result);
  json.key("path").text(detail::name(it.path)).key("perm");
  if (it.path == detail::IterationPath::general) {
    fuzz::write(json, it.order);
    write_list(json.key("effective_strides"), it.effective);
  } else {
    json.null().key("effective_strides").null();
  }
  fuzz::write(json.key("loop_shape"), it.loop_shape);
  write_list(json.key("loop_strides"), it.loop_strides);
  if (symbols != nullptr) write_guards(json.key("guards"), symbols->session);
  return json.end('}').str();
}

/// The axis on which the operands' shapes differ, if they do.
std::optional<std::size_t> mismatch(const std::vector<Layout>& operands) {
  Shape common;
  for (const Layout& operand : operands) {
    if (const auto axis = detail::broadcast_into(common, operand.shape)) return axis;
  }
  return std::nullopt;
}

// Reduces over "axes", or over all axes if there is no such member.
std::string answer_reduction(const Layout& operand, const Json& request, const Symbols* symbols) {
  const auto axes = request.find("axes");
  const auto keepdim = request.find("keepdim");
  if (keepdim != request.end() && !keepdim->is_boolean()) refuse(R"("keepdim" is true or false)");
  Ints list;
  if (axes != request.end() && !axes->is_null()) {
    list = graph::normal_axes(fuzz::read_ints(*axes, "iterate", "axes"), operand.rank(), {.operation = "iterate"});
  } else {
    for (std::size_t d = 0; d < operand.rank(); ++d) list.push_back(d);
  }
  detail::Iteration it = detail::iterate_reduction(operand, list);
  const bool keep = keepdim != request.end() && keepdim->get<bool>();
  return describe(it, detail::reduction_layout(operand, list, keep), symbols);
}

std::string answer(const Json& request) {
  const IterateOp& op = read_op(request);
  const std::unique_ptr<Symbols> symbols = symbols_of(request);
  const std::vector<Layout> operands = read_operands(op, request, symbols.get());
  if (op.name == "none") return symbols ? describe(operands[0], *symbols) : describe(operands[0]);
  if (op.name == "reduce") return answer_reduction(operands[0], request, symbols.get());
  const std::optional<Output> output = read_output(op, request, symbols.get());
  std::vector<const Layout*> pointers;
  pointers.reserve(operands.size());
  for (const Layout& operand : operands) pointers.push_back(&operand);
  const std::array<const Layout*, 1> outputs{output ? &output->layout : nullptr};
  const std::span<const detail::MemoryPlace> places =
      output ? std::span<const detail::MemoryPlace>(output->places) : std::span<const detail::MemoryPlace>();
  detail::check_overlap(pointers, outputs, places);
  try {
    const detail::Iteration it = detail::iterate(pointers, outputs, places);
    return describe(it, {it.shape, it.outputs[0]}, symbols.get());
  } catch (const ShapeError& error) {
    if (const auto axis = mismatch(operands))
      return error_line(std::string(error.message()), {{"mismatch_dim", *axis}});
    throw;
  }
}

}  // namespace

std::string answer_iterate_line(std::string_view line) { return answer_object("iterate", line, answer); }

}  // namespace oriel::cli
