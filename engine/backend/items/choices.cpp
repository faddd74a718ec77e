#include "backend/items/choices.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/escape.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::items {

bool tuning_wanted() {
  const auto text = base::env_text("ORIEL_TUNE");
  if (!text || *text == "0") return false;
  if (*text == "1") return true;
  throw ArgumentError("ORIEL_TUNE",
                      fmt::format("\"{}\" is neither 0 (off) nor 1 (time tile shapes once)", base::escaped(*text)));
}

std::string Choices::key(const codegen::LoopProgram& program) const {
  return fmt::format("choice\n{}{}", context_, codegen::to_string(program));
}

int Choices::find(const codegen::LoopProgram& program, int shapes) {
  if (!on_ || shapes < 2) return -1;
  const std::string k = key(program);
  const std::lock_guard lock(guard_);
  const auto known = known_.find(k);
  if (known != known_.end()) return known->second;
  const auto entry = cache_.find(k);
  if (!entry) return -1;
  int shape = -1, of = 0;
  char rest = 0;
  if (std::sscanf(entry->c_str(), "shape %d of %d%c", &shape, &of, &rest) != 2 || of != shapes || shape < 0 ||
      shape >= shapes) {
    cache_.drop(k);
    return -1;
  }
  return known_[k] = shape;
}

void Choices::remember(const codegen::LoopProgram& program, int shapes, int shape) {
  const std::string k = key(program);
  const std::lock_guard lock(guard_);
  known_[k] = shape;
  ++timed_;
  cache_.put(k, fmt::format("shape {} of {}", shape, shapes));
}

}  // namespace oriel::backend::items
