// Well-known names that the files' own headers define are refused before a compiler refuses them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "../../support/temporary_folder.hpp"
#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace reserved_test {

using namespace oriel;
using test::refusal;
using test::TemporaryFolder;

TEST_CASE("macros and functions of the C library, in words") {
  const TemporaryFolder folder;
  const Tensor x = zeros({4}).realize();
  const auto export_as = [&](const std::string& name, const std::string& input, const std::string& output) {
    return refusal([&] {
      export_cpp({x + 1}, folder.path(), {.name = name, .inputs = {{input, x}}, .outputs = {output}});
    });
  };
  const std::string macro = ": it is a macro of a header that the files include; another case or a suffix would do";
  CHECK(export_as("f", "errno", "y") == "export_cpp: \"errno\" cannot be the name of an input" + macro);
  CHECK(export_as("f", "x", "EOF") == "export_cpp: \"EOF\" cannot be the name of an output" + macro);
  CHECK(export_as("NULL", "x", "y") == "export_cpp: \"NULL\" cannot be the name of the export" + macro);
  CHECK(export_as("M_PI", "x", "y") == "export_cpp: \"M_PI\" cannot be the name of the export" + macro);
  CHECK(export_as("EIGEN_STRONG_INLINE", "x", "y").find(macro) != std::string::npos);
  CHECK(export_as("class", "x", "y").find("no keyword") != std::string::npos);
  for (const char* name : {"exp", "time", "printf", "size_t", "FILE", "j0"}) {
    CHECK(export_as(name, "x", "y") ==
          "export_cpp: \"" + std::string(name) +
              "\" cannot be the name of the export: the C library declares it; a prefix or "
              "a suffix would do");
  }
  // Inside the namespace these names do no harm.
  REQUIRE(export_as("inner_names", "exp", "time") == "nothing");
  CHECK(std::system(("c++ -std=c++17 -fsyntax-only '" + (folder / "inner_names.cpp") + "'").c_str()) == 0);
}

}  // namespace reserved_test
