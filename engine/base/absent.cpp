// In place of tier.cpp where the build has no compiled tier (meson's option compiled).
#include "base/context.hpp"
#include "oriel/error.hpp"

namespace oriel::base {

EigenTier given_tier(EigenTier wanted, const char* from) {
  if (wanted == EigenTier::compile) {
    throw ArgumentError(from,
                        "EigenTier::compile (\"compile\") needs the compiled tier, which this build lacks; use tile or "
                        "auto, or build Oriel with -Dcompiled=enabled (the profile full has it)");
  }
  return EigenTier::tile;
}

}  // namespace oriel::base
