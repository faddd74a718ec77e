// Derivatives of windows, padding, resampling and Fourier transforms beside PyTorch's (tests/data/torch_gradients.py).
#include "recorded_gradients.hpp"

namespace oriel::testing::recorded_windows_test {
namespace {

ConvOptions conv_options(const Sample& s) {
  ConvOptions out{.stride = s.ints("stride", {1}), .dilation = s.ints("dilation", {1}), .groups = s.whole("groups", 1)};
  out.same = s.text("padding") == "same";
  if (s.text("padding").empty()) out.padding = s.ints("padding", {0});
  return out;
}
template <class F>
Program convolution(F f) {
  return [f](const Sample& s) {
    const Tensor out = f(s);
    if (!s.has("a1")) return out;
    Shape channels(static_cast<std::size_t>(out.rank()), SymInt(1));
    channels[channels.size() - static_cast<std::size_t>(s.y().rank() - 1)] = s.tensor("a1").size(0);
    return out + s.tensor("a1").reshape(channels);
  };
}
PoolOptions pool_options(const Sample& s) {
  PoolOptions out{.padding = s.ints("padding", {0}), .dilation = s.ints("dilation", {1})};
  if (s.has("stride")) out.stride = s.ints("stride");
  out.ceil_mode = s.flag("ceil_mode");
  out.count_include_pad = s.flag("count_include_pad", true);
  return out;
}
/// The mean of windows, or their sum divided by another number.
Tensor divided(const Sample& s, const Tensor& mean, const char* name) {
  if (!s.has(name)) return mean;
  SymInt count = 1;
  for (const SymInt n : s.ints("kernel_size")) count = count * n;
  return mean * (static_cast<double>(count.value()) / s.number(name));
}
/// The last axes to these sizes; null: as it is.
Ints sizes_of(const Sample& s, std::size_t axes) {
  const json& given = s.named["output_size"];
  Ints out;
  for (std::size_t k = 0; k < axes; ++k) {
    const json& one = given.is_array() ? given[k] : given;
    out.push_back(one.is_null() ? s.x().size(static_cast<std::int64_t>(k) - static_cast<std::int64_t>(axes))
                                : SymInt(one.get<std::int64_t>()));
  }
  return out;
}
Program resampled(Interpolation mode) {
  return [mode](const Sample& s) {
    Ints sizes = s.ints("size");
    if (sizes.empty())
      for (std::int64_t k = 2; k < static_cast<std::int64_t>(s.x().rank()); ++k)
        sizes.push_back(
            static_cast<std::int64_t>(static_cast<double>(s.x().size(k).value()) * s.number("scale_factor")));
    return interpolate(s.x(), sizes, mode, s.flag("align_corners"));
  };
}
/// Ends as PyTorch names them: the last axis first.
Ranges ends_of(const Sample& s) {
  const Ints ends = s.ints("pad");
  Ranges out(static_cast<std::size_t>(s.x().rank()), Range{0, 0});
  for (std::size_t k = 0; 2 * k + 1 < ends.size(); ++k) out[out.size() - 1 - k] = {ends[2 * k], ends[2 * k + 1]};
  return out;
}
Program padded(PadMode mode) {
  return [mode](const Sample& s) {
    return mode == PadMode::constant ? pad(s.x(), ends_of(s), s.number("value")) : pad(s.x(), ends_of(s), mode);
  };
}
/// (.., c r r, h, w) to (.., c, h r, w r), and back.
Tensor shuffled(const Tensor& x, std::int64_t r) {
  const std::int64_t n = x.size(0).value(), c = x.size(1).value() / (r * r), h = x.size(2).value(),
                     w = x.size(3).value();
  return x.reshape({n, c, r, r, h, w}).permute({0, 1, 4, 2, 5, 3}).reshape({n, c, h * r, w * r});
}
Tensor unshuffled(const Tensor& x, std::int64_t r) {
  const std::int64_t n = x.size(0).value(), c = x.size(1).value(), h = x.size(2).value() / r, w = x.size(3).value() / r;
  return x.reshape({n, c, h, r, w, r}).permute({0, 1, 3, 5, 2, 4}).reshape({n, c * r * r, h, w});
}

Programs programs() {
  Programs f;
  f["nn.functional.conv1d"] = convolution([](const Sample& s) { return conv1d(s.x(), s.y(), conv_options(s)); });
  f["nn.functional.conv3d"] = convolution([](const Sample& s) { return conv3d(s.x(), s.y(), conv_options(s)); });
  f["nn.functional.conv_transpose1d"] = convolution(
      [](const Sample& s) { return conv_transpose1d(s.x(), s.y(), conv_options(s), s.ints("output_padding", {0})); });
  f["nn.functional.conv_transpose2d"] = convolution(
      [](const Sample& s) { return conv_transpose2d(s.x(), s.y(), conv_options(s), s.ints("output_padding", {0})); });
  f["nn.functional.avg_pool1d"] = [](const Sample& s) {
    return avg_pool1d(s.x(), s.ints("kernel_size"), pool_options(s));
  };
  f["nn.functional.avg_pool2d"] = [](const Sample& s) {
    return divided(s, avg_pool2d(s.x(), s.ints("kernel_size"), pool_options(s)), "a5");
  };
  f["nn.functional.avg_pool3d"] = [](const Sample& s) {
    return divided(s, avg_pool3d(s.x(), s.ints("kernel_size"), pool_options(s)), "divisor_override");
  };
  f["nn.functional.max_pool1d"] = [](const Sample& s) {
    return max_pool1d(s.x(), s.ints("kernel_size"), pool_options(s));
  };
  f["nn.functional.max_pool2d"] = [](const Sample& s) {
    return max_pool2d(s.x(), s.ints("kernel_size"), pool_options(s));
  };
  f["nn.functional.adaptive_avg_pool1d"] = [](const Sample& s) { return adaptive_avg_pool1d(s.x(), sizes_of(s, 1)); };
  f["nn.functional.adaptive_avg_pool2d"] = [](const Sample& s) { return adaptive_avg_pool2d(s.x(), sizes_of(s, 2)); };
  f["nn.functional.adaptive_max_pool1d"] = [](const Sample& s) { return adaptive_max_pool1d(s.x(), sizes_of(s, 1)); };
  f["nn.functional.adaptive_max_pool2d"] = [](const Sample& s) { return adaptive_max_pool2d(s.x(), sizes_of(s, 2)); };
  f["nn.functional.interpolate/nearest"] = resampled(Interpolation::nearest);
  f["nn.functional.interpolate/linear"] = f["nn.functional.interpolate/bilinear"] = resampled(Interpolation::linear);
  f["nn.functional.interpolate/bicubic"] = resampled(Interpolation::cubic);
  f["nn.functional.interpolate/area"] = resampled(Interpolation::area);
  f["nn.functional.unfold"] = [](const Sample& s) { return im2col(s.x(), s.ints("kernel_size"), conv_options(s)); };
  f["nn.functional.pad/constant"] = f["constant_pad_nd"] = padded(PadMode::constant);
  f["nn.functional.pad/reflect"] = padded(PadMode::reflect);
  f["nn.functional.pad/replicate"] = padded(PadMode::replicate);
  f["nn.functional.pad/circular"] = padded(PadMode::circular);
  f["nn.functional.pixel_shuffle"] = [](const Sample& s) { return shuffled(s.x(), s.whole("upscale_factor", 1)); };
  f["nn.functional.pixel_unshuffle"] = [](const Sample& s) {
    return unshuffled(s.x(), s.whole("downscale_factor", 1));
  };
  f["fft.fft"] = [](const Sample& s) { return as_pairs(fft(s.x())); };
  f["fft.rfft"] = [](const Sample& s) { return as_pairs(rfft(s.x())); };
  f["fft.irfft"] = [](const Sample& s) { return irfft(s.x()); };
  f["fft.hfft"] = [](const Sample& s) { return hfft(s.x()); };
  f["fft.fft2"] = [](const Sample& s) { return as_pairs(fft2(s.x())); };
  f["fft.ifft2"] = [](const Sample& s) { return as_pairs(ifft2(s.x())); };
  f["fft.rfft2"] = [](const Sample& s) { return as_pairs(rfft2(s.x())); };
  f["fft.irfft2"] = [](const Sample& s) { return irfft2(s.x()); };
  f["fft.fftn"] = [](const Sample& s) { return as_pairs(fftn(s.x())); };
  f["fft.ifftn"] = [](const Sample& s) { return as_pairs(ifftn(s.x())); };
  f["fft.rfftn"] = [](const Sample& s) { return as_pairs(rfftn(s.x())); };
  f["fft.irfftn"] = [](const Sample& s) { return irfftn(s.x()); };
  f["fft.fftshift"] = [](const Sample& s) { return fftshift(s.x(), s.axes()); };
  f["fft.ifftshift"] = [](const Sample& s) { return ifftshift(s.x(), s.axes()); };
  return f;
}

}  // namespace

TEST_CASE("derivatives of windows and Fourier transforms are PyTorch's") {
  run_recorded_gradients("windows", programs());
}

}  // namespace oriel::testing::recorded_windows_test
