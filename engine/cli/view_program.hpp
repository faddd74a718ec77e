// The text form of a chain of movements: "2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1", or on views as View::str writes
// them:
// "(4):(-1)+2[1:3) over (4):(1) | flip 0".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/guards_session.hpp"
#include "oriel/view.hpp"

namespace oriel::cli {

/// One step of a program. The first step has no movement; its text is the shape or the views with which the program
/// starts.
struct ViewStep {
  std::string text;
  ShapeTracker tracker;  // the view after the movement
};

/// A program that ran. Symbolic sizes refer to the session's environment.
struct ViewProgram {
  std::unique_ptr<GuardsSession> session;  // null if the program declares no symbols
  std::vector<ViewStep> steps;
};

/// Runs a program. Throws ParseError if the text is wrong, and the errors of the movements. The first part may declare
/// symbols: "s0=5,s1=4 | s0,s1 | reshape s0*s1".
ViewProgram run_program(std::string_view program);

}  // namespace oriel::cli
