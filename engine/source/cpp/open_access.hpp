// How the operands of a kernel whose sizes are symbols are reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/expression.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/statements.hpp"

namespace oriel::source::cpp {

/// Points [lo, hi) of the loop along the lanes are valid.
struct LaneRange {
  std::string lo;
  std::string hi;
};

/// Writes the accesses of a kernel whose sizes are symbols. It takes them from the views, whose extents, strides and
/// offsets are symbols too.
class OpenAccesses {
 public:
  /// Both must outlive the object.
  OpenAccesses(const OpenSizes& open, KernelSizes& sizes) : open_(open), sizes_(sizes) {}

  // Of an access that is affine. The step is nothing if it is a symbol.
  std::string position(std::int32_t access, const CodePosition& place);
  std::string condition(std::int32_t access, const CodePosition& place);
  std::optional<std::int64_t> step(std::int32_t access, const CodePosition& place) const;
  std::optional<LaneRange> cut(std::int32_t access, const CodePosition& place);
  /// Of any access, over these loops.
  codegen::AccessText expression(std::int32_t access, const std::vector<std::string>& names);

 private:
  auto views(std::int32_t access) const {
    const std::int32_t number = open_.accesses.empty() ? access : open_.accesses[at(access)];
    return open_.kernel->accesses[at(number)].tracker.views();
  }
  const View& view(std::int32_t access) const { return views(access)[0]; }

  const OpenSizes& open_;
  KernelSizes& sizes_;
};

}  // namespace oriel::source::cpp
