// `oriel eval` of a product of two 1024x1024 matrices in .npy files, compared with a program that reads them,
// multiplies through the C++ API and writes the result. Whole processes run in turns; prints medians of clock and
// processor time.
//   eval_times PATH-OF-ORIEL [TURNS]
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

extern char** environ;

namespace {

using namespace oriel;

struct Times {
  double clock = 0;  // ms
  double processor = 0;
};

double milliseconds(const timeval& t) {
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
}

Times run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) std::abort();
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0) std::abort();
  const std::chrono::duration<double, std::milli> clock = std::chrono::steady_clock::now() - start;
  return {clock.count(), milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)};
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  if (count == 5 && std::string(words[1]) == "--api") {
    write_npy(words[4], matmul(read_npy(words[2]), read_npy(words[3])));
    return 0;
  }
  if (count < 2) {
    std::fprintf(stderr, "usage: eval_times PATH-OF-ORIEL [TURNS]\n");
    return 2;
  }
  const int turns = count > 2 ? std::atoi(words[2]) : 15;
  std::string folder = (std::filesystem::temp_directory_path() / "eval-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const std::string a = folder + "/a.npy";
  const std::string b = folder + "/b.npy";
  const std::string c = folder + "/c.npy";
  write_npy(a, sin(iota({1024, 1024}).to(DType::float32)));
  write_npy(b, cos(iota({1024, 1024}).to(DType::float32)));
  const std::vector<std::string> eval{
      words[1], "eval",   "-e",   "def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }",
      "--in",   "A=" + a, "--in", "B=" + b,
      "--out",  "C=" + c};
  const std::vector<std::string> api{words[0], "--api", a, b, c};
  std::vector<double> clock[2];
  std::vector<double> processor[2];
  std::vector<double> ratio;
  for (int turn = 0; turn < turns; ++turn) {
    Times times[2];
    for (const int k : {turn % 2, 1 - turn % 2}) {
      times[k] = run(k == 0 ? eval : api);
      clock[k].push_back(times[k].clock);
      processor[k].push_back(times[k].processor);
    }
    ratio.push_back(times[0].processor / times[1].processor);
  }
  std::filesystem::remove_all(folder);
  std::printf("oriel eval: %.1f ms, processor %.1f ms\nC++ API:    %.1f ms, processor %.1f ms\n", median(clock[0]),
              median(processor[0]), median(clock[1]), median(processor[1]));
  std::printf("ratio: clock %.2f, processor %.2f, median of each turn's processor ratio %.2f\n",
              median(clock[0]) / median(clock[1]), median(processor[0]) / median(processor[1]), median(ratio));
}
