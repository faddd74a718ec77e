// What the engine would do for a tensor, and why: kernels, views, code, memory. Nothing is run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/tensor.hpp"
#include "oriel/view.hpp"

namespace oriel {

/// One access of a kernel: how an operand is reached from its loops.
struct ExplainedOperand {
  enum class Kind {
    load,   ///< reads a buffer: the caller's, or what an earlier kernel stored
    store,  ///< writes a buffer
    index,  ///< no memory: the position itself (iota, arange)
    valid,  ///< no memory: asks whether a padded value lies inside
  };
  Kind kind = Kind::load;
  std::string name;    ///< the kernel's argument, "in0" or "out0"; empty without memory
  std::string value;   ///< the value in the schedule, "%3"
  std::string memory;  ///< "leaf 0" (the caller's), "output 0", "block 1" (between kernels); empty without memory
  DType dtype = DType::float32;
  std::vector<std::string>
      steps;  ///< what the program does between the operand and the kernel's domain, nearest to the operand first
  std::vector<View>
      written;               ///< these movements as a stack, innermost first, up to the first reduction: before merging
  std::vector<View> merged;  ///< after merging, over the kernel's domain as it stands in the graph; innermost first
  std::vector<View>
      normalised;  ///< over the loops, which were split, ordered and joined for all operands together; innermost first
  std::string index;  ///< position in the buffer: "o0*4 + r0", o for the parallel loops, r for a stage's inner ones
  std::string valid;  ///< where that position exists: "1" when always
};

/// A value that a kernel writes.
struct ExplainedOutput {
  std::string value;   ///< "%7"
  std::string text;    ///< "%7 = Add of %5, %6: float32 (4, 6)"
  std::string site;    ///< the line that asked for the value, "photo.cpp:41"; empty where unknown
  std::string reason;  ///< why it is stored, and so why a kernel ends here
  std::string where;   ///< of a write: "in place of %3", or "not in place: " and why not; of another value: "over %3,
                       ///< which ends here" where it takes that one's memory; else empty
};

/// A faster path that a reduction of a kernel does not take.
struct ExplainedMiss {
  std::string path;   ///< "blocked products"
  std::string text;   ///< "not on blocked products (batch 1, 64 x 64 x 64) because ...: about 17 times as long"
  double factor = 1;  ///< its estimated time over that on the path
};

struct ExplainedKernel {
  std::string name;  ///< "sum_f32_512_by_1024_7ops"
  Device device;     ///< where it runs
  /// Of a copy between devices: where from. It has neither loop program nor source.
  std::optional<Device> copied_from;
  bool runs = true;  ///< false where the outputs have no elements: then all below but `outputs` is empty
  std::vector<ExplainedOutput> outputs;
  /// What one part of it leaves for the next, a row at a time, never in memory as a whole, and why: a value as in
  /// ExplainedOutput::text.
  std::vector<std::string> rows;
  std::vector<std::string> values;  ///< what it evaluates, sources first, as in ExplainedOutput::text
  std::vector<ExplainedOperand> operands;
  std::string domain_before;  ///< "(4, 6) | (5)": the parallel loops, then each stage's inner ones
  std::string domain_after;
  bool refined = false;    ///< loops were split
  bool permuted = false;   ///< loops were put into another order
  bool coalesced = false;  ///< loops were joined or dropped
  /// How the device runs it, where the loop program does not tell; else empty. "contraction: batch 1, 512 x 512 x 512
  /// (rows, columns, depth); blocked, rows from in0 packed, columns from in1 read as they lie"
  std::string method;
  /// Which of the device's ways it runs in: "blocked products", "streamed products", "dot products", "windows",
  /// "reductions tile by tile", "elementwise tiles", "running softmax", or "parts that share rows: blocked products,
  /// reductions tile by tile".
  std::string path;
  std::vector<ExplainedMiss> missed;
  /// Estimated time of a launch on one core, and what it would be with every product on its best path and every read in
  /// order, by fixed rates: for comparing programs with each other, not for telling the time.
  double estimated_nanoseconds = 0;
  double limit_nanoseconds = 0;
  /// A line where the first is several times the second: how far, and by what; else empty.
  std::string warning;
  /// How far the device is with it: "tile machine; a compiler is asked once it has run for as long as that takes",
  /// "tile machine, being compiled", "tile machine only: it has no points", "compiled". Empty on devices that run all
  /// kernels in one way, and in dumps.
  std::string tier;
  /// What the device has told about it so far, in lines: on OpenCL devices how it was built and its compiler's log,
  /// sizes, and the device's own times of launches that were timed (profile::start, ORIEL_PROFILE, ORIEL_DUMP). Empty
  /// where it tells nothing, and before the kernel is made.
  std::string report;
  std::string program;     ///< the loop program
  std::string source;      ///< as the device's compiler gets it; the null device gives the loop program
  std::int64_t flops = 0;  ///< elementwise and reduction operations
  std::int64_t bytes = 0;  ///< distinct bytes read and written
};

/// Memory for the values that live only between kernels.
struct ExplainedMemory {
  std::vector<std::int64_t> block_bytes;
  std::vector<Device> block_device;  ///< one a block
  std::int64_t peak_bytes = 0;       ///< all blocks together
  std::int64_t bytes_without_reuse = 0;
  std::int64_t output_bytes = 0;  ///< what was asked for, beside the blocks
};

/// A rewrite rule that changed the graph, by its name, "x*1 -> x".
struct FiredRule {
  std::string name;
  int times = 0;
};

/// How often two views were asked to be one while the graph was planned. Merged and refused are always right; only a
/// merge left undecided may keep a view too many.
struct ExplainedViewMerges {
  std::size_t merges = 0;
  std::size_t searches = 0;   ///< of these, those that took a search within a budget of steps: no theorem decided them
  std::size_t undecided = 0;  ///< beyond the budget, or arithmetic past 64 bits: the views stay apart
};

enum class Detail {
  kernels,  ///< a few lines a kernel: outputs with their reasons, each operand's views in one line
  views,    ///< and the values, the views before and after each step, index expressions
  full,     ///< and loop programs and sources
};

struct Explanation {
  Device device;           ///< of the first tensor
  std::size_t nodes = 0;   ///< pending nodes in the graph
  std::size_t values = 0;  ///< values after rewriting and joining equal ones
  std::vector<FiredRule> rules;
  ExplainedViewMerges view_merges;
  std::vector<ExplainedKernel> kernels;  ///< in running order, with the copies between devices
  ExplainedMemory memory;

  /// Deterministic: the same program gives the same text, but for what the device has compiled and timed by now
  /// (`tier`, `report`), which is told from Detail::views on.
  std::string str(Detail detail = Detail::kernels) const;
};

/// What realize() would do now for this tensor, or for several together; no kernels for what is already in memory. Runs
/// nothing, compiles nothing and changes nothing; the cost is that of scheduling. Throws DeviceError where a device
/// cannot be had. Thread safety: any thread.
///   std::puts(oriel::explain(y).str().c_str());
Explanation explain(const Tensor& tensor);
Explanation explain(std::span<const Tensor> tensors);
Explanation explain(std::initializer_list<Tensor> tensors);

}  // namespace oriel
