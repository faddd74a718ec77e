// The instructions of a loop program as C++ statements.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "source/cpp/value_statements.hpp"

namespace oriel::source::cpp {

/// Writes each instruction as a statement inside a loop over a tile.
class Statements : public ValueStatements {
 protected:
  using ValueStatements::ValueStatements;

  /// Does the kernel write past the caches?
  bool streams() const { return streams_; }

 private:
  bool streamed(const codegen::Access& access, std::int64_t step) const;
  void write_element(const codegen::Instr& in, const CodePosition& place) override;
  void write_constant(const codegen::Instr& in) override;
  void write_load(const codegen::Instr& in, const CodePosition& place) override;
  void write_gather(const codegen::Instr& in, const CodePosition& place) override;
  void write_position(const codegen::Instr& in, const CodePosition& place) override;
  void write_store(const codegen::Instr& in, const CodePosition& place) override;
  /// Returns the name of a segment, which is computed before the loop.
  std::string segment(const std::optional<LaneCut>& cut, const std::string& condition, const CodePosition& place);
  std::string widened(DType dtype, const std::string& element);
  std::string narrowed(DType dtype, const std::string& element);

  bool streams_ = false;
  std::set<std::int32_t> constants_;
  int segments_ = 0;
};

}  // namespace oriel::source::cpp
