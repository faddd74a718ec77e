// What of a large input is fetched into the caches while something else of it is worked on.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Sets `ahead` of the loads in stages that walk rows of large inputs. Processors look ahead to the end of a page,
/// which is a tile, so rows are fetched tile by tile: where a later stage reads a row again, the next row; where none
/// does, the next tile.
void look_ahead(const codegen::LoopProgram& program, Plan& plan);

}  // namespace oriel::backend::eigen
