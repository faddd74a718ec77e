// Multiplies panels of two factors, register block by register block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/products/contraction_plan.hpp"

namespace oriel::backend::eigen {

/// Memory to prefetch into the second-level cache.
struct Ahead {
  const char* at = nullptr;
  std::int64_t bytes = 0;
};

/// `rows` by `columns` results, summed over `depth`. Factors are panels, or memory that is read like a panel.
struct PanelProduct {
  const char* a = nullptr;
  std::int64_t a_point = 0;  // bytes from one row to the next
  std::int64_t a_row = 1;    // as in ProductBlock
  std::int64_t a_step = 0;
  const char* b = nullptr;
  std::int64_t b_point = 0;  // bytes from one column to the next, or from panel to panel
  /// If b is read in place: elements from one depth to the next, of any sign, or 0. nullopt for panels, whose rows are
  /// as wide as their columns need.
  std::optional<std::int64_t> b_row;
  bool cold = false;  // b is not in the second-level cache: each panel is prefetched while the one before is read
  const char* next = nullptr;  // if cold: the panel of b that is multiplied next
  std::array<Ahead, 2> ahead;  // prefetched when no panel of b is
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
  /// b is read in place: rows of all columns, `row` elements apart.
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
