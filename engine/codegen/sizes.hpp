// Loop programs whose sizes are symbols: the sizes in them, and the same programs at given sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/lower.hpp"
#include "graph/sizes.hpp"

namespace oriel::codegen {

/// Adds the symbolic sizes of the program, or of all parts and the rows that they share.
/// @{
void add_sizes(const LoopProgram& program, graph::Sizes& sizes);
void add_sizes(const KernelParts& parts, graph::Sizes& sizes);
/// @}
/// The same with numbers in place of symbols; a program without symbols stays as it is.
/// @{
LoopProgram at(const LoopProgram& program, const graph::Sizes::At& sizes);
KernelParts at(const KernelParts& parts, const graph::Sizes::At& sizes);
/// @}
/// The same with the hints of the symbols in their place: for what affects speed alone.
KernelParts at_hints(const KernelParts& parts);
/// A kernel by itself, whose sizes may be symbols, with what complete() (lower.hpp) adds: what follows from numbers
/// follows from the hints. The symbols stay, so each number of the program has an expression and a hint
/// (sym::estimate).
LoweredKernel complete_symbolic(LoweredKernel kernel, std::int64_t row_bytes);

/// Numbers the values that the parts read and store, so that parts that differ in nothing else are equal: each
/// binding's entry becomes a number of the result.
std::vector<Binding> number_values(KernelParts& parts);
/// Structural hash and equality of parts whose values are numbered, names excluded.
std::uint64_t hash_value(const KernelParts& parts) noexcept;
bool same_parts(const KernelParts& a, const KernelParts& b) noexcept;

}  // namespace oriel::codegen
