// The text form of a chain of movements: "2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::cli {

/// Applies a movement to a tracker whose arguments are flat integers (reshape, permute, expand, flip) or pairs (shrink,
/// pad). Throws ParseError for an unknown name.
bool takes_pairs(std::string_view movement);
ShapeTracker apply(const ShapeTracker& tracker, std::string_view movement, const Ints& arguments);
ShapeTracker apply(const ShapeTracker& tracker, std::string_view movement, const Ranges& pairs);

/// One step of a program; the first one has no movement, only the shape it starts from.
struct ViewStep {
  std::string text;
  ShapeTracker tracker;  // as the movement left it
};

/// Runs a program. Throws ParseError where the text is wrong, and what the movements throw.
std::vector<ViewStep> run_program(std::string_view program);

}  // namespace oriel::cli
