// Windows for frames of transforms: bartlett, hann, hamming, blackman, kaiser.
#include <fmt/format.h>

#include <numbers>

#include "base/parts.hpp"
#include "formula/value.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/fft.hpp"
#include "oriel/special.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;
using detail::WindowKind;

namespace {

constexpr const char* kWindowNames[] = {"bartlett", "hann", "hamming", "blackman", "kaiser"};
// From here on i0(beta) approaches the largest float64.
constexpr double kMostBeta = 700;

Value cosine(const Value& t, double turns) { return cos(t * (2 * std::numbers::pi * turns)); }

/// At t from 0 to 1.
Value window_at(WindowKind kind, const Value& t, double beta, Site site) {
  const Value centred = t * 2 - 1;
  switch (kind) {
    case WindowKind::bartlett:
      return 1 - abs(centred);
    case WindowKind::hann:
      return 0.5 - cosine(t, 1) * 0.5;
    case WindowKind::hamming:
      return 0.54 - cosine(t, 1) * 0.46;
    case WindowKind::blackman:
      return cosine(t, 2) * 0.08 + (0.42 - cosine(t, 1) * 0.5);
    default: {
      const auto bessel = [&](const Value& v) {
        const Tensor x = v.tensor();
        return Value(t.call(), Access::node(i0(Operand(x, site))));
      };
      return bessel(sqrt(max(1 - centred * centred, 0)) * beta) / bessel(t.like(beta));
    }
  }
}

}  // namespace

Tensor detail::window(WindowKind kind, SymInt n, double beta, DType dtype, WindowEnd end, Site site) {
  const char* const operation = kWindowNames[static_cast<int>(kind)];
  base::need<base::kFurther>(operation);
  const Call call(operation, site);
  if (!is_floating(dtype)) throw DTypeError(operation, fmt::format("gives floats, not {}", name(dtype)));
  if (!(beta >= 0 && beta <= kMostBeta))
    throw ArgumentError(operation, fmt::format("beta is {}; give a number in [0, {}]", beta, kMostBeta));
  if (!sym::state_size(n, operation) && n < 0)
    throw ShapeError(operation, fmt::format("n is {}; give a number >= 0", to_string(n)));
  if (n == 1) return ones({1}, dtype, site);
  const Value k = api::positions(call, {n}, 0, default_device()).to(DType::float64);
  const SymInt steps = end == WindowEnd::periodic ? n : n - 1;
  return window_at(kind, k.binary(Op::Div, sym_max(steps, 1)), beta, site).to(dtype).tensor();
}

}  // namespace oriel
