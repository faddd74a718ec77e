// What is fuzzed: a stack of views and movements on top of it, and every form in which a user may want to see one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::fuzz {

enum class MovementKind : std::uint8_t { Reshape, Permute, Expand, Shrink, Pad, Flip };
inline constexpr int kMovementKinds = 6;

struct Movement {
  MovementKind kind = MovementKind::Flip;
  Ints ints;      // Reshape, Expand: the target; Permute: the order; Flip: the axes
  Ranges ranges;  // Shrink: lo, hi; Pad: before, after
};

/// A start and what is done to it. A start of one contiguous view is a tensor as a program makes it.
struct Case {
  std::vector<View> start;  // innermost first, never empty
  std::vector<Movement> movements;

  /// Views and movements: how large a case is for a reader.
  std::size_t length() const { return start.size() + movements.size(); }
};

const char* name_of(MovementKind kind);
/// Throws ParseError, which names `operation` and lists the movements, where there is none of that name.
MovementKind movement_named(std::string_view name, std::string_view operation);
/// Whether its arguments are `ranges`.
bool takes_pairs(MovementKind kind);

/// Throws what ShapeTracker::from_views throws.
ShapeTracker start_of(const Case& c);
/// Throws what the movement throws.
ShapeTracker apply(const ShapeTracker& tracker, const Movement& movement);

/// The program of `oriel view`: "2,6 | pad 1,1 0,0 | flip 1", or with raw views "(4):(-1)+2 over (6):(1) | flip 0".
std::string program_text(const Case& c);
/// The line of `oriel view --jsonl`.
std::string json_text(const Case& c);
/// The case as C++ statements, two blanks before each: a ShapeTracker `tracker`; or a Tensor `x` of float32, whose base
/// holds 1, 2, ... Precondition of the latter: the case starts from a plain tensor.
std::string tracker_statements(const Case& c);
std::string tensor_statements(const Case& c);

}  // namespace oriel::fuzz
