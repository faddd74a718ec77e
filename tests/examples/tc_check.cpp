// Runs every definition of tests/examples/tc on a photograph, or on numbers taken from it, and compares the result with
// plain loops.
//
//   tc_check FOLDER PHOTO.pgm
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace {

using oriel::Operand;
using oriel::Shape;
using oriel::Tensor;
using Floats = std::vector<float>;

struct Input {
  Shape shape;
  Floats data;
  Tensor tensor() const { return Tensor::from(data, shape); }
};

struct Check {
  const char* name;
  std::function<std::vector<Tensor>()> arguments;
  std::function<Floats()> expected;
};

Floats photo;  // 512 x 512, 0 to 1

// Numbers taken from the photograph, beginning at `start`.
Input part(const Shape& shape, std::size_t start) {
  Input out{shape, {}};
  const auto count = static_cast<std::size_t>(oriel::numel(shape).value());
  for (std::size_t k = 0; k < count; ++k) out.data.push_back(photo[(start + 7 * k) % photo.size()]);
  return out;
}

// f at each index of a box, row-major.
Floats each(std::vector<int> extents, const std::function<double(const std::vector<int>&)>& f) {
  Floats out;
  std::vector<int> at(extents.size(), 0);
  for (;;) {
    out.push_back(static_cast<float>(f(at)));
    std::size_t d = extents.size();
    while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
    if (d == 0) return out;
  }
}

// The sum of f over a box.
double total(std::vector<int> extents, const std::function<double(const std::vector<int>&)>& f) {
  double sum = 0;
  for (const float x : each(std::move(extents), f)) sum += x;
  return sum;
}

float at(const Input& x, const std::vector<int>& index) {
  std::size_t place = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    place = place * static_cast<std::size_t>(x.shape[d].value()) + static_cast<std::size_t>(index[d]);
  }
  return x.data[place];
}

using Index = const std::vector<int>&;

std::vector<Check> checks(const std::string& picture) {
  const Input a = part({24, 40}, 100);
  const Input b = part({40, 17}, 9000);
  const Input bt = part({17, 40}, 500);
  const Input x3 = part({3, 6, 8}, 70);
  const Input y3 = part({3, 8, 5}, 4000);
  const Input c3 = part({6, 8, 5}, 1234);
  const Input jr = part({6, 4}, 31);
  const Input kr = part({8, 4}, 77);
  const Input start = part({24, 4}, 78);
  const Input signal = part({2, 3, 30}, 11);
  const Input taps = part({4, 3, 3}, 12);
  const Input image = part({1, 2, 20, 24}, 13);
  const Input filter = part({3, 2, 3, 2}, 14);
  const Input planes = part({3, 20, 24}, 15);
  const Input kernels = part({3, 3, 2}, 16);
  const Input line = part({50}, 17);
  const Input five = part({5}, 18);
  const Input square = part({30, 30}, 19);
  const Input wide = part({20, 33}, 20);
  const Input offsets = part({52}, 21);
  const std::vector<std::int32_t> words{4, 0, 23, 9, 9, 11};
  std::vector<std::uint8_t> table(256);
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = static_cast<std::uint8_t>(255 - k * k / 256);
  const auto pixels = oriel::read_image(picture).to_vector<std::uint8_t>();
  const auto two = [](const Input& p, const Input& q) {
    return [p, q] { return std::vector<Tensor>{p.tensor(), q.tensor()}; };
  };
  const auto one = [](const Input& p) { return [p] { return std::vector<Tensor>{p.tensor()}; }; };

  std::vector<Check> all;
  all.push_back({"matmul", two(a, b), [=] {
                   return each({24, 17}, [&](Index i) {
                     return total({40}, [&](Index k) { return at(a, {i[0], k[0]}) * at(b, {k[0], i[1]}); });
                   });
                 }});
  all.push_back({"matmul_nt", two(a, bt), [=] {
                   return each({24, 17}, [&](Index i) {
                     return total({40}, [&](Index k) { return at(a, {i[0], k[0]}) * at(bt, {i[1], k[0]}); });
                   });
                 }});
  all.push_back(
      {"batched_matmul", two(x3, y3), [=] {
         return each({3, 6, 5}, [&](Index i) {
           return total({8}, [&](Index k) { return at(x3, {i[0], i[1], k[0]}) * at(y3, {i[0], k[0], i[2]}); });
         });
       }});
  all.push_back(
      {"tensordot", two(x3, c3), [=] {
         return each({3, 5}, [&](Index i) {
           return total({6, 8}, [&](Index k) { return at(x3, {i[0], k[0], k[1]}) * at(c3, {k[0], k[1], i[1]}); });
         });
       }});
  all.push_back({"mttkrp",
                 [=] {
                   return std::vector<Tensor>{x3.tensor(), jr.tensor(), kr.tensor()};
                 },
                 [=] {
                   return each({3, 4}, [&](Index i) {
                     return total({6, 8}, [&](Index k) {
                       return at(x3, {i[0], k[0], k[1]}) * at(jr, {k[0], i[1]}) * at(kr, {k[1], i[1]});
                     });
                   });
                 }});
  all.push_back({"conv1d", two(signal, taps), [=] {
                   return each({2, 4, 12}, [&](Index i) {
                     return total({3, 3}, [&](Index k) {
                       return at(signal, {i[0], k[0], 2 * i[2] + 3 * k[1]}) * at(taps, {i[1], k[0], k[1]});
                     });
                   });
                 }});
  all.push_back({"conv2d", two(image, filter), [=] {
                   return each({1, 3, 18, 23}, [&](Index i) {
                     return total({2, 3, 2}, [&](Index k) {
                       return at(image, {i[0], k[0], i[2] + k[1], i[3] + k[2]}) * at(filter, {i[1], k[0], k[1], k[2]});
                     });
                   });
                 }});
  all.push_back({"depthwise", two(planes, kernels), [=] {
                   return each({3, 18, 23}, [&](Index i) {
                     return total({3, 2}, [&](Index k) {
                       return at(planes, {i[0], i[1] + k[0], i[2] + k[1]}) * at(kernels, {i[0], k[0], k[1]});
                     });
                   });
                 }});
  all.push_back({"convolution", two(line, five), [=] {
                   return each({46}, [&](Index i) {
                     return total({5}, [&](Index k) { return at(line, {i[0] + 4 - k[0]}) * at(five, {k[0]}); });
                   });
                 }});
  all.push_back({"transpose", one(wide), [=] {
                   return each({33, 20}, [&](Index i) { return at(wide, {i[1], i[0]}); });
                 }});
  all.push_back({"trace", one(square), [=] {
                   return Floats{static_cast<float>(total({30}, [&](Index i) { return at(square, {i[0], i[0]}); }))};
                 }});
  all.push_back({"superdiagonal", one(wide), [=] {
                   return each({20}, [&](Index i) { return at(wide, {i[0], i[0] + 2}); });
                 }});
  all.push_back({"moving_average", one(line), [=] {
                   return each(
                       {43}, [&](Index i) { return total({8}, [&](Index k) { return at(line, {i[0] + k[0]}) / 8; }); });
                 }});
  all.push_back({"heat",
                 [=] {
                   return std::vector<Tensor>{line.tensor(), Tensor::from(Floats{0.25F}, Shape{})};
                 },
                 [=] {
                   return each({48}, [&](Index i) {
                     const double u = at(line, {i[0] + 1});
                     return u + 0.25 * (at(line, {i[0]}) - 2 * u + at(line, {i[0] + 2}));
                   });
                 }});
  all.push_back({"upsample", one(wide), [=] {
                   return each({40, 66}, [&](Index i) { return at(wide, {i[0] / 2, i[1] / 2}); });
                 }});
  all.push_back({"max_pool", one(planes), [=] {
                   return each({3, 10, 12}, [&](Index i) {
                     const Floats four = each({2, 2}, [&](Index k) {
                       return at(planes, {i[0], 2 * i[1] + k[0], 2 * i[2] + k[1]});
                     });
                     return *std::max_element(four.begin(), four.end());
                   });
                 }});
  all.push_back({"embedding",
                 [=] {
                   return std::vector<Tensor>{a.tensor(), Tensor::from(words, Shape{2, 3})};
                 },
                 [=] {
                   return each({2, 3, 40}, [&](Index i) {
                     return at(a, {words[static_cast<std::size_t>(3 * i[0] + i[1])], i[2]});
                   });
                 }});
  all.push_back({"scatter",
                 [=] {
                   return std::vector<Tensor>{Tensor::from(words, Shape{6}), jr.tensor(), start.tensor()};
                 },
                 [=] {
                   return each({24, 4}, [&](Index i) {
                     float sum = at(start, {i[0], i[1]});
                     for (std::size_t k = 0; k < words.size(); ++k) {
                       if (words[k] == i[0]) sum += at(jr, {static_cast<int>(k), i[1]});
                     }
                     return sum;
                   });
                 }});
  all.push_back({"padded_conv", two(line, five), [=] {
                   return each({50}, [&](Index i) {
                     return total({5}, [&](Index k) {
                       const int from = i[0] + k[0] - 1;
                       return from >= 0 && from < 50 ? at(line, {from}) * at(five, {k[0]}) : 0.0F;
                     });
                   });
                 }});
  all.push_back({"circular_shift", one(wide), [=] {
                   return each({20, 33}, [&](Index i) { return at(wide, {(i[0] + 17) % 20, (i[1] + 5) % 33}); });
                 }});
  all.push_back(
      {"softmax", one(wide), [=] {
         return each({20, 33}, [&](Index i) {
           return std::exp(at(wide, i)) / total({33}, [&](Index k) { return std::exp(at(wide, {i[0], k[0]})); });
         });
       }});
  all.push_back(
      {"lookup",
       [=] {
         return std::vector<Tensor>{Tensor::from(table), oriel::read_image(picture)};
       },
       [=] {
         return each({512, 512}, [&](Index i) { return table[pixels[static_cast<std::size_t>(512 * i[0] + i[1])]]; });
       }});
  all.push_back({"concat", two(line, five),
                 [=] { return each({55}, [&](Index i) { return i[0] < 50 ? at(line, i) : at(five, {i[0] - 50}); }); }});
  all.push_back({"relative_position", two(wide, offsets), [=] {
                   return each({20, 33}, [&](Index i) { return at(wide, i) + at(offsets, {i[0] - i[1] + 32}); });
                 }});
  all.push_back({"edges", [=] { return std::vector<Tensor>{oriel::read_image(picture)}; },
                 [=] {
                   std::vector<double> blurred(508 * 508);
                   const auto blur = [&](int i, int j) -> double& {
                     return blurred[static_cast<std::size_t>(508 * i + j)];
                   };
                   for (int i = 0; i < 508; ++i) {
                     for (int j = 0; j < 508; ++j) {
                       for (int p = 0; p < 25; ++p)
                         blur(i, j) += pixels[static_cast<std::size_t>(512 * (i + p / 5) + j + p % 5)] / 25.0;
                     }
                   }
                   return each({506, 506}, [&](Index t) {
                     const int i = t[0];
                     const int j = t[1];
                     const double u = blur(i, j + 2) - blur(i, j) + 2 * (blur(i + 1, j + 2) - blur(i + 1, j)) +
                                      blur(i + 2, j + 2) - blur(i + 2, j);
                     const double v = blur(i + 2, j) - blur(i, j) + 2 * (blur(i + 2, j + 1) - blur(i, j + 1)) +
                                      blur(i + 2, j + 2) - blur(i, j + 2);
                     return std::floor(std::min(std::sqrt(u * u + v * v), 255.0));
                   });
                 }});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: tc_check FOLDER PHOTO.pgm\n");
    return 2;
  }
  for (const std::uint8_t pixel : oriel::read_image(argv[2]).to_vector<std::uint8_t>()) {
    photo.push_back(static_cast<float>(pixel) / 255);
  }
  int failed = 0;
  for (const Check& check : checks(argv[2])) {
    const std::string path = std::string(argv[1]) + "/" + check.name + ".tc";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::vector<Tensor> tensors = check.arguments();
    const std::vector<Operand> arguments(tensors.begin(), tensors.end());
    const Tensor result = oriel::comprehension(text, {}, path).call(arguments);
    const bool bytes = result.dtype() == oriel::DType::uint8;
    const Floats got = result.to(oriel::DType::float32).to_vector<float>();
    const Floats want = check.expected();
    double worst = got.size() == want.size() ? 0 : INFINITY;
    for (std::size_t k = 0; k < std::min(got.size(), want.size()); ++k) {
      // A value that is truncated to a byte may be off by one.
      worst = std::max(worst, std::abs(static_cast<double>(got[k]) - want[k]) / (bytes ? 1e5 : 1 + std::abs(want[k])));
    }
    const bool good = worst < 2e-5;
    std::printf("%-18s %s %s\n", check.name, oriel::to_string(result.shape()).c_str(), good ? "agrees" : "DIFFERS");
    if (!good) ++failed;
  }
  return failed == 0 ? 0 : 1;
}
