// Merges and reshapes of symbolic views: the view and the guards, as `oriel view` prints them. The cases are those of
// proofs/merge_examples.v, in its order. There the same is computed from the programs about which the proofs speak.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/command.hpp"

namespace merge_examples_test {

namespace {

struct Example {
  std::string name;  // in proofs/merge_examples.v
  std::string program;
  std::string view;  // after the last step
  std::vector<std::string> guards;
};

const std::vector<Example> kExamples = {
    {"rows", "s=5,t=4 | (s,4):(t,1) | reshape 4*s", "(4*s):(1)", {"t == 4"}},
    {"dropped_axis", "s=1:0..1 | (4,1):(1,1)[1:3,0:s) | reshape 4", "(4):(1)[1:3)", {"s == 1"}},
    {"scaled_walk", "s=9,t=6 | (t,s):(1,t) over (s*t):(2)", "(t,s):(2,2*t)", {}},
    {"turned", "s=6,t=3 | (t,s):(1,t) over (s,t):(t+1,1)", "(t,s):(1,t + 1)", {}},
    {"digits_of_a_mask",
     "s=6,t=3 | (2,t):(t,1) over (s):(1)[0:t)",
     "(2,t):(0,1)[0:1,0:(t - 1) // (s // (2*t)) + 1)",
     {"2*t == s"}},
    {"one_row", "s=6,t=3 | (t):(1)+s over (4,s):(s+1,1)", "(t):(1)+s + 1", {"t - 1 < s"}},
    {"columns", "s=6,t=3 | (4,t):(s,1) over (4,s):(9,2)", "(4,t):(9,2)", {"3*s + t - 1 < 4*s"}},
    {"cut_box", "s=9,t=3 | (8):(1) over (s):(1)[0:t)", "(8):(1)[0:t)", {"7 < s", "t < 8"}},
    {"nothing_valid", "s=9,t=6 | (4):(1) over (s):(1)[t:s)", "(4):(0)[0:0)", {"s >= t", "3 < t"}},
};

/// What the command prints for a program: the stack after the last step, and the guards.
struct Printed {
  std::string view;
  std::vector<std::string> guards;
};

Printed print(const std::string& program) {
  const oriel::test::Outcome outcome = oriel::test::run_command({"view", program});
  REQUIRE(outcome.status == 0);
  Printed printed;
  std::istringstream lines(outcome.out);
  const std::string guard = "guard: ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(guard)) {
      printed.guards.push_back(line.substr(guard.size()));
    } else if (const std::size_t note = line.rfind("  ("); note != std::string::npos) {
      const std::size_t view = line.rfind("  ", note - 1) + 2;  // columns are two blanks apart
      printed.view = line.substr(view, note - view);
    }
  }
  return printed;
}

}  // namespace

TEST_CASE("merges of symbolic views print the view and the guards that the proofs compute") {
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    const Printed printed = print(example.program);
    CHECK(printed.view == example.view);
    CHECK(printed.guards == example.guards);
  }
}

}  // namespace merge_examples_test
