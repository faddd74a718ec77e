// Shardings that a program has met. Loops ask for the same movements of the same shardings again and again, and each
// takes microseconds to make: merging views, and its boxes.
#pragma once

#include <functional>
#include <string>

#include "oriel/shared.hpp"
#include "shard/sharding.hpp"

namespace oriel::ranks {

/// A sharding of which there is one object for each that differs, so that objects are compared by their addresses.
using Known = detail::Shared<const shards::Sharding>;

/// The one object for this sharding.
Known known(shards::Sharding sharding);

/// What `make` gives for `source`, made once for each source and text: `what` says all on which it depends.
Known derived(const Known& source, const std::string& what, const std::function<shards::Sharding()>& make);

/// Does some rank hold each element, and each place of a block at most one?
bool covers(const Known& sharding);

/// A text that says all about a sharding.
std::string key_of(const shards::Sharding& sharding);

}  // namespace oriel::ranks
