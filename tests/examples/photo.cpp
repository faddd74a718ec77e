// A contact sheet from a photograph: the picture itself, blurred, its edges, and its local contrast, each at half size.
//
//   photo [INPUT.pgm [OUTPUT.png]]
//
// Filters are movements and arithmetic: neighbours are the same image cut at another offset, and cutting copies
// nothing. Nothing runs until the sheet is asked for. Then all of it becomes a few kernels, which this program prints.
#include <oriel/oriel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

using oriel::Tensor;

namespace {

/// The rows (axis 0) or columns (axis 1) lo .. hi-1 of x.
Tensor cut(const Tensor& x, std::size_t axis, std::int64_t lo, std::int64_t hi) {
  oriel::Ranges box{{0, x.size(0)}, {0, x.size(1)}};
  box[axis] = {lo, hi};
  return x.shrink(box);
}

/// The central part of x, `height` by `width`.
Tensor middle(const Tensor& x, std::int64_t height, std::int64_t width) {
  const std::int64_t top = (x.size(0).value() - height) / 2;
  const std::int64_t left = (x.size(1).value() - width) / 2;
  return x.shrink({{top, top + height}, {left, left + width}});
}

/// x with `margin` more rows and columns on each side, mirrored at its edges, so that every pixel of x has neighbours.
Tensor mirrored(Tensor x, std::int64_t margin) {
  for (const std::size_t axis : {0, 1}) {
    const std::int64_t n = x.size(static_cast<std::int64_t>(axis)).value();
    const Tensor before = cut(x, axis, 1, margin + 1).flip(axis);
    const Tensor after = cut(x, axis, n - margin - 1, n - 1).flip(axis);
    x = oriel::concat({before, x, after}, static_cast<std::int64_t>(axis));
  }
  return x;
}

/// The sum of weights[k] times the image cut at offset k along the axis, which gets shorter by weights.size() - 1.
Tensor filter(const Tensor& x, std::size_t axis, const std::vector<float>& weights) {
  const auto taps = static_cast<std::int64_t>(weights.size());
  const std::int64_t length = x.size(static_cast<std::int64_t>(axis)).value() - taps + 1;
  Tensor sum = cut(x, axis, 0, length) * weights[0];
  for (std::int64_t k = 1; k < taps; ++k) sum += cut(x, axis, k, k + length) * weights[static_cast<std::size_t>(k)];
  return sum;
}

/// Separable: columns, then rows.
Tensor gaussian_blur(const Tensor& x, float sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<float> weights;
  float total = 0;
  for (int k = -radius; k <= radius; ++k) {
    weights.push_back(std::exp(-0.5F * static_cast<float>(k * k) / (sigma * sigma)));
    total += weights.back();
  }
  for (float& weight : weights) weight /= total;
  return filter(filter(x, 0, weights), 1, weights);
}

/// The length of the gradient: each derivative is a difference along one axis of a smoothing along the other.
Tensor sobel(const Tensor& x) {
  const Tensor across = filter(filter(x, 0, {1, 2, 1}), 1, {-1, 0, 1});
  const Tensor down = filter(filter(x, 0, {-1, 0, 1}), 1, {1, 2, 1});
  return sqrt(across * across + down * down);
}

/// The mean over square windows. Windows are a view too: unfold gives them an axis of their own.
Tensor window_mean(const Tensor& x, std::int64_t size) {
  return mean(unfold(mean(unfold(x, 0, size, 1), -1), 1, size, 1), -1);
}

/// The difference of each pixel from the mean of its surroundings, in units of their standard deviation.
Tensor local_contrast(const Tensor& x, std::int64_t size) {
  const Tensor local_mean = window_mean(x, size);
  const Tensor variance = window_mean(x * x, size) - local_mean * local_mean;
  return (middle(x, local_mean.size(0).value(), local_mean.size(1).value()) - local_mean) /
         (sqrt(maximum(variance, 0)) + 0.05);
}

/// Half the size: each pixel is the mean of a square of four.
Tensor half_size(const Tensor& x) { return mean(x.reshape({x.size(0) / 2, 2, x.size(1) / 2, 2}), {1, 3}); }

/// Four panels of one shape in two rows, with `gap` black pixels around each. Each panel is padded to the size of the
/// sheet, and all are added.
Tensor contact_sheet(const std::vector<Tensor>& panels, std::int64_t gap) {
  const std::int64_t height = panels[0].size(0).value() + gap;  // distance between the edges of neighbouring panels
  const std::int64_t width = panels[0].size(1).value() + gap;
  Tensor sheet = oriel::zeros({gap + 2 * height, gap + 2 * width});
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t row = i / 2;
    const std::int64_t column = i % 2;
    sheet += pad(panels[static_cast<std::size_t>(i)],
                 {{gap + row * height, gap + (1 - row) * height}, {gap + column * width, gap + (1 - column) * width}});
  }
  return sheet;
}

/// The whole computation: from the file's numbers to the sheet's, 0 to 255.
Tensor develop(const Tensor& file) {
  constexpr std::int64_t kMargin = 8;
  constexpr std::int64_t kWindow = 2 * kMargin + 1;
  const Tensor gray = file.rank() == 3 ? mean(file, 2) : file.to(oriel::DType::float32);
  const std::int64_t height = gray.size(0).value() / 2 * 2;
  const std::int64_t width = gray.size(1).value() / 2 * 2;
  const Tensor even = gray.shrink({{0, height}, {0, width}});
  const Tensor photo = (even - min(even)) / maximum(max(even) - min(even), 1);

  const Tensor wide = mirrored(photo, kMargin);
  const auto panel = [&](const Tensor& x) { return half_size(middle(x, height, width)); };
  const Tensor sheet = contact_sheet({panel(photo), panel(gaussian_blur(wide, 2)), panel(sobel(wide) / 2),
                                      panel(local_contrast(wide, kWindow) / 6 + 0.5)},
                                     4);
  return round(clamp(sheet, 0, 1) * 255).to(oriel::DType::uint8);
}

void print_schedule(const oriel::Explanation& plan) {
  std::cout << "The schedule: " << plan.kernels.size() << " kernels for " << plan.nodes << " operations\n\n";
  for (const oriel::ExplainedKernel& kernel : plan.kernels) {
    std::cout << kernel.name << ", over " << kernel.domain_after << '\n';
    for (const oriel::ExplainedOutput& output : kernel.outputs) {
      std::cout << "  stores " << output.text << " (" << output.site << ")\n    because " << output.reason << '\n';
    }
  }
}

std::string stack(const std::vector<oriel::View>& views) {
  std::string text;
  for (const oriel::View& view : views) text = view.str() + (text.empty() ? "" : " over ") + text;
  return text;
}

/// Prints how a kernel addresses its operands: the program's movements, the merged views, the index expression.
void print_views(const oriel::ExplainedKernel& kernel) {
  std::cout << "\nThe views of " << kernel.name << ", merged\n\n";
  for (const oriel::ExplainedOperand& operand : kernel.operands) {
    if (operand.kind != oriel::ExplainedOperand::Kind::load) continue;
    std::cout << "  " << operand.name << ' ' << operand.value << ", " << operand.memory << ":";
    for (const std::string& step : operand.steps) std::cout << ' ' << step << ';';
    std::cout << "\n    written " << stack(operand.written) << "\n    merged  " << stack(operand.merged)
              << "\n    index   " << operand.index << "  where " << operand.valid << '\n';
  }
}

void print_memory(const oriel::ExplainedMemory& memory) {
  std::cout << "\nMemory between kernels: " << memory.block_bytes.size() << " blocks, " << memory.peak_bytes
            << " bytes; " << memory.bytes_without_reuse << " without reuse\n\n ";
  for (const std::int64_t bytes : memory.block_bytes) std::cout << ' ' << bytes;
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string input = argc > 1 ? argv[1] : "tests/data/ascent.pgm";
  const std::string output = argc > 2 ? argv[2] : "photo.png";

  const Tensor sheet = develop(oriel::read_image(input));

  // Nothing has run yet, and explaining runs nothing.
  const oriel::Explanation plan = oriel::explain(sheet);
  print_schedule(plan);
  const auto views = [](const oriel::ExplainedKernel& k) {
    return k.operands.empty() ? 0 : k.operands[0].written.size();
  };
  print_views(*std::ranges::max_element(plan.kernels, {}, views));
  const auto length = [](const oriel::ExplainedKernel& k) { return k.source.size(); };
  std::cout << "\nA generated kernel\n\n" << std::ranges::min_element(plan.kernels, {}, length)->source;
  print_memory(plan.memory);

  oriel::ProfileScope profile;
  sheet.realize();
  std::cout << "\nTimes\n\n" << profile.take().str();
  oriel::write_image(output, sheet);
} catch (const oriel::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
