// Random programs that write, with the model that they are held against.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace oriel::testing {

/// A kind and the numbers that its choices are read off; meaningful in every place, as Step in program.hpp.
struct WriteStep {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 10> dice{};
};

struct WriteProgram {
  std::vector<WriteStep> steps;
};

struct Ran {
  std::string fault;               // empty where engine and model agree
  std::vector<std::string> lines;  // the program's statements, as C++ over the public API
};
Ran run(const WriteProgram& program);

/// A whole C++ program, which prints the fault and ends with 1 where there is one.
std::string text(const Ran& ran);

void showValue(const WriteProgram& program, std::ostream& out);

}  // namespace oriel::testing
