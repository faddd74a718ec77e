#include "cli/ranges_open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"

namespace oriel::cli {
namespace {

Json formula(sym::Expr e) { return e->is_constant() ? Json(e->value) : Json(sym::to_string(e)); }

std::string access_text(const lang::Program& program, const lang::CheckedStatement& statement, std::size_t access) {
  return lang::text(program.definition, statement.accesses[access].expr);
}

std::string_view operand(const lang::Program& program, const lang::CheckedStatement& statement, std::size_t access) {
  return program.definition[statement.accesses[access].expr].name;
}

std::string decider(const lang::Program& program, const lang::CheckedStatement& statement,
                    const lang::OpenStatement& found, std::int32_t condition) {
  if (condition < 0) return "several accesses";
  return access_text(program, statement, found.conditions[static_cast<std::size_t>(condition)].access);
}

std::string_view name_of(lang::AccessStatus status) {
  return status == lang::AccessStatus::Guarded ? "guarded" : "data_dependent";
}

bool is_reported(const lang::OpenCondition& condition) {
  return condition.status == lang::AccessStatus::Guarded || condition.status == lang::AccessStatus::DataDependent;
}

sym::Expr extent_of(lang::OpenRange range) { return sym::sub(range.end, range.lo); }

// A loop that is called as an open size is written n', so that no line reads 0 <= n < n.
std::string loop_name(std::string_view name, const lang::OpenInference& inference) {
  const bool taken = std::ranges::any_of(inference.open, [&](sym::Expr size) { return size->name == name; });
  return std::string(name) + (taken ? "'" : "");
}

void append_statement(std::string& out, const lang::Program& program, const lang::OpenInference& inference,
                      std::size_t s) {
  const lang::CheckedStatement& statement = program.statements[s];
  const lang::OpenStatement& found = inference.statements[s];
  const auto line = [&out]<class... T>(fmt::format_string<T...> form, T&&... parts) {
    fmt::format_to(std::back_inserter(out), form, std::forward<T>(parts)...);
  };
  line("statement {}: {}\n", s, program.tensors[static_cast<std::size_t>(statement.target)].name);
  for (std::size_t v = 0; v < statement.variables.size(); ++v) {
    line("  {} <= {} < {}", sym::to_string(found.ranges[v].lo), loop_name(statement.variables[v].name, inference),
         sym::to_string(found.ranges[v].end));
    const std::string lower = decider(program, statement, found, found.lower_by[v]);
    const std::string upper = decider(program, statement, found, found.upper_by[v]);
    if (found.rounds[v] == 0) {
      line("  by a where clause\n");
    } else if (lower == upper) {
      line("  round {}, by {}\n", found.rounds[v], lower);
    } else {
      line("  round {}, below by {}, above by {}\n", found.rounds[v], lower, upper);
    }
  }
  for (const lang::OpenPrecondition& precondition : inference.preconditions) {
    if (precondition.statement != s) continue;
    line("  requires {}: {}{}\n", sym::to_string(precondition.condition), precondition.reason,
         precondition.exact ? "" : " (sufficient, perhaps not necessary)");
  }
  for (const lang::OpenCondition& condition : found.conditions) {
    if (!is_reported(condition)) continue;
    line("  {}: dimension {} of {} is {}\n", access_text(program, statement, condition.access), condition.dimension,
         operand(program, statement, condition.access),
         condition.status == lang::AccessStatus::Guarded ? "guarded by a conditional"
                                                         : "known only once its indices are read");
  }
}

}  // namespace

std::optional<lang::OpenSize> read_open_size(std::string_view text) {
  lang::OpenSize out;
  if (text == "?") return out;
  if (sym::is_symbol_name(text)) {
    out.name = text;
    return out;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (error != std::errc{} || end != text.data() + text.size() || out.value < 0) return {};
  return out;
}

void check_open_options(const lang::Program& program, const lang::OpenInference& inference,
                        const ComprehensionOptions& options) {
  if (!options.zero_origin) return;
  for (const std::int32_t id : program.results) {
    const lang::TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(id)];
    for (const lang::OpenRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      if (range.lo->is_constant(0)) continue;
      lang::fail(program.source(), lang::ErrorKind::NonZeroOrigin, tensor.span,
                 fmt::format("the result '{}' begins at index {}, not at 0", tensor.name, sym::to_string(range.lo)));
    }
  }
}

std::string open_ranges_text(const lang::Program& program, const lang::OpenInference& inference) {
  std::string out;
  if (!inference.open.empty()) {
    out += "sizes:";
    for (const sym::Expr symbol : inference.open)
      out += fmt::format("{} {} >= {}", symbol == inference.open[0] ? "" : ",", symbol->name, symbol->bounds.lo);
    out += '\n';
  }
  for (std::size_t s = 0; s < program.statements.size(); ++s) append_statement(out, program, inference, s);
  for (const std::int32_t id : program.results) {
    const lang::TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(id)];
    std::vector<std::string> shape;
    std::vector<std::string> origin;
    bool moved = false;
    for (const lang::OpenRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      shape.push_back(sym::to_string(extent_of(range)));
      origin.push_back(sym::to_string(range.lo));
      moved = moved || !range.lo->is_constant(0);
    }
    out += fmt::format("result {}: {} ({}{})", tensor.name, oriel::name(tensor.dtype), fmt::join(shape, ", "),
                       shape.size() == 1 ? "," : "");
    if (moved) out += fmt::format(", its first element at index ({})", fmt::join(origin, ", "));
    out += '\n';
  }
  return out;
}

Json open_ranges_object(const lang::Program& program, const lang::OpenInference& inference) {
  Json out;
  Json sizes = Json::object();
  for (const sym::Expr symbol : inference.open) sizes[std::string(symbol->name)] = {{"lo", symbol->bounds.lo}};
  out["sizes"] = std::move(sizes);
  Json statements = Json::array();
  Json preconditions = Json::array();
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const lang::CheckedStatement& statement = program.statements[s];
    const lang::OpenStatement& found = inference.statements[s];
    Json ranges = Json::object();
    for (std::size_t v = 0; v < statement.variables.size(); ++v) {
      ranges[std::string(statement.variables[v].name)] = {formula(found.ranges[v].lo), formula(found.ranges[v].end)};
    }
    statements.push_back(std::move(ranges));
    for (const lang::OpenPrecondition& precondition : inference.preconditions) {
      if (precondition.statement != s) continue;
      Json one{{"statement", s},
               {"condition", sym::to_string(precondition.condition)},
               {"status", "required"},
               {"reason", precondition.reason},
               {"exact", precondition.exact}};
      if (precondition.index >= 0) {
        const lang::OpenCondition& condition = found.conditions[static_cast<std::size_t>(precondition.index)];
        one["access"] = access_text(program, statement, condition.access);
        one["tensor"] = operand(program, statement, condition.access);
        one["dim"] = condition.dimension;
      }
      preconditions.push_back(std::move(one));
    }
    for (const lang::OpenCondition& condition : found.conditions) {
      if (!is_reported(condition)) continue;
      preconditions.push_back({{"statement", s},
                               {"access", access_text(program, statement, condition.access)},
                               {"tensor", operand(program, statement, condition.access)},
                               {"dim", condition.dimension},
                               {"status", name_of(condition.status)}});
    }
  }
  out["ranges_by_stmt"] = std::move(statements);
  Json outputs = Json::object();
  Json origins = Json::object();
  for (const std::int32_t id : program.results) {
    const std::string name(program.tensors[static_cast<std::size_t>(id)].name);
    Json shape = Json::array();
    Json origin = Json::array();
    for (const lang::OpenRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      shape.push_back(formula(extent_of(range)));
      origin.push_back(formula(range.lo));
    }
    if (std::ranges::any_of(origin, [](const Json& lo) { return lo != 0; })) origins[name] = std::move(origin);
    outputs[name] = std::move(shape);
  }
  out["outputs"] = std::move(outputs);
  out["origin"] = std::move(origins);
  out["preconditions"] = std::move(preconditions);
  out["warnings"] = program.warnings;
  return out;
}

}  // namespace oriel::cli
