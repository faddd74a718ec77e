// How the loops of a reduction move through what it reads: along rows, along columns, or from plane to plane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/definitions.hpp"
#include "codegen/loop_program.hpp"
#include "oriel/inline_vector.hpp"
#include "oriel/view.hpp"

namespace oriel::codegen {

/// The coefficients of an access along the outer loops, then the inner ones; 0 for loops that it does not have.
using Strides = InlineVector<std::int64_t, 8>;

/// How the loops move through a source: along x, along y, or from plane to plane.
enum class LoopDirection : std::uint8_t { None, Slow, X, Y, Plane };

/// The direction and step of every loop, by the outer loops, then the inner ones.
struct WindowLayout {
  InlineVector<LoopDirection, 8> directions;
  Strides steps;             // of X and Y loops, in rows or columns; may be negative
  std::int64_t x_first = 0;  // the least column and row, where the other loops are 0
  std::int64_t y_first = 0;
};

/// Asks how the loops of one stage move through what the stage reads.
class WindowLoops {
 public:
  WindowLoops(const LoopProgram& program, std::size_t stage)
      : program_(program),
        stage_(program.stages[stage]),
        outer_(program.outer.size()),
        inner_(stage_.inner.size()),
        definitions_(program, stage) {}

  std::int64_t extent(std::size_t d) const;

  Strides strides(const Access& access) const;

  /// Collects the accesses that v depends on. False if v depends on a value that no instruction makes, on a gather, or
  /// on an access with a box.
  bool accesses(ValueId v, std::vector<const Access*>& list) const;

  /// How the loops move through the source, if they move alike through all its accesses. `rows`: is the loop before the
  /// last one y?
  std::optional<WindowLayout> layout(const std::vector<const Access*>& list, bool rows) const;

  const Definitions& definitions() const { return definitions_; }

  /// Do windows of this layout compute few enough elements for what they read? `rows`: is the loop before the last one
  /// a loop of rows?
  bool pays(const WindowLayout& l, bool rows) const;

  /// The stride of one row (or column) in an access that moves as the layout says.
  std::int64_t unit_of(const Strides& s, const WindowLayout& l, LoopDirection direction) const;

 private:
  /// Assigns inner loops, in order of rising stride, to the axis whose span they overlap. The axis of smaller stride
  /// comes first.
  WindowLayout guided(const Strides& s, bool rows) const;

  void measure(const Strides& s, WindowLayout& l, LoopDirection direction, std::size_t lead, std::int64_t& first) const;

  bool follows(const Strides& s, const WindowLayout& l) const;

  const LoopProgram& program_;
  const Stage& stage_;
  std::size_t outer_;
  std::size_t inner_;
  Definitions definitions_;
};

/// The stack through which a source reads its buffer; nothing if some point may lie outside of the buffer.
std::optional<ShapeTracker> source_tracker(const WindowLoops& loops, const LoopProgram& program, const Windows& w,
                                           const WindowLayout& l, const Access& access);

}  // namespace oriel::codegen
