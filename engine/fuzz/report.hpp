// A campaign as one self-contained HTML page.
#pragma once

#include <string>

#include "fuzz/campaign.hpp"

namespace oriel::fuzz {

/// Rates by kind and by length, verdicts, searches, the time of a merge as a histogram, the hardest cases drawn as
/// index tables, and the counterexample if there is one. No scripts, no other files.
std::string report_page(const CampaignOptions& options, const CampaignResult& result, const std::string& command);

}  // namespace oriel::fuzz
