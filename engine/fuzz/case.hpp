// A case of the fuzzer: a stack of views and movements applied to it; and its text forms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/movements.hpp"
#include "oriel/view.hpp"

namespace oriel::fuzz {

/// A movement of the table of ops.
using MovementKind = graph::Op;
/// The movements that are drawn: all but formats and raw views. The six of the protocol come first.
inline constexpr std::size_t kMovementKinds = [] {
  std::size_t count = 0;
  for (const graph::OpRow& row : graph::kOpTable) count += graph::is_axis_movement(row.op) ? 1 : 0;
  return count;
}();
inline constexpr std::array<MovementKind, kMovementKinds> kMovements = [] {
  std::array<MovementKind, kMovementKinds> list{};
  std::size_t count = 0;
  for (const graph::OpRow& row : graph::kOpTable)
    if (graph::is_axis_movement(row.op)) list[count++] = row.op;
  return list;
}();

struct Movement {
  MovementKind kind = MovementKind::Flip;
  Ints ints;      // the target shape, the order, the axes or a number for each axis
  Ranges ranges;  // of a movement that takes pairs
};

/// A start and the movements applied to it. A start of one contiguous view corresponds to a new tensor.
struct Case {
  std::vector<View> start;  // innermost first, never empty
  std::vector<Movement> movements;

  /// The number of views and movements: the size of a case for a reader.
  std::size_t length() const { return start.size() + movements.size(); }
};

std::string name_of(MovementKind kind);
/// The movement of that name. Throws ParseError, which names `operation` and lists the movements, if there is none.
MovementKind movement_named(std::string_view name, std::string_view operation);
/// True if the movement's arguments are `ranges`.
bool takes_pairs(MovementKind kind);

/// The stack with which the case starts. Throws what ShapeTracker::from_views throws.
ShapeTracker start_of(const Case& c);
inline graph::Move move_of(const Movement& m) { return {m.kind, m.ints, &m.ints, &m.ranges}; }
/// The stack after the movement. Throws what the movement throws.
ShapeTracker apply(const ShapeTracker& tracker, const Movement& movement);

/// The program of `oriel view`: "2,6 | pad 1,1 0,0 | flip 1", or with raw views "(4):(-1)+2 over (6):(1) | flip 0".
std::string program_text(const Case& c);
/// The line of `oriel view --jsonl`.
std::string json_text(const Case& c);
/// The case as C++ statements, indented by two blanks. tracker_statements builds a ShapeTracker `tracker`;
/// tensor_statements a float32 Tensor `x`, whose base holds 1, 2, ..., and requires that the case starts from a plain
/// tensor.
std::string tracker_statements(const Case& c);
std::string tensor_statements(const Case& c);

}  // namespace oriel::fuzz
