#include "ranks/known.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>

namespace oriel::ranks {
namespace {

/// One that is known, with what was asked of it.
struct Entry {
  Known sharding;
  std::optional<bool> covers;
};

/// A program that never asks for the same again does not grow: what is known is forgotten at this number.
constexpr std::size_t kMostKnown = 4096;

struct KnownShardings {
  std::recursive_mutex lock;
  std::map<std::string, Entry> by_key;
  // The source is kept, so that its address stays its own.
  std::map<std::pair<const shards::Sharding*, std::string>, std::pair<Known, Known>> derived;
};

KnownShardings& all_known() {
  static KnownShardings all;
  return all;
}

bool places_every_element(const shards::Sharding& sharding) {
  for (std::size_t d = 0; d < sharding.local_strides().size(); ++d) {
    if (sharding.local_strides()[d] == 0 && sharding.local_index()[d] != 1) return false;
  }
  return count(distinct(sharding.boxes(), shards::kPosition)) == numel(sharding.shape()).value();
}

Entry& entry_of(shards::Sharding sharding) {
  KnownShardings& all = all_known();
  const std::string key = key_of(sharding);
  const auto found = all.by_key.find(key);
  if (found != all.by_key.end()) return found->second;
  if (all.by_key.size() >= kMostKnown) {
    all.by_key.clear();
    all.derived.clear();
  }
  return all.by_key.emplace(key, Entry{detail::Shared<shards::Sharding>::make(std::move(sharding)), {}}).first->second;
}

}  // namespace

Known known(shards::Sharding sharding) {
  const std::lock_guard guard(all_known().lock);
  return entry_of(std::move(sharding)).sharding;
}

Known derived(const Known& source, const std::string& what, const std::function<shards::Sharding()>& make) {
  KnownShardings& all = all_known();
  const std::lock_guard guard(all.lock);
  const auto found = all.derived.find({source.get(), what});
  if (found != all.derived.end()) return found->second.second;
  const Known result = known(make());
  if (all.derived.size() >= kMostKnown) all.derived.clear();
  all.derived.emplace(std::pair(source.get(), what), std::pair(source, result));
  return result;
}

bool covers(const Known& sharding) {
  const std::lock_guard guard(all_known().lock);
  Entry& entry = entry_of(*sharding);
  if (!entry.covers) entry.covers = places_every_element(*sharding);
  return *entry.covers;
}

std::string key_of(const shards::Sharding& sharding) {
  return fmt::format("{} on {} as {} in {} {}", to_string(sharding.shape()), sharding.mesh().str(), sharding.str(),
                     to_string(sharding.local_shape()), to_string(sharding.local_strides()));
}

}  // namespace oriel::ranks
