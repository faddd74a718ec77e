// Fuzzes lines of `oriel ranges --jsonl`: the answer is one JSON object with ranges, or an error with a kind.
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/lines.hpp"
#include "fuzz/target.hpp"

using namespace oriel;
using fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 20000) return 0;
  try {
    const std::string answer = cli::answer_ranges({reinterpret_cast<const char*>(data), size}, {});
    require(answer.find('\n') == std::string::npos, "an answer of several lines");
    const nlohmann::json object = nlohmann::json::parse(answer);
    require(object.contains("error") != object.contains("ranges_by_stmt"), "neither ranges nor an error: " + answer);
    if (object.contains("error")) return 0;
    for (const auto& view : object["views"]) {
      require(view["shape"].size() == view["strides"].size(), "a view without its strides: " + answer);
    }
  } catch (const std::exception& error) {
    fuzzing::fail("threw: " + std::string(error.what()));
  }
  return 0;
}
