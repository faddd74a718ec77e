#include "fuzz/replay.hpp"

#include <fmt/format.h>

#include <istream>

#include "fuzz/case_json.hpp"
#include "fuzz/shrink.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {

ReplayResult replay(std::istream& corpus, const std::function<std::unique_ptr<Subject>()>& make_subject) {
  const std::unique_ptr<Subject> subject = make_subject();
  ReplayResult result;
  std::string line;
  for (int number = 1; std::getline(corpus, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Case c;
    try {
      c = parse_case(line, "fuzz");
    } catch (const Error& error) {
      throw ParseError("fuzz", fmt::format("line {} of the corpus: {}", number, error.message()));
    }
    ++result.cases;
    if (const auto failure = subject->check_one(checkable_kind(Kind::Huge, c), c)) {
      result.failures.push_back(fmt::format("line {}: {} broken: {}\n  {}\n", number, info(failure->property).name,
                                            failure->seen, program_text(c)));
    }
  }
  return result;
}

}  // namespace oriel::fuzz
