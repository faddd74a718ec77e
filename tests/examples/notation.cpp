// Runs the last definition of a file of index notation on a picture, writes its result as a picture, and prints the
// ranges that were inferred and the kernels that ran.
//
//   notation FILE.tc PICTURE RESULT.png
#include <oriel/oriel.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: notation FILE.tc PICTURE RESULT.png\n";
    return 2;
  }
  try {
    std::ifstream file(argv[1]);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const oriel::Comprehension definition = oriel::comprehension(text, {}, argv[1]);
    const oriel::Tensor picture = oriel::read_image(argv[2]);
    std::cout << definition.ranges({picture.shape()}).str();

    const oriel::Tensor result = definition(picture);
    std::cout << oriel::explain(result).str();
    oriel::write_image(argv[3], result);
  } catch (const oriel::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
