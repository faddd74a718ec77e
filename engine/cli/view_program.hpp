// The text form of a chain of movements: "2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1", or on views as View::str writes
// them:
// "(4):(-1)+2[1:3) over (4):(1) | flip 0".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::cli {

/// One step of a program; the first one has no movement, only the shape or the views it starts from.
struct ViewStep {
  std::string text;
  ShapeTracker tracker;  // as the movement left it
};

/// Without the blanks around it.
std::string_view trim(std::string_view text);

/// Runs a program. Throws ParseError where the text is wrong, and what the movements throw.
std::vector<ViewStep> run_program(std::string_view program);

}  // namespace oriel::cli
