// The path that a device takes to run a kernel, and its estimated time, from fixed rates: nothing is measured when a
// program runs. explain() shows the report.
#pragma once

#include <cstddef>
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
inline std::string text(KernelPath path) {
  static constexpr const char* kTexts[] = {"nothing",
                                           "elementwise tiles",
                                           "reductions tile by tile",
                                           "windows",
                                           "dot products",
                                           "streamed products",
                                           "blocked products",
                                           "parts that share rows",
                                           "online softmax",
                                           "transposed squares",
                                           "sort",
                                           "scan",
                                           "scatter",
                                           "a host function",
                                           "small products side by side"};
  return kTexts[static_cast<std::size_t>(path)];
}

struct PathReport {
  KernelPath path = KernelPath::Nothing;
  std::vector<KernelPath> parts;  // of a kernel of several parts
  double nanoseconds = 0;         // estimated time of a launch on one core; 0: the device has no rates
};

}  // namespace oriel::backend
