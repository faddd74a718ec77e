// Exports an open plan as C++ source: a function that takes its sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/export.hpp"
#include "runtime/open_plan.hpp"
#include "source/cpp/size_source.hpp"

namespace oriel::runtime {

/// What an export of open sizes consists of. Callers fill in names, symbols, leaves and outputs; add_open_plan fills in
/// the kernels and what they need. Its expressions belong to the plan's environment.
struct OpenExport {
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
  struct Leaf {
    enum class Kind : std::uint8_t { input, number, embedded } kind = Kind::input;
    ExportLeaf leaf;  // its tensor has symbolic sizes
  };
  struct Call {
    std::size_t kernel = 0;
    SymInt points = 1;
    std::vector<ArgumentSource> arguments;
  };
  struct Value {  // lives between kernels
    std::int32_t first = 0;
    std::int32_t last = 0;
    SymInt bytes = 0;
  };
  struct Kernel {
    std::string name;
    std::string source;
  };

  std::string name;
  std::string kernel_prefix;  // of the kernels' names
  std::vector<Symbol> symbols;
  std::vector<Guard> guards;
  std::vector<Leaf> leaves;        // as in the key
  std::vector<std::size_t> order;  // of the inputs and numbers among them, as a caller sees them
  std::vector<ExportedTensor> outputs;
  std::vector<ExportUnit::Copy> copies;
  int longest_tile = 256;
  bool tiles_in_scratch = false;

  std::vector<Kernel> kernels;
  std::vector<Call> calls;
  std::vector<Value> values;
  source::cpp::SizeTable table;
  std::int64_t tile_bytes = 0;
  bool needs_eigen = false;
};

/// An expression in the names of the sizes: "2*n + 1".
/// @{
std::string size_text(const OpenExport& unit, sym::Expr e);
std::string size_text(const OpenExport& unit, SymInt n);
/// @}

/// Do the sizes pass the guards? `values`: one for each symbol.
bool serves(const OpenExport& unit, std::span<const std::int64_t> values);

/// Adds the kernels of the plan. `hints`: sizes that speed is chosen for, by the plan's variables. Output i of the plan
/// becomes output output_of[i]. Throws ArgumentError for a kernel that has no form for open sizes.
void add_open_plan(OpenExport& unit, const OpenPlan& plan, std::span<const std::int64_t> hints,
                   std::span<const std::int32_t> output_of);
/// By output of the plan's roots; one for each root.
std::span<const std::int32_t> outputs_of_roots(const OpenPlan& plan);

/// The inputs and numbers of all plans, each once, as a caller sees them.
std::vector<const OpenExport::Leaf*> leaves_of(std::span<const std::unique_ptr<OpenExport>> plans);
bool any_numbers(std::span<const OpenExport::Leaf* const> leaves);

// The plans of one entry, each for sizes of its own: a call runs the first one whose guards hold. Deterministic: same
// plans, same bytes. The source is written first: it completes the tables of sizes.
std::string open_export_source(std::span<const std::unique_ptr<OpenExport>> plans);
std::string open_export_header(std::span<const std::unique_ptr<OpenExport>> plans);

}  // namespace oriel::runtime
