// What this machine reaches, measured in some hundredths of a second.
#pragma once

namespace oriel::runtime {

struct MachineLimits {
  double bytes_per_second = 0;  ///< of copies by all threads: read and written
  double flops_per_second = 0;  ///< float32 multiply-adds of all threads, two operations each
};
/// Measures on all threads of the machine.
MachineLimits measure_machine();

}  // namespace oriel::runtime
