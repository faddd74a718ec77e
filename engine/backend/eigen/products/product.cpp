#include "backend/eigen/products/contraction_plan.hpp"

#include <algorithm>
#include <atomic>

#include "backend/eigen/products/kept_panels.hpp"
#include "backend/eigen/products/product_blocks.hpp"
#include "backend/eigen/products/product_factors.hpp"
#include "backend/eigen/tile/machine.hpp"

namespace oriel::backend::eigen {
namespace {

/// One run of a contraction.
class Contractor {
 public:
  Contractor(const ContractionPlan& plan, int threads, std::span<void* const> arguments,
             std::span<const graph::Scalar> parameters, const KeptPanels& kept)
      : plan_(plan),
        shape_(plan.shape),
        kept_(kept),
        blocks_(choose_blocks(plan, threads, arguments, kept ? &kept.layout : nullptr)),
        factors_(plan, blocks_, arguments, parameters),
        product_(plan, blocks_, factors_),
        epilogue_(*plan.epilogue.plan, arguments, parameters),
        arguments_(arguments),
        jobs_(plan, blocks_) {
    take_memory();
  }

  std::int64_t jobs() const { return jobs_.count(); }

  void run(std::int64_t number) {
    jobs_.run(
        number,
        [&](bool left, const BlockGroup& g, std::int64_t job, std::int64_t jobs) {
          factors_.pack_shared(left, left ? shared_left_ : shared_right_, g.batch, left ? g.rows : g.columns, job,
                               jobs);
        },
        [&](const BlockGroup& g, std::int64_t job) { multiply(g, job); });
  }

 private:
  /// Takes the memory that threads share: panels, and the sums of segments.
  void take_memory() {
    const std::int64_t left_bytes = blocks_.share_left ? round_up(blocks_.left.bytes(blocks_.shared_rows), 4096) : 0;
    const std::int64_t right_bytes =
        blocks_.share_right ? round_up(blocks_.right.bytes(blocks_.shared_columns), 4096) : 0;
    const std::int64_t count = shape_.batches * blocks_.count(shape_.rows, shape_.columns);
    const std::int64_t partial = blocks_.segments > 1 ? blocks_.segments * count * blocks_.segment_bytes() : 0;
    shared_left_ = thread_memory(ProductMemory::Shared, left_bytes + right_bytes + partial);
    shared_right_ = shared_left_ + left_bytes;
    partial_ = shared_right_ + right_bytes;
    if (blocks_.segments > 1) summed_ = std::vector<std::atomic<std::int64_t>>(static_cast<std::size_t>(count));
  }

  void multiply(const BlockGroup& g, std::int64_t job) {
    const std::int64_t segment = job % blocks_.segments;
    job /= blocks_.segments;
    const std::int64_t across = quotient_up(g.columns.count, blocks_.columns);
    const std::int64_t down = quotient_up(g.rows.count, blocks_.rows);
    ResultBlock b;
    b.batch = g.batch + job / across / down;
    const std::int64_t row = job / across % down * blocks_.rows;
    const std::int64_t column = job % across * blocks_.columns;
    b.row = g.rows.first + row;
    b.rows = std::min(blocks_.rows, g.rows.count - row);
    b.column = g.columns.first + column;
    b.columns = std::min(blocks_.columns, g.columns.count - column);
    b.depth = segment * plan_.segment;
    b.depth_end = std::min(shape_.depth, b.depth + plan_.segment);
    // The block's place in the group tells where its panels are.
    const BlockPanels left{shared_left_, g.rows.count, row};
    const BlockPanels right = kept_ ? BlockPanels{kept_.at(b.batch), shape_.columns, b.column}
                                    : BlockPanels{shared_right_, g.columns.count, column};
    if (blocks_.segments > 1) {
      b.sums = b.results = segment_sums(job, segment);
      b.pitch = b.columns;
      product_.sum_depths(b, left, right);
      if (summed_[static_cast<std::size_t>(job)].fetch_add(1, std::memory_order_acq_rel) + 1 < blocks_.segments) return;
      b.results = join_segments(b, job);
      if (!plan_.results) return finish(b);
      plan_.table->copy[plan_.log_bytes](result_address(plan_, arguments_, b), plan_.results->row, 1, b.results,
                                         b.pitch, 1, b.rows, b.columns);
      return;
    }
    if (plan_.results) {
      b.results = result_address(plan_, arguments_, b);
      b.pitch = plan_.results->row;
    }
    // Sums of several blocks of depths are accumulated in memory whose rows are close together. The last block of
    // depths goes to the final place, if the results are only stored.
    const bool once = plan_.path == Path::Dots || shape_.depth <= plan_.depth_block;
    if (!plan_.results || !once) {
      b.sums = thread_memory(ProductMemory::Results, (b.rows * b.columns + isa::kPacket) << plan_.log_bytes);
    }
    if (!plan_.results) {
      b.results = b.sums;
      b.pitch = b.columns;
    }
    product_.sum_depths(b, left, right);
    if (!plan_.results) finish(b);
  }

  char* segment_sums(std::int64_t block, std::int64_t segment) const {
    return partial_ + (block * blocks_.segments + segment) * blocks_.segment_bytes();
  }

  /// Adds up the segments' sums of one block: one after the other, or in the order of reductions.
  char* join_segments(const ResultBlock& b, std::int64_t block) const {
    const isa::ReduceFns& sum = plan_.table->reduce[isa::reduce_index(graph::Op::Sum)][static_cast<int>(shape_.dtype)];
    std::vector<char*> values;
    for (std::int64_t s = 0; s < blocks_.segments; ++s) values.push_back(segment_sums(block, s));
    if (plan_.path == Path::Dots) return join_chunks(sum, values, b.rows * b.columns);
    for (std::size_t s = 1; s < values.size(); ++s) sum.merge(values[0], values[0], values[s], b.rows * b.columns);
    return values[0];
  }

  /// Runs the operations on the results of a block.
  void finish(const ResultBlock& b) const {
    Worker worker(epilogue_.launch(), ProductMemory::ResultWorker);
    finish_block(plan_, worker, b);
  }

  const ContractionPlan& plan_;
  const codegen::Contraction& shape_;
  const KeptPanels& kept_;
  ProductBlocks blocks_;
  ProductFactors factors_;
  BlockProduct product_;
  BoundLaunch epilogue_;
  std::span<void* const> arguments_;
  ProductJobs jobs_;
  char* shared_left_ = nullptr;  // panels that blocks share
  char* shared_right_ = nullptr;
  char* partial_ = nullptr;                        // sums of segments, by block and then by segment
  std::vector<std::atomic<std::int64_t>> summed_;  // number of finished segments of each block
};

}  // namespace

void run_contraction(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters, const Keeping* keeping) {
  const KeptPanels kept = kept_panels(plan, threads, arguments, parameters, keeping);
  Contractor contractor(plan, threads.count(), arguments, parameters, kept);
  threads.run(contractor.jobs(), [&](std::int64_t job) { contractor.run(job); });
}

}  // namespace oriel::backend::eigen
