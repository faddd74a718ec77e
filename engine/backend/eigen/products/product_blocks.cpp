#include "backend/eigen/products/product_blocks.hpp"

#include <algorithm>
#include <thread>

namespace oriel::backend::eigen {

namespace {

// Rows in a block of results for 4-byte elements; and columns if few rows are streamed.
constexpr std::int64_t kRowBlock = 256;
constexpr std::int64_t kColumnBlock = 512;
// With at most this many panels of rows, a right factor that is not aligned is read in place.
constexpr std::int64_t kUnalignedPanels = 8;
constexpr std::int64_t kStreamedBlock = kResultTile - 128;
// Columns of one row of results, if they are only stored: the longer the rows that are read, the faster.
constexpr std::int64_t kStreamedRow = 4096;
// Elements of the right factor that are gathered at a time for few rows.
constexpr std::int64_t kGathered = std::int64_t{16} * 1024;
// Elements of one factor that are packed at a time for all threads.
constexpr std::int64_t kSharedElements = std::int64_t{4} << 20;
// With more depths than this, kSharedElements are shared by too few blocks. Then each block packs its own factors, one
// block of depths at a time.
constexpr std::int64_t kSharedDepth = 8192;
constexpr std::int64_t kJobsPerThread = 4;
// A block with fewer products than this is not worth another thread.
constexpr double kSmallestBlock = 128 * 1024;

// If rows begin inside cache lines, reading a packet takes two reads. If many rows of the left factor use them, packing
// pays.
bool reads_right_in_place(const ContractionPlan& plan, std::span<void* const> arguments) {
  if (!plan.right.direct || plan.path != Path::Blocked) return plan.right.direct;
  if (plan.shape.rows <= kUnalignedPanels * plan.product->rows) return true;
  const char* const first = element_address(plan.right, arguments, plan.log_bytes, 0, 0, 0);
  const auto ends =
      reinterpret_cast<std::uintptr_t>(first) | static_cast<std::uintptr_t>(plan.right.memory->step << plan.log_bytes);
  return ends % 64 == 0;
}

// Starts with the sizes that suit the caches, and halves them until every thread has a block.
void choose_size(ProductBlocks& blocks, const ContractionPlan& plan) {
  const codegen::Contraction& shape = plan.shape;
  blocks.rows = std::min(round_up(kRowBlock * 4 >> plan.log_bytes, blocks.height), round_up(shape.rows, blocks.height));
  std::int64_t columns = plan.columns, per_thread = kJobsPerThread;
  if (plan.path == Path::Streamed) {
    const bool gathers = !blocks.right_direct && !blocks.right_kept;
    const bool row = shape.rows == 1 && blocks.right_direct && plan.results;
    columns = gathers ? std::clamp(kGathered / plan.depth_block, kColumnBlock, kStreamedBlock)
              : row   ? kStreamedRow
                      : kStreamedBlock;
    if (row) per_thread = 1;
  }
  blocks.columns = std::min(round_up(columns, blocks.width), round_up(shape.columns, plan.product->packet));
  const auto count = [&] { return blocks.segments * shape.batches * blocks.count(shape.rows, shape.columns); };
  while (blocks.threads > 1 && count() < blocks.threads * per_thread) {
    const double work = static_cast<double>(blocks.rows * blocks.columns) * static_cast<double>(plan.segment);
    if (work < 2 * kSmallestBlock) return;
    if (blocks.columns > blocks.rows && blocks.columns > blocks.width) {
      blocks.columns = round_up(blocks.columns / 2, blocks.width);
    } else if (blocks.rows > blocks.height) {
      blocks.rows = round_up(blocks.rows / 2, blocks.height);
    } else {
      return;
    }
  }
}

// Chooses which panels several blocks share, and how many of them are in memory at the same time.
void choose_shared(ProductBlocks& blocks, const ContractionPlan& plan) {
  const codegen::Contraction& shape = plan.shape;
  const bool shares = shape.depth <= kSharedDepth && blocks.segments == 1;
  blocks.share_left = shares && !plan.left.direct && shape.columns > blocks.columns;
  blocks.share_right = shares && !blocks.right_direct && !blocks.right_kept && shape.rows > blocks.rows;
  const std::int64_t most = std::max<std::int64_t>(1, kSharedElements / shape.depth);
  blocks.shared_rows = blocks.share_left ? round_up(std::min(shape.rows, most), blocks.rows) : shape.rows;
  blocks.shared_columns = blocks.share_right ? round_up(std::min(shape.columns, most), blocks.columns) : shape.columns;
  blocks.shared_rows = std::min(blocks.shared_rows, shape.rows);
  blocks.shared_columns = std::min(blocks.shared_columns, shape.columns);
}

// Memory that only one block needs is gathered as a whole, with rows as long as the block. Rows of memory are an
// exception: they are cut into panels as fast as they are copied.
bool gathers_right_whole(const ProductBlocks& blocks, const ContractionPlan& plan) {
  const bool few = plan.path == Path::Streamed;
  const bool rows_of_memory = plan.right.memory && plan.right.memory->row == 1;
  const bool whole =
      !blocks.share_right && plan.product->loose && plan.right.load != nullptr && Packer::by_depths(plan.right);
  return !blocks.right_direct && (few || (whole && !rows_of_memory));
}

}  // namespace

ProductBlocks choose_blocks(const ContractionPlan& plan, int threads, std::span<void* const> arguments,
                            const PanelLayout* kept) {
  const isa::ProductFns& fns = *plan.product;
  const codegen::Contraction& shape = plan.shape;
  ProductBlocks blocks;
  blocks.threads = threads;
  blocks.log_bytes = plan.log_bytes;
  blocks.height = fns.rows;
  if (plan.path == Path::Streamed) blocks.height = std::max(blocks.height, kStreamedRows);
  blocks.width = static_cast<std::int64_t>(fns.packet) * fns.packets;
  blocks.left = {blocks.height, blocks.height, shape.depth, plan.depth_block, plan.log_bytes};
  if (plan.path == Path::Dots) blocks.left = {1, 1, shape.depth, plan.segment, plan.log_bytes};
  blocks.right = {blocks.width, fns.packet, shape.depth, plan.depth_block, plan.log_bytes};
  blocks.segments = quotient_up(shape.depth, plan.segment);
  blocks.right_kept = kept != nullptr;
  blocks.right_direct = !blocks.right_kept && reads_right_in_place(plan, arguments);
  choose_size(blocks, plan);
  blocks.one_block = shape.rows <= blocks.rows && shape.columns <= blocks.columns && blocks.segments == 1;
  choose_shared(blocks, plan);
  if (kept != nullptr) {
    blocks.right = *kept;
    return blocks;
  }
  blocks.right_dense = gathers_right_whole(blocks, plan);
  if (blocks.right_dense) blocks.right = {blocks.columns, 1, shape.depth, plan.depth_block, plan.log_bytes};
  return blocks;
}

namespace {

// Elements that one job packs.
constexpr std::int64_t kPackJob = std::int64_t{32} * 1024;

std::int64_t pack_jobs(const FactorPlan& factor, const PanelLayout& layout, const PointRange& points) {
  const std::int64_t most = Packer::by_depths(factor) ? layout.depth : quotient_up(points.count, layout.width);
  return std::min(most, quotient_up(points.count * layout.depth, kPackJob));
}

}  // namespace

ProductJobs::ProductJobs(const ContractionPlan& plan, const ProductBlocks& blocks) {
  const codegen::Contraction& shape = plan.shape;
  if (!blocks.share_left && !blocks.share_right) {
    // Blocks share nothing.
    BlockGroup g;
    g.rows.count = shape.rows;
    g.columns.count = shape.columns;
    g.multiply = shape.batches * blocks.count(shape.rows, shape.columns) * blocks.segments;
    groups_.push_back(g);
    count_ = g.multiply;
  } else {
    for (std::int64_t b = 0; b < shape.batches; ++b) add_groups(plan, blocks, b);
  }
  progress_ = std::vector<Progress>(groups_.size());
}

void ProductJobs::add_groups(const ContractionPlan& plan, const ProductBlocks& blocks, std::int64_t batch) {
  const codegen::Contraction& shape = plan.shape;
  for (std::int64_t j = 0; j < shape.columns; j += blocks.shared_columns) {
    for (std::int64_t i = 0; i < shape.rows; i += blocks.shared_rows) {
      BlockGroup g;
      g.batch = batch;
      g.rows = {i, std::min(blocks.shared_rows, shape.rows - i)};
      g.columns = {j, std::min(blocks.shared_columns, shape.columns - j)};
      // Panels that the previous group has packed are not packed again.
      if (blocks.share_left && (j == 0 || blocks.shared_rows < shape.rows)) {
        g.pack_left = pack_jobs(plan.left, blocks.left, g.rows);
      }
      if (blocks.share_right && i == 0) g.pack_right = pack_jobs(plan.right, blocks.right, g.columns);
      g.multiply = blocks.count(g.rows.count, g.columns.count);
      g.begin = count_;
      count_ += g.packs() + g.multiply;
      groups_.push_back(g);
    }
  }
}

void ProductJobs::wait(const std::atomic<std::int64_t>& done, std::int64_t all) const {
  for (int spins = 0; done.load(std::memory_order_acquire) < all; ++spins) {
    if (failed_) return;
    if (spins > 200) std::this_thread::yield();
  }
}

}  // namespace oriel::backend::eigen
