#include "schedule/fused_kernels.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schedule/estimate.hpp"
#include "schedule/shared_loops.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

namespace {

// The fewest rows that share a factor, and the fewest in all. With fewer, packing the factor does not pay, or a thread
// has no work.
constexpr std::int64_t kFewestFactorRows = 16;
constexpr std::int64_t kFewestPoints = 64;
// The most bytes of a packed right factor that a thread may hold.
constexpr std::int64_t kFactorBytes = std::int64_t{16} << 20;
// A product for a few rows at a time packs its right factor, and reads it again for each group of rows. If the factor
// is larger than a core's own caches, this costs more than joining saves in two cases: the depth is so large that the
// traffic of the results hardly counts, or there are so few rows that a product by itself would not pack the factor.
constexpr std::int64_t kNearFactorBytes = std::int64_t{1} << 20;
constexpr std::int64_t kDeepFactor = 512;
constexpr std::int64_t kFewRows = 256;
constexpr std::int64_t kShortRowBytes = 2048;
// Joining two products pays if the values between them do not fit the caches and are larger than the factors.
constexpr std::int64_t kBetweenBytes = std::int64_t{2} << 20;
// From so many multiplications on, a product with a vector has a form of its own.
constexpr std::int64_t kVectorWork = 4096;

/// Kernels that could be fused, as far as they are known.
struct Candidate {
  std::vector<const KernelLoops*> kernels;
  std::vector<EntryId> between;
  SharedLoops loops;
  std::optional<SharedProducts> products;
  SymInt row_bytes = 0;  // of all values between, for one row
  bool online = false;
};

class Joiner {
 public:
  Joiner(const Arena& arena, KernelGraph& graph, std::span<const EntryId> requested, const DeviceLimits& limits)
      : arena_(arena), graph_(graph), all_limits_(limits), requested_(arena.size(), false) {
    for (const EntryId e : requested) requested_[static_cast<std::size_t>(e)] = true;
  }

  void run() {
    // A write may reuse memory that an earlier kernel reads: such schedules keep their order.
    if (!graph_.writes.writes.empty()) return;
    fused_in_.assign(graph_.kernels.size(), -1);
    for (const KernelId k : graph_.order)
      if (fused_in_[static_cast<std::size_t>(k)] < 0) begin_at(k);
    if (graph_.fused.empty()) return;
    graph_.fused_in = std::move(fused_in_);
    // Fused kernels run where the last of them does.
    std::erase_if(graph_.order, [&](KernelId k) {
      const FusedKernels* with = graph_.fused_with(k);
      return with != nullptr && with->kernels.back() != k;
    });
  }

 private:
  Kernel& kernel(KernelId k) { return graph_.kernels[static_cast<std::size_t>(k)]; }
  SymInt bytes_of(EntryId e) const { return numel(arena_[e].shape(), "join") * itemsize(arena_[e].dtype); }

  /// The kernels that load an entry.
  std::vector<KernelId> readers(EntryId e) const {
    std::vector<KernelId> list;
    for (const Use& p : graph_.uses[static_cast<std::size_t>(e)]) {
      if (p.instance < 0) continue;
      const auto& instances = graph_.kernels[static_cast<std::size_t>(p.kernel)].instances;
      if (instances[static_cast<std::size_t>(p.instance)].role != Role::Load) continue;
      if (std::find(list.begin(), list.end(), p.kernel) == list.end()) list.push_back(p.kernel);
    }
    return list;
  }

  /// The only kernel that reads what k stores for other kernels, and the value that it reads.
  std::pair<KernelId, EntryId> next(KernelId k) {
    EntryId between = kNone;
    KernelId reader = -1;
    for (const Output& o : kernel(k).outputs) {
      const std::vector<KernelId> list = readers(o.entry);
      if (requested_[static_cast<std::size_t>(o.entry)]) {
        if (!list.empty()) return {-1, kNone};
        continue;
      }
      if (between != kNone || list.size() != 1) return {-1, kNone};
      between = o.entry;
      reader = list.front();
    }
    if (reader >= 0 && (fused_in_[static_cast<std::size_t>(reader)] >= 0 || kernel(reader).closed())) reader = -1;
    return {reader, between};
  }

  bool may_begin(KernelId k) {
    const Kernel& first = kernel(k);
    limits_ = all_limits_.of(first.device);
    return limits_.parts > 1 && first.reductions.size() == 1 &&
           arena_[first.reductions[0].entry].op == graph::Op::Sum && numel(first.root_shape) != 0;
  }

  void begin_at(KernelId first) {
    if (!may_begin(first)) return;
    auto [reader, value] = next(first);
    if (reader < 0 || arena_[value].shape().empty()) return;
    std::deque<KernelLoops> loops;  // candidates refer to them
    loops.emplace_back(arena_, graph_, first);
    if (!sides_of_product(loops[0])) return;
    Candidate candidate;
    candidate.kernels.push_back(&loops[0]);
    std::optional<Candidate> best;
    KernelId last = first;
    std::string why;
    while (reader >= 0 && numel(kernel(reader).root_shape) != 0) {
      const KernelLoops& added = loops.emplace_back(arena_, graph_, reader);
      if (std::string refused = disagrees(added, value); !refused.empty()) {
        if (why.empty()) why = std::move(refused);
        break;
      }
      candidate.kernels.push_back(&added);
      candidate.between.push_back(value);
      if (!share(candidate)) {
        if (why.empty()) why = "they do not walk the same rows";
        break;
      }
      why = obstacle(candidate);
      if (!why.empty()) break;
      if ((why = loss(candidate)).empty()) best = candidate;
      last = reader;
      std::tie(reader, value) = next(last);
    }
    const KernelId end = best ? best->kernels.back()->id() : first;
    if (const auto [_, stored] = next(end); stored != kNone && !why.empty()) refuse(end, stored, why);
    if (best) take(std::move(*best));
  }

  static std::optional<ProductSides> sides_of_product(const KernelLoops& loops) {
    const std::optional<LoopProduct> product = only_product(loops);
    return product ? sides_of(loops, *product) : std::nullopt;
  }

  void refuse(KernelId k, EntryId e, const std::string& why) {
    for (Output& o : kernel(k).outputs)
      if (o.entry == e) o.reason += "; not fused row by row with the kernel that reads it: " + why;
  }

  void take(Candidate chosen) {
    FusedKernels& fused = graph_.fused.emplace_back();
    for (const KernelLoops* k : chosen.kernels) {
      fused.kernels.push_back(k->id());
      fused_in_[static_cast<std::size_t>(k->id())] = static_cast<std::int32_t>(graph_.fused.size()) - 1;
    }
    fused.between = std::move(chosen.between);
    fused.loops = std::move(chosen.loops);
    fused.online = chosen.online;
    fused.reason = fmt::format("rows of {} bytes stay in cache from part to part", to_string(chosen.row_bytes));
  }

  // The reason why a kernel runs faster by itself than for a few rows of `value` at a time, as the kernel before it
  // makes them.
  std::string disagrees(const KernelLoops& loops, EntryId value) const {
    const std::optional<LoopProduct> product = only_product(loops);
    const std::optional<ProductSides> sides = product ? sides_of(loops, *product) : std::nullopt;
    // A reduction down columns that is no product. Row by row it would touch a cache line for each element.
    if (!sides && !loops.kernel().reductions.empty() && walks_columns(loops))
      return "it reduces columns of memory, which it would walk one by one";
    // As a part it would run tile by tile.
    if (sides && (sides->rows == 1 || sides->columns == 1) &&
        sides->rows * sides->columns * product->depth >= kVectorWork && bytes_of(value) < kBetweenBytes)
      return "it is a product with a vector, which runs faster by itself";
    return {};
  }

  // Finds what the candidate's kernels share; false where they do not walk the same rows.
  bool share(Candidate& c) const {
    std::optional<SharedLoops> loops = share_loops(c.kernels, c.between);
    if (!loops) return false;
    c.loops = std::move(*loops);
    c.products = shared_products(c.kernels, c.loops);
    const SymInt rows = numel(c.loops.extents);
    c.row_bytes = 0;
    for (const EntryId e : c.between) c.row_bytes += bytes_of(e) / rows;
    c.online = limits_.online && !arena_.rules_off().has(KernelRule::OnlineSoftmax) && c.kernels.size() == 3 &&
               runs_online(*c.kernels[1], c.between[0], c.between[1], *c.kernels[2]);
    return true;
  }

  std::string obstacle(const Candidate& c) const {
    const auto parts = static_cast<int>(c.kernels.size());
    if (parts > limits_.parts) return fmt::format("a kernel of {} parts (limit {})", parts, limits_.parts);
    if (!c.online && c.row_bytes > limits_.row_bytes)
      return fmt::format("a row takes {} bytes (limit {})", to_string(c.row_bytes), limits_.row_bytes);
    if (!c.products) return "no rows share a factor";
    if (c.products->rows < kFewestFactorRows)
      return fmt::format("{} rows share a factor (at least {})", to_string(c.products->rows), kFewestFactorRows);
    const SymInt points = numel(c.loops.extents, "join");
    if (points < kFewestPoints) return fmt::format("{} rows (at least {})", to_string(points), kFewestPoints);
    for (const std::optional<PartProduct>& p : c.products->parts)
      if (p && p->factor_bytes() > kFactorBytes)
        return fmt::format("each thread would hold a factor of {} bytes (limit {})", to_string(p->factor_bytes()),
                           kFactorBytes);
    return {};
  }

  std::string deep_factor(const Candidate& c) const {
    if (c.online || estimate(c.row_bytes) <= kShortRowBytes) return {};
    for (const std::optional<PartProduct>& p : c.products->parts) {
      if (!p || (estimate(p->depth) < kDeepFactor && estimate(p->rows) > kFewRows)) continue;
      const std::int64_t bytes = estimate(p->factor_bytes());
      if (bytes <= kNearFactorBytes) continue;
      return fmt::format("a factor of {} bytes would be read again for every few rows (limit {})", bytes,
                         kNearFactorBytes);
    }
    return {};
  }

  /// Why fusing kernels that can be fused does not pay. Results do not depend on it: only kernels with running sums
  /// have other bits than the kernels by themselves, and these always pay. So symbolic sizes count as their hints.
  std::string loss(const Candidate& c) const {
    if (std::string why = deep_factor(c); !why.empty()) return why;
    for (const std::optional<PartProduct>& product : c.products->parts)
      if (!product) return {};  // rows are walked again: they are in cache now
    std::int64_t between = 0;
    for (const EntryId e : c.between) between += estimate(bytes_of(e));
    if (between < kBetweenBytes || between < 2 * memory_bytes(c))
      return fmt::format("the {} bytes between the two products fit the caches, so fusing them saves nothing", between);
    return {};
  }

  // Distinct bytes that the kernels read and write, without the values between.
  std::int64_t memory_bytes(const Candidate& c) const {
    std::map<std::tuple<EntryId, bool, bool>, double> touched;
    for (std::size_t p = 0; p < c.kernels.size(); ++p) {
      const KernelLoops& loops = *c.kernels[p];
      for (const LoopAccess& a : loops.memory().accesses) {
        if (a.argument < 0) continue;
        const LoopArgument& argument = loops.memory().arguments[static_cast<std::size_t>(a.argument)];
        touched[{argument.entry, argument.leaf, argument.output}] +=
            detail::distinct_elements(over_shared(c.loops, p, loops.nest().outer, a.tracker));
      }
    }
    double bytes = 0;
    for (const auto& [argument, elements] : touched) {
      const auto& [entry, leaf, output] = argument;
      if (!leaf && std::find(c.between.begin(), c.between.end(), entry) != c.between.end()) continue;
      bytes += std::min(elements, static_cast<double>(estimate_points(arena_[entry].shape()))) *
               static_cast<double>(itemsize(arena_[entry].dtype));
    }
    return bytes > 9e18 ? INT64_MAX : static_cast<std::int64_t>(bytes);
  }

  const Arena& arena_;
  KernelGraph& graph_;
  const DeviceLimits& all_limits_;
  FusionLimits limits_;  // of the device at hand
  std::vector<bool> requested_;
  std::vector<std::int32_t> fused_in_;
};

}  // namespace

void join_kernels(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits,
                  KernelGraph& graph) {
  if (!arena.rules_off().has(KernelRule::FuseRows)) Joiner(arena, graph, requested, limits).run();
}

}  // namespace oriel::schedule
