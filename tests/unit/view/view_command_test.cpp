// `oriel view`: the text form and the JSON lines.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/lines.hpp"
#include "support/command.hpp"

namespace view_command_test {

namespace {

using oriel::test::Outcome;

Outcome run(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), "view");
  return oriel::test::run_command(arguments, input);
}

std::string error_of(const std::string& program) {
  const Outcome outcome = run({program});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  return outcome.err;
}

std::string answer(const std::string& line) { return oriel::cli::answer_line(line, false); }

}  // namespace

TEST_CASE("a program prints the stack after each step, the expressions and the table") {
  const Outcome outcome = run({"2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1", "--table"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "2,6            (2,6):(6,1)  (one view)\n"
        "pad 1,1 0,0    (4,6):(6,1)-6[1:3,0:6)  (one view)\n"
        "reshape 4,2,3  (4,2,3):(6,3,1)-6[1:3,0:2,0:3)  (one view)\n"
        "flip 1         (4,2,3):(6,-3,1)-3[1:3,0:2,0:3)  (one view)\n"
        "index: i0*6 - i1*3 + i2 - 3\n"
        "valid: i0 >= 1 && i0 < 3\n"
        "contiguous: no\n"
        "table:\n"
        "  -1 -1 -1\n  -1 -1 -1\n\n   3  4  5\n   0  1  2\n\n   9 10 11\n   6  7  8\n\n  -1 -1 -1\n  -1 -1 -1\n");
}

TEST_CASE("an expression whose numbers do not fit is said to be none, and the rest is answered") {
  const Outcome outcome = run({"(4):(1)-1[1:3) over (6):(1)-9223372036854775808"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("\nindex: no expression in 64 bits\n") != std::string::npos);
  CHECK(outcome.out.find("\ncontiguous: no\n") != std::string::npos);
}

TEST_CASE("a program that cannot be answered in full prints nothing but the error") {
  const Outcome outcome = run({"--table", "10000001"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("at most 10000000 are listed") != std::string::npos);
}

TEST_CASE("a program says whether the stack merged") {
  const std::string out = run({"4 | shrink 1:3 | pad 1,1 | reshape 2,2 | permute 1,0 | reshape 4"}).out;
  CHECK(out.find("reshape 2,2  (2,2):(2,1) over (4):(1)[1:3)  (2 views, not merged)\n") != std::string::npos);
  CHECK(out.find("reshape 4    (4):(-1)+3[1:3)  (3 views, merged into one)\n") != std::string::npos);
}

TEST_CASE("a stack that stays several views tells its refinement") {
  CHECK(run({"3,4 | permute 1,0 | reshape 12"}).out ==
        "3,4          (3,4):(4,1)  (one view)\n"
        "permute 1,0  (4,3):(1,4)  (one view)\n"
        "reshape 12   (12):(1) over (4,3):(1,4)  (2 views, not merged)\n"
        "refined: axis 0 as 4,3: (4,3):(1,4)\n"
        "index: (i0%3)*4 + i0/3\n"
        "valid: 1\n"
        "contiguous: no\n");
  const auto refined = [](const std::string& program) {
    const std::string out = run({program}).out;
    const std::size_t at = out.find("refined: ");
    return at == std::string::npos ? "" : out.substr(at, out.find('\n', at) - at);
  };
  CHECK(refined("2,3,4,5 | permute 1,0,3,2 | reshape 6,20") ==
        "refined: axis 0 as 3,2, axis 1 as 5,4: (3,2,5,4):(20,60,1,5)");
  CHECK(refined("4 | shrink 1:3 | pad 1,1 | reshape 2,2 | permute 1,0") == "refined: none");
  CHECK(refined("4 | reshape 2,2").empty());
}

TEST_CASE("a base alone, scalars and extent 0") {
  CHECK(run({"()"}).out == "()  ():()  (one view)\nindex: 0\nvalid: 1\ncontiguous: yes\n");
  CHECK(run({"--table", " ( 2, 2 ) | reshape 4 | shrink 1:2 | reshape ()"}).out.find("index: 1\n") !=
        std::string::npos);
  CHECK(run({"--table", "0,3"}).out == "0,3  (0,3):(0,0)  (one view)\nindex: 0\nvalid: 0\ncontiguous: yes\ntable:\n");
}

TEST_CASE("a program may have symbols, and prints the guards of its movements") {
  CHECK(run({"s0=5,s1=4 | s0,s1 | pad 1,1 0,0 | permute 1,0 | flip 1"}).out ==
        "s0,s1        (s0,s1):(s1,1)  (one view)\n"
        "pad 1,1 0,0  (s0 + 2,s1):(s1,1)-s1[1:s0 + 1,0:s1)  (one view)\n"
        "permute 1,0  (s1,s0 + 2):(1,s1)-s1[0:s1,1:s0 + 1)  (one view)\n"
        "flip 1       (s1,s0 + 2):(1,-s1)+s0*s1[0:s1,1:s0 + 1)  (one view)\n"
        "index: i0 - i1*s1 + s0*s1\n"
        "valid: i1 >= 1 && i1 < s0 + 1\n"
        "contiguous: no\n");
  CHECK(run({"s0=5,s1=4 | s0,s1 | reshape s0*s1"}).out ==
        "s0,s1          (s0,s1):(s1,1)  (one view)\n"
        "reshape s0*s1  (s0*s1):(1)  (one view)\n"
        "index: i0\nvalid: 1\ncontiguous: yes\n");
  CHECK(run({"s0=8 | s0 | reshape s0//4,4"}).out.find("guard: 4*(s0 // 4) == s0\n") != std::string::npos);
  // Windows of 3: three views of symbolic sizes merge into one.
  const std::string windows =
      run({"h=7:3.. | 1,h | expand 3,h | reshape 3*h | pad 0,3 | reshape 3,h+1 | shrink 0:3,0:h-2"}).out;
  CHECK(windows.find("(3,h - 2):(1,1)  (3 views, merged into one)\n") != std::string::npos);
  CHECK(error_of("s0=5 | s0 | reshape 3,2").find("the element counts must agree") != std::string::npos);
  CHECK(error_of("s0=5 | s1").find("unknown symbol 's1'") != std::string::npos);
  CHECK(error_of("s0=x | s0") == "oriel: view: 'x' in 's0=x' is not a 64-bit integer\n");
  CHECK(run({"--table", "s0=5 | s0"}).err.find("a table needs plain sizes") != std::string::npos);
}

TEST_CASE("a line may have symbols, and answers with the guards") {
  CHECK(answer(R"({"symbols":{"s0":{"hint":5,"lo":2}},"base_shape":["s0",4],)"
               R"("ops":[["reshape",["4*s0"]],["pad",[[1,"s0"]]]]})") ==
        R"({"shape":["5*s0 + 1"],"views":[{"shape":["5*s0 + 1"],"strides":[1],"offset":-1,"mask":[[1,"4*s0 + 1"]]}],)"
        R"("contiguous":false,"guards":[]})");
  CHECK(answer(R"({"symbols":{"s0":{"hint":8,"lo":2}},"base_shape":["s0"],"ops":[["reshape",["s0//4",4]]]})")
            .find(R"("guards":["4*(s0 // 4) == s0")") != std::string::npos);
  // Contiguity may depend on more than the guards decide.
  CHECK(answer(R"({"symbols":{"s0":{"hint":8,"lo":2}},"start_views":[{"shape":[4,3],"strides":["s0",1]}]})")
            .find(R"("contiguous":null)") != std::string::npos);
  CHECK(answer(R"({"base_shape":["s0"]})").find("error") != std::string::npos);
  CHECK(answer(R"({"symbols":{"s0":{}},"base_shape":["s0"]})").find(R"(has no \"hint\")") != std::string::npos);
  CHECK(answer(R"({"symbols":3,"base_shape":["s0"]})").find("error") != std::string::npos);
  CHECK(answer(R"({"unbacked":["u0"],"base_shape":["u0"]})").find("u0") != std::string::npos);
}

TEST_CASE("an expression that is too long for a text is an error, and never cut") {
  std::string symbols, sum;
  for (int k = 0; k < 70; ++k) {
    const std::string name = std::string(60, 'n') + std::to_string(k);
    symbols += (k == 0 ? "\"" : ",\"") + name + R"(":{"hint":5,"lo":2})";
    sum += (k == 0 ? "" : "+") + name;
  }
  const std::string most = "\"max(" + sum + ",700)\"";
  const std::string product = "\"(" + sum + ")*max(" + sum + ",700)\"";
  const auto line = [&](const std::string& shape) {
    return answer(R"({"symbols":{)" + symbols + R"(},"base_shape":[)" + shape + R"(],"ops":[]})");
  };
  CHECK(line(product).find("\"shape\"") != std::string::npos);
  const std::string refused = line("2," + product + "," + most + "," + most + "," + most);
  CHECK(refused == R"({"error":"write: an expression takes more than 1048576 characters"})");
}

TEST_CASE("usage errors exit with 2 and the usage") {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "oriel view: a program is missing\n"},
           {{"--tables", "2"}, "oriel view: unknown option '--tables'\n"},
           {{"2,3", "flip 0"},
            "oriel view: unexpected argument 'flip 0'; this command takes one program, so quote it as a whole\n"},
           {{"--jsonl", "2,3"}, "oriel view: --jsonl reads standard input and takes no program\n"}}) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.rfind(message + "\nusage: oriel view", 0) == 0);
  }
  CHECK(run({"--help"}).status == 0);
  CHECK(run({"--help"}).out.rfind("usage: oriel view", 0) == 0);
}

TEST_CASE("errors of a program exit with 1") {
  CHECK(error_of("") ==
        "oriel: view: a program starts with a shape, such as 2,6, or () for a scalar, or with views, such as "
        "(2,3):(1,2); got ''\n");
  CHECK(error_of("2,x") == "oriel: view: 'x' is not an integer in '2,x'\n");
  CHECK(error_of("2,3 | reshape 99999999999999999999") ==
        "oriel: view: '99999999999999999999' does not fit a signed 64-bit integer in 'reshape 99999999999999999999'\n");
  CHECK(error_of("2,3 | turn 1") ==
        "oriel: view: unknown movement 'turn'; there are reshape, permute, expand, shrink, pad, flip, every\n");
  CHECK(error_of("2,3 |") == "oriel: view: an empty step; between bars stands a movement, such as flip 0\n");
  CHECK(error_of("2,3 | shrink 0:1,2") ==
        "oriel: view: '2' in 'shrink 0:1,2' is not a pair; write shrink lo:hi,lo:hi\n");
  CHECK(error_of("2,3 | pad 1,1,0 0") ==
        "oriel: view: '1,1,0' in 'pad 1,1,0 0' is not a pair; write pad before,after before,after\n");
  CHECK(error_of("2,3 | flip 2") ==
        "oriel: flip: axes (2) for shape (2, 3) must each be named once and lie in 0 <= axis < 2\n");
}

TEST_CASE("each line is answered by one line, in order") {
  const Outcome outcome = run({"--jsonl", "--table"},
                              "{\"base_shape\":[2,2],\"ops\":[[\"permute\",[1,0]]]}\n"
                              "nonsense\n"
                              "{\"base_shape\":[3],\"ops\":[[\"pad\",[[1,0]]],[\"shrink\",[[0,2]]]]}\n"
                              "{\"base_shape\":[]}\n");
  CHECK(outcome.status == 0);
  CHECK(outcome.out ==
        "{\"shape\":[2,2],\"views\":[{\"shape\":[2,2],\"strides\":[1,2],\"offset\":0,\"mask\":null}],\"contiguous\":"
        "false,"
        "\"table\":[0,2,1,3]}\n"
        "{\"error\":\"view: not a JSON object: 'nonsense'\"}\n"
        "{\"shape\":[2],\"views\":[{\"shape\":[2],\"strides\":[0],\"offset\":0,\"mask\":[[1,2]]}],\"contiguous\":false,"
        "\"table\":[-1,0]}\n"
        "{\"shape\":[],\"views\":[{\"shape\":[],\"strides\":[],\"offset\":0,\"mask\":null}],\"contiguous\":true,"
        "\"table\":[0]}\n");
}

TEST_CASE("a line may start from a stack of views") {
  CHECK(answer(R"({"start_views":[{"shape":[2,3],"strides":[1,2],"offset":4,"mask":null},)"
               R"({"shape":[6],"strides":[1],"offset":0}],"ops":[]})") ==
        R"({"shape":[6],"views":[{"shape":[2,3],"strides":[1,2],"offset":4,"mask":null},)"
        R"({"shape":[6],"strides":[1],"offset":0,"mask":null}],"contiguous":false})");
  CHECK(answer(R"({"start_views":[{"shape":[4],"strides":[2],"offset":1,"mask":[[1,4]]}],"ops":[["flip",[0]]]})") ==
        R"({"shape":[4],"views":[{"shape":[4],"strides":[-2],"offset":7,"mask":[[0,3]]}],"contiguous":false})");
  CHECK(answer(R"({"base_shape":[1073741824,1073741824],"ops":[["permute",[1,0]],["permute",[1,0]]]})").find("true") !=
        std::string::npos);
}

TEST_CASE("bad lines are answered by an error") {
  const auto error = [](const std::string& message) { return R"({"error":")" + message + R"("})"; };
  CHECK(answer("[]") == error("view: a line must hold one JSON object, not array"));
  CHECK(answer("{}") == error(R"(view: give either \"base_shape\" or \"start_views\")"));
  CHECK(answer(R"({"base_shape":[1],"start_views":[]})") ==
        error(R"(view: give either \"base_shape\" or \"start_views\")"));
  CHECK(answer(R"({"base_shape":3})") == error("view: base_shape must be an array of integers, not number"));
  CHECK(answer(R"({"base_shape":[2.5]})") == error("view: base_shape holds number; it must hold integers"));
  CHECK(answer(R"({"base_shape":[18446744073709551615]})") ==
        error("view: base_shape holds 18446744073709551615, which does not fit a signed 64-bit integer"));
  CHECK(answer(R"({"base_shape":[-1]})") ==
        error("contiguous: extent -1 in shape (-1) is negative; extents must be 0 or more"));
  CHECK(answer(R"({"base_shape":[4611686018427387904,4]})") ==
        error("contiguous: the element count of shape (4611686018427387904, 4) passes 2^63-1"));
  CHECK(answer(R"({"start_views":5})") == error("view: start_views must be an array of views, not number"));
  CHECK(answer(R"({"start_views":[]})") == error("view: a stack of no views; give at least one, innermost first"));
  CHECK(answer(R"({"start_views":[7]})") == error("view: each entry of start_views must be an object, not number"));
  CHECK(answer(R"({"start_views":[{"shape":[2]}]})") ==
        error(R"(view: a view lacks \"strides\"; it has shape, strides, offset and mask)"));
  CHECK(answer(R"({"start_views":[{"shape":[2],"strides":[1],"mask":[]}]})") ==
        error("view: mask is empty; give one range for each axis, or null"));
  CHECK(answer(R"({"start_views":[{"shape":[2],"strides":[1],"mask":[[0]]}]})") ==
        error("view: each entry of mask must be a pair of integers"));
  CHECK(answer(R"({"start_views":[{"shape":[2],"strides":[1],"mask":4}]})") ==
        error("view: mask must be an array of pairs, not number"));
  CHECK(answer(R"({"start_views":[{"shape":[2],"strides":[1]},{"shape":[3],"strides":[1]}]})") ==
        error("view: view (3):(1) reads positions 0 to 2 of a view of shape (2); they must lie in 0 <= position < 2"));
  CHECK(answer(R"({"base_shape":[2],"ops":3})") == error("view: ops must be an array, not number"));
  CHECK(answer(R"({"base_shape":[2],"ops":[["flip"]]})") ==
        error(R"(view: each entry of ops must be [name, arguments], such as [\"flip\", [0]])"));
  CHECK(answer(R"({"base_shape":[2],"ops":[["turn",[0]]]})") ==
        error("view: unknown movement 'turn'; there are reshape, permute, expand, shrink, pad, flip, every"));
  CHECK(answer(R"({"base_shape":[2],"ops":[["pad",[1,1]]]})") ==
        error("view: each entry of pad must be a pair of integers"));
  CHECK(answer(R"({"base_shape":[2],"ops":[["flip",[true]]]})") ==
        error("view: flip holds boolean; it must hold integers"));
  CHECK(answer(R"({"base_shape":[2],"ops":[["reshape",[3]]]})") ==
        error("reshape: shape (2) of 2 elements cannot become (3) of 3; the element counts must agree"));
  CHECK(answer("").rfind(R"({"error":"view: not a JSON object)", 0) == 0);
  CHECK(answer("\xff\xfe{").rfind(R"({"error":"view: not a JSON object)", 0) == 0);
  CHECK(oriel::cli::answer_line(R"({"base_shape":[10000001]})", true) ==
        error("table: shape (10000001) has 10000001 entries; at most 10000000 are listed"));
}

TEST_CASE("a line with another shape for a layout is answered as PyTorch's view() would") {
  CHECK(answer(R"({"shape":[2,3,4],"strides":[12,4,1],"new_shape":[6,-1]})") ==
        R"({"ok":true,"shape":[6,4],"strides":[4,1]})");
  CHECK(answer(R"({"shape":[3,2],"strides":[1,3],"new_shape":[6]})") ==
        R"({"ok":false,"error":"incompatible_strides"})");
  CHECK(answer(R"({"shape":[],"strides":[],"new_shape":[]})") == R"({"ok":true,"shape":[],"strides":[]})");
  std::ifstream file(ORIEL_TEST_DATA "/torch_view.json");
  const auto cases = nlohmann::json::parse(file)["cases"];
  REQUIRE(cases.size() == 314);
  for (const auto& c : cases) {
    const std::string id = c["id"];
    INFO(id);
    const auto got = nlohmann::json::parse(answer(
        nlohmann::json({{"shape", c["shape"]}, {"strides", c["strides"]}, {"new_shape", c["new_shape"]}}).dump()));
    for (const char* key : {"ok", "shape", "strides", "error"}) {
      CHECK(got.contains(key) == c["expect"].contains(key));
      if (got.contains(key)) CHECK(got[key] == c["expect"][key]);
    }
  }
}

TEST_CASE("a reshape line that makes no sense gets an error") {
  CHECK(answer(R"({"new_shape":[6]})") == R"({"error":"view: a layout lacks \"shape\"; it has shape and strides"})");
  CHECK(answer(R"({"shape":[6],"new_shape":[6]})") ==
        R"({"error":"view: a layout lacks \"strides\"; it has shape and strides"})");
  CHECK(answer(R"({"shape":[6],"strides":[1],"new_shape":6})") ==
        R"({"error":"view: new_shape must be an array of integers, not number"})");
  CHECK(answer(R"({"shape":[6],"strides":[1],"new_shape":["6"]})") ==
        R"({"error":"view: new_shape holds string; it must hold integers"})");
  CHECK(answer(R"({"shape":[6],"strides":[],"new_shape":[6]})") ==
        R"({"error":"layout: got 0 strides for shape (6); give one for each axis"})");
  CHECK(answer(R"({"shape":[-6],"strides":[1],"new_shape":[6]})") ==
        R"({"error":"layout: extent -6 in shape (-6) is negative; extents must be 0 or more"})");
  CHECK(answer(R"({"shape":[4294967296,4294967296],"strides":[1,1],"new_shape":[1]})") ==
        R"({"error":"view: the element count of shape (4294967296, 4294967296) passes 2^63-1"})");
}

}  // namespace view_command_test
