#include "fuzz/properties.hpp"

#include <array>

namespace oriel::fuzz {
namespace {

constexpr std::array<PropertyInfo, kProperties> kPropertyTable{{
    {Property::Soundness, "soundness", "every form of a case has the same position at every index"},
    {Property::Completeness, "completeness", "if a case is one view, one view is found"},
    {Property::Canonical, "canonical", "equal maps of one view are the same view"},
    {Property::Idempotence, "idempotence", "simplifying again changes nothing"},
    {Property::Inverse, "inverse", "a movement and its inverse cancel"},
    {Property::Order, "order", "the order in which views are merged does not matter"},
    {Property::Expressions, "expressions", "index and valid expressions agree with the table"},
    {Property::Contiguity, "contiguity", "contiguous means that the position of flat index n is n"},
    {Property::Refinement, "refinement", "a refined stack is one view with the same positions"},
    {Property::Kernels, "kernels", "generated kernels read the positions of the table"},
    {Property::Answers, "answers", "every legal case is answered in the requested form"},
}};

}  // namespace

std::span<const PropertyInfo> properties() { return kPropertyTable; }
const PropertyInfo& info(Property property) { return kPropertyTable[static_cast<std::size_t>(property)]; }

std::optional<Failure> Subject::check_one(Kind kind, const Case& c) {
  KindTally tally;
  std::optional<Failure> failure;
  check(kind, {&c, 1}, {&failure, 1}, tally);
  return failure;
}

}  // namespace oriel::fuzz
