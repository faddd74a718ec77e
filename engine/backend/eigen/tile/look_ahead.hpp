// Chooses what to prefetch of a large input while another part of it is processed.
#pragma once

#include "backend/eigen/tile/plan.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// Sets `ahead` for loads in stages that go through rows of large inputs. Hardware prefetches to the end of a page,
/// which is a tile, so rows are prefetched tile by tile: the next row if a later stage reads the row again, else the
/// next tile.
void look_ahead(const codegen::LoopProgram& program, Plan& plan);

}  // namespace oriel::backend::eigen
