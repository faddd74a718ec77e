// The text that random_writes prints for a counterexample is a program. It compiles, returns 0 if the engine is right,
// and says where the engine is wrong.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>

#include "writes.hpp"

using namespace oriel::testing;

namespace {

WriteProgram program(std::uint32_t seed, std::size_t length) {
  std::mt19937 random(seed);
  WriteProgram out;
  for (std::size_t k = 0; k < length; ++k) {
    WriteStep step;
    step.kind = static_cast<std::uint32_t>(random() % 1000);
    for (std::uint32_t& d : step.dice) d = static_cast<std::uint32_t>(random() % 1000);
    out.steps.push_back(step);
  }
  return out;
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "oriel-writes-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Compiles and runs a program; true if it returns 0. `said` receives its output.
bool runs(const std::string& source, std::string& said) {
  const Folder folder;
  std::ofstream(folder / "program.cpp") << source;
  const std::string library = LIBRARY;
  const std::string build = std::string(COMPILE) + " -O0 -Wall -Wextra -Werror -o " + (folder / "program") + " " +
                            (folder / "program.cpp") + " " + library + " -Wl,-rpath," +
                            std::filesystem::path(library).parent_path().string() + " 2> " + (folder / "messages");
  if (std::system(build.c_str()) != 0) FAIL(build << "\n" << read(folder / "messages").substr(0, 4000));
  const int status = std::system(((folder / "program") + " > " + (folder / "said")).c_str());
  said = read(folder / "said");
  return status == 0;
}

}  // namespace

TEST_CASE("a program of every kind of step compiles and agrees, and tells a wrong number") {
  const Ran ran = run(program(5, 400));
  REQUIRE(ran.fault.empty());
  const std::string source = text(ran);
  for (const char* part : {"Tensor::borrow(lent0",
                           ".realize());",
                           "full({",
                           ".reshape({-1})",
                           ".transpose();",
                           ".flip(",
                           ".shrink({{",
                           ".slice({{.step",
                           ".slice({{}, {.step",
                           ".select(",
                           "diagonal(",
                           "unfold(",
                           "broadcast_to(",
                           "roll(",
                           "sum(",
                           "expect_refused([&] { t",
                           ".assign(",
                           " += ",
                           " -= ",
                           " *= ",
                           "realize({t",
                           "= Tensor();",
                           "set_lazy_limits({.",
                           "explain(t",
                           "expect<std::int8_t>(t",
                           "expect<std::int32_t>(t",
                           "expect_lent(lent0"}) {
    CAPTURE(part);
    CHECK(source.find(part) != std::string::npos);
  }
  std::string said;
  CHECK(runs(source, said));
  CHECK(said.empty());

  const auto at = source.find(", {", source.find("\n  expect<std::int32_t>(t")) + 3;
  CHECK_FALSE(runs(source.substr(0, at) + "99" + source.substr(at), said));
  CHECK(std::regex_match(said, std::regex("int32 .* on eigen: element 0 is -?[0-9]+, expected 99-?[0-9]+\n")));
}
