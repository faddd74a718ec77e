// Complex numbers beside std::complex, NumPy's text and files, and what captured functions and writes make of them.
#include <doctest/doctest.h>

#include <complex>
#include <fstream>
#include <sstream>

#include "oriel/complex.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "oriel/saved_function.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"
#include "unit/api/complex_numbers.hpp"

namespace oriel::complex_test {
using test::refusal;

TEST_CASE("construction, properties and reading") {
  const auto z = Complex::of<C>({{1, 2}, {0, -1}, 3});
  CHECK(z.shape() == Shape{3});
  CHECK(z.dtype() == ComplexDType::complex64);
  CHECK(z.str() == "complex64 (3) on " + default_device().str());
  CHECK(z.to_vector<C>() == std::vector<C>{{1, 2}, {0, -1}, 3});
  CHECK(z.real().to_vector<float>() == std::vector<float>{1, 0, 3});
  CHECK(z[1].item<C>() == C(0, -1));
  const Complex broad(Tensor::of<int>({{1}, {2}}), Tensor::of<double>({0.5, 1.5}));
  CHECK(broad.dtype() == ComplexDType::complex128);
  CHECK(broad.to_vector<Z>() == std::vector<Z>{{1, 0.5}, {1, 1.5}, {2, 0.5}, {2, 1.5}});
  CHECK(Complex().shape() == Shape{0});
  CHECK(Complex().to_vector<C>().empty());
  CHECK(Complex(Tensor::of<float16_t>({1, 2})).dtype() == ComplexDType::complex64);
  CHECK(Complex::from(std::vector<Z>{1, 2, 3, Z(4, 1)}, {2, 2}).at({1, 1}).item<Z>() == Z(4, 1));
  CHECK(as_pairs(z).to_vector<float>() == std::vector<float>{1, 2, 0, -1, 3, 0});
  near(
      polar(Tensor::of<double>({2, 3}), Tensor::of<double>({0.5, -2})), {{2, 0.5}, {3, -2}},
      [](Z v) { return std::polar(v.real(), v.imag()); }, 1e-15);
}

TEST_CASE("parts and views name the same elements") {
  const Tensor pairs = Tensor::of<float>({{1, 2}, {3, 4}});
  const Complex z = view_as_complex(pairs);
  Tensor imaginary = imag(z);
  imaginary.assign(7);
  CHECK(pairs.to_vector<float>() == std::vector<float>{1, 7, 3, 7});
  z[0].assign(C(5, 6));
  CHECK(pairs.to_vector<float>() == std::vector<float>{5, 6, 3, 7});
  // What the value reads is changed by the first of the two writes.
  z.assign(view_as_complex(pairs.flip(1)));
  CHECK(pairs.to_vector<float>() == std::vector<float>{6, 5, 7, 3});
  Complex w = z * 1;
  const Complex row = w[0];
  w *= C(0, 1);
  w += 1;
  CHECK(row.item<C>() == C(-4, 6));
  CHECK(pairs.to_vector<float>() == std::vector<float>{6, 5, 7, 3});
  w.real().assign(3);
  real(w)[1] = 4;
  CHECK(w.to_vector<C>() == std::vector<C>{{3, 6}, {4, 7}});
  const Complex other = +z;
  other.assign(0);
  CHECK(pairs.to_vector<float>() == std::vector<float>{6, 5, 7, 3});
}

TEST_CASE("movement") {
  const std::vector<Z> x = draw(6);
  const Complex z = Complex::from(x, {2, 3});
  CHECK(z.transpose().to_vector<Z>() == std::vector<Z>{x[0], x[3], x[1], x[4], x[2], x[5]});
  CHECK(z.reshape({3, 2})[2].to_vector<Z>() == std::vector<Z>{x[4], x[5]});
  CHECK(z.slice({{}, {.start = 1}}).to_vector<Z>() == std::vector<Z>{x[1], x[2], x[4], x[5]});
  CHECK(z.flip(1).select(0, 0).to_vector<Z>() == std::vector<Z>{x[2], x[1], x[0]});
  CHECK(z.unsqueeze(0).expand({2, 2, 3}).shape() == Shape{2, 2, 3});
  CHECK(concat({z, z}, 0).shape() == Shape{4, 3});
  CHECK(stack({z[0], z[1]}, 1).to_vector<Z>() == z.transpose().to_vector<Z>());
  CHECK(roll(z, 1, 1)[0].to_vector<Z>() == std::vector<Z>{x[2], x[0], x[1]});
  CHECK(pad(z, {{0, 0}, {1, 0}})[1].to_vector<Z>() == std::vector<Z>{0, x[3], x[4], x[5]});
  CHECK(z.each_part([](const Tensor& p) { return rot90(p); }).shape() == Shape{3, 2});
}

TEST_CASE("arithmetic and promotion") {
  const std::vector<Z> x = draw(50), y = draw(51);
  const std::vector<Z> b(y.begin(), y.begin() + 50);
  const Complex z = Complex::from(x), w = Complex::from(b);
  std::size_t k = 0;
  const auto with = [&](auto op) {
    k = 0;
    return [&, op](Z v) { return op(v, b[k++]); };
  };
  near(z + w, x, with(std::plus<>()), 1e-15);
  near(z - w, x, with(std::minus<>()), 1e-15);
  near(z * w, x, with(std::multiplies<>()), 1e-15);
  near(z / w, x, with(std::divides<>()), 1e-15);
  near(
      1.0 - z, x, [](Z v) { return 1.0 - v; }, 1e-15);
  near(
      Z(1, 2) / z, x, [](Z v) { return Z(1, 2) / v; }, 1e-15);
  near(
      z / Z(1, 2), x, [](Z v) { return v / Z(1, 2); }, 1e-15);
  near(
      2 * z, x, [](Z v) { return 2.0 * v; }, 0);
  near(
      -conj(z), x, [](Z v) { return -std::conj(v); }, 0);
  near(real(w) / z, x, with([](Z v, Z r) { return r.real() / v; }), 1e-15);
  near(
      reciprocal(z), x, [](Z v) { return 1.0 / v; }, 1e-15);
  near(
      square(z), x, [](Z v) { return v * v; }, 1e-15);

  const Complex single = z.to(ComplexDType::complex64);
  CHECK((single * 2.5).dtype() == ComplexDType::complex64);
  CHECK((single * Z(1, 1)).dtype() == ComplexDType::complex64);
  CHECK((single * ones({50}, DType::float64)).dtype() == ComplexDType::complex128);
  CHECK((single * scalar(2, DType::float64)).dtype() == ComplexDType::complex64);
  CHECK((ones({50}, DType::int64) - single).dtype() == ComplexDType::complex64);
  CHECK((single.reshape({50, 1}) + ones({1, 3})).shape() == Shape{50, 3});
  CHECK((single.reshape({50, 1}) + ones({1, 3})).imag().shape() == Shape{50, 3});
  CHECK(where(ones({4, 50}), 1, single).imag().shape() == Shape{4, 50});
  CHECK(where(real(z) > 0, z, 1).to_vector<Z>()[0] == (x[0].real() > 0 ? x[0] : Z(1)));
  CHECK((z == z).to_vector<bool>() == std::vector<bool>(50, true));
  CHECK(double(sum(z != conj(z))) == 50);
  CHECK(double(sum(z == x[3])) == 1);
}

TEST_CASE("quotients neither overflow nor vanish, and those by zero are NumPy's") {
  const std::vector<Z> x{{1e300, 1e300}, {1e-300, 2e-300}, {3, -4}};
  near(
      Complex::from(x) / Complex::from(x), x, [](Z) { return Z(1); }, 1e-15);
  const std::vector<Z> over = (Complex::of<Z>({{1, -2}, {0, 0}, {kInf, 1}}) / Z(0, 0)).to_vector<Z>();
  CHECK(over[0] == Z(kInf, -kInf));
  CHECK(std::isnan(over[1].real()));
  CHECK(over[2] == Z(kInf, kInf));
}

TEST_CASE("infinities and NaN") {
  const std::vector<Z> x{{kInf, 0}, {-kInf, 2},    {kInf, 1},    {1, kInf},    {-1, -kInf},
                         {kNan, 0}, {-kInf, kInf}, {kNan, kInf}, {kInf, kInf}, {kInf, kNan}};
  const Complex z = Complex::from(x);
  near(
      sqrt(Complex::from(std::vector<Z>(x.begin(), x.begin() + 5))), {x.begin(), x.begin() + 5},
      [](Z v) { return std::sqrt(v); }, 0);
  CHECK(sqrt(z[7]).item<Z>().real() == kInf);
  const std::vector<Z> e = exp(z).to_vector<Z>();
  CHECK(e[0] == Z(kInf, 0));
  CHECK(e[1] == Z(0, 0));
  CHECK(e[2] == Z(kInf, kInf));
  CHECK(std::isnan(e[3].real()));
  CHECK(e[5].imag() == 0);
  CHECK(e[6] == Z(0, 0));
  for (const Z& v : {e[8], e[9]}) {
    CHECK(std::isinf(v.real()));
    CHECK(std::isnan(v.imag()));
  }
  CHECK(log(z[3]).item<Z>().real() == kInf);
  CHECK(abs(z[7]).item<double>() == kInf);
  CHECK(isnan(z).to_vector<bool>() ==
        std::vector<bool>{false, false, false, false, false, true, false, true, false, true});
  CHECK(isinf(z).to_vector<bool>() == std::vector<bool>{true, true, true, true, true, false, true, true, true, true});
  const Complex one = Complex::of<C>({{1, 1}, {0, INFINITY}, {NAN, 0}});
  CHECK(isclose(one, one).to_vector<bool>() == std::vector<bool>{true, true, false});
  CHECK(isclose(Complex::of<C>({{1, 1e-9F}}), Complex::of<C>({{1, 0}})).item<bool>());
  CHECK(allclose(Complex::of<C>({{100, 0}}), Complex::of<C>({{100, 0.1F}}), 1e-2));
  CHECK_FALSE(allclose(Complex::of<C>({{100, 0}}), Complex::of<C>({{100, 0.1F}})));
  CHECK(double(sum(isfinite(z))) == 0);
  CHECK(bool(isfinite(Complex::of<C>({{1, 1}})).item<bool>()));
  // A real factor does not turn an infinity into NaN.
  CHECK((Complex::of<Z>({{kInf, 1}}) * 2.0).to_vector<Z>()[0] == Z(kInf, 2));
  CHECK(pow(Complex::of<Z>({0, 0}), Complex::of<Z>({{2, 1}, 0})).to_vector<Z>() == std::vector<Z>{0, 1});
}

TEST_CASE("sums, means and products of matrices") {
  const std::vector<Z> x = draw(12), y = draw(20);
  const Complex a = Complex::from(x, {3, 4}), b = Complex::from(y, {4, 5});
  std::vector<Z> want(15), total(3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      total[i] += x[4 * i + k];
      for (std::size_t j = 0; j < 5; ++j) want[5 * i + j] += x[4 * i + k] * y[5 * k + j];
    }
  std::size_t k = 0;
  near(
      matmul(a, b), want, [&](Z v) { return v; }, 1e-14);
  near(
      sum(a, 1), total, [&](Z v) { return v; }, 1e-15);
  near(
      mean(a, 1, true).reshape({3}), total, [&](Z v) { return v / 4.0; }, 1e-15);
  near(
      matmul(a, real(b)) + matmul(a, imag(b)) * Z(0, 1), want, [&](Z v) { return v; }, 1e-14);
  near(
      matmul(real(a), b) + matmul(imag(a), b) * Z(0, 1), want, [&](Z v) { return v; }, 1e-14);
  CHECK(matmul(a.to(ComplexDType::complex64), real(b)).dtype() == ComplexDType::complex128);
  static_cast<void>(k);
}

TEST_CASE("products over axes and along an axis") {
  const std::vector<Z> x = draw(2 * 7 * 3);
  const Complex z = Complex::from(x, {2, 7, 3});
  std::vector<Z> over(6, 1), along(42);
  Z all = 1;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 7; ++j)
      for (std::size_t k = 0; k < 3; ++k) {
        const Z v = x[(i * 7 + j) * 3 + k];
        all *= v;
        along[(i * 7 + j) * 3 + k] = over[i * 3 + k] *= v;
      }
  const auto as_is = [](Z v) { return v; };
  near(prod(z, 1), over, as_is, 1e-14);
  near(prod(z), {all}, as_is, 1e-13);
  near(cumprod(z, 1), along, as_is, 1e-14);
  near(cumprod(z, -2), along, as_is, 1e-14);
  CHECK(prod(z, {0, -1}, true).shape() == Shape{1, 7, 1});
  CHECK(prod(z, {0, 2}).shape() == Shape{7});
  CHECK(prod(z[0], 0).dtype() == ComplexDType::complex128);
  CHECK(prod(Complex::of<C>({})).item<C>() == C(1));
  CHECK(prod(z, Axes(Ints{})).to_vector<Z>() == x);
  CHECK(prod(z[0][0][0]).item<Z>() == x[0]);
  CHECK(cumprod(z[0][0][0], 0).item<Z>() == x[0]);
  near(cumsum(Complex::of<Z>({{1, 2}, {3, 4}}), 0), {{1, 2}, {4, 6}}, as_is, 0);
  CHECK(refusal([&] { static_cast<void>(prod(z, 3)); }).starts_with("prod: axis 3"));
  CHECK(refusal([&] { static_cast<void>(cumprod(z, 3)); }).starts_with("cumprod: axis 3"));
}

TEST_CASE("products of tensors are sums of products of their parts") {
  const std::vector<Z> x = draw(6);
  const Complex z = Complex::from(x, {2, 3});
  const auto as_is = [](Z v) { return v; };
  near(tensordot(z, z.transpose(), 1), matmul(z, z.transpose()).to_vector<Z>(), as_is, 1e-15);
  near(tensordot(z, z, {1}, {1}), matmul(z, z.transpose()).to_vector<Z>(), as_is, 1e-15);
  near(tensordot(z, real(z)), sum(z * real(z)).to_vector<Z>(), as_is, 1e-15);
  near(outer(z[0], z[1]), (z[0].unsqueeze(1) * z[1]).to_vector<Z>(), as_is, 1e-15);
  near(vdot(z[0], z[1]), sum(conj(z[0]) * z[1]).to_vector<Z>(), as_is, 1e-15);
}

TEST_CASE("text is NumPy's") {
  const auto text = [](const Complex& z) { return (std::ostringstream() << z).str(); };
  CHECK(text(Complex::of<C>({{1, 2}, {0, -1.5F}, {-3.25F, 0}, {0, 1e-3F}}).reshape({2, 2})) ==
        "[[ 1.  +2.0e+00j  0.  -1.5e+00j]\n [-3.25+0.0e+00j  0.  +1.0e-03j]]");
  CHECK(text(Complex::of<Z>({1, {0, 2.5}, {kNan, 1}, {-kInf, 0}})) == "[  1.+0.j    0.+2.5j  nan+1.j  -inf+0.j ]");
  CHECK(text(Complex::of<Z>({{1e10, 1}, 2})) == "[1.e+10+1.j 2.e+00+0.j]");
  CHECK(text(Complex(arange(2000, DType::float64)) * Z(1, 1)) ==
        "[0.000e+00+0.000e+00j 1.000e+00+1.000e+00j 2.000e+00+2.000e+00j ...\n"
        " 1.997e+03+1.997e+03j 1.998e+03+1.998e+03j 1.999e+03+1.999e+03j]");
  const auto one = [&](Z z) { return text(Complex(z.real(), z.imag()).to(ComplexDType::complex64)); };
  CHECK(one({1, 2}) == "(1+2j)");
  CHECK(one({0, 2}) == "2j");
  CHECK(one({-0.0, 1}) == "(-0+1j)");
  CHECK(one({1.5, -0.0}) == "(1.5-0j)");
  CHECK(one({kNan, kInf}) == "(nan+infj)");
  CHECK(text(Complex()) == "[]");
  CHECK(to_string(ComplexDType::complex128) == "complex128");
}

TEST_CASE(".npy files") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "z.npy";
  const Complex z = Complex::of<C>({{1, 2}, {0, -1}, 3, 4, 5, {6, 7}}).reshape({2, 3});
  write_npy(path, z);
  const std::string bytes = test::file_text(path);
  CHECK(bytes.find("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }") == 10);
  CHECK(bytes.size() == 128 + 48);
  CHECK(read_npy_complex(path).to_vector<C>() == z.to_vector<C>());
  std::string fortran = bytes;
  fortran.replace(fortran.find("False"), 5, "True ");
  std::ofstream(path, std::ios::binary) << fortran;
  CHECK(read_npy_complex(path).to_vector<C>() == z.reshape({3, 2}).transpose().to_vector<C>());
  write_npy(path, z.to(ComplexDType::complex128).transpose());
  CHECK(test::file_text(path).find("'<c16'") != std::string::npos);
  CHECK(read_npy_complex(path).to_vector<Z>() == z.transpose().to(ComplexDType::complex128).to_vector<Z>());
  CHECK(refusal([&] { read_npy(path); }).ends_with("elements are complex; read_npy_complex reads them"));
  write_npy(path, z.real());
  CHECK(refusal([&] { read_npy_complex(path); }).ends_with("elements are real; read_npy reads them"));
}

TEST_CASE("captured functions take and give them, with symbolic sizes, and files hold them") {
  const auto step = oriel::function([](Complex a, const Complex& b) { return exp(a * b) / (a + 2); });
  const Complex b = Complex::of<C>({{0.5F, 1}, {0, -1}});
  for (const std::int64_t n : {3, 4, 7, 9}) {
    const Complex a =
        Complex::from(draw(static_cast<std::size_t>(2 * n)), {n, 2}).to(ComplexDType::complex64).realize();
    CHECK(numbers(step(a, b)) == numbers((exp(a * b) / (a + 2))));
  }
  CHECK(step.counts().traces == 2);
  const Complex sums = oriel::function([](Tensor x) { return sum(Complex(x, x * 2), 0); })(Tensor::of<float>({1, 2}));
  CHECK(sums.item<C>() == C(3, 6));
}

TEST_CASE("work is lazy and fused") {
  const Complex a = Complex::from(draw(64)).realize(), b = Complex::from(draw(65)).slice({{.stop = 64}}).realize();
  const Complex z = a * b * a + conj(b) * 2;
  CHECK(explain({z.real(), z.imag()}).kernels.size() == 1);
  CHECK(explain(abs(z)).kernels.size() == 1);
}

TEST_CASE("mistakes are refused") {
  const Complex z = Complex::of<C>({1, 2, 3});
  CHECK(refusal([&] { static_cast<void>(z.to_vector<Z>()); })
            .starts_with("to_vector: complex64 (3) on " + default_device().str() +
                         " is not read as complex128; read std::complex<float>"));
  CHECK(refusal([&] { static_cast<void>(z.item<C>()); }) == "item: (3) has not one element; select one");
  CHECK(refusal([&] {
          Complex::from(std::vector<C>{1, 2}, {3});
        }) == "from: 2 numbers for shape (3), which has 3 elements");
  CHECK(refusal([&] {
          view_as_complex(ones({2, 3}));
        }) == "view_as_complex: (2, 3) has no last axis of 2 (real and imaginary part); give (.., 2)");
  CHECK(refusal([&] { view_as_complex(ones({2}, DType::int32)); })
            .starts_with("view_as_complex: int32 (2) on " + default_device().str() +
                         " holds no pairs of float32 or float64"));
  CHECK(refusal([&] { static_cast<void>(z + Complex::of<C>({1, 2})); }).starts_with("add: (3) and (2)"));
  CHECK(refusal([&] { z.assign(Complex::of<C>({1, 2})); }).starts_with("assign: "));
  CHECK(refusal([&] {
          z.each_part([](const Tensor& x) { return x > 0; });
        }).starts_with("each_part: the function gave bool (3)"));
}

}  // namespace oriel::complex_test
