#include "codegen/chains.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/running.hpp"
#include "schedule/rules.hpp"

namespace oriel::codegen {

using schedule::EntryId;
using schedule::KernelId;
using schedule::kNone;

namespace {

// Rows that share a factor, and in all: fewer leave a thread without work, or the factor without use.
constexpr std::int64_t kFewestRows = 16;
constexpr std::int64_t kFewestPoints = 64;
// Bytes of a right factor that a thread may hold packed.
constexpr std::int64_t kFactorBytes = std::int64_t{16} << 20;
// A product for a few rows at a time packs its right factor and reads it again for each of them. Where the factor is
// larger than a core's own caches, that costs more than it saves: if depths are so many that the results' traffic
// counts for little, or rows so few that a product by itself reads the factor as it lies.
constexpr std::int64_t kNearFactorBytes = std::int64_t{1} << 20;
constexpr std::int64_t kDeepFactor = 512;
constexpr std::int64_t kFewFactorRows = 256;
constexpr std::int64_t kShortRowBytes = 2048;
// Two products in a row pay where what lies between them leaves the caches, and is more than their factors.
constexpr std::int64_t kBetweenBytes = std::int64_t{2} << 20;

// Multiplications of a product with a vector, from which on it has a form of its own.
constexpr std::int64_t kVectorWork = 4096;

std::int64_t bytes_of(const schedule::Arena& arena, EntryId e) {
  return numel(arena[e].shape(), "join").value() * static_cast<std::int64_t>(itemsize(arena[e].dtype));
}

// A reduction that is no product and reads neighbouring results side by side: row by row it would touch a line of
// memory for each element.
bool walks_columns(const LoopProgram& program) {
  return program.orientation == Orientation::Outer && !program.form.contraction &&
         std::any_of(program.stages.begin(), program.stages.end(),
                     [](const Stage& stage) { return !stage.reductions.empty(); });
}

// As a part it would run tile by tile.
bool is_vector_product(const LoopProgram& program) {
  const std::optional<Contraction>& c = program.form.contraction;
  return c && std::min(c->rows, c->columns) == 1 && c->rows * c->columns * c->depth >= kVectorWork;
}

class ChainFinder {
 public:
  ChainFinder(const schedule::Arena& arena, schedule::KernelGraph& graph, std::span<const EntryId> requested,
              const schedule::DeviceLimits& limits)
      : arena_(arena), graph_(graph), all_limits_(limits), requested_(arena.size(), false) {
    for (const EntryId e : requested) requested_[static_cast<std::size_t>(e)] = true;
  }

  std::vector<Chain> run() {
    std::vector<Chain> chains;
    // A write may take over memory that an earlier kernel reads: such schedules keep their order.
    if (!graph_.writes.writes.empty()) return chains;
    taken_.assign(graph_.kernels.size(), false);
    for (const KernelId k : graph_.order) {
      if (taken_[static_cast<std::size_t>(k)]) continue;
      if (std::optional<Chain> chain = from(k)) {
        for (const KernelId member : chain->kernels) taken_[static_cast<std::size_t>(member)] = true;
        chains.push_back(std::move(*chain));
      }
    }
    return chains;
  }

 private:
  schedule::Kernel& kernel(KernelId k) { return graph_.kernels[static_cast<std::size_t>(k)]; }

  /// The kernels that load an entry.
  std::vector<KernelId> readers(EntryId e) const {
    std::vector<KernelId> list;
    for (const schedule::Place& p : graph_.places[static_cast<std::size_t>(e)]) {
      if (p.instance < 0) continue;
      const auto& instances = graph_.kernels[static_cast<std::size_t>(p.kernel)].instances;
      if (instances[static_cast<std::size_t>(p.instance)].role != schedule::Role::Load) continue;
      if (std::find(list.begin(), list.end(), p.kernel) == list.end()) list.push_back(p.kernel);
    }
    return list;
  }

  /// The kernel that alone reads what k stores for others, and that value.
  std::pair<KernelId, EntryId> next(KernelId k) {
    EntryId between = kNone;
    KernelId reader = -1;
    for (const schedule::Output& o : kernel(k).outputs) {
      const std::vector<KernelId> list = readers(o.entry);
      if (requested_[static_cast<std::size_t>(o.entry)]) {
        if (!list.empty()) return {-1, kNone};
        continue;
      }
      if (between != kNone || list.size() != 1) return {-1, kNone};
      between = o.entry;
      reader = list.front();
    }
    if (reader >= 0 && (taken_[static_cast<std::size_t>(reader)] || kernel(reader).closed())) reader = -1;
    return {reader, between};
  }

  bool may_begin(KernelId k) {
    const schedule::Kernel& first = kernel(k);
    limits_ = all_limits_.of(first.device);
    return limits_.parts > 1 && first.reductions.size() == 1 &&
           arena_[first.reductions[0].entry].op == graph::Op::Sum && numel(first.root_shape) != 0;
  }

  void refuse(KernelId k, EntryId e, const std::string& why) {
    for (schedule::Output& o : kernel(k).outputs)
      if (o.entry == e) o.reason += "; its rows are not kept for its reader: " + why;
  }

  std::optional<Chain> from(KernelId first) {
    if (!may_begin(first)) return std::nullopt;
    auto [reader, between] = next(first);
    if (reader < 0 || arena_[between].shape().empty()) return std::nullopt;
    std::vector<LoweredKernel> lowered;
    lowered.push_back(lower(arena_, graph_, first, limits_.row_bytes));
    if (!lowered[0].program.form.contraction) return std::nullopt;
    Chain chain;
    chain.kernels.push_back(first);
    std::optional<LoweredKernel> best;
    KernelId last = first;
    std::size_t paying = 0;
    std::string why;
    std::vector<EntryId> values;
    while (reader >= 0 && numel(kernel(reader).root_shape) != 0) {
      lowered.push_back(lower(arena_, graph_, reader, limits_.row_bytes));
      chain.kernels.push_back(reader);
      if (walks_columns(lowered.back().program)) {
        if (why.empty()) why = "it reduces columns of memory, which it would walk one by one";
        break;
      }
      if (bytes_of(arena_, between) < kBetweenBytes && is_vector_product(lowered.back().program)) {
        if (why.empty()) why = "it is a product with a vector, which runs faster by itself";
        break;
      }
      std::vector<const LoweredKernel*> members;
      for (const LoweredKernel& l : lowered) members.push_back(&l);
      std::optional<LoweredKernel> joined = join(members);
      if (!joined) {
        if (why.empty()) why = "they do not walk the same rows";
        break;
      }
      joined->program.running = limits_.running && schedule::enabled(schedule::KernelRule::RunningSoftmax) &&
                                find_running_softmax(joined->program).has_value();
      why = obstacle(joined->program);
      if (!why.empty()) break;
      values.push_back(between);
      if ((why = loss(joined->program, values)).empty()) {
        best = std::move(joined);
        paying = chain.kernels.size();
      }
      last = reader;
      std::tie(reader, between) = next(last);
    }
    chain.kernels.resize(std::max<std::size_t>(paying, 1));
    const KernelId end = chain.kernels.back();
    if (const auto [_, stored] = next(end); stored != kNone && !why.empty()) refuse(end, stored, why);
    if (!best) return std::nullopt;
    chain.lowered = std::move(*best);
    chain.reason =
        fmt::format("rows of {} bytes stay in cache from part to part", local_row_bytes(chain.lowered.program));
    return chain;
  }

  std::string obstacle(const LoopProgram& program) const {
    const int parts = parts_of(program);
    if (parts > limits_.parts) return fmt::format("a kernel of {} parts (limit {})", parts, limits_.parts);
    const std::int64_t bytes = local_row_bytes(program);
    if (bytes > limits_.row_bytes && !program.running)
      return fmt::format("a row takes {} bytes (limit {})", bytes, limits_.row_bytes);
    const std::optional<SharedRows>& shared = program.form.rows;
    if (!shared) return "no rows share a factor";
    std::int64_t rows = 1;
    for (std::size_t d = shared->batches; d < program.outer.size(); ++d) rows *= program.outer[d].value();
    if (rows < kFewestRows) return fmt::format("{} rows share a factor (at least {})", rows, kFewestRows);
    const std::int64_t points = numel(program.outer, "join").value();
    if (points < kFewestPoints) return fmt::format("{} rows (at least {})", points, kFewestPoints);
    for (const std::optional<Contraction>& c : shared->products) {
      if (!c) continue;
      const std::int64_t factor = c->columns * c->depth * static_cast<std::int64_t>(itemsize(c->dtype));
      if (factor > kFactorBytes)
        return fmt::format("each thread would hold a factor of {} bytes (limit {})", factor, kFactorBytes);
    }
    return {};
  }

  std::string deep_factor(const LoopProgram& program) const {
    if (program.running || !program.form.rows || local_row_bytes(program) <= kShortRowBytes) return {};
    for (const std::optional<Contraction>& c : program.form.rows->products) {
      if (!c || (c->depth < kDeepFactor && c->rows > kFewFactorRows)) continue;
      const std::int64_t factor = c->columns * c->depth * static_cast<std::int64_t>(itemsize(c->dtype));
      if (factor > kNearFactorBytes)
        return fmt::format("a factor of {} bytes would be read again for every few rows (limit {})", factor,
                           kNearFactorBytes);
    }
    return {};
  }

  /// Why a chain that could be does not pay.
  std::string loss(const LoopProgram& program, std::span<const EntryId> values) const {
    if (std::string why = deep_factor(program); !why.empty()) return why;
    for (const std::optional<Contraction>& product : program.form.rows->products)
      if (!product) return {};  // rows are walked again: they are in cache now
    std::int64_t between = 0;
    for (const EntryId e : values) between += bytes_of(arena_, e);
    if (between < kBetweenBytes || between < 2 * program.bytes)
      return fmt::format("{} bytes between two products stay near", between);
    return {};
  }

  const schedule::Arena& arena_;
  schedule::KernelGraph& graph_;
  const schedule::DeviceLimits& all_limits_;
  schedule::FusionLimits limits_;  // of the device at hand
  std::vector<bool> requested_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<Chain> find_chains(const schedule::Arena& arena, schedule::KernelGraph& graph,
                               std::span<const EntryId> requested, const schedule::DeviceLimits& limits) {
  if (!schedule::enabled(schedule::KernelRule::JoinRows)) return {};
  return ChainFinder(arena, graph, requested, limits).run();
}

}  // namespace oriel::codegen
