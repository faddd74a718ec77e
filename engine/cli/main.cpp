#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  try {
    std::ios::sync_with_stdio(false);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return oriel::cli::run(arguments, std::cin, std::cout, std::cerr);
  } catch (const std::exception& error) {
    std::cerr << "oriel: " << error.what() << '\n';
    return 1;
  }
}
