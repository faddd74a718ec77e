#include "backend/eigen/products/product.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "backend/eigen/products/packer.hpp"
#include "backend/eigen/products/panel_product.hpp"
#include "backend/eigen/tile/machine.hpp"

namespace oriel::backend::eigen {
namespace {

// Rows in a block of results for 4-byte elements; and columns if few rows are streamed.
constexpr std::int64_t kRowBlock = 256;
constexpr std::int64_t kColumnBlock = 512;
// With at most this many panels of rows, a right factor that is not aligned is read in place.
constexpr std::int64_t kUnalignedPanels = 8;
constexpr std::int64_t kStreamedBlock = kResultTile - 128;
// Elements of the right factor that are gathered at a time for few rows.
constexpr std::int64_t kGathered = std::int64_t{16} * 1024;
// Elements of one factor that are packed at a time for all threads.
constexpr std::int64_t kSharedElements = std::int64_t{4} << 20;
// With more depths than this, kSharedElements are shared by too few blocks. Then each block packs its own factors, one
// block of depths at a time.
constexpr std::int64_t kSharedDepth = 8192;
// Elements that one job packs.
constexpr std::int64_t kPackJob = std::int64_t{32} * 1024;
constexpr std::int64_t kJobsPerThread = 4;
// A block with fewer products than this is not worth another thread.
constexpr double kSmallestBlock = 128 * 1024;

/// Rows of one factor that several blocks of results share and that are packed once.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The results of one batch, or as many of them as the shared panels cover.
struct Group {
  std::int64_t batch = 0;
  Part rows;
  Part columns;
  std::int64_t pack_left = 0;  // number of jobs that pack the left factor
  std::int64_t pack_right = 0;
  std::int64_t multiply = 0;
  std::int64_t begin = 0;  // its first job
  std::int64_t packs() const noexcept { return pack_left + pack_right; }
};

struct Progress {
  std::atomic<std::int64_t> packed{0};
  std::atomic<std::int64_t> multiplied{0};
};

class Contractor {
 public:
  Contractor(const ContractionPlan& plan, int threads, std::span<void* const> arguments,
             std::span<const graph::Scalar> parameters)
      : plan_(plan),
        shape_(plan.shape),
        fns_(*plan.product),
        height_(fns_.rows),
        arguments_(arguments),
        left_(*plan.left.values.plan, arguments, parameters),
        right_(*plan.right.values.plan, arguments, parameters),
        epilogue_(*plan.epilogue.plan, arguments, parameters) {
    panel_ = static_cast<std::int64_t>(fns_.packet) * fns_.packets;
    if (plan.path == Path::Streamed) height_ = std::max(height_, kStreamedRows);
    left_layout_ = {height_, height_, shape_.depth, plan.depth_block, plan.log_bytes};
    if (plan.path == Path::Dots) left_layout_ = {1, 1, shape_.depth, plan.segment, plan.log_bytes};
    right_layout_ = {panel_, fns_.packet, shape_.depth, plan.depth_block, plan.log_bytes};
    segments_ = quotient_up(shape_.depth, plan.segment);
    read_as_it_lies();
    choose_blocks(threads);
    threads_ = threads;
    one_block_ = shape_.rows <= row_block_ && shape_.columns <= column_block_ && segments_ == 1;
    const bool shares = shape_.depth <= kSharedDepth && segments_ == 1;
    share_left_ = shares && !plan_.left.direct && shape_.columns > column_block_;
    share_right_ = shares && !right_direct_ && shape_.rows > row_block_;
    // Memory that only one block needs is gathered as a whole, with rows as long as the block. Rows of memory are an
    // exception: they are cut into panels as fast as they are copied.
    const bool few = plan.path == Path::Streamed;
    const bool rows_of_memory = plan.right.memory && plan.right.memory->row == 1;
    const bool whole = !share_right_ && fns_.loose && plan.right.load != nullptr && !plan.right.turned;
    right_dense_ = !right_direct_ && (few || (whole && !rows_of_memory));
    if (right_dense_) right_layout_ = {column_block_, 1, shape_.depth, plan.depth_block, plan.log_bytes};
    make_groups();
  }

  std::int64_t jobs() const { return jobs_; }

  /// Jobs are taken in order. So the jobs that a job waits for have been taken, and none of them waits for a later job.
  void run(std::int64_t job) {
    const auto after = std::upper_bound(groups_.begin(), groups_.end(), job,
                                        [](std::int64_t j, const Group& g) { return j < g.begin; });
    const auto index = static_cast<std::size_t>(after - groups_.begin()) - 1;
    const Group& g = groups_[index];
    Progress& progress = progress_[index];
    job -= g.begin;
    try {
      if (job < g.packs()) {
        if (index > 0) wait(progress_[index - 1].multiplied, groups_[index - 1].multiply);
        if (job < g.pack_left) {
          pack(true, g, job, g.pack_left);
        } else {
          pack(false, g, job - g.pack_left, g.pack_right);
        }
        progress.packed.fetch_add(1, std::memory_order_release);
      } else {
        wait(progress.packed, g.packs());
        multiply(g, job - g.packs());
        progress.multiplied.fetch_add(1, std::memory_order_release);
      }
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

 private:
  // Numbers of a thread's memories.
  enum Memory : int { kLeftWorker = 1, kRightWorker, kResultWorker, kLeftPanels, kRightPanels, kResults, kShared };
  static_assert(kShared < kThreadMemories);

  /// The results that one job computes, and where they are summed.
  struct Block {
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t rows = 0;
    std::int64_t column = 0;
    std::int64_t columns = 0;
    char* results = nullptr;  // of the last block of depths
    std::int64_t pitch = 0;
    char* sums = nullptr;    // of the earlier blocks of depths; rows are adjacent
    std::int64_t depth = 0;  // the first of the depths that are summed
    std::int64_t depth_end = 0;
  };
  /// The panels of one factor that a block multiplies. Point p at depth d lies in layout.at(count, d, offset + p).
  struct Panels {
    const char* data = nullptr;
    std::int64_t count = 0;
    std::int64_t offset = 0;
  };

  // Starts with the sizes that suit the caches, and halves them until every thread has a block.
  void choose_blocks(int threads) {
    row_block_ = std::min(round_up(kRowBlock * 4 >> plan_.log_bytes, height_), round_up(shape_.rows, height_));
    std::int64_t columns = plan_.columns;
    if (plan_.path == Path::Streamed) {
      columns =
          right_direct_ ? kStreamedBlock : std::clamp(kGathered / plan_.depth_block, kColumnBlock, kStreamedBlock);
    }
    column_block_ = std::min(round_up(columns, panel_), round_up(shape_.columns, fns_.packet));
    const auto count = [&] {
      return segments_ * shape_.batches * quotient_up(shape_.rows, row_block_) *
             quotient_up(shape_.columns, column_block_);
    };
    while (threads > 1 && count() < threads * kJobsPerThread) {
      const double work = static_cast<double>(row_block_ * column_block_) * static_cast<double>(plan_.segment);
      if (work < 2 * kSmallestBlock) return;
      if (column_block_ > row_block_ && column_block_ > panel_) {
        column_block_ = round_up(column_block_ / 2, panel_);
      } else if (row_block_ > height_) {
        row_block_ = round_up(row_block_ / 2, height_);
      } else {
        return;
      }
    }
  }

  // If rows begin inside cache lines, reading a packet takes two reads. If many rows of the left factor use them,
  // packing pays.
  void read_as_it_lies() {
    right_direct_ = plan_.right.direct;
    if (!right_direct_ || plan_.path != Path::Blocked || shape_.rows <= kUnalignedPanels * fns_.rows) return;
    const Matrices& m = *plan_.right.memory;
    const auto ends = reinterpret_cast<std::uintptr_t>(memory(plan_.right, 0, 0, 0)) |
                      static_cast<std::uintptr_t>(m.step << plan_.log_bytes);
    right_direct_ = ends % 64 == 0;
  }

  void make_groups() {
    const std::int64_t reach = std::max<std::int64_t>(1, kSharedElements / shape_.depth);
    row_part_ = share_left_ ? round_up(std::min(shape_.rows, reach), row_block_) : shape_.rows;
    column_part_ = share_right_ ? round_up(std::min(shape_.columns, reach), column_block_) : shape_.columns;
    row_part_ = std::min(row_part_, shape_.rows);
    column_part_ = std::min(column_part_, shape_.columns);
    const std::int64_t left_bytes = share_left_ ? round_up(left_layout_.bytes(row_part_), 4096) : 0;
    const std::int64_t right_bytes = share_right_ ? round_up(right_layout_.bytes(column_part_), 4096) : 0;
    const std::int64_t blocks_in_all =
        shape_.batches * quotient_up(shape_.rows, row_block_) * quotient_up(shape_.columns, column_block_);
    const std::int64_t partial = segments_ > 1 ? segments_ * blocks_in_all * segment_bytes() : 0;
    shared_left_ = thread_memory(kShared, left_bytes + right_bytes + partial);
    shared_right_ = shared_left_ + left_bytes;
    partial_ = shared_right_ + right_bytes;
    if (!share_left_ && !share_right_) {
      // Blocks share nothing.
      Group g;
      g.rows.count = shape_.rows;
      g.columns.count = shape_.columns;
      g.multiply = shape_.batches * blocks(g) * segments_;
      groups_.push_back(g);
      if (segments_ > 1) summed_ = std::vector<std::atomic<std::int64_t>>(static_cast<std::size_t>(blocks_in_all));
      jobs_ = g.multiply;
    } else {
      for (std::int64_t b = 0; b < shape_.batches; ++b) make_groups_of(b);
    }
    progress_ = std::vector<Progress>(groups_.size());
  }

  void make_groups_of(std::int64_t batch) {
    for (std::int64_t j = 0; j < shape_.columns; j += column_part_) {
      for (std::int64_t i = 0; i < shape_.rows; i += row_part_) {
        Group g;
        g.batch = batch;
        g.rows = {i, std::min(row_part_, shape_.rows - i)};
        g.columns = {j, std::min(column_part_, shape_.columns - j)};
        // A part that the previous group has packed is not packed again.
        if (share_left_ && (j == 0 || row_part_ < shape_.rows)) g.pack_left = pack_jobs(true, g.rows);
        if (share_right_ && i == 0) g.pack_right = pack_jobs(false, g.columns);
        g.multiply = blocks(g);
        g.begin = jobs_;
        jobs_ += g.packs() + g.multiply;
        groups_.push_back(g);
      }
    }
  }

  std::int64_t blocks(const Group& g) const {
    return quotient_up(g.rows.count, row_block_) * quotient_up(g.columns.count, column_block_);
  }
  std::int64_t pack_jobs(bool left, const Part& part) const {
    const PanelLayout& layout = left ? left_layout_ : right_layout_;
    const std::int64_t most =
        Packer::by_depths(left ? plan_.left : plan_.right) ? shape_.depth : quotient_up(part.count, layout.width);
    return std::min(most, quotient_up(part.count * layout.depth, kPackJob));
  }

  void wait(const std::atomic<std::int64_t>& done, std::int64_t all) const {
    for (int spins = 0; done.load(std::memory_order_acquire) < all; ++spins) {
      if (failed_) return;
      if (spins > 200) std::this_thread::yield();
    }
  }

  Packer packer(bool left) const {
    return {left ? plan_.left : plan_.right, *plan_.table, left ? left_.launch() : right_.launch(),
            left ? kLeftWorker : kRightWorker};
  }

  void pack(bool left, const Group& g, std::int64_t job, std::int64_t jobs) const {
    const PanelLayout& layout = left ? left_layout_ : right_layout_;
    const Part& part = left ? g.rows : g.columns;
    const std::int64_t panels = quotient_up(part.count, layout.width);
    char* memory = left ? shared_left_ : shared_right_;
    const auto share = [&](std::int64_t all, std::int64_t j) { return all * j / jobs; };
    if (Packer::by_depths(left ? plan_.left : plan_.right)) {
      packer(left).pack(memory, layout, g.batch, part.first, part.count, share(shape_.depth, job),
                        share(shape_.depth, job + 1), 0, panels);
    } else {
      packer(left).pack(memory, layout, g.batch, part.first, part.count, 0, shape_.depth, share(panels, job),
                        share(panels, job + 1));
    }
  }

  std::int64_t segment_bytes() const { return (row_block_ * column_block_ + isa::kPacket) << plan_.log_bytes; }

  void multiply(const Group& g, std::int64_t job) {
    const std::int64_t segment = job % segments_;
    job /= segments_;
    const std::int64_t across = quotient_up(g.columns.count, column_block_);
    const std::int64_t down = quotient_up(g.rows.count, row_block_);
    Block b;
    b.batch = g.batch + job / across / down;
    const std::int64_t row = job / across % down * row_block_;
    const std::int64_t column = job % across * column_block_;
    b.row = g.rows.first + row;
    b.rows = std::min(row_block_, g.rows.count - row);
    b.column = g.columns.first + column;
    b.columns = std::min(column_block_, g.columns.count - column);
    // Sums of several blocks of depths are accumulated in memory whose rows are close together. The last block of
    // depths goes to the final place, if the results are only stored.
    const bool once = plan_.path == Path::Dots || shape_.depth <= plan_.depth_block;
    b.depth = segment * plan_.segment;
    b.depth_end = std::min(shape_.depth, b.depth + plan_.segment);
    if (segments_ > 1) {
      b.sums = b.results = partial_ + (job * segments_ + segment) * segment_bytes();
      b.pitch = b.columns;
      sum_depths(g, b, row, column);
      if (summed_[static_cast<std::size_t>(job)].fetch_add(1, std::memory_order_acq_rel) + 1 < segments_) return;
      b.results = join_segments(b, job);
      if (!plan_.results) return finish(b);
      plan_.table->copy[plan_.log_bytes](place(b), plan_.results->row, 1, b.results, b.pitch, 1, b.rows, b.columns);
      return;
    }
    if (plan_.results) {
      b.results = place(b);
      b.pitch = plan_.results->row;
    }
    if (!plan_.results || !once) {
      b.sums = thread_memory(kResults, (b.rows * b.columns + isa::kPacket) << plan_.log_bytes);
    }
    if (!plan_.results) {
      b.results = b.sums;
      b.pitch = b.columns;
    }
    sum_depths(g, b, row, column);
    if (!plan_.results) finish(b);
  }

  /// The address of a block's results, if the results are only stored.
  char* place(const Block& b) const {
    const Matrices& m = *plan_.results;
    char* out = static_cast<char*>(arguments_[static_cast<std::size_t>(m.buffer)]);
    return out + ((m.at(b.batch) + b.row * m.row + b.column) << plan_.log_bytes);
  }

  /// Adds up the segments' sums of one block: one after the other, or in the order of reductions.
  char* join_segments(const Block& b, std::int64_t block) const {
    const isa::ReduceFns& sum = plan_.table->reduce[isa::reduce_index(graph::Op::Sum)][static_cast<int>(shape_.dtype)];
    std::vector<char*> values;
    for (std::int64_t s = 0; s < segments_; ++s) values.push_back(partial_ + (block * segments_ + s) * segment_bytes());
    if (plan_.path == Path::Dots) return join_chunks(sum, values, b.rows * b.columns);
    for (std::size_t s = 1; s < values.size(); ++s) sum.merge(values[0], values[0], values[s], b.rows * b.columns);
    return values[0];
  }

  /// Computes the block's products over its depths. Its place in the group tells where its panels are.
  void sum_depths(const Group& g, const Block& b, std::int64_t row, std::int64_t column) const {
    Panels left{shared_left_, g.rows.count, row};
    Panels right{shared_right_, g.columns.count, column};
    char* own_left = nullptr;
    char* own_right = nullptr;
    if (!share_left_ && !plan_.left.direct) {
      own_left = thread_memory(kLeftPanels, left_layout_.padded(b.rows) * left_layout_.depth_block << plan_.log_bytes);
    }
    if (!share_right_ && !right_direct_) {
      const std::int64_t elements = right_layout_.padded(b.columns) * plan_.depth_block + panel_;
      own_right = thread_memory(kRightPanels, elements << plan_.log_bytes);
    }
    const std::int64_t step = plan_.path == Path::Dots ? plan_.segment : plan_.depth_block;
    for (std::int64_t d = b.depth; d < b.depth_end; d += step) {
      if (own_left != nullptr) left = own_panels(true, own_left, b, d);
      if (own_right != nullptr) right = own_panels(false, own_right, b, d);
      switch (plan_.path) {
        case Path::Blocked:
          add_depths(b, d, left, right);
          break;
        case Path::Streamed:
          stream_depths(b, d, left, right);
          break;
        case Path::Dots: {
          const Matrices& m = *plan_.right.memory;
          const char* x = plan_.left.direct ? memory(plan_.left, b.batch, b.row, d)
                                            : left.data + left_layout_.at(left.count, d, left.offset);
          fns_.dots(b.results, x, memory(plan_.right, b.batch, b.column, d), m.row, b.columns, b.depth_end - d);
          break;
        }
      }
    }
  }

  /// Packs what only this block needs, one block of depths at a time.
  Panels own_panels(bool left, char* memory, const Block& b, std::int64_t d) const {
    const PanelLayout& layout = left ? left_layout_ : right_layout_;
    const std::int64_t count = left ? b.rows : b.columns;
    // The memory holds only this block of depths, so the pointer is shifted by the layout's offset.
    char* data = memory - layout.at(count, d, 0);
    packer(left).pack(data, layout, b.batch, left ? b.row : b.column, count, d,
                      std::min(shape_.depth, d + layout.depth_block), 0, quotient_up(count, layout.width));
    return {data, count, 0};
  }

  struct Target {
    char* data = nullptr;
    std::int64_t pitch = 0;
  };
  /// Where the sums go when the block of depths that begins at d is added.
  Target target_of(const Block& b, std::int64_t d) const {
    if (d + plan_.depth_block >= b.depth_end) return {b.results, b.pitch};
    return {b.sums, b.columns};
  }

  void add_depths(const Block& b, std::int64_t d, const Panels& left, const Panels& right) const {
    PanelProduct p;
    p.depth = std::min(plan_.depth_block, shape_.depth - d);
    if (plan_.left.direct) {
      p.a_in_memory(memory(plan_.left, b.batch, b.row, d), *plan_.left.memory, plan_.log_bytes);
    } else {
      p.a_in_panels(left.data + left_layout_.at(left.count, d, left.offset), height_, left_layout_.point_bytes(d));
    }
    if (right_direct_) {
      p.b_in_rows(memory(plan_.right, b.batch, b.column, d), plan_.right.memory->step, plan_.log_bytes);
    } else if (right_dense_) {
      p.b_in_rows(right.data + right_layout_.at(right.count, d, 0), right.count, plan_.log_bytes);
    } else {
      const auto panel = [&](std::int64_t at) { return right.data + right_layout_.at(right.count, at, right.offset); };
      p.b_in_panels(panel(d), right_layout_.point_bytes(d), share_right_);
      if (p.cold && d + plan_.depth_block < b.depth_end) p.next = panel(d + plan_.depth_block);
    }
    if (one_block_ && d == 0 && b.batch + threads_ < shape_.batches) {
      p.ahead = {ahead(plan_.left, b.batch + threads_, b.rows), ahead(plan_.right, b.batch + threads_, b.columns)};
    }
    const Target target = target_of(b, d);
    p.c = target.data;
    p.c_row = target.pitch;
    if (d > b.depth) p.from = b.sums;
    p.from_row = b.columns;
    p.rows = b.rows;
    p.columns = b.columns;
    multiply_panels(fns_, plan_.log_bytes, p);
  }

  /// The memory of one batch of a factor, to be prefetched.
  Ahead ahead(const FactorPlan& factor, std::int64_t batch, std::int64_t points) const {
    const std::int64_t elements = factor.memory ? factor.memory->reach(points, shape_.depth) : 0;
    return elements > 0 ? Ahead{memory(factor, batch, 0, 0), elements << plan_.log_bytes} : Ahead{};
  }

  /// The address of a factor's element.
  const char* memory(const FactorPlan& factor, std::int64_t batch, std::int64_t point, std::int64_t d) const {
    const Matrices& m = *factor.memory;
    const char* data = static_cast<const char*>(arguments_[static_cast<std::size_t>(m.buffer)]);
    return data + ((m.at(batch) + point * m.row + d * m.step) << plan_.log_bytes);
  }

  void stream_depths(const Block& b, std::int64_t d, const Panels& left, const Panels& right) const {
    isa::ProductBlock q;
    if (plan_.left.direct) {
      q.a = memory(plan_.left, b.batch, b.row, d);
      q.a_row = plan_.left.memory->row;
      q.a_step = plan_.left.memory->step;
    } else {
      q.a = left.data + left_layout_.at(left.count, d, left.offset);
      q.a_step = height_;
    }
    q.b = right_direct_ ? memory(plan_.right, b.batch, b.column, d) : right.data + right_layout_.at(right.count, d, 0);
    q.b_row = right_direct_ ? plan_.right.memory->step : right.count;
    const Target target = target_of(b, d);
    q.c = target.data;
    q.c_row = target.pitch;
    q.from = d > b.depth ? b.sums : nullptr;
    q.from_row = b.columns;
    q.depth = std::min(plan_.depth_block, shape_.depth - d);
    q.rows = static_cast<int>(b.rows);
    q.cols = static_cast<int>(b.columns);
    fns_.stream(q);
  }

  void finish(const Block& b) const {
    Worker worker(epilogue_.launch(), kResultWorker);
    const std::int64_t step = std::max<std::int64_t>(1, kResultTile / b.columns);
    for (std::int64_t i = 0; i < b.rows; i += step) {
      worker.slots()[plan_.epilogue.slot] = b.results + (i * b.pitch << plan_.log_bytes);
      worker.run_tile({b.batch * shape_.rows + b.row + i, std::min(step, b.rows - i), b.column, b.columns});
    }
  }

  const ContractionPlan& plan_;
  const codegen::Contraction& shape_;
  const isa::ProductFns& fns_;
  std::int64_t height_;  // rows in a panel
  std::span<void* const> arguments_;
  BoundLaunch left_;
  BoundLaunch right_;
  BoundLaunch epilogue_;
  PanelLayout left_layout_;
  PanelLayout right_layout_;
  std::int64_t panel_ = 1;
  std::int64_t row_block_ = 1;
  std::int64_t column_block_ = 1;
  std::int64_t row_part_ = 1;
  std::int64_t column_part_ = 1;
  bool right_direct_ = false;  // the right factor is read in place, never packed
  bool right_dense_ = false;   // the right factor is not cut into panels
  int threads_ = 1;
  bool one_block_ = false;  // a batch is one block: a thread prefetches the factors of its probable next batch
  bool share_left_ = false;
  bool share_right_ = false;
  std::int64_t segments_ = 1;
  char* partial_ = nullptr;                        // sums of segments, by block and then by segment
  std::vector<std::atomic<std::int64_t>> summed_;  // number of finished segments of each block
  char* shared_left_ = nullptr;
  char* shared_right_ = nullptr;
  std::vector<Group> groups_;
  std::vector<Progress> progress_;
  std::int64_t jobs_ = 0;
  std::atomic<bool> failed_{false};
};

}  // namespace

void run_contraction(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters) {
  Contractor contractor(plan, threads.count(), arguments, parameters);
  threads.run(contractor.jobs(), [&](std::int64_t job) { contractor.run(job); });
}

}  // namespace oriel::backend::eigen
