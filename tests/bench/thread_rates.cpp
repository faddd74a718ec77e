// Threads that realise graphs of their own at the same time: small ones, where planning and handing over count.
//
//   thread_rates [SECONDS] [THREADS]
//
// Each thread builds ten operations on 1,000 elements and realises them, again and again; in the default context, and
// in a context each. A line for each number of threads says:
//
//   graphs/s   of all threads together, by the wall clock
//   us cpu     processor time of one graph: what waiting awake and shared memory cost shows here
//   sleeps     voluntary context switches a thousand graphs: what waiting asleep costs shows here
//   speedup    graphs/s over one thread's. On a machine with other work on it, take the next column
//   by cpu     threads times one thread's processor time over that of as many: the speedup, were each thread alone on
//              a core and never asleep
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include "oriel/oriel.hpp"

using namespace oriel;

namespace {

struct Share {
  double graphs = 0;
  double wall = 0;  // seconds
  double cpu = 0;
  double sleeps = 0;
};

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double sleeps_so_far() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<double>(usage.ru_nvcsw);
}

Share work(bool own_context, std::atomic<int>& ready, int threads, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::optional<Context> context;
  std::optional<ContextScope> scope;
  if (own_context) scope.emplace(context.emplace(ContextOptions{.threads = 1}));
  const Tensor a = full({1000}, 0.5F).realize(), b = full({1000}, 0.25F).realize();
  const auto graph = [&] {
    const Tensor t = maximum(a * b + 1.5F, 0.0F) * exp(-abs(a)) + tanh(b) * 0.5F - a;
    t.realize();
  };
  for (int k = 0; k < 200; ++k) graph();
  ++ready;
  while (ready < threads) std::this_thread::yield();
  Share share;
  const double cpu = thread_seconds(), sleeps = sleeps_so_far();
  const Clock::time_point start = Clock::now();
  for (std::chrono::duration<double> took{}; took.count() < seconds; took = Clock::now() - start) {
    for (int k = 0; k < 50; ++k) graph();
    share.graphs += 50;
    share.wall = std::chrono::duration<double>(Clock::now() - start).count();
  }
  share.cpu = thread_seconds() - cpu;
  share.sleeps = sleeps_so_far() - sleeps;
  return share;
}

struct Rate {
  double graphs = 0;  // a second
  double cpu = 0;     // seconds a graph
  double sleeps = 0;  // a graph
};

Rate run(int threads, bool own_context, double seconds) {
  std::atomic<int> ready{0};
  std::vector<Share> shares(static_cast<std::size_t>(threads));
  std::vector<std::thread> team;
  for (Share& share : shares) team.emplace_back([&] { share = work(own_context, ready, threads, seconds); });
  for (std::thread& t : team) t.join();
  Rate rate;
  double graphs = 0;
  for (const Share& share : shares) {
    graphs += share.graphs;
    rate.graphs += share.graphs / share.wall;
    rate.cpu += share.cpu;
    rate.sleeps += share.sleeps;
  }
  rate.cpu /= graphs;
  rate.sleeps /= graphs;
  return rate;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const int most = argc > 2 ? std::atoi(argv[2]) : 2;
  constexpr int kTurns = 10;  // of one thread and of several, since the machine's speed changes
  std::printf("%-16s %8s %12s %8s %8s %8s %8s\n", "context", "threads", "graphs/s", "us cpu", "sleeps", "speedup",
              "by cpu");
  for (const bool own : {false, true}) {
    std::vector<std::vector<Rate>> rates(static_cast<std::size_t>(most));
    for (int turn = 0; turn < kTurns; ++turn)
      for (int threads = 1; threads <= most; ++threads)
        rates[static_cast<std::size_t>(threads - 1)].push_back(run(threads, own, seconds / kTurns));
    std::vector<double> graphs, cpu;
    for (int threads = 1; threads <= most; ++threads) {
      std::vector<double> g, c, s;
      for (const Rate& r : rates[static_cast<std::size_t>(threads - 1)]) {
        g.push_back(r.graphs);
        c.push_back(r.cpu);
        s.push_back(r.sleeps);
      }
      graphs.push_back(median(g));
      cpu.push_back(median(c));
      std::printf("%-16s %8d %12.0f %8.2f %8.2f %8.2f %8.2f\n", own ? "one a thread" : "default", threads,
                  graphs.back(), cpu.back() * 1e6, median(s) * 1e3, graphs.back() / graphs.front(),
                  threads * cpu.front() / cpu.back());
    }
  }
}
