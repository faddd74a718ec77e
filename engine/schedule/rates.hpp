// The cost of work in nanoseconds on one core. Estimates of time are made of these rates.
//
// Measured on an AMD EPYC (Zen 4) at 2.4 to 3.7 GHz with AVX-512, float32, one thread, as medians of scripts/bench
// graphs, and rounded. On another machine most of them change by one common factor. Estimates are only compared with
// each other, so only ratios matter. The rates are constants, so that a program has the same estimates everywhere.
#pragma once

namespace oriel::schedule {

struct Rates {
  double launch = 2000;  // a kernel: finding it, its arguments, its memory
  // A distinct byte, from a cache or from memory: which values are in a cache depends on what ran before.
  double byte = 0.012;
  // `cached_byte`: a byte of an intermediate value that is still cached when it is read. `far_byte`: one that was
  // evicted.
  double cached_byte = 0.004;
  double far_byte = 0.03;

  // The tile machine, an element of 4 bytes; wider ones in proportion.
  double operation = 0.04;  // by the cost column of the op table: an add is 1
  double reduce = 0.1;
  double load = 0.08;           // in order
  double load_repeated = 0.15;  // one value for a run of points
  double load_apart = 0.22;
  double load_view = 0.35;  // added for each view beyond the first: parts of runs, quotients and remainders
  double load_views = 0.7;  // added for more than two views, where they are not counted one by one
  double gather = 1;
  double store = 0.1;
  double cheap = 0.02;  // constants, positions, masks, rounding

  // Products and windows, a multiplication of 4 bytes.
  double blocked = 0.02;
  double blocked_integer = 0.08;
  double streamed = 0.05;
  double dots = 0.05;
  double window = 0.04;
  // Small matrices side by side: a multiplication, and moving an element into a lane or out of it.
  double side_by_side = 0.05;
  double lane = 0.1;
  // Packing an element of a factor, without computing it: an element that is read, and one that is computed tile by
  // tile. Then what is added for an element that is read through two views, as in windows of a padded image, which are
  // copied in boxes; and for one that is read through more views, where each element has its own index.
  double pack = 0.12;
  double pack_computed = 0.5;
  double pack_for_vector = 0.1;
  double pack_boxes = 0.3;
  double pack_stacked = 8;

  // What a kernel's threads share besides its instructions: reducing a row, reducing a row that is no multiple of the
  // packets, and a multiplication in fused kernels.
  double row = 4;
  double odd_row = 30;
  double fused = 0.12;
};

inline constexpr Rates kRates{};
/// As if every element were read in order.
inline constexpr Rates kRatesInOrder{
    .load_repeated = kRates.load, .load_apart = kRates.load, .load_view = 0, .pack_boxes = 0, .pack_stacked = 0};
/// For fusion. It asks what a few more values cost in a kernel that runs anyway. Their operands and tiles are in the
/// nearest cache, and the other costs of the kernel are the same on both sides. A gather reads a table in cache.
inline constexpr Rates kRatesInCache{.operation = 0.025,
                                     .load = 0.04,
                                     .load_view = 0.11,
                                     .load_views = 0.36,
                                     .gather = 0.25,
                                     .store = 0.06,
                                     .pack = 0.04};
/// For the number of a kernel's threads: the time on one core, with operands in the second-level cache, and with memory
/// that is already allocated.
inline constexpr Rates kRatesForThreads{.launch = 500, .byte = 0.015, .blocked = 0.03, .window = 0.06};

}  // namespace oriel::schedule
