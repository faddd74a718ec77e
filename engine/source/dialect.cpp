#include "source/dialect.hpp"

#include <fmt/format.h>

namespace oriel::source {

std::string Dialect::decimal(const graph::Scalar& value) {
  const bool wide = value.dtype == DType::float64;
  std::string text = wide ? fmt::format("{}", value.f) : fmt::format("{}", static_cast<float>(value.f));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return wide ? text : text + "f";
}

}  // namespace oriel::source
