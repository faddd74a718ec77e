// Renders a loop program as kernels of work items, and states what a launch of them needs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/dialect.hpp"
#include "source/items/device.hpp"
#include "source/shared_helpers.hpp"

namespace oriel::source::items {

/// The grid of one function.
struct Grid {
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
};

/// How a kernel's points are distributed to items.
enum class WorkMapping : std::uint8_t {
  Loops,    // points, rows or columns, stage by stage
  Blocked,  // a product in blocks
  Squares,  // copies that transpose squares in registers
};

struct Rendered {
  const Dialect* dialect = nullptr;
  /// The functions of the source: one, or two if the points of a reduction are split into parts. Then the second
  /// function combines the parts. A scan in shares has three. Arguments: buffers, partial results (if there are several
  /// functions), numbers, parameters, the number of the pass if there are passes, and for the first function the local
  /// memory of kept rows.
  std::vector<std::string> functions;
  std::vector<Grid> grids;
  std::vector<std::pair<std::string, std::string>> helpers;
  std::string header;  // operands, views, domain: differs between programs that share a source
  std::string body;    // the kernel functions
  bool wide = false;   // positions are 64-bit
  std::vector<std::int64_t> numbers;
  std::vector<std::pair<std::int32_t, DType>> parameters;
  std::vector<std::int64_t> partial_bytes;
  std::vector<std::int64_t> kept_bytes;
  bool fp64 = false;
  WorkMapping mapping = WorkMapping::Loops;
  int passes = 0;      // the functions run in turn so many times; 0: once
  std::string method;  // how points are distributed, in one line
  int shapes = 1;      // number of ways to distribute the points; `RenderOptions::shape` selects one

  /// The complete source of the kernel.
  std::string source() const;
  /// The source without its helpers, which are added to `shared`.
  std::string source_beside(SharedHelpers& shared) const;
};

struct RenderOptions {
  /// Number of items that reduce a row together by a tree in local memory. 1: each item has rows of its own, as on
  /// CPUs. 0: chosen for the device.
  int group_items = 0;
  int lanes = 0;         // of a vector: 1, 2, 4, 8 or 16; 0: what the device prefers
  bool products = true;  // render contractions by blocks
  int shape = 0;         // selects one of several ways to distribute points; 0: the default
};

/// Throws DeviceError if the device lacks something that the program needs.
Rendered render(const codegen::LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                const RenderOptions& options);

}  // namespace oriel::source::items
