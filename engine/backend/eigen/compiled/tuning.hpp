// What the tuner (tuner.hpp) knows of a compiled form.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace oriel::backend::eigen {

/// The stage of a kernel under EigenTier::automatic.
enum class Phase : std::uint8_t {
  Watched,   // the tile machine runs it and its time is summed
  Asked,     // the same, and a build was requested
  Measured,  // both tiers run it in turns
  Tile,      // decided for the tile machine
  Native,    // decided for the compiled form
};

/// The times of launches on both tiers, until one of them is chosen.
class Measure {
 public:
  /// Should the next launch run compiled?
  bool native_next() const;
  /// Adds a launch of `seconds`. `estimate`: the time that the tile machine was expected to take, for launches of
  /// several sizes are compared by the ratio. Returns true if this launch was the last one that was needed.
  bool add(bool native, double seconds, double estimate);
  /// The compiled form's time as a part of the tile machine's. Call it once add() has returned true.
  double ratio() const;

 private:
  enum Tier : std::size_t { kTile, kNative };
  static double typical(std::vector<double> ratios, bool one_size);

  mutable std::mutex guard_;
  std::array<std::vector<double>, 2> ratios_;  // by tier; the first compiled launch does not count
  bool native_seen_ = false;
  double estimate_ = 0;  // of the first launch
  bool one_size_ = true;
  bool done_ = false;
};

/// Shared by all kernels that run one compiled form, whatever their sizes are.
struct Tuning {
  std::atomic<Phase> phase{Phase::Watched};
  std::atomic<std::int64_t> tile_ns{0};  // spent by the tile machine
  std::atomic<bool> looked_up{false};    // the disk cache was asked
  std::atomic<bool> recalled{false};     // and for a verdict
  Measure measure;
};

}  // namespace oriel::backend::eigen
