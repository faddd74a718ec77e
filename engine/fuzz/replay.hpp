// A corpus: cases that once failed, or that are hard.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/properties.hpp"

namespace oriel::fuzz {

struct ReplayResult {
  std::uint64_t cases = 0;
  std::vector<std::string> failures;  // a line each, with the line number
};

/// Checks every line of a corpus: a case as PROTOCOL.md writes it; "note" may say where it is from. Blank lines are
/// skipped. Throws ParseError naming the line that is not a case.
ReplayResult replay(std::istream& corpus, const std::function<std::unique_ptr<Subject>()>& make_subject);

}  // namespace oriel::fuzz
