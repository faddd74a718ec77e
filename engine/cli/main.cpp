#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  try {
    std::ios::sync_with_stdio(false);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int status = oriel::cli::run(arguments, std::cin, std::cout, std::cerr);
    if (std::cout.flush()) return status;
    std::cerr << "oriel: the standard output cannot be written\n";
    return status != 0 ? status : 1;
  } catch (const std::exception& error) {
    std::cerr << "oriel: " << error.what() << '\n';
    return 1;
  }
}
