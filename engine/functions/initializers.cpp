// The first weights of a network.
#include "oriel/initializers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oriel/error.hpp"
#include "oriel/linalg.hpp"
#include "oriel/ops.hpp"

namespace oriel {
namespace {

struct Fans {
  double in, out;
};
Fans fans_of(const char* operation, const Shape& shape) {
  if (shape.size() < 2)
    throw ShapeError(operation, fmt::format("{} has {} axes; weights have at least two, (out, in, kernel...)",
                                            to_string(shape), shape.size()));
  double kernel = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) kernel *= static_cast<double>(shape[d].value());
  return {static_cast<double>(shape[1].value()) * kernel, static_cast<double>(shape[0].value()) * kernel};
}
/// gain / sqrt(fan).
double deviation(const char* operation, const Shape& shape, const WeightOptions& options) {
  const Fans fans = fans_of(operation, shape);
  const double fan = options.fan == Fan::in ? fans.in : options.fan == Fan::out ? fans.out : (fans.in + fans.out) / 2;
  return options.gain / std::sqrt(std::max(fan, 1.0));
}
WeightOptions between(WeightOptions options) {
  options.fan = Fan::mean;
  return options;
}
Tensor uniform_of(const char* operation, const Key& key, const Shape& shape, const WeightOptions& options) {
  const double bound = std::sqrt(3.0) * deviation(operation, shape, options);
  return uniform(key, shape, -bound, bound, options.dtype);
}
Tensor normal_of(const char* operation, const Key& key, const Shape& shape, const WeightOptions& options) {
  return normal(key, shape, 0, deviation(operation, shape, options), options.dtype);
}

}  // namespace

Tensor xavier_uniform(const Key& key, const Shape& shape, const WeightOptions& options, Site site) {
  const detail::CallSite call(site);
  return uniform_of("xavier_uniform", key, shape, between(options));
}
Tensor xavier_normal(const Key& key, const Shape& shape, const WeightOptions& options, Site site) {
  const detail::CallSite call(site);
  return normal_of("xavier_normal", key, shape, between(options));
}
Tensor he_uniform(const Key& key, const Shape& shape, const WeightOptions& options, Site site) {
  const detail::CallSite call(site);
  return uniform_of("he_uniform", key, shape, options);
}
Tensor he_normal(const Key& key, const Shape& shape, const WeightOptions& options, Site site) {
  const detail::CallSite call(site);
  return normal_of("he_normal", key, shape, options);
}
Tensor truncated_normal_weights(const Key& key, const Shape& shape, const WeightOptions& options, Site site) {
  const detail::CallSite call(site);
  const double scale = deviation("truncated_normal_weights", shape, options);
  return truncated_normal(key, shape, -2, 2, options.dtype) * scale;
}

Tensor orthogonal(const Key& key, const Shape& shape, const WeightOptions& options, Site site) {
  const detail::CallSite call(site);
  (void)fans_of("orthogonal", shape);
  SymInt columns = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) columns = columns * shape[d];
  const bool wide = shape[0] < columns;
  const DType dtype = options.dtype == DType::float64 ? DType::float64 : DType::float32;
  const Shape tall = wide ? Shape{columns, shape[0]} : Shape{shape[0], columns};
  const Qr factors = qr(normal(key, tall, 0, 1, dtype));
  const Tensor signs = where(factors.r.diagonal() < 0, -1, 1).to(dtype);
  const Tensor q = factors.q * signs * options.gain;
  return (wide ? q.transpose() : q).reshape(shape).to(options.dtype);
}

}  // namespace oriel
