#include "source/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace oriel::source {
namespace {

/// The shortest text that reads back as the same float, which is finite and not negative.
std::string decimal(const graph::Scalar& value) {
  const bool wide = value.dtype == DType::float64;
  const double number = std::fabs(value.f);
  std::string text = wide ? fmt::format("{}", number) : fmt::format("{}", static_cast<float>(number));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return wide ? text : text + "f";
}

}  // namespace

std::string Pattern::fill(std::initializer_list<std::string> values) const {
  std::string filled;
  for (std::string_view rest = text_; !rest.empty();) {
    const bool place = rest.size() > 2 && rest[0] == '{' && rest[1] >= '0' && rest[1] <= '9' && rest[2] == '}';
    filled += place ? values.begin()[rest[1] - '0'] : std::string(1, rest[0]);
    rest.remove_prefix(place ? 3 : 1);
  }
  return filled;
}

std::string Dialect::value_type(DType dtype, int width) const {
  const char* const type = types[static_cast<std::size_t>(dtype)];
  return width == 1 ? type : vector_type(type, width);
}

std::string Dialect::literal(const graph::Scalar& value) const {
  const DType dtype = value.dtype;
  if (!is_floating(dtype)) {
    if (dtype == DType::uint64) return uint64(value_type(dtype), static_cast<std::uint64_t>(value.i));
    if (value.i == std::numeric_limits<std::int64_t>::min()) return least_int64;
    return (dtype == DType::int64 ? int64 : integer)(value_type(dtype), value.i);
  }
  const std::size_t wide = dtype == DType::float64 ? 1 : 0;
  const std::string magnitude_text = std::isnan(value.f)   ? nan[wide]
                                     : std::isinf(value.f) ? infinity[wide]
                                                           : decimal(value);
  const bool negative = std::signbit(value.f);
  if (!negative && std::isfinite(value.f)) return magnitude_text;
  return signed_float(negative ? "-" : "", magnitude_text);
}

std::string Dialect::pointer(MemorySpace space, const std::string& type, bool constant) const {
  return pointers[static_cast<std::size_t>(space)](type, constant ? "const " : "");
}

std::string Dialect::half_of(const std::string& vector, int width, bool second) const {
  return width == 2 ? lane(vector, second ? 1 : 0) : halves[second ? 1 : 0](vector, width / 2);
}

std::string Dialect::parted(DType dtype, int width, const std::string& a, const std::string& b, bool odd) const {
  const char* const lanes = width == 2 ? (odd ? "y" : "x") : odd ? "odd" : "even";
  return every_second(value_type(dtype, width), a, b, lanes, odd ? 1 : 0);
}

const FunctionFault* Dialect::fault(graph::Op op, DType dtype) const {
  const auto found = std::find_if(faults.begin(), faults.end(), [&](const FunctionFault& f) {
    return f.op == op && (dtype == DType::float64 ? f.in_float64 : f.in_float32);
  });
  return found == faults.end() ? nullptr : &*found;
}

}  // namespace oriel::source
