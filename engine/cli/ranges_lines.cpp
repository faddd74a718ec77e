#include "cli/ranges_lines.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.hpp"
#include "cli/ranges_open.hpp"
#include "fuzz/case_json.hpp"
#include "lang/report.hpp"

namespace oriel::cli {
namespace {

using Report = ComprehensionRanges;

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

// The shapes of a request with open sizes; nullopt if all sizes must be numbers. Sizes are open by "open": true, which
// leaves out arguments, or by a name or null among a shape's sizes.
std::optional<std::vector<lang::OpenShape>> read_open_shapes(const lang::Program& program, const Json& request) {
  const auto found = request.find("open");
  if (found != request.end() && !found->is_boolean()) throw ParseError("ranges", R"("open" must be true or false)");
  bool open = found != request.end() && found->get<bool>();
  const auto given = request.find("inputs");
  const Json inputs = given == request.end() || given->is_null() ? Json::object() : *given;
  if (!inputs.is_object()) throw ParseError("ranges", R"("inputs" must be an object)");
  std::vector<lang::OpenShape> shapes;
  for (const lang::Parameter& parameter : program.definition.parameters) {
    const auto input = inputs.find(std::string(parameter.name));
    if (input == inputs.end()) {
      shapes.emplace_back();
      continue;
    }
    std::vector<lang::OpenSize>& shape = shapes.emplace_back(std::in_place).value();
    if (!input->is_array()) throw ParseError("ranges", fmt::format("{} must be a list of sizes", parameter.name));
    for (const Json& size : *input) {
      open = open || size.is_null() || size.is_string();
      const std::string text = size.is_null() ? "?" : size.is_string() ? size.get<std::string>() : size.dump();
      const std::optional<lang::OpenSize> one = read_open_size(text);
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

Json answer_object_of(const Report& report) {
  Json out;
  Json statements = Json::array();
  for (const Report::Statement& statement : report.statements) {
    Json ranges = Json::object();
    for (const Report::Variable& variable : statement.variables) ranges[variable.name] = {variable.lo, variable.hi};
    statements.push_back(std::move(ranges));
  }
  out["ranges_by_stmt"] = std::move(statements);
  Json outputs = Json::object();
  Json origin = Json::object();
  for (const Report::Output& output : report.outputs) {
    outputs[output.name] = ints(output.shape);
    if (std::any_of(output.origin.begin(), output.origin.end(), [](std::int64_t lo) { return lo != 0; })) {
      origin[output.name] = output.origin;
    }
  }
  out["outputs"] = std::move(outputs);
  out["origin"] = std::move(origin);
  Json preconditions = Json::array();
  for (const Report::Precondition& precondition : report.preconditions) {
    Json one{{"tensor", precondition.tensor}, {"dim", precondition.dimension}, {"status", precondition.status}};
    if (std::find(preconditions.begin(), preconditions.end(), one) == preconditions.end()) {
      preconditions.push_back(std::move(one));
    }
  }
  out["preconditions"] = std::move(preconditions);
  out["warnings"] = report.warnings;
  Json views = Json::array();
  for (const Report::AccessView& view : report.views) {
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
    const auto dumped = [](const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); };
    if (const std::optional<std::vector<lang::OpenShape>> open = read_open_shapes(*program, request)) {
      const lang::OpenInference inference = lang::infer_open(*program, *open);
      check_open_options(*program, inference, options);
      return dumped(open_ranges_object(*program, inference));
    }
    const lang::Inference inference = lang::infer(*program, read_shapes(*program, request));
    lang::check_options(*program, inference, options);
    return dumped(answer_object_of(lang::report(*program, inference)));
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
