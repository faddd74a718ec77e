// In place of this folder in the profile small: what makes a Map says what it would need.
#include "base/absent.hpp"
#include "oriel/layouts.hpp"

namespace oriel::layouts {

namespace {

[[noreturn]] void no_notations(std::string_view operation) { base::throw_absent(operation, "notations of layouts"); }

}  // namespace

Map Map::read(std::string_view /*text*/) { no_notations("read"); }
Map Map::read(std::string_view /*text*/, Notation /*notation*/) { no_notations("read"); }
Map Map::of(const ShapeTracker& /*tracker*/) { no_notations("of"); }
std::vector<Map> read_tiler(std::string_view /*text*/) { no_notations("read_tiler"); }

// A Map comes from the functions above, so nobody has one.
bool Map::colexicographic() const noexcept { return false; }
ShapeTracker Map::axes() const { no_notations("Map"); }
std::vector<std::int64_t> Map::table(std::int64_t /*limit*/) const { no_notations("Map"); }
Map Map::as(Notation /*notation*/) const { no_notations("Map"); }
std::string Map::str(Notation /*notation*/, int /*element_bytes*/) const { no_notations("Map"); }
std::string Map::str() const { no_notations("Map"); }
Comparison Map::compare(const Map& /*other*/) const { no_notations("Map"); }
Map Map::coalesce() const { no_notations("Map"); }
Map Map::flatten() const { no_notations("Map"); }
Map Map::compose(const Map& /*other*/) const { no_notations("Map"); }
Map Map::complement(std::optional<SymInt> /*bound*/) const { no_notations("Map"); }
Map Map::right_inverse() const { no_notations("Map"); }
Map Map::left_inverse() const { no_notations("Map"); }
Map Map::logical_divide(const Map& /*tiler*/) const { no_notations("Map"); }
Map Map::logical_product(const Map& /*other*/) const { no_notations("Map"); }
Map Map::blocked_product(const Map& /*other*/) const { no_notations("Map"); }
Map Map::raked_product(const Map& /*other*/) const { no_notations("Map"); }
Analysis Map::analyze(const AccessModel& /*model*/) const { no_notations("Map"); }
Map compose(const Map& /*layout*/, const std::vector<Map>& /*tiler*/) { no_notations("Map"); }
Map logical_divide(const Map& /*layout*/, const std::vector<Map>& /*tiler*/) { no_notations("Map"); }
Map zipped_divide(const Map& /*layout*/, const std::vector<Map>& /*tiler*/) { no_notations("Map"); }

}  // namespace oriel::layouts
