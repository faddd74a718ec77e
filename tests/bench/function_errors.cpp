// Prints the largest error of each float32 function of one argument over all 2^32 arguments, or every STRIDE-th, and of
// the functions of two arguments and of float64 over special pairs and 2^26 / STRIDE others:
//
//     function_errors [STRIDE [FUNCTION [LEVEL...]]]
//
// at the given levels, or at all levels of this machine.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/function_errors.hpp"
#include "support/isa_levels.hpp"

int main(int argc, char** argv) {
  using namespace oriel;
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string wanted = argc > 2 ? argv[2] : "";
  std::vector<const backend::isa::Table*> tables;
  for (int i = 3; i < argc; ++i) tables.push_back(&backend::isa::table(argv[i]));
  if (tables.empty()) {
    for (const std::string& level : test::isa_levels()) tables.push_back(&backend::isa::table(level.c_str()));
  }
  if (stride == 0) {
    std::fprintf(stderr, "function_errors: STRIDE must be a number from 1 on\n");
    return 2;
  }
  bool found = false;
  for (const test::OneArgument& f : test::one_argument_functions()) {
    const std::string name(graph::name(f.op));
    if (!wanted.empty() && wanted != name) continue;
    found = true;
    const std::vector<test::FunctionError> worst = test::largest_errors(f, tables, stride);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      std::printf("%-8s %-9s %.3f units at %a (%g), %llu arguments\n", name.c_str(), tables[t]->name, worst[t].ulps,
                  static_cast<double>(worst[t].at), static_cast<double>(worst[t].at),
                  static_cast<unsigned long long>(((std::uint64_t{1} << 32) - 1) / stride + 1));
    }
    std::fflush(stdout);
  }
  for (const test::SampledFunction& f : test::sampled_functions()) {
    const std::string name(graph::name(f.op));
    if (!wanted.empty() && wanted != name) continue;
    found = true;
    const auto count = static_cast<std::size_t>((std::uint64_t{1} << 26) / stride);
    const std::vector<test::SampledError> worst = test::largest_sampled_errors(f, tables, count, 1);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      std::printf("%-8s %-9s %s %.3f units at (%a, %a), %zu samples\n", name.c_str(), tables[t]->name,
                  std::string(oriel::name(f.dtype)).c_str(), worst[t].ulps, worst[t].x, worst[t].y, count);
    }
    std::fflush(stdout);
  }
  if (!found)
    std::fprintf(stderr, "function_errors: no function \"%s\"; the names are as in Exp, Log2, Tanh\n", wanted.c_str());
  return found ? 0 : 2;
}
