// What an export of a computation as C++ consists of, and its two files. Sizes may be symbols: then the exported
// function takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/scalar.hpp"
#include "oriel/export.hpp"
#include "source/cpp/size_source.hpp"

namespace oriel::source::cpp {

inline constexpr std::int64_t kExportAlignment = 64;  // of scratch and of the values in it

/// An argument of the function, or a constant array in its source.
struct ExportLeaf {
  enum class Kind : std::uint8_t { input, number, embedded } kind = Kind::input;
  ExportedTensor tensor;            // bytes: 0 if its sizes are symbols
  std::vector<unsigned char> data;  // of an embedded leaf
};

/// Memory of a leaf, an output, or a value between kernels, by its number.
struct ExportMemory {
  enum class Kind : std::uint8_t { leaf, output, value } kind = Kind::leaf;
  std::size_t index = 0;
};

/// A schedule without its graph and devices, with names for its inputs and outputs. Expressions belong to an
/// environment that outlives it. Without symbols all sizes are numbers.
struct ExportUnit {
  struct Symbol {
    sym::Expr symbol;
    std::string name;    // of the member of Sizes
    std::string source;  // "x.size(0)"
  };
  struct Guard {
    sym::Expr condition;
    std::string text;
    bool planned = false;  // of this plan alone: one for other sizes may do without it
  };
  struct Kernel {
    std::string name;
    std::string source;
    SymInt points = 1;
  };
  struct Call {
    std::size_t kernel = 0;
    std::vector<ExportMemory> arguments;
    std::vector<std::int32_t> numbers;  // what the kernel's parameters are
    std::string check;                  // of positions: what the least one must satisfy; no kernel runs
  };
  struct Value {  // lives between kernels, from a call to another
    std::int32_t first = 0;
    std::int32_t last = 0;
    SymInt bytes = 0;
    std::int64_t offset = 0;  // in scratch, if all sizes are numbers
  };
  struct Copy {  // made after all calls
    ExportMemory from;
    std::size_t to = 0;
  };

  std::string name;
  std::string kernel_prefix;  // of the kernels' names
  std::vector<Symbol> symbols;
  std::vector<Guard> guards;
  std::vector<ExportLeaf> leaves;
  std::vector<std::size_t> order;  // of the inputs and numbers among them, as a caller sees them
  std::vector<ExportedTensor> outputs;
  std::vector<Copy> copies;
  int longest_tile = 256;
  bool tiles_in_scratch = false;
  bool number_arguments = false;
  std::vector<graph::Scalar> numbers;  // launch parameters that are arguments, with their defaults

  std::vector<Kernel> kernels;
  std::vector<Call> calls;
  std::vector<Value> values;
  SizeTable table;
  std::int64_t scratch_bytes = 0;  // if all sizes are numbers
  std::int64_t tile_bytes = 0;     // needed by the largest kernel
  bool needs_eigen = false;        // does a kernel include Eigen?

  bool sized() const noexcept { return !symbols.empty(); }
};

/// An expression in the names of the sizes: "2*n + 1".
/// @{
std::string size_text(const ExportUnit& unit, sym::Expr e);
std::string size_text(const ExportUnit& unit, SymInt n);
/// @}

/// Do the sizes pass the guards? `values`: one for each symbol.
bool serves(const ExportUnit& unit, std::span<const std::int64_t> values);

/// The inputs and numbers of all plans, each once, as a caller sees them.
std::vector<const ExportLeaf*> leaves_of(std::span<const ExportUnit* const> plans);

// The plans of one function, each for sizes of its own: a call runs the first one whose guards hold. Without symbols
// there is one. Deterministic: same plans, same bytes. The source is written first: it completes the tables of sizes.
std::string export_source(std::span<ExportUnit* const> plans);
std::string export_header(std::span<const ExportUnit* const> plans);

}  // namespace oriel::source::cpp
