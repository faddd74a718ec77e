#include "reference/memory.hpp"

#include <cstring>
#include <type_traits>

#include "graph/layout.hpp"
#include "memory/buffer.hpp"

namespace oriel::reference {

namespace {

template <class T>
Number read_one(const void* data, std::int64_t k) {
  T value{};
  std::memcpy(&value, static_cast<const char*>(data) + k * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    return Number::floating(value);
  } else {
    return Number::integer(static_cast<std::int64_t>(value));
  }
}

double decode_half(DType dtype, std::uint16_t bits) {
  const Number raw = Number::integer(bits);
  return apply(graph::Op::Bitcast, DType::uint16, dtype, {&raw, 1}).f;
}

Number read_element(DType dtype, const void* data, std::int64_t k) {
  switch (dtype) {
    case DType::bool_:
    case DType::uint8:
      return read_one<std::uint8_t>(data, k);
    case DType::int8:
      return read_one<std::int8_t>(data, k);
    case DType::int16:
      return read_one<std::int16_t>(data, k);
    case DType::int32:
      return read_one<std::int32_t>(data, k);
    case DType::int64:
      return read_one<std::int64_t>(data, k);
    case DType::uint16:
      return read_one<std::uint16_t>(data, k);
    case DType::uint32:
      return read_one<std::uint32_t>(data, k);
    case DType::uint64:
      return read_one<std::uint64_t>(data, k);
    case DType::float32:
      return read_one<float>(data, k);
    case DType::float64:
      return read_one<double>(data, k);
    default:
      return Number::floating(decode_half(dtype, static_cast<std::uint16_t>(read_one<std::uint16_t>(data, k).i)));
  }
}

}  // namespace

Numbers read_all(DType dtype, const void* data, std::int64_t n) {
  Numbers out;
  out.reserve(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) out.push_back(read_element(dtype, data, k));
  return out;
}

Numbers read_buffer(const graph::Node& node, const mem::Buffer& buffer) {
  const std::int64_t n = count(node.shape);
  std::vector<char> host(static_cast<std::size_t>(n) * itemsize(node.dtype));
  if (host.empty()) return {};
  if (buffer.allocator() == nullptr) {
    std::memcpy(host.data(), buffer.data(), host.size());
  } else {
    buffer.allocator()->read(buffer.data(), host.data(), host.size());
  }
  const Numbers stored = read_all(node.dtype, host.data(), n);
  if (!node.found || node.found->memory.empty()) return stored;
  Numbers out;
  each_index(node.shape, [&](std::int64_t, const Index& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * node.found->memory[d].value();
    out.push_back(stored[static_cast<std::size_t>(at)]);
  });
  return out;
}

}  // namespace oriel::reference
