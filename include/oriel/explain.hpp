// What the engine would do to compute a tensor, and why: kernels, views, code, memory. Nothing runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/list.hpp"
#include "oriel/tensor.hpp"
#include "oriel/view.hpp"

namespace ORIEL_API oriel {

/// One access of a kernel: how its loops address an operand.
struct ExplainedOperand {
  /// What an access does.
  enum class Kind {
    load,   ///< reads a buffer: the caller's, or what an earlier kernel stored
    store,  ///< writes a buffer
    index,  ///< no memory: the position itself (iota, arange)
    valid,  ///< no memory: whether a padded value lies inside the mask
  };
  Kind kind = Kind::load;  ///< what it does
  std::string name;        ///< the kernel's argument, "in0" or "out0"; empty if the access reads no memory
  std::string value;       ///< the value in the schedule, "%3"
  /// "leaf 0" (the caller's memory), "output 0", "block 1" (memory between kernels); empty if the access reads no
  /// memory.
  std::string memory;
  DType dtype = DType::float32;  ///< of the elements
  /// The movements that the program applies between the operand and the kernel's domain, the one nearest to the
  /// operand first.
  std::vector<std::string> steps;
  /// These movements as a stack of views, innermost first, up to the first reduction, before merging.
  std::vector<View> written;
  /// The stack after merging, over the kernel's domain as the graph has it; innermost first.
  std::vector<View> merged;
  /// The stack over the final loops, innermost first. The loops are split, ordered and joined for all operands
  /// together.
  std::vector<View> normalised;
  /// Position in the buffer: "o0*4 + r0", with o for the parallel loops and r for the inner loops of a stage.
  std::string index;
  /// The condition under which the access is valid: "1" if it always is.
  std::string valid;
};

/// A value that a kernel writes.
struct ExplainedOutput {
  std::string value;   ///< "%7"
  std::string text;    ///< "%7 = Add of %5, %6: float32 (4, 6)"
  std::string site;    ///< the line that built the value, "photo.cpp:41"; empty if unknown
  std::string reason;  ///< why the value is stored, which is why a kernel ends here
  /// For a write: "in place of %3", or "not in place: " and the reason. For another value: "over %3, which ends here"
  /// if it reuses the memory of %3, "not over %3, which ends here: " and the reason if only its dtype stands
  /// against that. Else empty.
  std::string where;
};

/// A kernel, or a copy between devices.
struct ExplainedKernel {
  std::string name;  ///< "sum_f32_512_by_1024_7ops"
  Device device;     ///< the device that runs it
  /// For a copy between devices: the source device. A copy has neither loop program nor source.
  std::optional<Device> copied_from;
  bool runs = true;  ///< false if the outputs have no elements; then every member below except `outputs` is empty
  std::vector<ExplainedOutput> outputs;  ///< the values that it writes
  /// For a kernel of several parts: the values that one part passes to the next, a row at a time, without storing them
  /// as a whole, each with the reason. Values as in ExplainedOutput::text.
  std::vector<std::string> rows;
  std::vector<std::string> values;         ///< the values it evaluates, sources first, as in ExplainedOutput::text
  std::vector<ExplainedOperand> operands;  ///< its accesses
  std::string domain_before;               ///< "(4, 6) | (5)": the parallel loops, then each stage's inner loops
  std::string domain_after;                ///< the same after loops were split, ordered and joined
  bool refined = false;                    ///< loops were split
  bool permuted = false;                   ///< loops were put into another order
  bool coalesced = false;                  ///< loops were joined or dropped
  /// How the device runs it, if the loop program does not show it; else empty. "contraction: batch 1, 512 x 512 x 512
  /// (rows, columns, depth); blocked, rows from in0 packed, columns from in1 read as they lie". Of loops on the CPU
  /// that take long: lines on what keeps them far from the time of their memory, such as "gathers in0 element by
  /// element: rows of 4 bytes".
  std::string method;
  /// The device's execution path for it: "blocked products", "streamed products", "dot products", "windows",
  /// "small products side by side", "reductions tile by tile", "elementwise tiles", "online softmax", or "parts that
  /// share rows: blocked products, reductions tile by tile".
  std::string path;
  /// Estimated time of a launch on one core, from fixed rates; 0 where the device has none. The number of threads
  /// follows from it. It serves to compare programs with each other, not to predict times.
  double estimated_nanoseconds = 0;
  /// The form in which the device runs it at present: "tile machine; compiled once its total run time reaches the time
  /// that compiling takes", "tile machine, being compiled", "tile machine only: it has no points", "compiled". Empty in
  /// dumps, and on devices that have one form only.
  std::string tier;
  /// The device's report on the kernel so far, in lines. On OpenCL devices: build options, the compiler's log, sizes,
  /// and the device's own times of the launches that were timed (profile::start, ORIEL_PROFILE, ORIEL_DUMP). Empty on
  /// other devices, and before the kernel is built.
  std::string report;
  std::string program;  ///< the loop program
  std::string source;   ///< the source that the device's compiler gets; the loop program on the null device and in the
                        ///< profile small
  std::int64_t flops = 0;  ///< elementwise and reduction operations
  std::int64_t bytes = 0;  ///< distinct bytes read and written
};

/// Memory for the values that live only between kernels.
struct ExplainedMemory {
  std::vector<std::int64_t> block_bytes;  ///< one per block
  std::vector<Device> block_device;       ///< one per block
  std::int64_t peak_bytes = 0;            ///< all blocks together
  std::int64_t bytes_without_reuse = 0;   ///< if no two values shared a block
  std::int64_t output_bytes = 0;          ///< of the results, which are not in `block_bytes`
};

/// A rewrite rule that changed the graph. Its name is e.g. "x*1 -> x".
struct FiredRule {
  std::string name;  ///< the rewrite
  int times = 0;     ///< how often it applied
  /// Of a rule that decides by cost: why, each time it applied.
  std::vector<std::string> reasons = {};
};

/// How often the planner tried to merge two views into one. The answers "merged" and "no single view exists" are exact.
/// Only an undecided merge may leave one view more than necessary.
struct ExplainedViewMerges {
  std::size_t merges = 0;  ///< pairs of views that were asked about
  std::size_t searches =
      0;  ///< those of the merges that needed a search within a budget of steps, because no theorem decided them
  std::size_t undecided = 0;  ///< the budget ran out, or the arithmetic exceeded 64 bits: the views stay separate
};

/// How much Explanation::str prints.
enum class Detail {
  kernels,  ///< a few lines per kernel: outputs with their reasons, each operand's views in one line
  views,    ///< also the values, the views before and after each step, and index expressions
  full,     ///< also loop programs and sources
};

/// The work that realize() would do for some tensors.
struct Explanation {
  Device device;                         ///< of the first tensor
  std::size_t nodes = 0;                 ///< pending nodes in the graph
  std::size_t values = 0;                ///< values after rewriting and after joining equal ones
  std::vector<FiredRule> rules;          ///< those that applied
  ExplainedViewMerges view_merges;       ///< in planning
  std::vector<ExplainedKernel> kernels;  ///< in the order in which they run, copies between devices included
  ExplainedMemory memory;                ///< between kernels
  bool ran = false;                      ///< true for an explanation of what ran last (keep_explanations)

  /// The explanation as text. Deterministic: the same program gives the same text, except for what the device has
  /// compiled and timed so far (`tier`, `report`), which is shown from Detail::views on.
  std::string str(Detail detail = Detail::kernels) const;
};

/// What realize() would do now for this tensor, or for several together. Tensors that are already in memory need no
/// kernels: if explanations are kept (keep_explanations), they give that of the work that ran last in their context,
/// else an empty one. Runs nothing, compiles nothing and changes nothing; costs as much as scheduling. Throws
/// DeviceError if a device is not available. Thread safety: any thread.
///   std::puts(oriel::explain(y).str().c_str());
Explanation explain(const Tensor& tensor);
Explanation explain(ListOf<Tensor> tensors);

/// Keeps the explanation of what ran last, for work of the current context from now on, which makes explain(y) of a
/// tensor in memory useful: set it before y is computed. Each realisation is then planned once more. ORIEL_EXPLAIN (`1`
/// or `0`) applies until the first call. Calls of captured functions explain themselves: Function::explain.
void keep_explanations(bool keep);

}  // namespace oriel
