#include "oriel/shape.hpp"

#include "oriel/error.hpp"

namespace oriel {

namespace {

// The product of extents that the fast loop does not handle: an extent is symbolic or at most 0, or the product
// overflows. A product with symbols is an expression, built without a decision on any extent.
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

std::uint64_t hash_of_negative(SymInt n) {
  return n.is_symbolic() ? std::hash<SymInt>{}(n) : static_cast<std::uint64_t>(n.value());
}

}  // namespace

SymInt numel(const Ints& shape, const char* operation) {
  std::int64_t product = 1;
  for (const SymInt extent : shape) {
    // A symbolic extent has a negative representation.
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
    // Expressions have negative representations.
    const std::int64_t bits = n.representation();
    h ^= bits >= 0 ? static_cast<std::uint64_t>(bits) : hash_of_negative(n);
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  return static_cast<std::size_t>(h);
}

}  // namespace oriel
