// Runs the photo example and compares its picture with plain loops.
//
//   photo_check PHOTO INPUT OUTPUT
#include <oriel/oriel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

/// A grey image that is mirrored beyond its edges.
struct Image {
  int height = 0;
  int width = 0;
  std::vector<double> pixels;

  static int inside(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
  double operator()(int y, int x) const {
    return pixels[static_cast<std::size_t>(inside(y, height) * width + inside(x, width))];
  }
};

/// The sum of f(dy, dx) over a square window.
double window(int radius, const std::function<double(int, int)>& f) {
  double sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) sum += f(dy, dx);
  }
  return sum;
}

double blurred(const Image& image, int y, int x) {
  const auto weight = [](int dy, int dx) { return std::exp(-0.125 * (dy * dy + dx * dx)); };
  return window(6, [&](int dy, int dx) { return weight(dy, dx) * image(y + dy, x + dx); }) / window(6, weight);
}

double edges(const Image& image, int y, int x) {
  const double across = window(1, [&](int dy, int dx) { return dx * (2 - std::abs(dy)) * image(y + dy, x + dx); });
  const double down = window(1, [&](int dy, int dx) { return dy * (2 - std::abs(dx)) * image(y + dy, x + dx); });
  return std::hypot(across, down) / 2;
}

double contrast(const Image& image, int y, int x) {
  const double mean = window(8, [&](int dy, int dx) { return image(y + dy, x + dx); }) / 289;
  const double square = window(8, [&](int dy, int dx) { return std::pow(image(y + dy, x + dx), 2); }) / 289;
  return (image(y, x) - mean) / (std::sqrt(std::max(square - mean * mean, 0.0)) + 0.05) / 6 + 0.5;
}

double itself(const Image& image, int y, int x) { return image(y, x); }

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  const std::string input = argv[2];
  const std::string output = argv[3];
  if (std::system(('"' + std::string(argv[1]) + "\" \"" + input + "\" \"" + output + '"').c_str()) != 0) return 1;

  const oriel::Tensor photo = oriel::read_image(input);
  Image image{static_cast<int>(photo.size(0)), static_cast<int>(photo.size(1)), {}};
  const std::vector<std::uint8_t> bytes = photo.to_vector<std::uint8_t>();
  const auto [low, high] = std::ranges::minmax(bytes);
  for (const std::uint8_t byte : bytes) image.pixels.push_back(double(byte - low) / (high - low));

  constexpr int kGap = 4;
  const int height = image.height / 2;
  const int width = image.width / 2;
  const oriel::Tensor sheet = oriel::read_image(output);
  if (sheet.shape() != oriel::Shape{2 * height + 3 * kGap, 2 * width + 3 * kGap}) {
    std::cerr << "the sheet is " << sheet.str() << '\n';
    return 1;
  }
  const std::vector<std::uint8_t> got = sheet.to_vector<std::uint8_t>();
  std::vector<int> expected(got.size(), 0);
  int panel = 0;
  for (const auto& filter : {itself, blurred, edges, contrast}) {
    const int top = kGap + panel / 2 * (height + kGap);
    const int left = kGap + panel % 2 * (width + kGap);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (const int k : {0, 1, 2, 3}) sum += filter(image, 2 * y + k / 2, 2 * x + k % 2);
        const auto at = static_cast<std::size_t>((top + y) * (2 * width + 3 * kGap) + left + x);
        expected[at] = static_cast<int>(std::lround(std::clamp(sum / 4, 0.0, 1.0) * 255));
      }
    }
    ++panel;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] - expected[i]) > 1) {  // float32 may round a half the other way
      std::cerr << "pixel " << i << " is " << int{got[i]} << ", plain loops give " << expected[i] << '\n';
      return 1;
    }
  }
} catch (const oriel::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
