// Strong and weak scaling of five programs to 4,096 ranks, on paper: each exchange is planned for a sample of ranks,
// and a model of latency and bandwidth says how long it takes. Prints a table. `shard_scaling LATENCY_US GB_A_SECOND
// GFLOPS MEMORY_GB` takes other parameters.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "shard/collective.hpp"

namespace {

using namespace oriel::shards;
using oriel::Range;
using oriel::Ranges;
using oriel::Shape;
using oriel::ShapeTracker;

/// A rank is one process. Messages of a rank follow each other, exchanges and computation too: nothing overlaps.
struct Machine {
  double latency = 2e-6;      // seconds a message
  double bandwidth = 10e9;    // bytes a second that a rank sends
  double flops = 50e9;        // a second
  double memory_rate = 10e9;  // bytes a second from and to memory
};

/// What one step of a program costs the rank that has the most to do.
struct Cost {
  std::int64_t sent = 0;  // bytes
  std::int64_t messages = 0;
  double memory = 0;  // bytes that a rank holds
  double flops = 0;
  double moved = 0;          // bytes of its memory that computation reads and writes
  double planning = 0;       // seconds of planning this rank's sends and receives
  std::int64_t planned = 0;  // messages that were planned in this time

  double computing(const Machine& machine) const {
    return std::max(flops / machine.flops, moved / machine.memory_rate);
  }
  double seconds(const Machine& machine) const {
    return static_cast<double>(messages) * machine.latency + static_cast<double>(sent) / machine.bandwidth +
           computing(machine);
  }
};

constexpr std::int64_t kFloat = 4;

std::vector<std::int64_t> sample(const Mesh& mesh) { return sample_of_ranks(mesh, 4); }

void add_exchange(Cost& cost, const Exchange& exchange) {
  const std::vector<std::int64_t> ranks = sample(exchange.source().mesh());
  const auto begin = std::chrono::steady_clock::now();
  const Traffic all = traffic(exchange, ranks);
  cost.planning += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
                   static_cast<double>(ranks.size());
  cost.planned += 2 * all.messages / static_cast<std::int64_t>(ranks.size());
  cost.sent += std::max(all.most_sent, all.most_received) * kFloat;
  cost.messages += all.most_messages;
}

void add_reduction(Cost& cost, const Sharding& partial, const Sharding& target) {
  const Reduction plan = plan_reduction(partial, target, sample(partial.mesh()));
  add_exchange(cost, plan.contributions);
  add_exchange(cost, plan.sums);
}

/// The two factors of a power of four, or of two, that are nearest to each other.
std::pair<std::int64_t, std::int64_t> grid(std::int64_t ranks) {
  std::int64_t rows = 1;
  while (rows * rows < ranks) rows *= 2;
  return {ranks / rows, rows};
}

double bytes_of(const Sharding& sharding) { return static_cast<double>(sharding.local_count() * kFloat); }

/// Five points around each element of an n x n grid in tiles.
Cost heat(std::int64_t ranks, std::int64_t n) {
  const auto [rows, cols] = grid(ranks);
  const Mesh mesh({{"rows", rows}, {"cols", cols}});
  const Sharding tiles = Sharding::make(mesh, {n, n}, {{{"rows"}}, {{"cols"}}});
  std::vector<ShapeTracker> reads;
  for (const auto& [down, right] : {std::pair{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
    const auto padding = [](int shift) { return Range{std::max(0, -shift), std::max(0, shift)}; };
    const auto slice = [&](int shift) { return Range{std::max(0, shift), n + std::max(0, shift)}; };
    const ShapeTracker read =
        ShapeTracker(tiles.shape()).pad({padding(down), padding(right)}).shrink({slice(down), slice(right)});
    reads.push_back(tiles.place().over(read));
  }
  Cost cost;
  add_exchange(cost, Exchange(tiles, mesh, reads));
  const double points = static_cast<double>(tiles.local_count());
  cost.flops = 6 * points;
  cost.moved = 2 * bytes_of(tiles);
  cost.memory = 2 * bytes_of(tiles) + static_cast<double>(cost.sent);
  return cost;
}

/// Gradients of so many weights on each rank, added up everywhere: along the columns of a grid, then along its rows.
Cost training(std::int64_t ranks, double samples) {
  constexpr std::int64_t kWeights = 25'600'000;
  constexpr double kFlopsOfSample = 3 * 8.2e9;
  Cost cost;
  const auto [rows, cols] = grid(ranks);
  std::int64_t weights = kWeights;
  for (const std::int64_t group : {cols, rows}) {
    if (group == 1) continue;
    const Mesh mesh({{"batch", group}});
    const Sharding partial = Sharding::make(mesh, {group, weights}, {{{"batch"}}, {}}).sum(0);
    // The second step adds the parts of the first one, which then sends them on.
    const Sharding everywhere = Sharding::make(mesh, {weights}, {{}});
    add_reduction(cost, partial, everywhere);
    weights = (weights + group - 1) / group;
  }
  cost.flops = samples * kFlopsOfSample;
  cost.memory = 3. * kWeights * kFloat + static_cast<double>(cost.sent) / 2;
  return cost;
}

/// Forward through attention and two layers: heads and columns on up to 32 ranks, sequences on the others.
Cost transformer(std::int64_t ranks, std::int64_t sequences) {
  constexpr std::int64_t kTokens = 1024;
  constexpr std::int64_t kWidth = 4096;
  const std::int64_t heads = std::min<std::int64_t>(ranks, 32);
  const Mesh mesh({{"data", ranks / heads}, {"heads", heads}});
  Cost cost;
  const std::int64_t rows = sequences * kTokens;
  // What the last layer of each half yields is a partial sum over the heads' columns.
  const Sharding partial = Sharding::make(mesh, {heads, rows, kWidth}, {{{"heads"}}, {{"data"}}, {}}).sum(0);
  const Sharding tokens = Sharding::make(mesh, {rows, kWidth}, {{{"data"}}, {}});
  if (heads > 1) {
    add_reduction(cost, partial, tokens);
    add_reduction(cost, partial, tokens);
  }
  const double wide = kWidth;
  const double own = static_cast<double>(rows) / static_cast<double>(ranks / heads);
  cost.flops = (24 * own * wide * wide + 4 * own * kTokens * wide) / static_cast<double>(heads);
  cost.memory = 3 * bytes_of(tokens) + 12 * wide * wide * kFloat / static_cast<double>(heads);
  return cost;
}

/// C = A B in tiles: each rank gathers its rows of A and its columns of B.
Cost product(std::int64_t ranks, std::int64_t n) {
  const auto [rows, cols] = grid(ranks);
  const Mesh mesh({{"rows", rows}, {"cols", cols}});
  const Sharding tiles = Sharding::make(mesh, {n, n}, {{{"rows"}}, {{"cols"}}});
  const Sharding of_a = Sharding::make(mesh, {n, n}, {{{"rows"}}, {}});
  const Sharding of_b = Sharding::make(mesh, {n, n}, {{}, {{"cols"}}});
  Cost cost;
  add_exchange(cost, {tiles, of_a});
  add_exchange(cost, {tiles, of_b});
  const double side = static_cast<double>(n);
  cost.flops = 2 * side * side * side / static_cast<double>(ranks);
  cost.memory = bytes_of(of_a) + bytes_of(of_b) + bytes_of(tiles);
  return cost;
}

/// Edges lie anywhere: each rank gathers the ranks of all pages, and adds its parts of the new ones to the owners'.
Cost pagerank(std::int64_t ranks, std::int64_t pages) {
  constexpr double kEdges = 16;
  const Mesh mesh({{"edges", ranks}});
  const Sharding owned = Sharding::make(mesh, {pages}, {{{"edges"}}});
  const Sharding everywhere = Sharding::make(mesh, {pages}, {{}});
  Cost cost;
  add_exchange(cost, {owned, everywhere});
  if (ranks > 1) add_reduction(cost, Sharding::make(mesh, {ranks, pages}, {{{"edges"}}, {}}).sum(0), owned);
  const double edges = kEdges * static_cast<double>(pages) / static_cast<double>(ranks);
  cost.flops = 2 * edges;
  cost.moved = 16 * edges + 2 * bytes_of(everywhere);
  cost.memory = 8 * edges + 3 * bytes_of(everywhere);
  return cost;
}

std::string size_text(double bytes) {
  return bytes >= 1e9   ? fmt::format("{:.1f} GB", bytes / 1e9)
         : bytes >= 1e6 ? fmt::format("{:.1f} MB", bytes / 1e6)
         : bytes >= 1e3 ? fmt::format("{:.1f} kB", bytes / 1e3)
                        : fmt::format("{:.0f} B", bytes);
}

/// `run` gives the cost on so many ranks.
template <class Run>
void print_rows(const Machine& machine, const char* program, const Run& run) {
  for (std::int64_t ranks = 1; ranks <= 4096; ranks *= 4) {
    const Cost cost = run(ranks);
    const double seconds = cost.seconds(machine);
    fmt::print("| {} | {} | {} | {} | {} | {:.3g} ms | {:.2f} | {} |\n", program, ranks,
               size_text(static_cast<double>(cost.sent)), cost.messages, size_text(cost.memory), seconds * 1e3,
               cost.computing(machine) / seconds,
               cost.planned == 0 ? "-"
                                 : fmt::format("{:.0f} us, {:.1f} a message", cost.planning * 1e6,
                                               cost.planning * 1e6 / static_cast<double>(cost.planned)));
  }
}

}  // namespace

int main(int count, char** arguments) {
  Machine machine;
  if (count > 1) machine.latency = std::atof(arguments[1]) * 1e-6;
  if (count > 2) machine.bandwidth = std::atof(arguments[2]) * 1e9;
  if (count > 3) machine.flops = std::atof(arguments[3]) * 1e9;
  if (count > 4) machine.memory_rate = std::atof(arguments[4]) * 1e9;
  fmt::print("latency {:.1f} us a message, {:.1f} GB/s a rank, {:.0f} GFLOP/s, memory {:.0f} GB/s\n\n",
             machine.latency * 1e6, machine.bandwidth / 1e9, machine.flops / 1e9, machine.memory_rate / 1e9);
  fmt::print("| program | ranks | sent a rank | messages | memory a rank | step | computing | planning a rank |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  const auto root = [](std::int64_t ranks) { return std::llround(std::sqrt(static_cast<double>(ranks))); };
  print_rows(machine, "heat 32768^2", [](auto p) { return heat(p, 32768); });
  print_rows(machine, "heat, 2048^2 a rank", [&](auto p) { return heat(p, 2048 * root(p)); });
  print_rows(machine, "training, 4096 samples", [](auto p) { return training(p, 4096. / static_cast<double>(p)); });
  print_rows(machine, "training, 32 samples a rank", [](auto p) { return training(p, 32); });
  print_rows(machine, "transformer, 128 sequences", [](auto p) { return transformer(p, 128); });
  print_rows(machine, "transformer, 1 sequence a rank", [](auto p) { return transformer(p, p); });
  print_rows(machine, "product 16384", [](auto p) { return product(p, 16384); });
  print_rows(machine, "product, 2048^2 a rank", [&](auto p) { return product(p, 2048 * root(p)); });
  print_rows(machine, "PageRank, 2^26 pages", [](auto p) { return pagerank(p, std::int64_t{1} << 26); });
  print_rows(machine, "PageRank, 2^16 pages a rank", [](auto p) { return pagerank(p, p << 16); });
  return 0;
}
