// The largest error of each float32 function of one argument, over all 2^32 arguments or every STRIDE-th:
//
//     function_errors [STRIDE [FUNCTION [LEVEL]]]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/function_errors.hpp"

int main(int argc, char** argv) {
  using namespace oriel;
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string wanted = argc > 2 ? argv[2] : "";
  const backend::isa::Table& table = backend::isa::table(argc > 3 ? argv[3] : "");
  if (stride == 0) {
    std::fprintf(stderr, "function_errors: STRIDE must be a number from 1 on\n");
    return 2;
  }
  for (const test::OneArgument& f : test::one_argument_functions()) {
    const std::string name(graph::name(f.op));
    if (!wanted.empty() && wanted != name) continue;
    const test::FunctionError worst = test::largest_error(f, table, stride);
    std::printf("%-8s %-9s %.3f units at %a (%g), %llu arguments\n", name.c_str(), table.name, worst.ulps,
                static_cast<double>(worst.at), static_cast<double>(worst.at),
                static_cast<unsigned long long>(((std::uint64_t{1} << 32) - 1) / stride + 1));
    std::fflush(stdout);
  }
  return 0;
}
