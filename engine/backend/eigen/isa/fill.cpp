// Fills the table with the functions of this translation unit's level.
#include "backend/eigen/isa/level.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {

#define ORIEL_TEXT_(x) #x
#define ORIEL_TEXT(x) ORIEL_TEXT_(x)

void fill_table(Table& table) {
  table.name = ORIEL_TEXT(ORIEL_ISA_LEVEL);
  add_float_ops(table);
  if constexpr (!kPlain) {
    add_pair_ops(table);
    add_chain_ops(table);
  }
  add_cast_ops(table);
  add_copy_ops(table);
  add_lookup_ops(table);
  add_sum_ops(table);
  add_product_ops(table);
  add_window_ops(table);
  add_integer_ops(table);
#ifndef ORIEL_BY_USE  // else programs have them by use (table.cpp)
  add_math_ops(table);
  add_reduce_ops(table);
  add_scan_ops(table);
  add_sort_ops(table);
#endif
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
