// Fuzzes lines of `oriel view --jsonl` and `oriel iterate --jsonl`: each answers with one line of JSON. A stack of
// views in an answer, asked about again, gives itself.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/lines.hpp"
#include "fuzz/target.hpp"

using oriel::fuzzing::fail;
using oriel::fuzzing::require;
using Json = nlohmann::json;

namespace {

// The most entries of a table for which a table is requested as well.
constexpr double kMostEntries = 2000;

Json object_of(const std::string& answer) {
  require(answer.find('\n') == std::string::npos, "more than one line: " + answer);
  Json object = Json::parse(answer, nullptr, false);
  require(object.is_object(), "no JSON object: " + answer);
  const auto error = object.find("error");
  require(error == object.end() || (error->is_string() && !error->get_ref<const std::string&>().empty()),
          "an error that says nothing: " + answer);
  return object;
}

double entries_of(const Json& answer) {
  double entries = 1;
  for (const Json& extent : answer["shape"]) entries *= extent.get<double>();
  return entries;
}

void check_view(std::string_view line) {
  const std::string text = oriel::cli::answer_line(line, false);
  const Json answer = object_of(text);
  if (!answer.contains("views")) return;
  if (answer.contains("guards")) {
    // Under the same symbols the views are views. They may be simpler: the question no longer has its guards.
    Json question = Json::parse(line);
    question.erase("base_shape");
    question.erase("ops");
    question["start_views"] = answer["views"];
    object_of(oriel::cli::answer_line(question.dump(), false));
    return;
  }
  const std::string again = oriel::cli::answer_line(Json{{"start_views", answer["views"]}}.dump(), false);
  require(again == text, "answered with\n  " + text + "\nwhich is answered with\n  " + again);
  const double entries = entries_of(answer);
  if (entries > kMostEntries) return;
  Json with_table = object_of(oriel::cli::answer_line(line, true));
  require(with_table["table"].size() == static_cast<std::size_t>(entries), "a table of another size: " + text);
  with_table.erase("table");
  require(with_table == answer, "a table changes the answer " + text);
}

void check_iterate(std::string_view line) {
  const std::string text = oriel::cli::answer_iterate_line(line);
  const Json answer = object_of(text);
  if (answer.contains("error")) return;
  // The result is a layout, which can be the next question.
  const Json operand{{"shape", answer["shape"]}, {"strides", answer["strides"]}};
  const Json of_result =
      object_of(oriel::cli::answer_iterate_line(Json{{"op", "none"}, {"operands", Json::array({operand})}}.dump()));
  require(of_result.value("shape", Json()) == answer["shape"], "the result of " + text + " is no layout");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view line(reinterpret_cast<const char*>(data), size);
  line = line.substr(0, line.find('\n'));
  try {
    check_view(line);
    check_iterate(line);
  } catch (const std::exception& error) {
    fail("threw: " + std::string(error.what()));
  }
  return 0;
}
