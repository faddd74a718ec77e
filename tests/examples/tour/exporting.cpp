// A captured function as C++ source: compiled without Oriel, and run at sizes that were never traced.
#include <oriel/oriel.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace {

/// A program without Oriel. It runs the exported function on rows of 1, 2, ..., 7, 1, ... and prints the results.
constexpr const char* kProgram = R"(#include <cstdio>
#include <cstdlib>
#include <vector>
#include "shares.cpp"
int main(int, char** words) {
  const shares::Sizes sizes{std::atoll(words[1]), std::atoll(words[2])};
  char why[200];
  if (shares::explain(sizes, why, sizeof why) > 0) return std::puts(why), 1;
  std::vector<float> x(shares::input::x::elements(sizes)), y(shares::output::y::elements(sizes));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7 + 1);
  void* const scratch = std::aligned_alloc(shares::kScratchAlignment, shares::scratch_bytes(sizes));
  if (shares::run(sizes, {x.data()}, {y.data()}, {2.0F}, scratch) != shares::Status::ok) return 1;
  for (const float value : y) std::printf("%.9g\n", static_cast<double>(value));
}
)";

}  // namespace

int main() {
  using namespace oriel;
  const auto f = oriel::function([](Tensor x, auto k) { return x / sum(x, 1, true) * k; },
                                 {.dynamic = Dynamic::yes, .names = {"x", "k"}});
  f(ones({4, 3}), 2.0F);  // traced for any two sizes
  f.export_cpp(".", {.name = "shares", .sizes = {"rows", "columns"}, .outputs = {"y"}});

  std::ofstream("shares_main.cpp") << kProgram;
  const int built = std::system("c++ -std=c++17 -O2 -ffp-contract=off shares_main.cpp -o shares_program");
  for (const std::int64_t rows : {2, 97, 1000}) {
    const Tensor x = (arange(rows * 33) % 7 + 1).to(DType::float32).reshape({rows, 33});
    const int ran = std::system(("./shares_program " + std::to_string(rows) + " 33 > shares.txt").c_str());
    std::ifstream file("shares.txt");
    int equal = built == 0 && ran == 0 ? 0 : -1;
    float value = 0;
    for (const float want : f(x, 2.0F).to_vector<float>()) equal += (file >> value) && value == want ? 1 : 0;
    std::cout << rows << " rows: " << equal << " equal elements of " << rows * 33 << '\n';
  }
  std::cout << std::flush;
  std::system("./shares_program 1 33");  // sizes 0 and 1 are traced apart
  for (const char* file : {"shares.hpp", "shares.cpp", "shares_main.cpp", "shares_program", "shares.txt"})
    std::remove(file);
}
