// Takes the blur out of a photograph: looks for the picture whose blur is the one that was taken, by the gradient of
// the difference. The blur is a program in index notation, which is differentiated as it is.
//
//   deblur PICTURE.pgm FOLDER [STEPS [SIDE]]     writes blurred.png and deblurred.png of the middle SIDE x SIDE pixels
#include <oriel/optim.hpp>
#include <oriel/oriel.hpp>

#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <string>
#include <tuple>

namespace {

using namespace oriel;

/// Every pixel spreads over its 9 x 9 neighbours.
const Comprehension& blur() {
  static const Comprehension program = comprehension(R"(
def blur(float(H, W) X, float(K) G) -> (Y) {
  T(i, j) +=! X(i, j + q) * G(q)
  Y(i, j) +=! T(i + p, j) * G(p)
}
)");
  return program;
}

Tensor bell() {
  const Tensor weights = exp(square(arange(9).to(DType::float32) - 4) * (-1 / (2 * 1.8 * 1.8)));
  return (weights / sum(weights)).realize();
}

/// How far the blur of x is from what was taken, and how much neighbouring pixels differ: pictures are mostly even.
Tensor loss_of(const Tensor& x, const Tensor& taken, const Tensor& weights) {
  const Tensor apart = Tensor(blur()(x, weights)) - taken;
  const auto steps = [](const Tensor& d) { return mean(sqrt(square(d) + 1e-4)); };
  const Tensor down = x.slice({{1}}) - x.slice({{{}, -1}}), across = x.slice({{}, {1}}) - x.slice({{}, {{}, -1}});
  return mean(square(apart)) + 1e-4 * (steps(down) + steps(across));
}

const auto improve = oriel::function(
    [](Tensor x, OptimizerState state, Tensor taken, Tensor weights, Tensor last) {
      const auto [loss, gradient] = value_and_grad([&](const Tensor& y) { return loss_of(y, taken, weights); })(x);
      const auto [next, after] = step(Adam{}, x, gradient, state, 0.03 * cosine_schedule(state.step, last, 0.05));
      return std::tuple(loss, next, after);
    },
    {.names = {"picture", "state", "taken", "weights", "last"}});

/// Signal over noise of x beside the true picture, in decibels, without a border.
double decibels(const Tensor& x, const Tensor& picture) {
  const Slice inside{8, -8};
  return -10 * std::log10(mean(square(x.slice({inside, inside}) - picture.slice({inside, inside}))).item<float>());
}
Tensor pixels(const Tensor& x) { return round(clamp(x, 0, 1) * 255).to(DType::uint8); }

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::cerr << "deblur PICTURE.pgm FOLDER [STEPS [SIDE]]\n";
    return 2;
  }
  try {
    const std::string folder = words[2];
    const int steps = count > 3 ? std::stoi(words[3]) : 300;
    const Tensor whole = read_image(words[1]).to(DType::float32) / 255;
    const std::int64_t side = count > 4 ? std::stoll(words[4]) : whole.extent(0), from = (whole.extent(0) - side) / 2;
    const Tensor picture = whole.slice({{from, from + side}, {from, from + side}}).contiguous().realize();
    const Tensor weights = bell();
    const Tensor taken = (Tensor(blur()(picture, weights)) + normal(Key(1), {side - 8, side - 8}, 0, 0.002)).realize();
    std::filesystem::create_directories(folder);

    Tensor x = pad(taken, {{4, 4}, {4, 4}}, PadMode::replicate).realize(), loss;
    const double before = decibels(x, picture);
    write_image(folder + "/blurred.png", pixels(x));
    OptimizerState state = start(Adam{}, x);
    for (int k = 0; k < steps; ++k) {
      std::tie(loss, x, state) = improve(x, state, taken, weights, static_cast<float>(steps));
      if (k % 20 == 19) std::cout << "\rstep " << k + 1 << "  loss " << loss.item<float>() << "   " << std::flush;
    }
    const double after = decibels(x, picture);
    write_image(folder + "/deblurred.png", pixels(x));
    std::cout << "\n"
              << std::fixed << std::setprecision(2) << before << " dB before, " << after << " dB after; "
              << improve.entries()[0].kernels.size() << " kernels a step\n";
    return after > before + 3 ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
