// Runs each graph fused, and with its values realised one by one, in turns in one process. Checks that the answers
// agree and compares the times. Uses processor time, which other load on the machine affects little.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <string_view>

#include "bench/graphs/graph_case.hpp"

namespace oriel::bench {

namespace {

constexpr const char* kUsage =
    "graphs [--filter REGEX] [--seed N] [--time SECONDS] [--repeat N] [--above RATIO] [--worst N] [--json FILE]\n"
    "       [--threads N] [--tier tile|compile|auto] [--list] [--explain] [--kernels]\n\n"
    "  --filter   only graphs whose names match\n"
    "  --seed     of the inputs; 1\n"
    "  --time     seconds for each graph, once both sides have run; 0.25\n"
    "  --repeat   turns of a graph at most; 25. Each graph has two at least\n"
    "  --above    what counts as slower fused than apart; 1.1\n"
    "  --worst    rows of the table; 40\n"
    "  --json     a line for each graph\n"
    "  --threads  of the engine; 1. With one, the thread's own processor time is taken, else the wall clock\n"
    "  --tier     what runs kernels; tile\n"
    "  --explain  the kernels of each graph, fused, in place of times\n"
    "  --kernels  each kernel's measured and estimated microseconds, fused and apart\n\n"
    "Ends with 1 where answers differ.\n";

struct Options {
  std::string filter = ".";
  std::uint64_t seed = 1;
  double time = 0.25;
  int repeat = 25;
  double above = 1.1;
  std::size_t worst = 40;
  std::string json;
  int threads = 1;
  bool list = false;
  bool explain = false;
  bool kernels = false;
};

struct Result {
  std::string name;
  double fused = 0, apart = 0;  // seconds, medians
  int turns = 0;
  std::size_t kernels = 0;
  double difference = 0;  // largest relative difference
  std::string fault;
  double ratio() const { return apart > 0 ? fused / apart : 0; }
};

double now(int threads) {
  timespec t{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

Roots run(const Build& build, bool apart) {
  Roots roots = build(Each(apart));
  realize(roots);
  return roots;
}

/// The largest difference, relative to the largest element of either side; infinite if only one side is NaN.
double difference(const Roots& a, const Roots& b) {
  double most = 0;
  for (std::size_t r = 0; r < a.size(); ++r) {
    const auto x = a[r].to(DType::float64).to_vector<double>(), y = b[r].to(DType::float64).to_vector<double>();
    double size = 1e-12, off = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) != std::isnan(y[i])) return HUGE_VAL;
      if (std::isnan(x[i]) || x[i] == y[i]) continue;
      size = std::max({size, std::abs(x[i]), std::abs(y[i])});
      off = std::max(off, std::abs(x[i] - y[i]));
    }
    most = std::max(most, off / size);
  }
  return most;
}

/// Each kernel of one side: the shortest of several launches, and its estimate.
void print_kernels(const Build& build, bool apart, int repeat) {
  std::vector<ExplainedKernel> kernels;
  {
    const Roots roots = build(Each(apart, &kernels));
    for (ExplainedKernel& k : explain(roots).kernels) kernels.push_back(std::move(k));
  }
  std::vector<double> best(kernels.size(), HUGE_VAL);
  for (int turn = 0; turn < repeat; ++turn) {
    ProfileScope scope;
    run(build, apart);
    const Profile profile = scope.take();
    for (std::size_t k = 0; k < std::min(best.size(), profile.launches.size()); ++k)
      best[k] = std::min(best[k], profile.launches[k].seconds);
  }
  double measured = 0, estimated = 0;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (best[k] == HUGE_VAL) continue;
    measured += best[k];
    estimated += kernels[k].estimated_nanoseconds;
    std::cout << fmt::format("  {:9.1f} {:9.1f}  {} on {}\n", best[k] * 1e6, kernels[k].estimated_nanoseconds * 1e-3,
                             kernels[k].name, kernels[k].path);
  }
  std::cout << fmt::format("  {:9.1f} {:9.1f}  {}\n", measured * 1e6, estimated * 1e-3, apart ? "apart" : "fused");
}

Result measure(const GraphCase& graph, const Options& options) {
  Result out;
  out.name = graph.name;
  try {
    Inputs inputs(options.seed);
    const Build build = graph.prepare(inputs);
    {
      const Roots lazy = build(Each(false));
      const Explanation e = explain(lazy);
      out.kernels = e.kernels.size();
      if (options.explain) {
        std::cout << "== " << graph.name << "\n" << e.str();
        return out;
      }
    }
    if (options.kernels) {
      std::cout << "== " << graph.name << "\n";
      for (const bool apart : {false, true}) print_kernels(build, apart, options.repeat);
      return out;
    }
    out.difference = difference(run(build, false), run(build, true));
    if (!(out.difference <= graph.tolerance))
      out.fault = fmt::format("answers differ by {:.2g}, tolerance {:.2g}", out.difference, graph.tolerance);
    std::vector<double> times[2];
    double spent = 0;
    while (out.turns < options.repeat && (out.turns < 2 || spent < options.time)) {
      // The side that goes first alternates.
      for (const int turn : {0, 1}) {
        const bool apart = (turn == 1) != (out.turns % 2 == 1);
        const double start = now(options.threads);
        run(build, apart);
        times[apart].push_back(now(options.threads) - start);
        spent += times[apart].back();
      }
      ++out.turns;
    }
    out.fused = median(times[0]);
    out.apart = median(times[1]);
  } catch (const std::exception& e) {
    out.fault = e.what();
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void write_json(const std::vector<Result>& results, const std::string& file) {
  std::ofstream out(file);
  for (const Result& r : results) {
    out << fmt::format(
        R"({{"name":"{}","fused_ms":{:.4f},"apart_ms":{:.4f},"ratio":{:.3f},"kernels":{},"turns":{},"difference":{},"fault":"{}"}})"
        "\n",
        escaped(r.name), r.fused * 1e3, r.apart * 1e3, r.ratio(), r.kernels, r.turns,
        std::isfinite(r.difference) ? fmt::format("{:.3g}", r.difference) : "null", escaped(r.fault));
  }
  if (!out) throw IoError("graphs", "cannot write " + file);
}

int report(std::vector<Result> results, const Options& options) {
  std::stable_sort(results.begin(), results.end(),
                   [](const Result& a, const Result& b) { return a.ratio() > b.ratio(); });
  std::cout << fmt::format("{:>7} {:>10} {:>10} {:>7}  graph\n", "ratio", "fused ms", "apart ms", "kernels");
  for (std::size_t i = 0; i < std::min(options.worst, results.size()); ++i) {
    const Result& r = results[i];
    std::cout << fmt::format("{:7.2f} {:10.3f} {:10.3f} {:7}  {}\n", r.ratio(), r.fused * 1e3, r.apart * 1e3, r.kernels,
                             r.name);
  }
  std::size_t slower = 0, faults = 0;
  double sum = 0;
  for (const Result& r : results) {
    slower += r.ratio() > options.above;
    if (r.ratio() > 0) sum += std::log(r.ratio());
    if (r.fault.empty()) continue;
    ++faults;
    std::cout << r.name << ": " << r.fault << "\n";
  }
  std::cout << fmt::format("{} graphs, {} slower fused than {} of apart, geometric mean {:.2f}, {} with faults\n",
                           results.size(), slower, options.above,
                           std::exp(sum / static_cast<double>(std::max<std::size_t>(results.size(), 1))), faults);
  return faults > 0 ? 1 : 0;
}

std::optional<Options> parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--list") {
      o.list = true;
      continue;
    }
    if (name == "--explain") {
      o.explain = true;
      continue;
    }
    if (name == "--kernels") {
      o.kernels = true;
      continue;
    }
    if (i + 1 >= argc) return std::nullopt;
    const std::string value = argv[++i];
    if (name == "--filter") {
      o.filter = value;
    } else if (name == "--seed") {
      o.seed = std::stoull(value);
    } else if (name == "--time") {
      o.time = std::stod(value);
    } else if (name == "--repeat") {
      o.repeat = std::stoi(value);
    } else if (name == "--above") {
      o.above = std::stod(value);
    } else if (name == "--worst") {
      o.worst = std::stoull(value);
    } else if (name == "--json") {
      o.json = value;
    } else if (name == "--threads") {
      o.threads = std::stoi(value);
    } else if (name == "--tier" && (value == "tile" || value == "compile" || value == "auto")) {
      set_eigen_tier(value == "tile"      ? EigenTier::tile
                     : value == "compile" ? EigenTier::compile
                                          : EigenTier::automatic);
    } else {
      return std::nullopt;
    }
  }
  return o;
}

int run_all(const Options& options) {
  Cases cases;
  for (const auto add :
       {add_products, add_layers, add_training, add_attention, add_images, add_statistics, add_arrays, add_simulations})
    add(cases);
  const std::regex filter(options.filter);
  std::vector<Result> results;
  for (const GraphCase& graph : cases.list()) {
    if (!std::regex_search(graph.name, filter)) continue;
    if (options.list) {
      std::cout << graph.name << "\n";
      continue;
    }
    results.push_back(measure(graph, options));
    if (isatty(2) != 0) std::cerr << fmt::format("\r{} of {}  ", results.size(), cases.list().size());
  }
  if (options.list || options.explain || options.kernels) return 0;
  if (isatty(2) != 0) std::cerr << "\r";
  if (!options.json.empty()) write_json(results, options.json);
  return report(std::move(results), options);
}

}  // namespace

}  // namespace oriel::bench

int main(int argc, char** argv) {
  try {
    oriel::set_eigen_tier(oriel::EigenTier::tile);
    const auto options = oriel::bench::parse(argc, argv);
    if (!options) {
      std::cerr << oriel::bench::kUsage;
      return 2;
    }
    setenv("ORIEL_THREADS", std::to_string(options->threads).c_str(), 1);  // before the device is made
    return oriel::bench::run_all(*options);
  } catch (const std::exception& e) {
    std::cerr << "graphs: " << e.what() << "\n";
    return 2;
  }
}
