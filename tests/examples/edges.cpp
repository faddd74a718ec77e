// A C++17 program without the engine: it runs the exported edge filter on statically allocated memory.
//
//   edges IN.pgm OUT.pgm
#include <cstdio>

#include "edge_filter.hpp"

namespace {

std::uint8_t picture[edge_filter::input::picture::kElements];
std::uint8_t edges[edge_filter::output::edges::kElements];
alignas(edge_filter::kScratchAlignment) unsigned char scratch[edge_filter::kScratchBytes + 1];

constexpr int kHeight = static_cast<int>(edge_filter::input::picture::kShape[0]);
constexpr int kWidth = static_cast<int>(edge_filter::input::picture::kShape[1]);

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::FILE* const in = std::fopen(arguments[1], "rb");
  if (in == nullptr) return 3;
  int width = 0;
  int height = 0;
  const bool read = std::fscanf(in, "P5 %d %d 255%*1[ \n]", &width, &height) == 2 && width == kWidth &&
                    height == kHeight && std::fread(picture, 1, sizeof picture, in) == sizeof picture;
  std::fclose(in);
  if (!read) return 4;

  edge_filter::Inputs inputs;
  inputs.picture = picture;
  edge_filter::Outputs outputs;
  outputs.edges = edges;
  if (edge_filter::run(inputs, outputs, scratch) != edge_filter::Status::ok) return 5;

  std::FILE* const out = std::fopen(arguments[2], "wb");
  if (out == nullptr) return 6;
  std::fprintf(out, "P5\n%d %d\n255\n", kWidth, kHeight);
  const bool written = std::fwrite(edges, 1, sizeof edges, out) == sizeof edges;
  return std::fclose(out) == 0 && written ? 0 : 7;
}
