// Random programs that write, and the model with which they are compared.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace oriel::testing {

/// A kind and the numbers that decide its choices. Every step is valid at every place, like Step in program.hpp.
struct WriteStep {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 10> dice{};
};

struct WriteProgram {
  std::vector<WriteStep> steps;
};

struct Ran {
  std::string fault;               // empty if engine and model agree
  std::vector<std::string> lines;  // the statements of the program in C++ over the public API
};
Ran run(const WriteProgram& program);

/// A complete C++ program. If there is a fault, it prints the fault and returns 1.
std::string text(const Ran& ran);

void showValue(const WriteProgram& program, std::ostream& out);

}  // namespace oriel::testing
