// A line of `oriel guards --jsonl`: the answer is one JSON object, and guards read back as what they are.
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/guards_lines.hpp"
#include "fuzz/target.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"

using namespace oriel;
using fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4000) return 0;
  try {
    const std::string answer = cli::answer_guards_line({reinterpret_cast<const char*>(data), size});
    require(answer.find('\n') == std::string::npos, "an answer of several lines");
    const nlohmann::json object = nlohmann::json::parse(answer);
    require(object.contains("error") != object.contains("guards"), "neither guards nor an error: " + answer);
    if (object.contains("error")) return 0;
    for (const auto& guard : object["guards"]) {
      const auto text = guard.get<std::string>();
      if (text.size() > sym::kMaxExpressionText) continue;
      sym::Pool pool;
      const sym::Expr e = sym::parse(pool, text, [&](std::string_view name) { return pool.symbol(name); });
      require(e->is_condition(), "a guard that is no condition: " + text);
    }
  } catch (const std::exception& error) {
    fuzzing::fail("threw: " + std::string(error.what()));
  }
  return 0;
}
