// A campaign: checks many cases on several threads until all are done, the time is up or one fails.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/properties.hpp"
#include "fuzz/shrink.hpp"

namespace oriel::fuzz {

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::uint64_t cases = 1'000'000;  // of all kinds together, shared by their weights
  std::uint64_t skip = 0;           // the number of cases of each kind to skip
  double seconds = 0;               // 0: no limit
  std::int64_t most_elements = 60;
  std::vector<Kind> kinds;
  unsigned threads = 1;
  std::function<std::unique_ptr<Subject>()> make_subject = make_engine_subject;
  bool external = false;  // the subject is another program: counterexamples are not shown as C++
  /// Called about twice a second on the calling thread.
  std::function<void(std::uint64_t cases, std::uint64_t unknown, double seconds)> progress;
};

struct CampaignFailure {
  Kind kind = Kind::Raw;
  std::uint64_t number = 0;  // the number of the case within its kind
  Case found;
  Counterexample smallest;
};

struct CampaignResult {
  std::array<KindTally, kKinds> tallies;
  std::uint64_t cases = 0;
  double seconds = 0;
  std::optional<CampaignFailure> failure;  // the first failing case in order, independent of the number of threads
};

/// Runs a campaign. Case `number` of a kind does not depend on what else runs. Throws what make_subject and the
/// subjects throw.
CampaignResult run_campaign(const CampaignOptions& options);

/// The case with this number.
Case campaign_case(std::uint64_t seed, Kind kind, std::uint64_t number, std::int64_t most_elements);

struct ReplayResult {
  std::uint64_t cases = 0;
  std::vector<std::string> failures;  // one line per failure, with the line number
};

/// Checks every line of a corpus. A line holds a case as in PROTOCOL.md; the member "note" may state its origin. Blank
/// lines are skipped. Throws ParseError, which names the line, if a line is not a case.
ReplayResult replay(std::istream& corpus, const std::function<std::unique_ptr<Subject>()>& make_subject);

}  // namespace oriel::fuzz
