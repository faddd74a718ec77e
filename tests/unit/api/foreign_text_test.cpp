// Text from outside cannot control a terminal: Oriel escapes it in errors and in debug lines.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "base/debug.hpp"
#include "oriel/oriel.hpp"
#include "schedule/rules.hpp"

namespace foreign_text_test {

using namespace oriel;

namespace {

const std::string kForeign = "\x1b[31mred\xff\rsecond\nthird";
const std::string kLine = "\\x1b[31mred\\xff\\x0dsecond\\x0athird";  // a name; its line end is escaped too
const std::string kText = "\\x1b[31mred\\xff\\x0dsecond\nthird";     // a message, which may have several lines

bool acts(std::string_view text) { return text.find_first_of("\x1b\r\xff") != std::string_view::npos; }

template <class Kind>
void check_kind() {
  const detail::CallSite site(Site(Site::Kind::line, "main\x1b.cpp", 12), detail::CallSite::Nesting::inner);
  try {
    throw Kind("read\x1b", kForeign);
  } catch (const Error& error) {
    CHECK(error.operation() == "read\\x1b");
    CHECK(error.message() == "read\\x1b: " + kText);
    CHECK(std::string(error.what()) == "read\\x1b: " + kText + "\nat main\\x1b.cpp:12");
  }
}

struct Call {
  const char* what;
  std::function<void()> run;
};

}  // namespace

TEST_CASE("errors of all kinds, with any operation, message and file") {
  check_kind<Error>();
  check_kind<UserError>();
  check_kind<ShapeError>();
  check_kind<DTypeError>();
  check_kind<IndexError>();
  check_kind<ArgumentError>();
  check_kind<OverflowError>();
  check_kind<ParseError>();
  check_kind<IoError>();
  check_kind<DeviceError>();
  check_kind<MemoryError>();
  check_kind<InternalError>();
}

TEST_CASE("every call that takes a name, a path or a text writes it so") {
  const Tensor x = Tensor::of<float>({1, 2});
  const Comprehension twice = comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i) * 2 }");
  const std::string nowhere = "/nowhere/" + kForeign;
  const std::vector<Call> calls{
      {"dtype_from_name", [] { dtype_from_name(kForeign); }},
      {"Device::parse", [] { Device::parse(kForeign); }},
      {"set_debug", [] { set_debug(kForeign); }},
      {"debug_level", [] { debug_level(kForeign); }},
      {"set_rule_enabled", [] { schedule::set_rule_enabled(kForeign, false); }},
      {"an instruction set", [] { backend::isa::table(kForeign.c_str()); }},
      {"set_dump_directory", [] { set_dump_directory("/proc/" + kForeign); }},
      {"read_npy", [&] { read_npy(nowhere); }},
      {"write_npy", [&] { write_npy(nowhere, x); }},
      {"read_image", [&] { read_image(nowhere); }},
      {"write_image", [&] { write_image(nowhere, x); }},
      {"export_cpp", [&] { export_cpp({x * 2}, "/tmp", {.name = kForeign}); }},
      {"an input's name",
       [&] {
         export_cpp({x * 2}, "/tmp", {.name = "f", .inputs = {{kForeign, x}}});
       }},
      {"an output's name", [&] { export_cpp({x * 2}, "/tmp", {.name = "f", .outputs = {kForeign}}); }},
      {"the export's folder",
       [&] {
         export_cpp({x * 2}, "/proc/" + kForeign, {.name = "f", .inputs = {{"x", x}}});
       }},
      {"a comprehension's file", [] { comprehension("def f(", {}, kForeign); }},
      {"a comprehension's name", [] { comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i) }", kForeign); }},
      {"a result's name", [&] { twice(x)[kForeign]; }},
  };
  for (const Call& call : calls) {
    CAPTURE(call.what);
    std::string said;
    try {
      call.run();
    } catch (const Error& error) {
      said = error.what();
    }
    CAPTURE(said);
    CHECK(said.find(kLine) != std::string::npos);
    CHECK_FALSE(acts(said));
  }
}

TEST_CASE("control characters in a comprehension's text are shown and have no effect") {
  try {
    comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i) + \x1b[31m }");
    FAIL("it is no expression");
  } catch (const Error& error) {
    CHECK_FALSE(acts(error.what()));
  }
}

TEST_CASE("lines for the debug sink") {
  std::vector<std::string> lines;
  set_debug_sink([&](std::string_view line) { lines.emplace_back(line); });
  base::debug_print(kForeign);
  set_debug_sink({});
  CHECK(lines == std::vector<std::string>{"\\x1b[31mred\\xff\\x0dsecond", "third"});
}

}  // namespace foreign_text_test
