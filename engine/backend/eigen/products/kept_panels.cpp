#include "backend/eigen/products/kept_panels.hpp"

#include <vector>

#include "backend/eigen/products/product_factors.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

/// With few rows, which are streamed, whole rows of the right factor are read.
PanelLayout layout_of(const ContractionPlan& plan) {
  const codegen::Contraction& shape = plan.shape;
  if (plan.path == Path::Streamed) return {shape.columns, 1, shape.depth, plan.depth_block, plan.log_bytes};
  const std::int64_t packet = plan.product->packet;
  return {packet * plan.product->packets, packet, shape.depth, plan.depth_block, plan.log_bytes};
}

/// Everything besides the memory that tells one copy from another.
std::vector<std::int64_t> key_of(const ContractionPlan& plan, const PanelLayout& layout) {
  const Matrices& m = *plan.right.memory;
  std::vector<std::int64_t> key = {layout.width,
                                   layout.packet,
                                   layout.depth,
                                   layout.depth_block,
                                   layout.log_bytes,
                                   plan.shape.columns,
                                   plan.shape.batches,
                                   m.offset,
                                   m.row,
                                   m.step};
  key.insert(key.end(), m.extents.begin(), m.extents.end());
  key.insert(key.end(), m.strides.begin(), m.strides.end());
  return key;
}

void pack_all(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters, const KeptPanels& kept, char* to) {
  const codegen::Contraction& shape = plan.shape;
  const BoundLaunch right(*plan.right.values.plan, arguments, parameters);
  const std::int64_t panels = quotient_up(shape.columns, kept.layout.width);
  const auto pack = [&](std::int64_t batch, std::int64_t begin, std::int64_t end) {
    Packer packer(plan.right, *plan.table, right.launch(), ProductMemory::RightWorker);
    packer.pack(to + batch * kept.batch_bytes, kept.layout, batch, 0, shape.columns, 0, shape.depth, begin, end);
  };
  threads.run(shape.batches * panels, [&](std::int64_t job) { pack(job / panels, job % panels, job % panels + 1); });
}

}  // namespace

std::int32_t packed_argument(const ContractionPlan& plan) {
  const FactorPlan& right = plan.right;
  if (plan.path == Path::Dots || right.direct || right.load == nullptr || !right.memory) return -1;
  // A factor that many batches read would be copied for each of them.
  if (plan.shape.batches > 1) {
    for (const std::int64_t stride : right.memory->strides)
      if (stride == 0) return -1;
  }
  return right.memory->buffer;
}

KeptPanels kept_panels(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, const Keeping* keeping) {
  KeptPanels kept;
  const std::int32_t argument = keeping != nullptr ? packed_argument(plan) : -1;
  if (argument < 0) return kept;
  const mem::BufferPtr* memory = keeping->memory(argument);
  if (memory == nullptr) return kept;
  kept.layout = layout_of(plan);
  kept.batch_bytes = round_up(kept.layout.bytes(plan.shape.columns), 64);
  const std::vector<std::int64_t> key = key_of(plan, kept.layout);
  const KeptFactors::Found found = keeping->factors.find(*memory, key);
  kept.memory = found.copy;
  if (kept || !found.make) return kept;
  try {
    const auto copy = std::make_shared<mem::Buffer>(keeping->allocator,
                                                    static_cast<std::size_t>(plan.shape.batches * kept.batch_bytes));
    pack_all(plan, threads, arguments, parameters, kept, static_cast<char*>(copy->data()));
    keeping->factors.keep(*memory, key, found.version, copy);
    kept.memory = copy;
  } catch (const MemoryError&) {
    // Panels are packed in each launch where there is no memory to keep them.
  }
  return kept;
}

}  // namespace oriel::backend::eigen
