// Random programs over the public interface, which can print themselves as C++.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "callers_memory.hpp"
#include "oriel/tensor.hpp"

namespace oriel::testing {

/// One step: a kind and the numbers that decide its choices. Every step is valid at every place. So any shorter list of
/// steps and any list with smaller numbers is a program too, as shrinking needs.
struct Step {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 8> dice{};
};

struct Program {
  std::vector<Step> steps;
  bool scatters = false;           // every step that gathers scatters
  bool rows = false;               // every leaf has short rows
  bool in_callers_memory = false;  // every leaf lies in memory of the caller, not only some
};

/// Is ORIEL_TEST_SPAN set? If so, some steps send values to an OpenCL device and back.
bool spans_devices();
/// How many kinds of steps there are.
std::uint32_t kind_count();
/// Kinds of steps: a leaf; elementwise operations; products and gathers that are joined to one kernel;
/// reductions of short rows.
inline constexpr std::uint32_t kLeaf = 0;
inline constexpr std::uint32_t kReduced = 6;
inline constexpr std::uint32_t kComposed = 14;
inline constexpr std::uint32_t kGathered = 21;
inline constexpr std::uint32_t kElementwise[] = {1, 2, 8, 12};
inline constexpr std::uint32_t kChained = 22;
inline constexpr std::uint32_t kRowed = 27;

/// The tensors of a program, of which only leaves are realised, and the C++ lines that make them.
struct Built {
  CallersMemories memories;  // of its leaves; must outlive all tensors of the program
  std::vector<Tensor> values;
  std::vector<std::string> lines;
  std::vector<std::vector<std::size_t>> needs;  // which values each line names
};
Built build(const Program& program);

/// The two values that a check realises together.
std::pair<std::size_t, std::size_t> results(const Built& built);

/// A main() to paste, with the lines that the results need.
std::string paste_ready(const Program& program);
void showValue(const Program& program, std::ostream& out);

}  // namespace oriel::testing
