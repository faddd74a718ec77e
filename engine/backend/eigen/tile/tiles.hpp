// How a program's points are cut into tiles.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "backend/eigen/tile/lookups.hpp"
#include "backend/eigen/tile/plan.hpp"

namespace oriel::backend::eigen {

/// Halves live in registers as float32.
using codegen::register_dtype;
/// Its place in a table of dtypes.
inline int index(DType dtype) { return static_cast<int>(dtype); }
inline int log_bytes_of(DType dtype) { return std::countr_zero(itemsize(register_dtype(dtype))); }

class Tiler {
 public:
  Tiler(const codegen::LoopProgram& program, const Lookups& lookups, Plan& plan)
      : program_(program), lookups_(lookups), plan_(&plan) {}
  /// Sets the plan's orientation, blocks and stages' steps. `tile` is the wanted number of elements, 0 for the default.
  /// Returns the elements of the largest tile inside loops.
  std::int64_t run(std::int64_t tile);
  /// Sets tiles of `rows` outer points by up to `points` inner ones, for Worker::run_rows.
  std::int64_t lay_rows(std::int64_t rows, std::int64_t points);

 private:
  void choose_tile(std::int64_t tile);
  bool reads_alone() const;
  bool reads_matrices() const;
  bool transposes_rows() const;
  bool keeps_tiny_rows(std::int64_t points) const;
  void choose_grid();
  void lay_grid(std::size_t split, std::int64_t slow_points, std::int64_t rows, std::int64_t cols);
  void widen_columns();
  void choose_rows();
  void choose_gathered_rows();
  void choose_period();
  void choose_columns();
  std::int64_t widest(const std::vector<codegen::Instr>& list) const;
  int log_bytes(codegen::ValueId v) const { return log_bytes_of(program_.values[static_cast<std::size_t>(v)]); }

  const codegen::LoopProgram& program_;
  const Lookups& lookups_;
  Plan* plan_;
  std::int64_t tile_length_ = 1;
};

/// The points of the last outer loops after which an access begins again; 0 if it does not.
std::int64_t period_of(const codegen::Access& access, std::size_t outer);

}  // namespace oriel::backend::eigen
