// `oriel guards`: the text form, the JSON lines, and a comparison with PyTorch's answers to the same questions.
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/guards_lines.hpp"
#include "oriel/error.hpp"
#include "support/command.hpp"
#include "sym/parse.hpp"
#include "sym/program.hpp"

namespace guards_command_test {

using namespace oriel;
using Json = nlohmann::json;

namespace {

test::Outcome run(std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.insert(arguments.begin(), "guards");
  return test::run_command(arguments, input);
}

Json ask(const std::string& line) { return Json::parse(cli::answer_guards_line(line)); }

using Values = std::map<std::string, std::int64_t>;

// nullopt if a divisor is 0.
std::optional<std::int64_t> value(const std::string& text, const Values& values) {
  sym::Pool pool;
  try {
    return sym::parse(pool, text, [&](auto name) { return pool.constant(values.at(std::string(name))); })->value;
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("the text form shows answers, guards and what was learnt") {
  const test::Outcome ran = run({"s0=12,s1=4 | s0 == 3*s1 | s0 % 3 == 0 | known s1 > 4 | int s1 // 4"});
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out ==
        "s0 == 3*s1    True\n"
        "s0 % 3 == 0   True\n"
        "known s1 > 4  False\n"
        "int s1 // 4   1\n"
        "guard: s0 == 3*s1\n"
        "guard: s1 // 4 == 1\n"
        "s0: 12..21, hint 12, equals 3*s1\n"
        "s1: 4..7, hint 4\n");
}

TEST_CASE("a divisor that may be 0 is not, or the text has no value") {
  CHECK(run({"s0=3:0.. | s0 // s0 == 1"}).out ==
        "s0 // s0 == 1  True\n"
        "guard: s0 != 0\n"
        "s0: 1.., hint 3\n");
  for (const std::string text : {"s1=8 | int -1 // (s1 % 2)", "s0=0:0.. | int s0 // s0", "s0=0:0.. | 0 % s0 == 0",
                                 "s0=0:0.. | int 2*s0 // s0", "s0=4:0.. | int (s0*s0 - 4*s0) // (s0 - 4)"}) {
    const test::Outcome ran = run({text});
    CAPTURE(text);
    CHECK(ran.status == 1);
    CHECK(ran.err.find("the divisor must not be 0") != std::string::npos);
  }
  // Where the other side decides, the quotient is not asked for.
  CHECK(run({"s0=0:0.. | s0 == 0 or s0 // s0 == 2"}).status == 0);
  // A quotient that stays has no value by itself.
  CHECK(run({"s0=3:0.. | 7 // s0 == 2"}).out.find("s0 != 0") == std::string::npos);
}

TEST_CASE("the least 64-bit number has no opposite") {
  for (const std::string text :
       {"-9223372036854775808 == s0", "s0 != -9223372036854775808", "-9223372036854775808 - s0 != 0",
        "-9223372036854775808*s0 // -s0 == 0", "-9223372036854775808*s0 % -s0 == 0",
        "(-9223372036854775808*s0*s1) // (-1*s0) < 0", "-9223372036854775808*s0 == 9223372036854775807*s1",
        "s0 % 5 == -9223372036854775808", "-9223372036854775808*s0 + s1 > 3", "s0 - 9223372036854775807 != 0"}) {
    CAPTURE(text);
    CHECK(run({"s0=8:-90..,s1=3:-9.. | " + text}).status <= 1);
    CHECK(run({"s0=8,s1=3 | known " + text}).status <= 1);
    CHECK(run({"u0,s0=8,s1=3 | expect u0 == s0 | " + text}).status <= 1);
  }
  CHECK(run({"s0=8 | -9223372036854775808 == s0"}).out.find("False") != std::string::npos);
}

TEST_CASE("symbols with ranges and without hints; statements") {
  const test::Outcome ran =
      run({"s=5:0..9,u0,k=0:-3.. | constrain u0 0 8 | expect u0 < s | or_false u0 == 3 | or_true u0 == 3 | "
           "known u0 <= 8 | k >= -3"});
  CHECK(ran.status == 0);
  CHECK(ran.out ==
        "constrain u0 0 8  stated\n"
        "expect u0 < s     stated\n"
        "or_false u0 == 3  False\n"
        "or_true u0 == 3   True\n"
        "known u0 <= 8     True\n"
        "k >= -3           True\n"
        "check when u0 is known: u0 < s\n"
        "s: 1..9, hint 5\n"
        "u0: 0..8\n"
        "k: -3.., hint 0\n");
}

TEST_CASE("what is wrong with a text") {
  const auto error = [](const char* text) {
    const test::Outcome ran = run({text});
    CHECK(ran.status == 1);
    return ran.err;
  };
  CHECK(error("u0 | u0 == 0").find("branch: 'u0 == 0' depends on u0") != std::string::npos);
  CHECK(error("s=1 | s == 1").find("symbol: 1 not in range [2, oo] of s") != std::string::npos);
  CHECK(error("s=x | s").find("guards: 'x' in 's=x' is not a 64-bit integer") != std::string::npos);
  CHECK(error("s=5:2 | s").find("guards: 's=5:2' has no range after ':'; write LO.. or LO..HI") != std::string::npos);
  CHECK(error("s=5 | t").find("unknown symbol 't'") != std::string::npos);
  CHECK(error("s=5 | known s").find("guards: 's' is a number; a condition is asked for") != std::string::npos);
  CHECK(error("s=5 | int s == 5").find("guards: 's == 5' is a condition; a number is asked for") != std::string::npos);
  CHECK(error("s=5 | constrain s 3").find("must read: constrain NAME LO HI") != std::string::npos);
  CHECK(error("s=5 | expect s == 6").find("expect_true: 's == 6' does not hold") != std::string::npos);
}

TEST_CASE("usage") {
  CHECK(run({}).status == 2);
  CHECK(run({"--nothing"}).status == 2);
  CHECK(run({"s=5", "s=6"}).status == 2);
  CHECK(run({"--jsonl", "s=5"}).status == 2);
  const test::Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(help.out.starts_with("usage: oriel guards "));
}

TEST_CASE("JSON lines") {
  const test::Outcome ran =
      run({"--jsonl"},
          R"({"id":7,"symbols":{"s0":{"hint":12,"lo":2}},"unbacked":["u0"],"ask":[)"
          R"({"kind":"bool","text":"s0 % 4 == 0"},{"kind":"known","text":"s0 % 2 == 0"},)"
          R"({"kind":"int","text":"3"},{"kind":"expect","text":"u0 != 3"},{"kind":"or_false","text":"u0 == 3"},)"
          R"({"kind":"constrain","symbol":"u0","lo":0,"hi":9}]})"
          "\nnonsense\n");
  CHECK(ran.status == 0);
  std::istringstream lines(ran.out);
  std::string line;
  std::getline(lines, line);
  CHECK(Json::parse(line) ==
        Json::parse(R"({"id":7,"answers":[true,true,3,null,false,null],"guards":["s0 % 4 == 0"],)"
                    R"("replaced":{},"ranges":{"s0":[4,null],"u0":[0,9]},"deferred":["u0 != 3"]})"));
  std::getline(lines, line);
  CHECK(Json::parse(line).contains("error"));
}

TEST_CASE("an error is one object, with the line's id and the question's number") {
  const auto error = [](const char* line) { return ask(line); };
  CHECK(
      error(R"({"id":"a","unbacked":["u0"],"ask":[{"kind":"known","text":"u0 > 1"},{"kind":"bool","text":"u0 > 1"}]})")
          ["id"] == "a");
  CHECK(error(R"({"unbacked":["u0"],"ask":[{"kind":"known","text":"u0 > 1"},{"kind":"bool","text":"u0 > 1"}]})")
            ["question"] == 1);
  const auto message = [&](const char* line) { return error(line)["error"].get<std::string>(); };
  CHECK(message("[]").find("a line must hold one JSON object") != std::string::npos);
  CHECK(message("{}") == R"(guards: "ask" must be given, as an array of questions)");
  CHECK(message(R"({"ask":[3]})").find("a question must be an object") != std::string::npos);
  CHECK(message(R"({"ask":[{"kind":"what","text":"1"}]})").find("unknown kind 'what'; there are bool") !=
        std::string::npos);
  CHECK(message(R"({"ask":[{"kind":"bool"}]})") == R"(guards: "text" must be given, as a string)");
  CHECK(message(R"({"symbols":{"s":{}},"ask":[]})") ==
        R"(guards: symbol "s" has no "hint"; list it in "unbacked" if it has none)");
  CHECK(message(R"({"symbols":{"s":{"hint":2.5}},"ask":[]})") == R"(guards: "hint" must be a 64-bit integer)");
  CHECK(message(R"({"symbols":{"s":3},"ask":[]})") == R"(guards: symbol "s" must be an object with a "hint")");
  CHECK(message(R"({"symbols":[],"ask":[]})") == R"(guards: "symbols" must be an object of symbols)");
  CHECK(message(R"({"unbacked":"u","ask":[]})") == R"(guards: "unbacked" must be an array of names)");
}

TEST_CASE("questions that PyTorch answered: the same answers, guards that imply them, and no more of them") {
  std::ifstream file(ORIEL_TEST_DATA "/guards_sample.jsonl");
  std::string line;
  std::size_t lists = 0;
  std::size_t ours = 0;
  std::size_t theirs = 0;
  while (std::getline(file, line)) {
    ++lists;
    const Json request = Json::parse(line);
    INFO(line);
    const Json answer = ask(line);
    REQUIRE(answer.contains("answers"));
    const Json& questions = request["ask"];
    for (std::size_t k = 0; k < questions.size(); ++k) {
      if (questions[k]["kind"] == "known") {
        if (questions[k]["answer"] == true) CHECK(answer["answers"][k] == true);
      } else {
        CHECK(answer["answers"][k] == questions[k]["answer"]);
      }
    }
    CHECK(answer["guards"].size() <= request["pytorch_guards"].size());
    ours += answer["guards"].size();
    theirs += request["pytorch_guards"].size();

    // All values that pass the guards must give the same answers.
    std::vector<std::string> names;
    for (const auto& [name, symbol] : request["symbols"].items()) names.push_back(name);
    Values values;
    const std::function<void(std::size_t)> all = [&](std::size_t k) {
      if (k < names.size()) {
        const std::int64_t hint = request["symbols"][names[k]]["hint"];
        for (std::int64_t v = 2; v <= hint + 7; v += names.size() == 3 ? 3 : 1) {
          values[names[k]] = v;
          all(k + 1);
        }
        values[names[k]] = hint;
        all(k + 1);
        return;
      }
      for (const Json& guard : answer["guards"]) {
        if (value(guard, values) != 1) return;
      }
      for (std::size_t q = 0; q < questions.size(); ++q) {
        const auto now = value(questions[q]["text"], values);
        const Json& then = answer["answers"][q];
        if (questions[q]["kind"] == "known") {
          if (then == true) CHECK(now == 1);
        } else {
          CHECK(now == (then.is_boolean() ? std::int64_t(then.get<bool>()) : then.get<std::int64_t>()));
        }
      }
    };
    all(0);
  }
  CHECK(lists == 60);
  CHECK(ours < theirs);
}

}  // namespace guards_command_test
