// The path that a device takes to run a kernel, its estimated cost, and the faster path that it could not take. Fixed
// rates give the costs; nothing is measured when a program runs. explain() shows the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oriel::backend {

enum class KernelPath : std::uint8_t {
  Nothing,        // it has no points, or computes nothing
  Elementwise,    // tiles of neighbouring points, nothing is reduced
  Reductions,     // tiles of rows or columns, stage by stage
  Windows,        // overlapping windows: each element of the source is computed once
  DotProducts,    // one row times a factor whose memory runs along the depth
  Streamed,       // few rows: the right factor is read once, as it lies
  Blocked,        // a product in blocks of packed panels
  Rows,           // several parts, a block of rows through all of them
  Online,         // softmax between two products with a running maximum and sum
  Squares,        // OpenCL: copies that turn squares in registers
  Sort,           // a sort: networks of rows side by side, or digit by digit
  Scan,           // sums or products of the elements up to each one, run by run
  Scatter,        // elements combined into the entries that positions name
  Host,           // a function of host memory
  SmallProducts,  // many products of small matrices, sixteen side by side
};
/// "blocked products".
std::string text(KernelPath path);

/// Why a kernel, or a reduction in it, is not on a path that its arithmetic would allow.
enum class PathObstacle : std::uint8_t {
  SharedKernel,  // other reductions, or other loops, are in its kernel
  Padded,        // it is one part of a concat or pad, and its kernel also loops over the other parts
  Converted,     // its products are converted to another dtype before they are summed
  DTypeWithout,  // no register block multiplies this dtype
};

/// A reduction that runs as plain loops, and the path that it missed.
struct PathMiss {
  KernelPath path = KernelPath::Blocked;  // the path it would take without the obstacle
  PathObstacle obstacle = PathObstacle::SharedKernel;
  std::string what;   // "batch 1, 512 x 512 x 512"
  int times = 1;      // the number of equal reductions in the kernel
  double factor = 1;  // its estimated time as loops, divided by its time on the path; 0: the device has no rates
};

struct PathPart {
  KernelPath path = KernelPath::Nothing;
  double nanoseconds = 0;
};

struct PathReport {
  KernelPath path = KernelPath::Nothing;
  std::vector<PathPart> parts;    // of a kernel of several; else the one that it is
  std::vector<PathMiss> missed;   // what would be at least kWorthTelling times as fast
  std::vector<std::string> slow;  // reads that cost several times what reads in order would
  double nanoseconds = 0;         // estimated time of a launch on one core
  double limit = 0;               // the same with every product on its best path and every read in order
  double over_limit() const { return limit > 0 ? nanoseconds / limit : 1; }
};

/// A missed path or a slow read is reported from this factor on.
inline constexpr double kWorthTelling = 1.5;
/// A kernel gets a warning line if it takes this many times its limit and at least this long.
inline constexpr double kFarFromLimit = 4;
inline constexpr double kWarnNanoseconds = 20'000;

/// "not on blocked products (batch 1, 512 x 512 x 512, twice) because other reductions or loops share its kernel:
/// about 17 times as long".
std::string text(const PathMiss& miss);
/// "warning: ..." for a kernel far from its limit; else empty.
std::string warning(const PathReport& report);

}  // namespace oriel::backend
