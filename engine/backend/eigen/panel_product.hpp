// Panels of two factors multiplied, register block by register block.
#pragma once

#include <cstdint>

#include "backend/eigen/isa/table.hpp"

namespace oriel::backend::eigen {

/// `rows` by `columns` results, summed over `depth` from panels, or from memory that is read as one.
struct PanelProduct {
  const char* a = nullptr;
  std::int64_t a_point = 0;  // bytes from one row to the next
  std::int64_t a_row = 1;    // as in ProductBlock
  std::int64_t a_step = 0;
  const char* b = nullptr;
  std::int64_t b_point = 0;    // bytes from one column to the next, from panel to panel
  std::int64_t b_row = 0;      // as in ProductBlock; 0 for panels, which are as wide as their columns ask for
  const char* next = nullptr;  // the panel of b that is multiplied after these
  char* c = nullptr;
  std::int64_t c_row = 0;
  const char* from = nullptr;
  std::int64_t from_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};

void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p);

}  // namespace oriel::backend::eigen
