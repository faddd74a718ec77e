// The properties that every case must have, and the subjects on which they are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/case.hpp"
#include "fuzz/generate.hpp"
#include "fuzz/tally.hpp"

namespace oriel::fuzz {

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
  Answers,
};
inline constexpr std::size_t kProperties = 11;

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
