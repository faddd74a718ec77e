#include "leaf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace oriel::testing {

namespace {

// A random generator of its own, so that a seed in a printed program gives the same data everywhere.
class Stream {
 public:
  explicit Stream(std::uint32_t seed) : state_(seed * 2654435761U + 12345U) {}
  std::uint32_t next(std::uint32_t below) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 8) % below;
  }

 private:
  std::uint32_t state_;
};

template <class T>
constexpr const char* kTypeName = "";
template <>
constexpr const char* kTypeName<bool> = "bool";
template <>
constexpr const char* kTypeName<std::int8_t> = "std::int8_t";
template <>
constexpr const char* kTypeName<std::int16_t> = "std::int16_t";
template <>
constexpr const char* kTypeName<std::int32_t> = "std::int32_t";
template <>
constexpr const char* kTypeName<std::int64_t> = "std::int64_t";
template <>
constexpr const char* kTypeName<std::uint8_t> = "std::uint8_t";
template <>
constexpr const char* kTypeName<std::uint16_t> = "std::uint16_t";
template <>
constexpr const char* kTypeName<std::uint32_t> = "std::uint32_t";
template <>
constexpr const char* kTypeName<std::uint64_t> = "std::uint64_t";
template <>
constexpr const char* kTypeName<float16_t> = "float16_t";
template <>
constexpr const char* kTypeName<bfloat16_t> = "bfloat16_t";
template <>
constexpr const char* kTypeName<float> = "float";
template <>
constexpr const char* kTypeName<double> = "double";

std::string float_text(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return fmt::format("{:#}", value);
}

/// Copies `elements` to memory of the caller. `place` chooses between borrowed and adopted, aligned and unaligned
/// memory.
template <class T>
Leaf in_callers_memory(const T* elements, std::size_t count, const Shape& shape, std::uint32_t place,
                       const std::string& text) {
  const bool adopted = place % 2 == 1;
  const auto side = place < 4 ? test::Guarded::Side::Begin : test::Guarded::Side::End;
  auto memory = std::make_shared<CallersMemory>(elements, count * sizeof(T), side, adopted);
  T* const data = static_cast<T*>(memory->guarded.data());
  const auto past = reinterpret_cast<std::uintptr_t>(data) % 4096;
  return {adopted ? Tensor::adopt(data, shape, [memory](T*) { ++memory->deletions; }) : Tensor::borrow(data, shape),
          fmt::format("in_callers_memory<{}>({{{}}}, {}, {}, {})", kTypeName<T>, text, braces(shape), past, adopted),
          memory};
}

template <class T>
Leaf leaf_of(const Shape& shape, Stream stream, bool callers) {
  const std::int64_t n = numel(shape).value();
  std::vector<T> data;
  std::string text;
  constexpr bool kFloats = std::is_floating_point_v<T> || std::same_as<T, float16_t> || std::same_as<T, bfloat16_t>;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::uint32_t special = stream.next(40);
    std::string element;
    if constexpr (kFloats) {
      double value = (static_cast<double>(stream.next(65)) - 32) / 4;
      if (special == 0) value = NAN;
      if (special == 1) value = INFINITY;
      if (special == 2) value = -INFINITY;
      if (special == 3) value = -0.0;
      data.push_back(T(static_cast<float>(value)));
      element = float_text(value);
      if constexpr (!std::is_floating_point_v<T>) element = fmt::format("{}({})", kTypeName<T>, element);
    } else if constexpr (std::same_as<T, bool>) {
      data.push_back(stream.next(2) != 0);
      element = data.back() ? "true" : "false";
    } else {
      auto value = static_cast<T>(static_cast<std::int64_t>(stream.next(17)) - (std::is_unsigned_v<T> ? 0 : 8));
      if (special == 0) value = std::numeric_limits<T>::max();
      if (special == 1) value = std::numeric_limits<T>::min();
      data.push_back(value);
      // The most negative number cannot be written as a literal.
      element = value == std::numeric_limits<T>::min() && std::is_signed_v<T>
                    ? fmt::format("std::numeric_limits<{}>::min()", kTypeName<T>)
                    : fmt::format("{}{}", value, sizeof(T) == 8 ? std::is_unsigned_v<T> ? "U" : "" : "");
    }
    text += (k == 0 ? "" : ", ") + element;
  }
  if (const std::uint32_t place = stream.next(callers ? 6 : 16); place < 6) {
    const std::unique_ptr<T[]> elements(new T[data.size()]);  // std::vector<bool> has no data()
    std::copy(data.begin(), data.end(), elements.get());
    return in_callers_memory(elements.get(), data.size(), shape, place, text);
  }
  return {Tensor::from(data, shape),
          fmt::format("Tensor::from(std::vector<{}>{{{}}}, {})", kTypeName<T>, text, braces(shape))};
}

thread_local LeafNotes* notes = nullptr;
thread_local std::optional<std::span<const Tensor>> given;

}  // namespace

LeafNotes::LeafNotes() { notes = this; }
LeafNotes::~LeafNotes() { notes = nullptr; }
LeavesFrom::LeavesFrom(std::span<const Tensor> leaves) { given = leaves; }
LeavesFrom::~LeavesFrom() { given.reset(); }

Tensor in_memory(const Tensor& x) { return given ? x : x.realize(); }

const char* const kInCallersMemory = R"(// Elements in memory of the caller, `past` bytes behind a multiple of 4096.
template <class T>
Tensor in_callers_memory(std::initializer_list<T> elements, const Shape& shape, std::size_t past, bool adopted) {
  const std::size_t bytes = (past + elements.size() * sizeof(T)) / 4096 * 4096 + 4096;
  auto* const memory = static_cast<char*>(std::aligned_alloc(4096, bytes));
  T* const data = reinterpret_cast<T*>(memory + past);
  std::copy(elements.begin(), elements.end(), data);
  if (adopted) return Tensor::adopt(data, shape, [memory](T*) { std::free(memory); });
  return Tensor::borrow(data, shape);  // the memory outlives the program
}
)";

std::string braces(const Ints& ints) {
  std::string out = "{";
  for (const SymInt n : ints) out += fmt::format("{}{}", out.size() == 1 ? "" : ", ", n.value());
  return out + "}";
}

Leaf make_leaf(DType dtype, const Shape& shape, std::uint32_t seed, bool in_callers_memory) {
  if (notes != nullptr) notes->kinds.push_back({dtype, shape, seed});
  if (given) {
    if (given->empty()) throw std::logic_error("make_leaf: the program has more leaves than were given");
    const Tensor next = given->front();
    given = given->subspan(1);
    return {next, "given"};
  }
  const Stream stream(seed);
  switch (dtype) {
    case DType::bool_:
      return leaf_of<bool>(shape, stream, in_callers_memory);
    case DType::int8:
      return leaf_of<std::int8_t>(shape, stream, in_callers_memory);
    case DType::int16:
      return leaf_of<std::int16_t>(shape, stream, in_callers_memory);
    case DType::int32:
      return leaf_of<std::int32_t>(shape, stream, in_callers_memory);
    case DType::int64:
      return leaf_of<std::int64_t>(shape, stream, in_callers_memory);
    case DType::uint8:
      return leaf_of<std::uint8_t>(shape, stream, in_callers_memory);
    case DType::uint16:
      return leaf_of<std::uint16_t>(shape, stream, in_callers_memory);
    case DType::uint32:
      return leaf_of<std::uint32_t>(shape, stream, in_callers_memory);
    case DType::uint64:
      return leaf_of<std::uint64_t>(shape, stream, in_callers_memory);
    case DType::float16:
      return leaf_of<float16_t>(shape, stream, in_callers_memory);
    case DType::bfloat16:
      return leaf_of<bfloat16_t>(shape, stream, in_callers_memory);
    case DType::float32:
      return leaf_of<float>(shape, stream, in_callers_memory);
    default:
      return leaf_of<double>(shape, stream, in_callers_memory);
  }
}

}  // namespace oriel::testing
