// The tiers of a build that has them all.
#include "base/context.hpp"

namespace oriel::base {

EigenTier given_tier(EigenTier wanted, const char* /*from*/) { return wanted; }

}  // namespace oriel::base
