// Writes the report of a campaign as one self-contained HTML page.
#pragma once

#include <string>

#include "fuzz/campaign.hpp"

namespace oriel::fuzz {

/// The page: rates by kind and by length, verdicts, searches, times of merges, the hardest cases with their positions
/// as pictures, and the counterexample if there is one. It needs no other files.
std::string report_page(const CampaignOptions& options, const CampaignResult& result, const std::string& command);

}  // namespace oriel::fuzz
