// Fourier transforms beside the answers of NumPy, SciPy and PyTorch (tests/data/numpy_fft.py), sums of all terms, and
// their inverses.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "oriel/complex.hpp"
#include "oriel/fft.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::fft_test {
namespace {

using nlohmann::json;
using test::refusal;
using Z = std::complex<double>;

bool is_complex(const json& t) { return t.size() == 3; }

Complex recorded(const json& t, DType part) {
  Shape shape = t[0].get<std::vector<std::int64_t>>();
  if (is_complex(t)) shape.push_back(2);
  const Tensor x = Tensor::from(t[1].get<std::vector<double>>(), shape).to(part).realize();
  return is_complex(t) ? view_as_complex(x) : Complex(x);
}

/// The largest difference, in units of the largest number.
double difference(const Complex& got, const Complex& want) {
  REQUIRE(got.shape() == want.shape());
  if (got.numel() == 0) return 0;
  const Complex wide = want.to(ComplexDType::complex128);
  const double most = std::max(1.0, double(max(abs(wide))));
  const double apart = double(max(abs(got.to(ComplexDType::complex128) - wide)));
  return std::isfinite(apart) ? apart / most : HUGE_VAL;
}

FftNorm norm_of(const json& options) {
  const std::string norm = options.value("norm", "backward");
  return norm == "ortho" ? FftNorm::ortho : norm == "forward" ? FftNorm::forward : FftNorm::backward;
}

Axes axes_of(const json& options) {
  return options.contains("axes") ? Axes(options["axes"].get<std::vector<std::int64_t>>()) : Axes();
}

Complex several(const std::string& name, const ComplexOperand& x, const json& options) {
  const Ints sizes(options.value("s", std::vector<std::int64_t>()));
  const bool two = name.ends_with('2') && !options.contains("axes");
  const Axes axes = two ? Axes{-2, -1} : axes_of(options);
  const FftNorm norm = norm_of(options);
  if (name == "fftn") return fftn(x, sizes, axes, norm);
  if (name == "ifftn") return ifftn(x, sizes, axes, norm);
  if (name == "rfftn") return rfftn(x, sizes, axes, norm);
  if (name == "irfftn") return Complex(irfftn(x, sizes, axes, norm));
  if (name == "fft2") return fft2(x, sizes, axes, norm);
  if (name == "ifft2") return ifft2(x, sizes, axes, norm);
  if (name == "rfft2") return rfft2(x, sizes, axes, norm);
  REQUIRE(name == "irfft2");
  return Complex(irfft2(x, sizes, axes, norm));
}

Complex answer(const std::string& name, const std::vector<Complex>& in, const std::vector<bool>& complex,
               const json& options, DType part) {
  if (name == "fftfreq") return Complex(fftfreq(options["n"].get<std::int64_t>(), options["d"], part));
  if (name == "rfftfreq") return Complex(rfftfreq(options["n"].get<std::int64_t>(), options["d"], part));
  const Tensor re = in[0].real();  // an operand names its tensor
  const ComplexOperand x = complex[0] ? ComplexOperand(in[0]) : ComplexOperand(re);
  const Overlap overlap = options.value("overlap", "") == "same"    ? Overlap::same
                          : options.value("overlap", "") == "valid" ? Overlap::valid
                                                                    : Overlap::full;
  if (name == "fftconvolve") {
    if (!complex[0] && !complex[1]) return Complex(fftconvolve(in[0].real(), in[1].real(), overlap, axes_of(options)));
    return complex[0] ? fftconvolve(in[0], in[1], overlap, axes_of(options))
                      : fftconvolve(in[0].real(), in[1], overlap, axes_of(options));
  }
  if (name == "stft" || name == "istft") {
    StftOptions how{.hop = options["hop"], .center = options["center"], .normalized = options["normalized"]};
    if (options.contains("length")) how.length = options["length"].get<std::int64_t>();
    const std::int64_t n = options["n"];
    return name == "stft" ? stft(x, n, in[1].real(), how) : Complex(istft(x, n, in[1].real(), how));
  }
  const FftLength n = options.contains("n") ? FftLength(options["n"].get<std::int64_t>()) : FftLength();
  const std::int64_t axis = options.value("axis", -1);
  const FftNorm norm = norm_of(options);
  if (name == "fft") return fft(x, n, axis, norm);
  if (name == "ifft") return ifft(x, n, axis, norm);
  if (name == "rfft") return rfft(x, n, axis, norm);
  if (name == "irfft") return Complex(irfft(x, n, axis, norm));
  if (name == "hfft") return Complex(hfft(x, n, axis, norm));
  if (name == "ihfft") return ihfft(x, n, axis, norm);
  if (name == "fftshift") return Complex(fftshift(in[0].real(), axes_of(options)));
  if (name == "ifftshift") return Complex(ifftshift(in[0].real(), axes_of(options)));
  if (name == "dct") return Complex(dct(in[0].real(), options["type"], n, axis, norm));
  if (name == "idct") return Complex(idct(in[0].real(), options["type"], n, axis, norm));
  return several(name, x, options);
}

Complex draw(const Shape& shape, std::uint64_t seed, DType part = DType::float64) {
  const auto [a, b] = std::pair(normal(Key(seed), shape, 0, 1, part), normal(Key(seed + 1), shape, 0, 1, part));
  return Complex(a, b).realize();
}

/// All terms of the sums, with exact angles.
std::vector<Z> summed(const std::vector<Z>& x) {
  const std::size_t n = x.size();
  std::vector<std::complex<long double>> roots;
  for (std::size_t k = 0; k < n; ++k)
    roots.push_back(std::polar(
        1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n)));
  std::vector<Z> out;
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<long double> sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += std::complex<long double>(x[j]) * roots[j * k % n];
    out.emplace_back(sum);
  }
  return out;
}

}  // namespace

TEST_CASE("recorded answers") {
  std::ifstream file(ORIEL_TEST_DATA "/numpy_fft.json");
  const json cases = json::parse(file);
  CHECK(cases.size() > 300);
  for (const json& c : cases) {
    const auto name = c[0].get<std::string>();
    CAPTURE(name);
    CAPTURE(c[2].dump());
    CAPTURE(c[1].dump());
    for (const DType part : {DType::float64, DType::float32}) {
      std::vector<Complex> in;
      std::vector<bool> complex;
      for (const json& t : c[1]) {
        in.push_back(recorded(t, part));
        complex.push_back(is_complex(t));
      }
      const Complex got = answer(name, in, complex, c[2], part);
      CHECK(got.real().dtype() == part);
      CHECK(difference(got, recorded(c[3], DType::float64)) < (part == DType::float64 ? 1e-8 : 2e-6));
    }
  }
}

TEST_CASE("every length has the sums of its terms, and comes back") {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 130; ++n) lengths.push_back(n);
  for (const std::int64_t n : {211, 256, 263, 343, 360, 401, 509, 512, 541, 625, 729, 1009, 1013}) lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    CAPTURE(n);
    const Complex z = draw({3, n}, static_cast<std::uint64_t>(n));
    const Complex y = fft(z).realize();
    const Complex want = Complex::from(summed(z[2].to_vector<Z>()));
    CHECK(difference(y[2], want) < 1e-15);
    CHECK(difference(fft(z[2]), want) < 1e-15);
    CHECK(difference(Complex(irfft(rfft(z[2].real()), n)), Complex(z[2].real())) < 2e-15);
    CHECK(difference(ifft(y), z) < 2e-15);
    const Tensor x = z.real();
    const Complex whole = fft(Complex(x));
    CHECK(difference(rfft(x), whole.shrink({{0, n / 2 + 1}}, 1)) < 1e-15);
    CHECK(difference(fft(x), whole) < 1e-15);
    CHECK(difference(ifft(x), ifft(Complex(x))) < 1e-15);
    CHECK(difference(Complex(irfft(rfft(x), n)), Complex(x)) < 2e-15);
    const Complex half = draw({3, n}, static_cast<std::uint64_t>(n), DType::float32);
    CHECK(difference(fft(half), fft(half.to(ComplexDType::complex128))) < 1e-6);
    CHECK(difference(Complex(irfft(rfft(half.real()), n)), Complex(half.real())) < 1e-6);
  }
}

TEST_CASE("batches of every count have the same bits, and single rows the same numbers") {
  for (const std::int64_t n : {12, 15, 16, 97, 100, 128, 1013, 4096}) {
    for (const DType part : {DType::float32, DType::float64}) {
      const Complex z = draw({11, n}, 3, part);
      const Complex all = fft(z);
      for (std::int64_t count = 1; count <= 11; ++count) {
        const Complex some = z.shrink({{0, count}}, 0);
        const Complex y = fft(some), h = rfft(some.real());
        const Tensor back = irfft(some, n);
        for (const std::int64_t row : {std::int64_t{0}, count - 1}) {
          if (count > 1) CHECK(difference(y[row], all[row]) == 0);
          const double error = part == DType::float32 ? 1e-6 : 2e-15;
          CHECK(difference(y[row], fft(z[row])) < error);
          CHECK(difference(h[row], rfft(z[row].real())) < error);
          CHECK(difference(Complex(back[row]), Complex(irfft(z[row], n))) < error);
        }
      }
    }
  }
}

TEST_CASE("long rows") {
  const Complex z = draw({3, 1 << 16}, 5);
  CHECK(difference(ifft(fft(z)), z) < 1e-14);
  const Complex prime = draw({2, 65537}, 5);
  CHECK(difference(ifft(fft(prime)), prime) < 1e-14);
  CHECK(difference(fft(z[0]), fft(z)[0]) < 1e-15);
  const Complex single = draw({1 << 20}, 6, DType::float32);
  CHECK(difference(ifft(fft(single)), single) < 1e-6);
}

TEST_CASE("rows of one batch do not disturb each other") {
  Tensor x = ones({4, 8}) * Tensor::of<float>({{1}, {1e30F}, {1}, {1}});
  const Tensor y = x.realize();
  CHECK(fft(y)[0].real().to_vector<float>() == std::vector<float>{8, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("views and other axes are read as they are") {
  const Complex z = draw({6, 5, 4}, 9);
  CHECK(difference(fft(z, {}, 1), fft(z.permute({0, 2, 1})).permute({0, 2, 1})) == 0);
  CHECK(difference(fft(z.flip(2)), fft(+z.flip(2))) == 0);
  CHECK(difference(fftn(z), fft(fft(fft(z, {}, 0), {}, 1), {}, 2)) < 1e-15);
  CHECK(difference(fft(fft(z) * 2 + 1), fft((fft(z) * 2 + 1).realize())) == 0);
  CHECK(difference(ifftshift(fftshift(z)), z) == 0);
  CHECK(fft(z.shrink({{0, 0}}, 0)).shape() == Shape{0, 5, 4});
}

TEST_CASE("the parts of a transform are written one by one") {
  for (const bool realised : {false, true}) {
    const Complex x = draw({2, 8}, 12);
    const Complex y = fft(x), want = fft(x);
    if (realised) y.realize();
    const Complex before = y * 1;
    y.real().assign(1);
    CHECK(difference(y, Complex(ones({2, 8}, DType::float64), want.imag())) == 0);
    CHECK(difference(before, want) == 0);
    CHECK(difference(ifft(before), x) < 1e-15);
  }
}

TEST_CASE("captured functions with batches and lengths that are symbols") {
  const auto filter = oriel::function([](const Tensor& x) { return irfft(rfft(x) * 2, x.size(-1)); });
  for (const std::int64_t batch : {2, 3, 5, 8}) {
    const Tensor x = normal(Key(1), {batch, 10}).realize();
    CHECK(difference(Complex(filter(x)), Complex(x * 2)) < 1e-6);
  }
  CHECK(filter.counts().traces == 2);
  const auto whole = oriel::function([](const Complex& z) { return ifft(fft(z)); });
  for (const std::int64_t n : {7, 12, 16, 23}) CHECK(difference(whole(draw({3, n}, 4)), draw({3, n}, 4)) < 1e-14);
  CHECK(whole.counts().traces == 2);
  const auto cosines = oriel::function([](const Tensor& x) { return std::pair(idct(dct(x)), dct(dct(x, 3), 2)); });
  for (const std::int64_t n : {8, 9, 20}) {
    const Tensor x = normal(Key(2), {2, n}, 0, 1, DType::float64).realize();
    const auto [same, scaled] = cosines(x);
    CHECK(difference(Complex(same), Complex(x)) < 1e-14);
    CHECK(difference(Complex(scaled), Complex(x * (2.0 * static_cast<double>(n)))) < 1e-13);
  }
}

TEST_CASE("functions in files call transforms by their names") {
  const test::TemporaryFolder folder;
  const auto f = oriel::function([](const Tensor& x) { return as_pairs(fft(x, {}, -1, FftNorm::ortho)); });
  const Tensor x = normal(Key(3), {4, 9}).realize();
  const Tensor want = f(x);
  f.save(folder / "fft.oriel");
  const auto loaded = load_function<Tensor(Tensor)>(folder / "fft.oriel");
  CHECK(loaded(x).to_vector<float>() == want.to_vector<float>());
}

TEST_CASE("frames come back, and their sums have the length that is asked for") {
  const Tensor x = normal(Key(7), {2, 3, 40}, 0, 1, DType::float64).realize();
  const Tensor window = linspace(0.5, 1, 8, DType::float64);
  for (const bool center : {true, false}) {
    for (const std::int64_t hop : {1, 2, 4}) {
      const StftOptions options{.hop = hop, .center = center, .length = 40};
      const Complex z = stft(x, 8, window, options);
      CHECK(z.shape() == Shape{2, 3, 5, center ? 40 / hop + 1 : 32 / hop + 1});
      CHECK(difference(Complex(istft(z, 8, window, options)), Complex(x)) < 1e-14);
      const StftOptions two{.hop = hop, .center = center, .onesided = false, .length = 40};
      CHECK(difference(Complex(istft(stft(x, 8, window, two), 8, window, two)), Complex(x)) < 1e-14);
    }
  }
  CHECK(stft(x, 8).shape() == Shape{2, 3, 5, 21});
  CHECK(stft(x, 8, 1, {.pad = PadMode::constant}).shape() == Shape{2, 3, 5, 21});
}

TEST_CASE("lengths that are fast") {
  CHECK(next_fast_len(1) == 1);
  CHECK(next_fast_len(7) == 8);
  CHECK(next_fast_len(13) == 15);
  CHECK(next_fast_len(1013) == 1024);
  CHECK(next_fast_len(93059) == 93312);
  CHECK(refusal([] { next_fast_len(0); }) == "next_fast_len: a length of 0; give at least 1");
  CHECK(next_fast_len((std::int64_t{1} << 62) - 1) == std::int64_t{1} << 62);
  CHECK(refusal([] { next_fast_len((std::int64_t{1} << 62) + 1); }) ==
        "next_fast_len: a length of 4611686018427387905 passes 2^62");
}

TEST_CASE("mistakes are refused") {
  const Tensor x = ones({2, 6});
  CHECK(refusal([&] { fft(1); }) == "fft: a number has no axis; give a tensor with one");
  CHECK(refusal([&] { fft(x, 0); }) == "fft: a transform of 0 elements; give at least one");
  CHECK(refusal([&] { fft(ones({2, 0})); }) == "fft: a transform of 0 elements; give at least one");
  CHECK(refusal([&] { irfft(ones({2, 1})); }) == "irfft: a transform of 0 elements; give at least one");
  CHECK(refusal([&] { fft(x, {}, 2); }).starts_with("fft: "));
  CHECK(refusal([&] { rfft(fft(x)); }) ==
        "rfft: takes real numbers; the transform of complex ones is fft, or give real(x)");
  CHECK(refusal([&] { fftn(x, {1, 2, 3}); }) == "fftn: 3 sizes for 2 axes; give at most one for each");
  CHECK(refusal([&] { fftn(x, {1}, {0, 1}); }) == "fftn: 1 sizes for 2 axes; give one for each");
  CHECK(refusal([&] { fftn(x, {}, {0, 0}); }).starts_with("fftn: "));
  CHECK(refusal([&] { fftn(x, {}, Axes(Ints{})); }) == "fftn: no axis to transform along; give at least one");
  CHECK(refusal([&] { fft2(ones({3})); }).starts_with("fft2: "));
  CHECK(refusal([&] { fftfreq(0); }) == "fftfreq: 0 frequencies; give at least one");
  CHECK(refusal([&] { fftfreq(3, 1, DType::int32); }) ==
        "fftfreq: frequencies are floats, not int32; give a float dtype");
  CHECK(refusal([&] { dct(x, 5); }) == "dct: type 5; give 1, 2, 3 or 4");
  CHECK(refusal([&] { dct(x, 1, 1); }) == "dct: 1 elements along the axis; type 1 takes at least 2");
  CHECK(refusal([&] { stft(x, 4, ones({5})); }) ==
        "stft: window (5); give a vector of at most 4 elements, or a number");
  CHECK(refusal([&] { stft(x, 0); }) == "stft: frames of 0 every 1; give at least 1");
  CHECK(refusal([&] { stft(x, 8, 1, {.center = false}); }) == "stft: a signal of 6 elements has no frame of 8");
  CHECK(refusal([&] { istft(fft(x), 8); }) == "istft: (2, 6) for frames of 8; give (.., 5, frames)");
  CHECK(refusal([&] { fftconvolve(x, ones({3})); }) ==
        "fftconvolve: (2, 6) and (3); give both the same number of axes, at least one");
  CHECK(refusal([&] {
          fftconvolve(x, ones({3, 2}), Overlap::valid);
        }).ends_with("for the valid part one must be as long as the other along every axis"));
}

}  // namespace oriel::fft_test
