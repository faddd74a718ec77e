#include "fuzz/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <istream>
#include <mutex>
#include <thread>

#include "fuzz/case_json.hpp"
#include "fuzz/shrink.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

// The number of cases of one kind that a thread takes at a time.
constexpr std::uint64_t kChunk = 128;

/// The state that the threads share.
class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options) {
    for (const Kind kind : options.kinds) {
      for (int k = 0; k < info(kind).weight; ++k) turns_.push_back({kind, static_cast<std::uint64_t>(k)});
    }
    // Kinds alternate, so that a campaign that is cut short has covered all of them.
    std::stable_sort(turns_.begin(), turns_.end(), [](const Turn& a, const Turn& b) { return a.before < b.before; });
  }

  CampaignResult run() {
    const unsigned count = std::max(1U, options_.threads);
    std::vector<std::thread> threads;
    running_ = count;
    for (unsigned k = 0; k < count; ++k) threads.emplace_back([this] { work(); });
    watch();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    result_.cases = 0;
    for (const KindTally& tally : result_.tallies) result_.cases += tally.cases;
    result_.seconds = elapsed();
    if (result_.failure) minimise(*result_.failure);
    return std::move(result_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!done_.wait_for(lock, std::chrono::milliseconds(500), [this] { return running_ == 0; })) {
      if (!options_.progress) continue;
      lock.unlock();
      options_.progress(checked_.load(), unknown_.load(), elapsed());
      lock.lock();
    }
  }

  void work() {
    std::array<KindTally, kKinds> tallies;
    try {
      const std::unique_ptr<Subject> subject = options_.make_subject();
      while (const std::uint64_t cases = next_chunk(*subject, tallies)) checked_ += cases;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      first_failed_ = 0;  // makes the other threads stop
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t k = 0; k < kKinds; ++k) result_.tallies[k].add(tallies[k]);
    --running_;
    done_.notify_all();
  }

  /// Checks the next chunk and returns its number of cases; 0 if the work is done.
  std::uint64_t next_chunk(Subject& subject, std::array<KindTally, kKinds>& tallies) {
    if (options_.seconds > 0 && elapsed() >= options_.seconds) return 0;
    const std::uint64_t chunk = next_.fetch_add(1);
    if (chunk >= first_failed_.load() || chunk * kChunk >= options_.cases) return 0;
    const Turn& turn = turns_[chunk % turns_.size()];
    const Kind kind = turn.kind;
    const std::uint64_t first =
        options_.skip + (chunk / turns_.size() * static_cast<std::uint64_t>(info(kind).weight) + turn.before) * kChunk;
    const std::uint64_t count = std::min(kChunk, options_.cases - chunk * kChunk);
    std::vector<Case> cases;
    cases.reserve(count);
    for (std::uint64_t k = 0; k < count; ++k) {
      cases.push_back(campaign_case(options_.seed, kind, first + k, options_.most_elements));
    }
    std::vector<std::optional<Failure>> failures(count);
    KindTally& tally = tallies[static_cast<std::size_t>(kind)];
    const std::uint64_t unknown = tally.unknown;
    subject.check(kind, cases, failures, tally);
    unknown_ += tally.unknown - unknown;
    for (std::uint64_t k = 0; k < count; ++k) {
      if (!failures[k]) continue;
      const std::lock_guard lock(mutex_);
      if (chunk < first_failed_.load()) {
        first_failed_ = chunk;
        result_.failure = CampaignFailure{kind, first + k, cases[k], {cases[k], *failures[k], 0}};
      }
      break;
    }
    return count;
  }

  void minimise(CampaignFailure& failure) {
    const std::unique_ptr<Subject> subject = options_.make_subject();
    failure.smallest = shrink(*subject, failure.kind, failure.found, failure.smallest.failure);
    failure.smallest.program = subject->program(failure.smallest.smallest);
  }

  /// The place of a chunk in a round over all kinds.
  struct Turn {
    Kind kind;
    std::uint64_t before;  // chunks of this kind earlier in the round
  };

  const CampaignOptions& options_;
  std::vector<Turn> turns_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> first_failed_{UINT64_MAX};  // chunk
  std::atomic<std::uint64_t> checked_{0};
  std::atomic<std::uint64_t> unknown_{0};
  std::mutex mutex_;  // guards the members below
  std::condition_variable done_;
  unsigned running_ = 0;
  std::exception_ptr error_;
  CampaignResult result_;
};

}  // namespace

Case campaign_case(std::uint64_t seed, Kind kind, std::uint64_t number, std::int64_t most_elements) {
  Choices choices(seed * kKinds + static_cast<std::uint64_t>(kind), number);
  return generate(kind, choices, most_elements);
}

CampaignResult run_campaign(const CampaignOptions& options) { return Campaign(options).run(); }

ReplayResult replay(std::istream& corpus, const std::function<std::unique_ptr<Subject>()>& make_subject) {
  const std::unique_ptr<Subject> subject = make_subject();
  ReplayResult result;
  std::string line;
  for (int number = 1; std::getline(corpus, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Case c;
    try {
      c = parse_case(line, "fuzz");
    } catch (const Error& error) {
      throw ParseError("fuzz", fmt::format("line {} of the corpus: {}", number, error.message()));
    }
    ++result.cases;
    if (const auto failure = subject->check_one(checkable_kind(Kind::Huge, c), c)) {
      result.failures.push_back(fmt::format("line {}: {} broken: {}\n  {}\n", number, info(failure->property).name,
                                            failure->seen, program_text(c)));
    }
  }
  return result;
}

}  // namespace oriel::fuzz
