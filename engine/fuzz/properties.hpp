// The properties that every case must have, and the subjects on which they are checked.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/case.hpp"
#include "fuzz/generate.hpp"

namespace oriel::fuzz {

/// Two buckets per octave: bucket b holds times from 2^(b/2) ns up to the start of the next.
inline constexpr std::size_t kTimeBuckets = 64;
inline constexpr std::size_t kLongest = 48;
/// The number of hard cases kept per kind and thread.
inline constexpr std::size_t kHardest = 6;

/// The bucket of a duration.
std::size_t time_bucket(std::uint64_t nanoseconds);
/// The start of bucket b, in nanoseconds.
double bucket_start(std::size_t bucket);

struct HardCase {
  std::uint64_t steps = 0;  // steps of searches
  std::uint64_t nanoseconds = 0;
  Case stack;
};

/// The number of cases of one length (views and movements), and how many of them are one view.
struct LengthTally {
  std::uint64_t cases = 0;
  std::uint64_t one_view = 0;
};

/// The number of stacks of several views that were tried, and how many of them could be refined.
struct RefinedTally {
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
};

struct KindTally {
  std::uint64_t cases = 0;
  std::uint64_t one_view = 0;    // the whole case is one view
  std::uint64_t more_views = 0;  // it needs two or more
  std::uint64_t merges = 0;      // merges that were timed: all stacks of two views
  std::uint64_t merged = 0;      // verdict Merged
  std::uint64_t refused = 0;     // verdict No
  std::uint64_t unknown = 0;     // verdict Unknown
  std::uint64_t searched = 0;    // cases whose merge (or simplify, if not a pair) needed a search
  std::uint64_t steps = 0;       // steps of those searches
  std::uint64_t seen_again = 0;  // a map of two or more views that was seen before
  std::uint64_t other_form = 0;  // those of them with another canonical form than before
  RefinedTally refinable;
  std::array<LengthTally, kLongest> by_length{};
  std::array<std::uint64_t, kTimeBuckets> merge_time{};
  std::vector<HardCase> hardest;  // most steps first, then longest

  void add(const KindTally& other);
  void keep_if_hard(std::uint64_t steps, std::uint64_t nanoseconds, const Case& c);
  /// The time in nanoseconds below which `share` of the merges lie, estimated from the histogram; 0 if there are no
  /// merges.
  double time_quantile(double share) const;
};

enum class Property : std::uint8_t {
  Soundness,
  Completeness,
  Canonical,
  Idempotence,
  Inverse,
  Order,
  Expressions,
  Contiguity,
  Refinement,
  Kernels,
  Adjoint,
  Answers,
};
inline constexpr std::size_t kProperties = 12;

struct PropertyInfo {
  Property property;
  std::string_view name;
  std::string_view summary;
};
std::span<const PropertyInfo> properties();
const PropertyInfo& info(Property property);

/// A violated property, and what was observed instead.
struct Failure {
  Property property = Property::Soundness;
  std::string seen;
};

/// An implementation under test. Use one per thread.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  /// Checks all properties of each case. failures[k] is set to the first property that case k violates. Adds to
  /// `tally`.
  virtual void check(Kind kind, std::span<const Case> cases, std::span<std::optional<Failure>> failures,
                     KindTally& tally) = 0;

  /// The case as a program in the language of what is checked; empty if that has none but ours.
  virtual std::string program(const Case&) { return {}; }

  std::optional<Failure> check_one(Kind kind, const Case& c);
};

/// This build's view algebra.
std::unique_ptr<Subject> make_engine_subject();
/// This build's generated kernels, on the default device.
std::unique_ptr<Subject> make_kernel_subject();

}  // namespace oriel::fuzz
