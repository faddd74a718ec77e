// `oriel iterate`: the text form, the JSON lines, and the errors for lines that make no sense.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/lines.hpp"
#include "support/command.hpp"

namespace iterate_command_test {

using nlohmann::json;
using oriel::test::Outcome;

namespace {

Outcome run(const std::vector<std::string>& operands, const std::string& input = "") {
  std::vector<std::string> arguments{"iterate"};
  arguments.insert(arguments.end(), operands.begin(), operands.end());
  return oriel::test::run_command(arguments, input);
}

std::string error_of(const std::string& operands) {
  const Outcome outcome = run({operands});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  return outcome.err;
}

json answer(const std::string& line) { return json::parse(oriel::cli::answer_iterate_line(line)); }

std::string refusal(const std::string& line) {
  const json object = answer(line);
  CHECK(object.size() == 1);
  REQUIRE(object.contains("error"));
  return object["error"];
}

json read_cases(const char* name) {
  std::ifstream file(std::string(ORIEL_TEST_DATA) + "/" + name);
  REQUIRE(file);
  return json::parse(file)["cases"];
}

}  // namespace

TEST_CASE("the text form prints shapes, strides, order, loops and result") {
  const Outcome outcome = run({"2,3,4,5:60,1,15,3 + 3,4,5:20,5,1"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "operand 0  (2,3,4,5):(60,1,15,3)  channels_last\n"
        "operand 1  (3,4,5):(20,5,1)       contiguous\n"
        "shape      (2,3,4,5)\n"
        "strides 0  (60,1,15,3)\n"
        "strides 1  (0,20,5,1)\n"
        "order      1 3 2 0  (fastest first)\n"
        "loops      (3,20,2) by (1,3,60) <- (1,3,60) (20,1,0)\n"
        "result     (2,3,4,5):(60,1,15,3)  channels_last\n");
}

TEST_CASE("the text form: fast paths, shapes alone, operands without axes, what layouts are called") {
  CHECK(run({" 2,3 : 3,1 + (2,3) "}).out ==
        "operand 0  (2,3):(3,1)  contiguous\n"
        "operand 1  (2,3):(3,1)  contiguous\n"
        "shape      (2,3)\n"
        "order      any: all are contiguous, memory is one run\n"
        "loops      (6) by (1) <- (1) (1)\n"
        "result     (2,3):(3,1)  contiguous\n");
  CHECK(run({"2,3:1,2 + ()"}).out ==
        "operand 0  (2,3):(1,2)  dense\n"
        "operand 1  ():()        contiguous\n"
        "shape      (2,3)\n"
        "strides 0  (1,2)\n"
        "strides 1  (0,0)\n"
        "order      0 1  (fastest first)\n"
        "loops      (6) by (1) <- (1) (0)\n"
        "result     (2,3):(1,2)  dense\n");
  CHECK(run({"2,3:1,2"}).out.find("order      any: all are dense with equal strides, memory is one run\n") !=
        std::string::npos);
  CHECK(run({"2,3,4,5:120,2,30,6"}).out.find("(2,3,4,5):(120,2,30,6)  strided, like channels_last\n") !=
        std::string::npos);
  CHECK(run({"2,3:12,2"}).out.find("(2,3):(12,2)  strided\n") != std::string::npos);
  CHECK(run({"2,1,4,4"}).out.find("(2,1,4,4):(16,16,4,1)  contiguous, channels_last\n") != std::string::npos);
}

TEST_CASE("reductions, in both forms") {
  CHECK(run({"--reduce", "1", "2,3,4:12,1,3"}).out ==
        "operand 0  (2,3,4):(12,1,3)  dense\n"
        "shape      (2,3,4)\n"
        "strides 0  (12,1,3)\n"
        "order      1 2 0  (fastest first)\n"
        "loops      (3,8) by (0,1) <- (1,3)\n"
        "result     (2,4):(4,1)  contiguous\n");
  CHECK(run({"--reduce", "all", "--keepdim", "2,3"}).out.ends_with("result     (1,1):(1,1)  contiguous\n"));
  CHECK(run({"--reduce", "0,-1", "2,3,4"}).out.ends_with("result     (3):(1)  contiguous\n"));
  CHECK(run({"--reduce", "5", "2,3"}).err == "oriel: iterate: axis 5 of a tensor with 2 axes; give one of -2 to 1\n");
  CHECK(run({"--reduce"}).status == 2);
  CHECK(run({"--keepdim", "2,3"}).status == 2);
  const json got = answer(R"({"op":"reduce","axes":[1],"operands":[{"shape":[2,3,4],"strides":[12,1,3]}]})");
  CHECK(got["shape"] == json::parse("[2,4]"));
  CHECK(got["perm"] == json::parse("[1,2,0]"));
  CHECK(got["loop_strides"] == json::parse("[[0,1],[1,3]]"));
  CHECK(answer(R"({"op":"reduce","keepdim":true,"operands":[{"shape":[2,3],"strides":[3,1]}]})")["strides"] ==
        json::parse("[1,1]"));
  CHECK(answer(R"({"op":"reduce","axes":[2],"operands":[{"shape":[2,3],"strides":[3,1]}]})").contains("error"));
  CHECK(answer(R"({"op":"reduce","keepdim":1,"operands":[{"shape":[2,3],"strides":[3,1]}]})")["error"] ==
        "iterate: \"keepdim\" is true or false");
}

TEST_CASE("the text form's errors") {
  CHECK(error_of("") ==
        "oriel: iterate: an operand is missing; write shape:strides, such as 2,3:3,1, with + between operands\n");
  CHECK(error_of("2,3 + ") ==
        "oriel: iterate: an operand is missing; write shape:strides, such as 2,3:3,1, with + between operands\n");
  CHECK(error_of("2,x:3,1") ==
        "oriel: iterate: 'x' in '2,x:3,1' is not a 64-bit integer; write shape:strides, such as 2,3:3,1\n");
  CHECK(error_of("2,:3,1") ==
        "oriel: iterate: '' in '2,:3,1' is not a 64-bit integer; write shape:strides, such as 2,3:3,1\n");
  CHECK(error_of("99999999999999999999") ==
        "oriel: iterate: '99999999999999999999' in '99999999999999999999' is not a "
        "64-bit integer; write shape:strides, such as 2,3:3,1\n");
  CHECK(error_of("2,3:3") == "oriel: layout: got 1 strides for shape (2, 3); give one for each axis\n");
  CHECK(error_of("2,3 + 4") ==
        "oriel: iterate: shapes (2, 3) and (4) differ on axis 1; aligned at the last axis, "
        "extents must agree or be 1\n");
  std::string long_shape = "1";
  for (int k = 0; k < 2000; ++k) long_shape += ",1";
  CHECK(error_of(long_shape) == "oriel: iterate: there may be 1024 axes\n");
}

TEST_CASE("the text form with an output that is there already") {
  CHECK(run({"2,3:1,2 <- 2,3 + 3"}).out ==
        "output     (2,3):(1,2)  dense\n"
        "operand 0  (2,3):(3,1)  contiguous\n"
        "operand 1  (3):(1)      contiguous\n"
        "shape      (2,3)\n"
        "strides 0  (3,1)\n"
        "strides 1  (0,1)\n"
        "order      0 1  (fastest first)\n"
        "loops      (2,3) by (1,2) <- (3,1) (0,1)\n"
        "result     (2,3):(1,2)  dense\n");
  CHECK(run({"2,3@6 <- 2,3@0 + 3"}).status == 0);
  CHECK(run({"2,3@0 <- 2,3@0 + 3"}).status == 0);
  CHECK(error_of("2,3:0,1 <- 2,3 + 3") ==
        "oriel: iterate: unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location: the output (2,3):(0,1) has stride 0 on axis 0; give a tensor that holds each element once\n");
  CHECK(error_of("2,3@1 <- 3@20 + 2,3 @ 0") ==
        "oriel: iterate: unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
        "single memory location: the output (2,3):(3,1) at 1 and input 1, (2,3):(3,1) at 0; they must be the same "
        "elements at the same indices, or share none\n");
  CHECK(error_of("2,3@1,2 <- 2,3") ==
        "oriel: iterate: '2,3@1,2' has 2 offsets; write shape:strides@offset, such as 2,3:3,1@0\n");
  CHECK(error_of("2,3 <- ") ==
        "oriel: iterate: an operand is missing; write shape:strides, such as 2,3:3,1, with + between operands\n");
  CHECK(error_of("4 <- 2,3") ==
        "oriel: iterate: an output of shape (4) was provided for a result of (2, 3); outputs do not broadcast\n");
}

TEST_CASE("a line may give the output") {
  const auto line = [](const json& out, const json& operands) {
    return json({{"op", "add"}, {"out", out}, {"operands", operands}}).dump();
  };
  const auto at = [](const json& strides, std::int64_t offset) {
    return json{{"shape", {3, 3}}, {"strides", strides}, {"offset", offset}};
  };
  const json here = at({3, 1}, 0);
  const json apart = answer(line(at({1, 3}, 9), {here, here}));
  CHECK(apart["strides"] == json{1, 3});
  CHECK(apart["path"] == "none");
  CHECK(answer(line(here, {here, here}))["path"] == "contiguous");
  CHECK(answer(line(nullptr, {here, here}))["path"] == "contiguous");
  CHECK(refusal(line(at({0, 1}, 0), {at({3, 1}, 9), at({3, 1}, 9)})).find("refers to a single memory location") !=
        std::string::npos);
  CHECK(refusal(line(at({1, 3}, 0), {at({3, 1}, 9), here})).find("(3,3):(1,3) at 0 and input 1, (3,3):(3,1) at 0;") !=
        std::string::npos);
  CHECK(refusal(line(at({1, 3}, 0), {{{"shape", {3}}, {"strides", {1}}, {"offset", "here"}}, here})) ==
        "iterate: offset holds string; it must hold integers");
}

TEST_CASE("usage errors exit with 2 and the usage") {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "oriel iterate: the operands are missing\n"},
           {{"--jsonlines"}, "oriel iterate: unknown option '--jsonlines'\n"},
           {{"2", "3"},
            "oriel iterate: unexpected argument '3'; this command takes one text, so quote all operands as one\n"},
           {{"--jsonl", "2"}, "oriel iterate: --jsonl reads standard input and takes no operands and no --html\n"}}) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.rfind(message + "\nusage: oriel iterate", 0) == 0);
  }
  CHECK(run({"--help"}).status == 0);
  CHECK(run({"--help"}).out.rfind("usage: oriel iterate", 0) == 0);
}

TEST_CASE("a line is answered with all that there is to say") {
  CHECK(oriel::cli::answer_iterate_line(
            R"({"op":"add","operands":[{"shape":[2,3],"strides":[1,2]},{"shape":[3],"strides":[1]}]})") ==
        R"({"shape":[2,3],"strides":[1,2],"is_contiguous":false,"is_channels_last":false,"is_channels_last_3d":false,)"
        R"("non_overlapping_and_dense":true,"like_channels_last":false,"like_channels_last_3d":false,)"
        R"("suggest":"contiguous","suggest_exact":"contiguous","path":"none","perm":[0,1],)"
        R"("effective_strides":[[1,2],[0,1]],"loop_shape":[2,3],"loop_strides":[[1,2],[1,2],[0,1]]})");
  const json fast = answer(R"({"op":"neg","operands":[{"shape":[2,3],"strides":[1,2]}]})");
  CHECK(fast["path"] == "non_overlapping_dense");
  CHECK(fast["perm"].is_null());
  CHECK(fast["effective_strides"].is_null());
}

TEST_CASE("recorded cases, as lines") {
  for (const json& c : read_cases("torch_strides.json")) {
    const std::string id = c["id"];
    INFO(id);
    const json got = answer(json({{"op", c["op"]}, {"operands", c["operands"]}}).dump());
    if (c["expect"].contains("error")) {
      CHECK(got.contains("error"));
      CHECK(got["mismatch_dim"] == c["expect"]["mismatch_dim"]);
      continue;
    }
    for (const char* part : {"expect", "derived"}) {
      for (const auto& [key, want] : c[part].items()) CHECK(got[key] == want);
    }
  }
  for (const json& c : read_cases("torch_contiguity.json")) {
    const std::string id = c["id"];
    INFO(id);
    const json operand{{"shape", c["shape"]}, {"strides", c["strides"]}};
    const json got = answer(json({{"op", "none"}, {"operands", {operand}}}).dump());
    CHECK(got["shape"] == c["shape"]);
    CHECK(got["strides"] == c["strides"]);
    CHECK(got["path"].is_null());
    for (const auto& [key, want] : c["expect"].items()) CHECK(got[key] == want);
  }
}

TEST_CASE("lines that make no sense get an error and leave the next line alone") {
  CHECK(refusal("[]") == "iterate: a line must hold one JSON object, not array");
  CHECK(refusal("{").rfind("iterate: not a JSON object: '", 0) == 0);
  CHECK(refusal("").rfind("iterate: not a JSON object: '", 0) == 0);
  CHECK(refusal("{}") == R"(iterate: "op" must be given, as a string)");
  CHECK(refusal(R"({"op":7})") == R"(iterate: "op" must be given, as a string)");
  CHECK(refusal(R"({"op":"frobnicate"})") ==
        "iterate: unknown op 'frobnicate'; there are none, neg, exp, abs, add, sub, mul, div, eq, maximum, where, "
        "addcmul, lerp, add_scalar, reduce");
  CHECK(refusal(R"({"op":"neg"})") == R"(iterate: "operands" must be given, as an array of layouts)");
  CHECK(refusal(R"({"op":"neg","operands":{}})") == R"(iterate: "operands" must be given, as an array of layouts)");
  CHECK(refusal(R"({"op":"neg","operands":[]})") == "iterate: neg takes 1 operands, but 0 came");
  CHECK(refusal(R"({"op":"neg","operands":[3]})") ==
        "iterate: a layout must be an object with shape and strides, not number");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[2]}]})") ==
        R"(iterate: a layout lacks "strides"; it has shape and strides)");
  CHECK(refusal(R"({"op":"neg","operands":[{"strides":[2]}]})") ==
        R"(iterate: a layout lacks "shape"; it has shape and strides)");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":2,"strides":[1]}]})") ==
        "iterate: shape must be an array of integers, not number");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[2.5],"strides":[1]}]})") ==
        "iterate: shape holds number; it must hold integers");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[true],"strides":[1]}]})") ==
        "iterate: shape holds boolean; it must hold integers");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[2],"strides":[9223372036854775808]}]})") ==
        "iterate: strides holds 9223372036854775808, which does not fit a signed 64-bit integer");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[2,3],"strides":[1]}]})") ==
        "layout: got 1 strides for shape (2, 3); give one for each axis");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[-2],"strides":[1]}]})") ==
        "layout: extent -2 in shape (-2) is negative; extents must be 0 or more");
  CHECK(refusal(R"({"op":"neg","operands":[{"shape":[4294967296,4294967296],"strides":[1,1]}]})") ==
        "iterate: the element count of shape (4294967296, 4294967296) passes 2^63-1");
  CHECK(refusal(R"({"op":"none","operands":[{"shape":[3],"strides":[9223372036854775807]}]})").find("fit") !=
        std::string::npos);
  const json ones = std::vector<int>(1025, 1);
  CHECK(refusal(json({{"op", "neg"}, {"operands", {{{"shape", ones}, {"strides", ones}}}}}).dump()) ==
        "iterate: shape has 1025 entries; there may be 1024");
  CHECK(refusal(std::string(100'000, '[')).rfind("iterate: not a JSON object: '", 0) == 0);
  CHECK(refusal("{\"op\":\"\xff\"}").rfind("iterate: not a JSON object: '", 0) == 0);

  const Outcome outcome = run({"--jsonl"}, "nonsense\n{\"op\":\"neg\",\"operands\":[{\"shape\":[],\"strides\":[]}]}\n");
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("\n{\"shape\":[],\"strides\":[],\"is_contiguous\":true") != std::string::npos);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
}

}  // namespace iterate_command_test
