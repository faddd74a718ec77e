// Fuzzes texts of index notation. Either a text is refused with a place inside the text, or each definition has a
// canonical text, which a comment and other blanks do not change.
#include <exception>
#include <string>

#include "fuzz/target.hpp"
#include "lang/syntax/program.hpp"
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
  const std::vector<lang::ProgramPtr> again = lang::check("# a comment\n " + text + "\n");
  require(again.size() == programs.size(), "a comment in front makes another number of definitions: " + text);
  for (const lang::ProgramPtr& program : programs) {
    const std::string canonical = lang::canonical_text(*program);
    require(!canonical.empty(), "a definition without a text");
    const lang::Program& other = *again[static_cast<std::size_t>(&program - programs.data())];
    require(lang::canonical_text(other) == canonical, "a comment in front makes another canonical text: " + canonical);
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
