// Panels of two factors multiplied, register block by register block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/products/contraction_plan.hpp"

namespace oriel::backend::eigen {

/// Memory that is wanted in the second cache next.
struct Ahead {
  const char* at = nullptr;
  std::int64_t bytes = 0;
};

/// `rows` by `columns` results, summed over `depth` from panels, or from memory that is read as one.
struct PanelProduct {
  const char* a = nullptr;
  std::int64_t a_point = 0;  // bytes from one row to the next
  std::int64_t a_row = 1;    // as in ProductBlock
  std::int64_t a_step = 0;
  const char* b = nullptr;
  std::int64_t b_point = 0;  // bytes from one column to the next, from panel to panel
  /// Elements from one depth to the next where b is read as it lies, of any sign and 0 as well. Nothing for panels,
  /// whose rows are as wide as their columns ask for.
  std::optional<std::int64_t> b_row;
  bool cold = false;           // b is not in the second cache: each panel is fetched while the one before is read
  const char* next = nullptr;  // the panel of b that is multiplied after these, where it is cold
  std::array<Ahead, 2> ahead;  // fetched where nothing of b is
  char* c = nullptr;
  std::int64_t c_row = 0;
  const char* from = nullptr;
  std::int64_t from_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;

  void a_in_memory(const char* at, const Matrices& m, int log_bytes) noexcept {
    a = at;
    a_row = m.row;
    a_step = m.step;
    a_point = m.row << log_bytes;
  }
  void a_in_panels(const char* at, std::int64_t height, std::int64_t point_bytes) noexcept {
    a = at;
    a_step = height;
    a_point = point_bytes;
  }
  /// Rows of all columns, `row` elements apart.
  void b_in_rows(const char* at, std::int64_t row, int log_bytes) noexcept {
    b = at;
    b_row = row;
    b_point = std::int64_t{1} << log_bytes;
  }
  void b_in_panels(const char* at, std::int64_t point_bytes, bool is_cold) noexcept {
    b = at;
    b_row = std::nullopt;
    b_point = point_bytes;
    cold = is_cold;
  }
};

void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p);

}  // namespace oriel::backend::eigen
