// Replays a corpus: cases that once failed or that are hard.
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
  std::vector<std::string> failures;  // one line per failure, with the line number
};

/// Checks every line of a corpus. A line holds a case as in PROTOCOL.md; the member "note" may state its origin. Blank
/// lines are skipped. Throws ParseError, which names the line, if a line is not a case.
ReplayResult replay(std::istream& corpus, const std::function<std::unique_ptr<Subject>()>& make_subject);

}  // namespace oriel::fuzz
