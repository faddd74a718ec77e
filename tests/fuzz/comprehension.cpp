// A text of index notation: it is refused with a place inside the text, or its canonical form checks again and stays
// itself.
#include <exception>
#include <string>

#include "fuzz/target.hpp"
#include "lang/program.hpp"
#include "oriel/comprehension.hpp"

using namespace oriel;
using fuzzing::require;

namespace {

void check(const std::string& text) {
  std::vector<lang::ProgramPtr> programs;
  try {
    programs = lang::check(text);
  } catch (const ComprehensionError& error) {
    require(!error.kind().empty() && error.line() > 0 && error.column() > 0, "an error without a place: " + text);
    require(error.diagnostic().find('^') != std::string::npos, "an error that marks nothing: " + error.diagnostic());
    return;
  }
  require(!programs.empty(), "neither a definition nor an error");
  for (const lang::ProgramPtr& program : programs) {
    require(!lang::canonical_text(*program).empty(), "a definition without a text");
    for (const lang::CheckedStatement& statement : program->statements) {
      for (const lang::AccessUse& use : statement.accesses) lang::text(program->definition, use.expr);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 20000) return 0;
  try {
    check(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const std::exception& error) {
    fuzzing::fail("threw: " + std::string(error.what()));
  }
  return 0;
}
