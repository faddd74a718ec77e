#include "backend/eigen/compiled/tuning.hpp"

#include <algorithm>

namespace oriel::backend::eigen {
namespace {

// Launches of each tier that count. Estimates for several sizes are less certain than the clock, so more are needed.
constexpr std::size_t kRuns = 5;
constexpr std::size_t kRunsOfSizes = 11;

}  // namespace

bool Measure::native_next() const {
  const std::lock_guard lock(guard_);
  const std::size_t native = ratios_[kNative].size() + (native_seen_ ? 1 : 0);
  return native <= ratios_[kTile].size();
}

bool Measure::add(bool native, double seconds, double estimate) {
  const std::lock_guard lock(guard_);
  if (estimate_ == 0) estimate_ = estimate;
  one_size_ = one_size_ && estimate == estimate_;
  // The first compiled launch is slow, because it reads the code from memory.
  if (native && !native_seen_)
    native_seen_ = true;
  else
    ratios_[native ? kNative : kTile].push_back(seconds / estimate);
  const std::size_t needed = one_size_ ? kRuns : kRunsOfSizes;
  if (done_ || ratios_[kTile].size() < needed || ratios_[kNative].size() < needed) return false;
  return done_ = true;
}

// Of one size the best time is the least disturbed one. Of several sizes the median bears with wrong estimates.
double Measure::typical(std::vector<double> ratios, bool one_size) {
  if (one_size) return *std::min_element(ratios.begin(), ratios.end());
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

double Measure::ratio() const {
  const std::lock_guard lock(guard_);
  return typical(ratios_[kNative], one_size_) / typical(ratios_[kTile], one_size_);
}

}  // namespace oriel::backend::eigen
