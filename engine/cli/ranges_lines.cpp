#include "cli/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.hpp"
#include "fuzz/case_json.hpp"
#include "lang/report.hpp"
#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"

namespace oriel::cli {

std::optional<lang::ArgumentSize> read_size(std::string_view text) {
  lang::ArgumentSize out;
  if (text == "?") return out;
  if (sym::is_symbol_name(text)) {
    out.name = text;
    return out;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (error != std::errc{} || end != text.data() + text.size() || out.value < 0) return {};
  return out;
}

namespace {

std::vector<std::optional<Shape>> read_shapes(const lang::Program& program, const Json& request) {
  const auto member = [&](const char* name) -> const Json* {
    const auto found = request.find(name);
    if (found == request.end() || found->is_null()) return nullptr;
    if (!found->is_object()) throw ParseError("ranges", fmt::format(R"("{}" must be an object)", name));
    return &*found;
  };
  const Json* inputs = member("inputs");
  const Json* scalars = member("scalars");
  std::vector<std::optional<Shape>> shapes;
  for (const lang::Parameter& parameter : program.definition.parameters) {
    const std::string name(parameter.name);
    std::optional<Shape> shape;
    if (inputs != nullptr && inputs->contains(name)) {
      shape = fuzz::read_ints((*inputs)[name], "ranges", name.c_str());
      for (const SymInt extent : *shape) {
        if (extent < 0)
          throw ShapeError("ranges", fmt::format("{} has a negative extent: {}", name, to_string(*shape)));
      }
    } else if (scalars != nullptr && scalars->contains(name)) {
      shape = Shape{};
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// The shapes of a request with symbolic sizes; nullopt if all sizes must be numbers. Sizes are symbols by "open": true,
// which leaves out arguments, or by a name or null among a shape's sizes.
std::optional<std::vector<lang::ArgumentShape>> read_symbolic_shapes(const lang::Program& program,
                                                                     const Json& request) {
  const auto found = request.find("open");
  if (found != request.end() && !found->is_boolean()) throw ParseError("ranges", R"("open" must be true or false)");
  bool open = found != request.end() && found->get<bool>();
  const auto given = request.find("inputs");
  const Json inputs = given == request.end() || given->is_null() ? Json::object() : *given;
  if (!inputs.is_object()) throw ParseError("ranges", R"("inputs" must be an object)");
  std::vector<lang::ArgumentShape> shapes;
  for (const lang::Parameter& parameter : program.definition.parameters) {
    const auto input = inputs.find(std::string(parameter.name));
    if (input == inputs.end()) {
      shapes.emplace_back();
      continue;
    }
    std::vector<lang::ArgumentSize>& shape = shapes.emplace_back(std::in_place).value();
    if (!input->is_array()) throw ParseError("ranges", fmt::format("{} must be a list of sizes", parameter.name));
    for (const Json& size : *input) {
      open = open || size.is_null() || size.is_string();
      const std::string text = size.is_null() ? "?" : size.is_string() ? size.get<std::string>() : size.dump();
      const std::optional<lang::ArgumentSize> one = read_size(text);
      if (!one && !open) return {};  // read_shapes() says what is wrong
      if (!one) {
        throw ParseError("ranges", fmt::format("'{}' in the shape of {} is neither a number >= 0 nor a name nor null",
                                               text.substr(0, 100), parameter.name));
      }
      shape.push_back(*one);
    }
  }
  if (!open) return {};
  return shapes;
}

Json ints(const Ints& values) {
  Json out = Json::array();
  for (const SymInt value : values) out.push_back(value.value());
  return out;
}

// A number where it is constant, else a text.
Json formula(sym::Expr e) { return e->is_constant() ? Json(e->value) : Json(sym::to_string(e)); }

Json required(const lang::Program& program, const lang::Inference& inference,
              const lang::SizePrecondition& precondition) {
  const std::size_t s = precondition.statement;
  Json one{{"statement", s},
           {"condition", sym::to_string(precondition.condition)},
           {"status", "required"},
           {"reason", precondition.reason},
           {"exact", precondition.exact}};
  if (precondition.index >= 0) {
    const lang::Condition& condition = inference.statements[s].conditions[static_cast<std::size_t>(precondition.index)];
    one["access"] = lang::access_text(program, program.statements[s], condition.access);
    one["tensor"] = lang::operand(program, program.statements[s], condition.access);
    one["dim"] = condition.dimension;
  }
  return one;
}

Json with_views(Json out, const ComprehensionRanges& report) {
  Json views = Json::array();
  for (const ComprehensionRanges::AccessView& view : report.views) {
    views.push_back({{"statement", view.statement},
                     {"access", view.access},
                     {"operand", view.operand},
                     {"shape", ints(view.view.shape)},
                     {"strides", ints(view.view.strides)},
                     {"offset", view.view.offset.value()}});
  }
  out["views"] = std::move(views);
  Json diagnostics = Json::array();
  for (const ComprehensionWarning& warning : report.diagnostics) {
    diagnostics.push_back({{"kind", warning.kind},
                           {"statement", warning.statement},
                           {"tensor", warning.tensor},
                           {"line", warning.line},
                           {"column", warning.column},
                           {"length", warning.length},
                           {"message", warning.message}});
  }
  out["warning_details"] = std::move(diagnostics);
  return out;
}

// `symbolic`: the form for sizes of which some may be symbols.
Json answer_object(const lang::Program& program, const lang::Inference& inference, bool symbolic) {
  Json statements = Json::array();
  Json preconditions = Json::array();
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const lang::CheckedStatement& statement = program.statements[s];
    const lang::StatementRanges& found = inference.statements[s];
    Json ranges = Json::object();
    for (std::size_t v = 0; v < statement.variables.size(); ++v)
      ranges[std::string(statement.variables[v].name)] = {formula(found.ranges[v].lo), formula(found.ranges[v].end)};
    statements.push_back(std::move(ranges));
    for (const lang::SizePrecondition& precondition : inference.preconditions)
      if (precondition.statement == s) preconditions.push_back(required(program, inference, precondition));
    for (const lang::Condition& condition : found.conditions) {
      if (!lang::is_reported(condition)) continue;
      Json one{{"tensor", lang::operand(program, statement, condition.access)},
               {"dim", condition.dimension},
               {"status", lang::name(condition.status)}};
      if (symbolic) {
        one["statement"] = s;
        one["access"] = lang::access_text(program, statement, condition.access);
      } else if (std::find(preconditions.begin(), preconditions.end(), one) != preconditions.end()) {
        continue;
      }
      preconditions.push_back(std::move(one));
    }
  }
  Json outputs = Json::object();
  Json origins = Json::object();
  for (const std::int32_t id : program.results) {
    const std::string name(program.tensors[static_cast<std::size_t>(id)].name);
    Json shape = Json::array();
    Json origin = Json::array();
    for (const lang::IndexRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      shape.push_back(formula(sym::sub(range.end, range.lo)));
      origin.push_back(formula(range.lo));
    }
    if (std::ranges::any_of(origin, [](const Json& lo) { return lo != 0; })) origins[name] = std::move(origin);
    outputs[name] = std::move(shape);
  }
  Json out{{"ranges_by_stmt", std::move(statements)},
           {"outputs", std::move(outputs)},
           {"origin", std::move(origins)},
           {"preconditions", std::move(preconditions)},
           {"warnings", program.warnings}};
  if (!symbolic) return with_views(std::move(out), lang::report(program, inference));
  Json& sizes = out["sizes"] = Json::object();
  for (const sym::Expr symbol : inference.symbols) sizes[std::string(symbol->name)] = {{"lo", symbol->bounds.lo}};
  return out;
}

}  // namespace

std::string answer_ranges(std::string_view line, const ComprehensionOptions& options) {
  const auto failed = [](std::string_view kind, const std::string& message) {
    return Json{{"error", kind}, {"message", message}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  try {
    const Json request = Json::parse(line.begin(), line.end(), nullptr, false);
    if (request.is_discarded() || !request.is_object()) {
      throw ParseError("ranges", fmt::format("a line must hold one JSON object: '{}'", line.substr(0, 200)));
    }
    const auto def = request.find("def");
    if (def == request.end() || !def->is_string()) throw ParseError("ranges", R"("def" must be given, as a string)");
    const lang::ProgramPtr program = lang::select(lang::check(def->get_ref<const std::string&>()), {});
    lang::check_options(*program, options);
    const std::optional<std::vector<lang::ArgumentShape>> shapes = read_symbolic_shapes(*program, request);
    const lang::Inference inference =
        shapes ? lang::infer_symbolic(*program, *shapes) : lang::infer(*program, read_shapes(*program, request));
    lang::check_options(*program, inference, options);
    return answer_object(*program, inference, shapes.has_value()).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const ComprehensionError& error) {
    return failed(error.kind(), error.diagnostic());
  } catch (const OverflowError& error) {
    return failed("overflow", std::string(error.message()));
  } catch (const Error& error) {
    return failed("bad_request", std::string(error.message()));
  }
}

void answer_ranges_lines(std::istream& in, std::ostream& out, const ComprehensionOptions& options) {
  answer_each_line(in, out, [&](std::string_view line) { return answer_ranges(line, options); });
}

}  // namespace oriel::cli
