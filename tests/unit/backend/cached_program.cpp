// Runs kernels that earlier processes have left in the disk cache (for cached_test.py).
//
//   cached_program once               computes one result and prints how its kernel ran
//   cached_program until              computes until the choice of the kernel's form is made and stored on disk
//   cached_program sizes 50 60        calls a captured function at these sizes and prints one element of each result
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"

using namespace oriel;

namespace {

Tensor chain(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 24; ++i) y = (y * 1.01F + 0.5F) - x;
  return y;
}

std::string tier(const Tensor& y) { return explain(y).kernels.at(0).tier; }

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "sizes") == 0) {
    const auto f = function([](Tensor rows) { return softmax(rows, 1) + sum(rows, 0); }, {.dynamic = Dynamic::yes});
    for (int k = 2; k < count; ++k) {
      const std::int64_t n = std::stoll(arguments[k]);
      const Tensor rows = Tensor::generate({n, n / 2}, [](auto i) { return static_cast<float>(i[0] % 7 + i[1] % 3); });
      std::printf("%a ", static_cast<double>(f(rows).to_vector<float>()[777]));
    }
    std::printf("; \n");
    return 0;
  }
  const Tensor x = Tensor::generate({200, 100}, [](auto i) { return static_cast<float>(i[0] + i[1]); });
  const bool until = count > 1 && std::strcmp(arguments[1], "until") == 0;
  const auto start = std::chrono::steady_clock::now();
  float last = 0;
  do {
    last = chain(x).to_vector<float>()[777];
  } while (until && tier(chain(x)) != "compiled" && tier(chain(x)).find("no slower") == std::string::npos &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(100));
  if (until) std::this_thread::sleep_for(std::chrono::milliseconds(500));  // lets the background thread write
  std::printf("%a; %s\n", static_cast<double>(last), tier(chain(x)).c_str());
  return 0;
}
