// A loop program as kernels of work items, and what a launch of them needs.
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

/// A kernel's sizes for one program.
struct Grid {
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
};

/// How a kernel's points are dealt out.
enum class Form : std::uint8_t {
  Loops,    // points, rows or columns, stage by stage
  Blocked,  // a product in blocks
  Squares,  // copies that turn squares in registers
};

struct Rendered {
  const ItemDialect* dialect = nullptr;
  /// The functions of the source: one, or two where the points that a reduction gathers are dealt out: parts, and their
  /// join. Their arguments: buffers, one partial result a reduction (of two functions), numbers, parameters, and for
  /// the first the local memory of kept rows.
  std::vector<std::string> functions;
  std::vector<Grid> grids;
  std::vector<std::pair<std::string, std::string>> helpers;
  std::string header;  // operands, views, domain: differs between programs that share the source
  std::string body;    // the kernel functions
  bool wide = false;   // positions are 64-bit
  std::vector<std::int64_t> numbers;
  std::vector<std::pair<std::int32_t, DType>> parameters;
  std::vector<std::int64_t> partial_bytes;
  std::vector<std::int64_t> kept_bytes;
  bool fp64 = false;
  Form form = Form::Loops;
  std::string method;  // how points are dealt out, in a line
  int shapes = 1;      // ways that there are to deal them out, of which this is one

  /// What is built where the kernel stands alone.
  std::string source() const;
  /// The same, whose helpers go to `shared`.
  std::string source_beside(SharedHelpers& shared) const;
};

struct RenderOptions {
  /// Work items that share a row by trees in local memory; 1: each row has an item of its own, as on CPUs. 0: what
  /// suits the device.
  int group_items = 0;
  int lanes = 0;         // of a vector: 1, 2, 4, 8 or 16; 0: what the device prefers
  bool products = true;  // contractions by blocks
  int shape = 0;         // which of the ways to deal out points, where there are several; 0: what is taken unasked
};

/// Throws DeviceError where the device lacks what the program needs.
Rendered render(const codegen::LoopProgram& program, const ItemDialect& dialect, const DeviceTraits& table,
                const RenderOptions& options);

}  // namespace oriel::source::items
