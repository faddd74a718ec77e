// Gathers along an axis of whole rows: the positions of a row's elements are successive.
#pragma once

#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

struct RowGathers {
  /// By value. Gathered row by row: along the last loop its positions grow by one.
  std::vector<bool> rows;
  /// By value. Computed for the first point of each row of a tile: nothing but positions of row gathers needs it.
  std::vector<bool> starts;
  bool any = false;
  bool alone = false;  // the program does nothing else than to gather rows and store them
};

/// Of a program without inner loops; of others, none.
RowGathers find_row_gathers(const codegen::LoopProgram& program);

}  // namespace oriel::backend::eigen
