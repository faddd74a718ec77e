// Derivatives of Fourier transforms: they are linear, and their adjoints are transforms in the other direction with the
// same scale.
#include "grad/linalg.hpp"
#include "grad/matrix.hpp"

namespace oriel::derive {

namespace {

/// Real and imaginary parts (batches, n) of a complex result (batches, 2, n), or of its cotangent.
Value half(const Value& both, std::int64_t which) {
  return both.shrink(1, which, which + 1).reshape({both.shape()[0], both.shape()[2]});
}

void pull_complex(Step& step, const std::string& other) {
  const Value g = step.cotangent();
  const Value both = on_matrices(other, {half(g, 0), half(g, 1)}, {g.shape()[0], 2, g.shape()[2]});
  for (std::size_t k = 0; k < step.operands(); ++k)
    if (step.wants(k)) step.give(k, half(both, static_cast<std::int64_t>(k)));
}

/// What elements 0 to n / 2 of a transform of n reals stand for: themselves, and `inner` times those between the ends.
Value weighted(const Value& x, std::size_t axis, SymInt n, double inner) {
  const Value k = api::positions(x.call(), x.shape(), axis, x.device());
  const Value end = (k == 0) | k.binary(Op::Mul, 2).binary(Op::Eq, n);
  return where(end, x, x * inner);
}

/// The inverse transform counts elements between the ends twice, for they stand for their conjugates too.
void pull_half(Step& step, const std::string& other) {
  const SymInt n = step.operand(0).shape()[1];
  const Value g = weighted(step.cotangent(), 2, n, 0.5);
  step.give(0, on_matrices(other, {half(g, 0), half(g, 1)}, {g.shape()[0], n}));
}

void pull_reals(Step& step, const std::string& other) {
  const Value g = step.cotangent();
  const SymInt n = g.shape()[1], m = step.operand(0).shape()[1];
  const Value both = weighted(on_matrices(other, {g}, {g.shape()[0], 2, m}), 2, n, 2);
  for (std::size_t k = 0; k < 2; ++k)
    if (step.wants(k)) step.give(k, half(both, static_cast<std::int64_t>(k)));
}

}  // namespace

bool pull_fourier(Step& step, std::string_view function) {
  const std::size_t colon = std::min(function.find(':'), function.size());
  const std::string_view kind = function.substr(0, colon);
  const std::string scale(function.substr(colon));
  if (kind == "fft") return pull_complex(step, "ifft" + scale), true;
  if (kind == "ifft") return pull_complex(step, "fft" + scale), true;
  if (kind == "rfft") return pull_half(step, "irfft" + scale), true;
  if (kind == "irfft") return pull_reals(step, "rfft" + scale), true;
  return false;
}

}  // namespace oriel::derive
