// Fuzzes programs of `oriel view`: a program prints its steps or an error, and the text of every stack parses to the
// same stack.
#include <algorithm>
#include <exception>
#include <sstream>
#include <string>

#include "cli/command.hpp"
#include "cli/guards_session.hpp"
#include "cli/view_program.hpp"
#include "fuzz/target.hpp"
#include "oriel/error.hpp"

using namespace oriel;
using fuzzing::require;

namespace {

constexpr std::int64_t kMostEntries = 2000;

struct Output {
  int status;
  std::string out;
  std::string err;
};

Output run(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run(arguments, in, out, err);
  return {status, out.str(), err.str()};
}

/// The steps of a program that printed an answer; none if it has symbols, whose environment goes with the program.
std::vector<cli::ViewStep> steps_of(const std::string& program) {
  try {
    cli::ViewProgram run = cli::run_program(program);
    if (run.session != nullptr) return {};
    return std::move(run.steps);
  } catch (const Error& error) {
    fuzzing::fail("prints an answer, but throws " + std::string(error.what()));
  }
}

void check(const std::string& program) {
  const Output plain = run({"view", program});
  require(plain.out.empty() != plain.err.empty(), "neither an answer nor an error, or both");
  require((plain.status == 0) == plain.err.empty(), "status " + std::to_string(plain.status) + ", " + plain.err);
  if (plain.status != 0) return;
  const std::vector<cli::ViewStep> steps = steps_of(program);
  if (steps.empty()) return;
  for (const cli::ViewStep& step : steps) {
    const ShapeTracker simple = step.tracker.simplify();
    const ShapeTracker again = cli::run_program(simple.str()).steps[0].tracker;
    require(again == simple, simple.str() + " is read as " + again.str());
  }
  if (numel(steps.back().tracker.shape()) > kMostEntries) return;
  const Output with_table = run({"view", program, "--table"});
  require(with_table.status == 0 && with_table.out.starts_with(plain.out), "the table changes the answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string program(reinterpret_cast<const char*>(data), size);
  // An argument cannot contain a zero byte, and one that begins with a dash is an option.
  program = program.substr(0, program.find('\0'));
  if (program.starts_with('-')) return 0;
  try {
    check(program);
  } catch (const std::exception& error) {
    fuzzing::fail("threw: " + std::string(error.what()));
  }
  return 0;
}
