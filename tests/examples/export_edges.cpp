// An edge detector for a device without the engine. This program describes it with tensors and exports it as C++. The
// export is built into a separate program (edges.cpp), whose results are then compared with the engine's.
//
//   export_edges FOLDER                          writes edge_filter.hpp and edge_filter.cpp
//   export_edges --check EDGES IN.pgm OUT.pgm    runs the program EDGES and compares its picture
#include <oriel/oriel.hpp>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using oriel::Tensor;

namespace {

constexpr std::int64_t kSide = 512;

/// For each pixel its neighbour at (down, across) in its 3x3 neighbourhood; `framed` is the picture with a border.
Tensor neighbour(const Tensor& framed, std::int64_t down, std::int64_t across) {
  return framed.shrink({{down, down + kSide}, {across, across + kSide}});
}

/// The length of the Sobel gradient, from 0 to 255. Outside its border the picture counts as black.
Tensor edges(const Tensor& picture) {
  const Tensor framed = pad(picture.to(oriel::DType::float32), {{1, 1}, {1, 1}});
  const auto at = [&](std::int64_t down, std::int64_t across) { return neighbour(framed, down, across); };
  const Tensor across = at(0, 2) - at(0, 0) + (at(1, 2) - at(1, 0)) * 2 + at(2, 2) - at(2, 0);
  const Tensor down = at(2, 0) - at(0, 0) + (at(2, 1) - at(0, 1)) * 2 + at(2, 2) - at(0, 2);
  const Tensor length = sqrt(across * across + down * down);
  return round(length * 255 / max(length)).to(oriel::DType::uint8);
}

int check(const std::string& program, const std::string& in, const std::string& out) {
  if (std::system(("\"" + program + "\" \"" + in + "\" \"" + out + "\"").c_str()) != 0) return 1;
  const auto want = edges(oriel::read_image(in)).to_vector<std::uint8_t>();
  const bool same = oriel::read_image(out).to_vector<std::uint8_t>() == want;
  std::cout << (same ? "the same picture\n" : "another picture\n");
  return same ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 4 && words[0] == "--check") return check(words[1], words[2], words[3]);
    if (words.size() != 1) return 2;
    const Tensor picture = oriel::zeros({kSide, kSide}, oriel::DType::uint8).realize();  // a placeholder for the input
    const oriel::ExportedFiles files = oriel::export_cpp(
        {edges(picture)}, words[0], {.name = "edge_filter", .inputs = {{"picture", picture}}, .outputs = {"edges"}});
    std::cout << files.source << ": " << files.kernels << " kernels, " << files.scratch_bytes << " bytes of scratch\n";
  } catch (const oriel::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
