// The cost of work in nanoseconds on one core. Estimates of time are made of these rates: what explain tells and the
// number of a kernel's threads (backend/eigen/kernel_time), the order of products, recomputation, and what is kept.
//
// Measured on an AMD EPYC (Zen 4) at 2.4 to 3.7 GHz with AVX-512, float32, one thread, as medians of scripts/bench
// graphs, and rounded. On another machine most of them change by one common factor. Estimates are only compared with
// each other, so only ratios matter. The rates are constants, so that a program has the same estimates everywhere.
#pragma once

namespace oriel::schedule {

struct Rates {
  double launch = 2000;  // another kernel: finding it, its arguments, its memory
  double start = 500;    // a kernel that is known, with memory that is allocated
  // A distinct byte, from the second-level cache or from memory.
  double byte = 0.015;
  // `cached_byte`: a byte of an intermediate value that is still cached when it is read. `far_byte`: one that was
  // evicted.
  double cached_byte = 0.004;
  double far_byte = 0.03;

  // The tile machine, an element of 4 bytes; wider ones in proportion.
  double operation = 0.04;  // by the cost column of the op table: an add is 1
  double reduce = 0.1;
  double load = 0.08;       // in order
  double load_view = 0.35;  // added for the second view: parts of runs, quotients and remainders
  double load_views = 0.7;  // added for more than two views, where they are not counted one by one
  double gather = 1;
  double store = 0.1;
  double row = 4;       // reducing a row
  double odd_row = 30;  // reducing a row that is no multiple of the packets

  // Products and windows, a multiplication of 4 bytes.
  double blocked = 0.02;  // of packed panels
  double blocked_integer = 0.08;
  double packed = 0.03;  // with the packing, on average over matrices
  double streamed = 0.05;
  double window = 0.06;
  double fused = 0.12;  // in fused kernels
  // Small matrices side by side: a multiplication, and moving an element into a lane or out of it.
  double side_by_side = 0.05;
  double lane = 0.1;
  // Packing an element of a factor, without computing it: an element that is read, one that is computed tile by tile,
  // and one of a product of a matrix and a vector.
  double pack = 0.12;
  double pack_computed = 0.5;
  double pack_for_vector = 0.1;
};

inline constexpr Rates kRates{};
/// For fusion. It asks what a few more values cost in a kernel that runs anyway. Their operands and tiles are in the
/// nearest cache, and the other costs of the kernel are the same on both sides. A gather reads a table in cache.
inline constexpr Rates kRatesInCache{.operation = 0.025,
                                     .load = 0.04,
                                     .load_view = 0.11,
                                     .load_views = 0.36,
                                     .gather = 0.25,
                                     .store = 0.06,
                                     .pack = 0.04};

}  // namespace oriel::schedule
