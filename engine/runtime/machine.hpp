// What this machine reaches, measured in some tenths of a second.
#pragma once

#include <cstdint>
#include <vector>

namespace oriel::runtime {

struct MachineLimits {
  double bytes_per_second = 0;  ///< of copies by all threads in memory: read and written
  double flops_per_second = 0;  ///< float32 multiply-adds of all threads, two operations each
  /// Copies of so much data, again and again: what is small stays in caches.
  struct Copies {
    std::int64_t bytes = 0;  ///< read and written
    double bytes_per_second = 0;
  };
  std::vector<Copies> copies;  ///< by rising bytes and falling speed; the last are those in memory

  /// The speed of copies of so much data: that of the largest measured size that is no larger.
  double speed(double bytes) const;
  /// Seconds of a launch that reaches the limits: of its bytes at the speed of a copy, or of its operations at the
  /// peak, whichever is longer.
  double seconds(double bytes, double flops) const;
};
/// Measures on all threads of the machine.
MachineLimits measure_machine();

}  // namespace oriel::runtime
