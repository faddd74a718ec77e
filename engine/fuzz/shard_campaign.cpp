#include <fmt/format.h>

#include <chrono>

#include "fuzz/shard_properties.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {
namespace {

/// The decisions of a case. After these bytes each decision is the least.
using Decisions = std::vector<std::uint8_t>;
constexpr std::size_t kDecisions = 192;

Decisions decisions_of(std::uint64_t seed, std::uint64_t number) {
  Choices choices(seed, number);
  Decisions bytes(kDecisions);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(choices.between(0, 255));
  return bytes;
}

ShardVerdict verdict_of(const Decisions& decisions, std::string* program = nullptr) {
  Choices choices{std::span<const std::uint8_t>(decisions)};
  const ShardCase shard_case = draw_shard_case(choices);
  if (program != nullptr) {
    *program = fmt::format("from  {}\nto    {}\n", shard_case.source.program, shard_case.target.program);
  }
  try {
    return check_shard_case(shard_case, choices);
  } catch (const Error& error) {
    ShardVerdict verdict;
    verdict.broken = fmt::format("throws {}", error.what());
    return verdict;
  }
}

/// Simpler decisions under which a case still fails.
Decisions simplest(Decisions decisions) {
  for (bool simpler = true; simpler;) {
    simpler = false;
    for (std::size_t size = kDecisions / 2; size > 0; size /= 2) {
      for (std::size_t k = 0; k + size <= decisions.size(); k += size) {
        for (const bool remove : {true, false}) {
          Decisions tried = decisions;
          const auto first = tried.begin() + static_cast<std::ptrdiff_t>(k);
          if (remove) {
            tried.erase(first, first + static_cast<std::ptrdiff_t>(size));
          } else {
            std::fill(first, first + static_cast<std::ptrdiff_t>(size), std::uint8_t{0});
          }
          if (tried == decisions || verdict_of(tried).broken.empty()) continue;
          decisions = std::move(tried);
          simpler = true;
          break;
        }
      }
    }
  }
  return decisions;
}

}  // namespace

ShardCampaignResult run_shard_campaign(const ShardCampaign& options) {
  ShardCampaignResult result;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  for (std::uint64_t number = 0; number < options.cases; ++number) {
    if (options.seconds > 0 && seconds() > options.seconds) break;
    const Decisions decisions = decisions_of(options.seed, number);
    const ShardVerdict verdict = verdict_of(decisions);
    ++result.cases;
    if (!verdict.broken.empty()) {
      std::string program;
      const ShardVerdict smallest = verdict_of(simplest(decisions), &program);
      result.failure = fmt::format("case {} of seed {}: {}\n{}", number, options.seed, smallest.broken, program);
      break;
    }
    result.elements += verdict.sent;
    result.sums += verdict.sums;
    ++result.recognised[verdict.recognised];
  }
  result.seconds = seconds();
  return result;
}

}  // namespace oriel::fuzz
