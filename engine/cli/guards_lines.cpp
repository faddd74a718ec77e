#include "cli/guards_lines.hpp"

#include <fmt/format.h>

#include "fuzz/case_json.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr std::size_t kMaxQuestions = 1000;
constexpr std::size_t kMaxSymbols = 100;

[[noreturn]] void refuse_line(const std::string& message, std::string_view command = "guards") {
  throw ParseError(command, message);
}

std::optional<std::int64_t> read_integer(const Json& object, const char* name, std::string_view command = "guards") {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_number_integer() || (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX)) {
    refuse_line(fmt::format("\"{}\" must be a 64-bit integer", name), command);
  }
  return found->get<std::int64_t>();
}

std::string read_word(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) refuse_line(fmt::format("\"{}\" must be given, as a string", name));
  return found->get<std::string>();
}

Question read_question(const Json& object) {
  if (!object.is_object()) refuse_line(R"(a question must be an object, such as {"kind":"bool","text":"s0 % 4 == 0"})");
  const std::string word = read_word(object, "kind");
  const auto kind = question_kind(word);
  if (!kind) {
    refuse_line(
        fmt::format("unknown kind '{}'; there are bool, known, int, expect, or_false, or_true, constrain", word));
  }
  if (*kind != QuestionKind::constrain) return {*kind, read_word(object, "text")};
  return {*kind, read_word(object, "symbol"), {read_integer(object, "lo"), read_integer(object, "hi")}};
}

Json json_of(const Answer& answer) {
  if (const bool* const truth = std::get_if<bool>(&answer)) return *truth;
  if (const std::int64_t* const number = std::get_if<std::int64_t>(&answer)) return *number;
  return nullptr;
}

Json json_of(const std::optional<std::int64_t>& bound) { return bound ? Json(*bound) : Json(nullptr); }

std::string respond(const Json& request) {
  Json more = Json::object();
  if (const auto id = request.find("id"); id != request.end()) more["id"] = *id;
  Json answers = Json::array();
  try {
    GuardsSession session;
    read_symbols(request, session, "guards");
    const auto ask = request.find("ask");
    if (ask == request.end() || !ask->is_array()) refuse_line(R"("ask" must be given, as an array of questions)");
    if (ask->size() > kMaxQuestions) refuse_line(fmt::format("there may be {} questions", kMaxQuestions));
    for (const Json& question : *ask) {
      more["question"] = answers.size();
      answers.push_back(json_of(session.ask(read_question(question))));
    }
    Json result = {{"answers", answers},
                   {"guards", Json::array()},
                   {"replaced", Json::object()},
                   {"ranges", Json::object()},
                   {"deferred", Json::array()}};
    if (more.contains("id")) result["id"] = more["id"];
    const ShapeEnv& environment = session.environment();
    for (const auto& guard : environment.guards()) result["guards"].push_back(fuzz::whole_text(guard.str()));
    for (const auto& check : environment.deferred_checks())
      result["deferred"].push_back(fuzz::whole_text(to_string(check.condition)));
    for (const auto& symbol : environment.symbols()) {
      result["ranges"][symbol.name] = {json_of(symbol.range.lo), json_of(symbol.range.hi)};
      if (!symbol.replacement.empty()) result["replaced"][symbol.name] = fuzz::whole_text(symbol.replacement);
    }
    return result.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Error& error) {
    return error_line(std::string(error.message()), more);
  }
}

}  // namespace

void read_symbols(const Json& request, GuardsSession& session, std::string_view command) {
  const auto refuse = [&](const std::string& message) { refuse_line(message, command); };
  if (const auto symbols = request.find("symbols"); symbols != request.end() && !symbols->is_null()) {
    if (!symbols->is_object()) refuse(R"("symbols" must be an object of symbols)");
    if (symbols->size() > kMaxSymbols) refuse(fmt::format("there may be {} symbols", kMaxSymbols));
    for (const auto& [name, symbol] : symbols->items()) {
      if (!symbol.is_object()) refuse(fmt::format(R"(symbol "{}" must be an object with a "hint")", name));
      const auto hint = read_integer(symbol, "hint", command);
      if (!hint) refuse(fmt::format(R"(symbol "{}" has no "hint"; list it in "unbacked" if it has none)", name));
      session.add_symbol(name, *hint, {read_integer(symbol, "lo", command), read_integer(symbol, "hi", command)});
    }
  }
  if (const auto unbacked = request.find("unbacked"); unbacked != request.end() && !unbacked->is_null()) {
    if (!unbacked->is_array()) refuse(R"("unbacked" must be an array of names)");
    if (unbacked->size() > kMaxSymbols) refuse(fmt::format("there may be {} symbols", kMaxSymbols));
    for (const Json& name : *unbacked) {
      if (!name.is_string()) refuse(R"("unbacked" must be an array of names)");
      session.add_unbacked(name.get<std::string>());
    }
  }
}

void write_guards(runtime::JsonWriter& json, const GuardsSession& session) {
  Json guards = Json::array();
  for (const auto& guard : session.environment().guards()) guards.push_back(fuzz::whole_text(guard.str()));
  json.raw(guards.dump());
}

std::string answer_guards_line(std::string_view line) { return answer_object("guards", line, respond); }

}  // namespace oriel::cli
