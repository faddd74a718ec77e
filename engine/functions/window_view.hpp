// The view of all windows along several axes, for convolutions and pooling.
#pragma once

#include "formula/value.hpp"

namespace oriel::api {

/// Numbers for `count` spatial axes: as given, or one number for all. Throws ArgumentError for another count or a
/// number below `least`.
Ints for_axes(const Call& call, const Ints& numbers, std::size_t count, const char* what, std::int64_t least);

/// How windows lie along one axis.
struct WindowAxis {
  std::int64_t size = 1;      // elements of a window
  std::int64_t stride = 1;    // from window to window
  std::int64_t dilation = 1;  // from element to element of a window
  SymInt before = 0;          // padding
  SymInt after = 0;
  SymInt count = 0;  // windows

  /// From the first element of a window to behind its last one.
  std::int64_t span() const { return (size - 1) * dilation + 1; }
};

/// The windows of the last axes.size() axes of x, which are padded already: (front axes, counts, sizes).
Value windows(const Value& x, std::span<const WindowAxis> axes);

}  // namespace oriel::api
