#include "oriel/shape.hpp"

#include "oriel/error.hpp"

namespace oriel {

namespace {

// The product where an extent is 0 or below or symbolic, or where the product overflows. Of symbols it is an
// expression, without a question about an extent.
SymInt unusual_numel(const Ints& shape, const char* operation) {
  SymInt product = 1;
  for (const SymInt extent : shape) {
    if (identical(extent, 0)) return 0;
  }
  try {
    for (const SymInt extent : shape) product *= extent;
  } catch (const OverflowError&) {
    throw OverflowError(operation, "the element count of shape " + to_string(shape) + " passes 2^63-1");
  }
  return product;
}

}  // namespace

SymInt numel(const Ints& shape, const char* operation) {
  std::int64_t product = 1;
  for (const SymInt extent : shape) {
    // Expressions have negative representations.
    if (extent.representation() <= 0 || __builtin_mul_overflow(product, extent.representation(), &product)) [[unlikely]]
      return unusual_numel(shape, operation);
  }
  return product;
}

Ints contiguous_strides(const Ints& shape) try {
  Ints strides(shape.size());
  SymInt step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    if (d == 0) break;
    if (shape[d].is_symbolic()) {
      step *= sym_max(1, shape[d]);
    } else if (shape[d] != 0) {
      step *= shape[d];
    }
  }
  return strides;
} catch (const OverflowError&) {
  throw OverflowError("contiguous_strides", "the strides of shape " + to_string(shape) + " pass 2^63-1");
}

std::string to_string(const Ints& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += to_string(shape[d]);
  }
  return text + ")";
}

std::size_t hash_value(const Ints& ints) noexcept {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ ints.size();
  for (const SymInt n : ints) {
    h ^= n.is_symbolic() ? std::hash<SymInt>{}(n) : static_cast<std::uint64_t>(n.value());
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  return static_cast<std::size_t>(h);
}

}  // namespace oriel
