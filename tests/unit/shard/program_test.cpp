// `oriel shard` and `oriel fuzz shard`.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/command.hpp"

namespace program_test {

namespace {

using oriel::test::Outcome;

Outcome run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "shard");
  return oriel::test::run_command(arguments);
}

std::string error_of(const std::string& program) {
  const Outcome outcome = run({program});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  return outcome.err;
}

}  // namespace

TEST_CASE("a program prints views, what its exchanges are, and bytes") {
  const Outcome outcome = run({"(8,6) rows=4 | transpose | reshape 48 | to cols=2,rows=2"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "(8,6) rows=4      (4,2,6):(12,6,1)\n"
        "transpose         (4,2,6):(2,1,8)\n"
        "reshape 48        (4,2,6):(2,1,8)\n"
        "to cols=2,rows=2  (2,2,12):(24,12,1)\n"
        "                  all-to-all along rows: a rank sends up to 40 bytes in 3 messages; 144 bytes in all\n"
        "memory: 48 of 192 bytes a rank\n");
}

TEST_CASE("messages are listed with their boxes") {
  CHECK(run({"--messages", "--bytes", "8", "(4,3) r=2 | to r=2 halo 1,1 0,0"}).out ==
        "(4,3) r=2            (2,2,3):(6,3,1)\n"
        "to r=2 halo 1,1 0,0  (2,4,3):(6,3,1) over (6,3):(3,1)-3[1:5,0:3)\n"
        "                     shift along r: a rank sends up to 24 bytes in 1 message; 48 bytes in all\n"
        "  0 to 1: 3 elements, 3+3x1 to 0+3x1\n"
        "  1 to 0: 3 elements, 0+3x1 to 9+3x1\n"
        "memory: 96 of 96 bytes a rank\n");
}

TEST_CASE("mesh axes divide axes in order, or as they say") {
  const auto view = [](const std::string& program) {
    const std::string out = run({program}).out;
    const std::size_t begin = out.find("  ") + 2;
    return out.substr(begin, out.find('\n') - begin);
  };
  CHECK(view("(8,6) a=2,b=3") == "(2,3,4,2):(24,2,6,1)");
  CHECK(view("(8,6) a=2@1,b=4@0") == "(2,4,2,3):(3,12,6,1)");
  CHECK(view("(8) a=2,b=2") == "(2,2,2):(4,2,1)");
  CHECK(view("(8) a=2@all,b=2") == "(2,2,4):(0,4,1)");
  CHECK(view("(8) a=2@root") == "(2,8):(0,1)[0:1,0:8)");
  CHECK(view("() a=2") == "(2):(0)");
  CHECK(view("(0,3) a=2").substr(0, 8) == "(2,0,3):");
}

TEST_CASE("partial sums become sums") {
  const std::string out = run({"(8,6) rows=4 | sum 0 | to rows=4@all"}).out;
  CHECK(out.find("(4,1,6):(0,0,1) pending rows\n") != std::string::npos);
  CHECK(out.find("all-reduce along rows: a rank sends up to 48 bytes in 6 messages; 144 bytes in all\n") !=
        std::string::npos);
}

TEST_CASE("thousands of ranks are judged by some of them") {
  const std::string out = run({"(8192,4) rows=4096 | to rows=4096 halo 1,1 0,0"}).out;
  CHECK(out.find("shift along rows: a rank sends up to 32 bytes in 2 messages; judged by 64 of 4096 ranks\n") !=
        std::string::npos);
}

TEST_CASE("a page has a cell for each position, with its ranks") {
  const Outcome outcome = run({"--html", "(2,3) r=2 | to r=2@all"});
  CHECK(outcome.status == 0);
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = outcome.out.find(part); at != std::string::npos; at = outcome.out.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("<i title=\"position ") == 12);
  CHECK(count(": rank 0, 1\"") == 6);
  CHECK(count("<title>oriel shard: (2,3) r=2 | to r=2@all</title>") == 1);
  CHECK(run({"--html", "(200,200) r=2"}).err.find("it shows tensors of up to 16384") != std::string::npos);
}

TEST_CASE("errors say what came and what would do") {
  CHECK(error_of("8,6 rows=4").find("does not begin with a shape in parentheses; write (8,6) rows=4") !=
        std::string::npos);
  CHECK(error_of("(8,6) rows").find("'rows' in '(8,6) rows' is no mesh axis; write NAME=SIZE") != std::string::npos);
  CHECK(error_of("(8,6) rows=4@2").find("axis 2 in '(8,6) rows=4@2' of a tensor of 2 axes") != std::string::npos);
  CHECK(error_of("(8,6) rows=x").find("'x' in '(8,6) rows=x' is not a 64-bit integer") != std::string::npos);
  CHECK(error_of("(8,6) rows=4 halo 1,1").find("1 pairs behind halo") != std::string::npos);
  CHECK(error_of("(8,6) rows=4 | pad 1").find("is not a pair; write 1,1 0,0") != std::string::npos);
  CHECK(error_of("(8,6) rows=4 | shrink 1").find("is not a pair; write 0:2,1:3") != std::string::npos);
  CHECK(error_of("(8,6) rows=4 | turn").find("unknown step 'turn'") != std::string::npos);
  CHECK(error_of("(8,6) rows=4 |").find("an empty step") != std::string::npos);
  CHECK(error_of("(8,6) rows=4 | to rows=2").find("both need the same ranks") != std::string::npos);
  CHECK(run({}).status == 2);
  CHECK(run({"--bytes", "0", "(8) a=2"}).status == 2);
  CHECK(run({"--html", "--messages", "(8) a=2"}).status == 2);
}

TEST_CASE("random pairs of shardings exchange exactly what is missing") {
  const Outcome outcome = oriel::test::run_command({"fuzz", "shard", "--cases", "500", "--seed", "5"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("seed 5\n") == 0);
  CHECK(outcome.out.find("\n500 pairs of shardings in ") != std::string::npos);
  CHECK(outcome.out.find("\nall properties hold\n") != std::string::npos);
  for (const char* name : {"all-gather", "all-to-all", "exchange", "gather", "nothing to send", "scatter", "shift"}) {
    CHECK(outcome.out.find(name) != std::string::npos);
  }
  CHECK(oriel::test::run_command({"fuzz", "shard", "--kinds", "raw"}).status == 2);
}

}  // namespace program_test
