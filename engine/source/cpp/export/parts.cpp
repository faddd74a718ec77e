#include "source/cpp/export/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/scalar.hpp"
#include "source/cpp/spelling.hpp"

namespace oriel::source::cpp {

namespace {

/// Does an embedded array hold a NaN? A literal cannot state its payload, so such arrays are written as integers with
/// the same bits. (Nothing stores to an embedded array, so kernels may read these integers as floats.)
bool holds_nan(const ExportLeaf& leaf) {
  const auto any = [&]<class T>(T value) {
    for (std::size_t i = 0; i < leaf.data.size(); i += sizeof value) {
      std::memcpy(&value, leaf.data.data() + i, sizeof value);
      if (std::isnan(value)) return true;
    }
    return false;
  };
  if (leaf.tensor.dtype == DType::float32) return any(float());
  return leaf.tensor.dtype == DType::float64 && any(double());
}

/// The text of an element between braces; halves are written as their bits.
std::string element(DType dtype, const unsigned char* at) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  graph::Scalar value;
  value.dtype = dtype;
  switch (dtype) {
    case DType::bool_:
      value.i = *at != 0 ? 1 : 0;
      break;
    case DType::int8:
      value.i = as(std::int8_t());  // NOLINT(bugprone-signed-char-misuse): a number
      break;
    case DType::int16:
      value.i = as(std::int16_t());
      break;
    case DType::int32:
      value.i = as(std::int32_t());
      break;
    case DType::int64:
    case DType::uint64:
      value.i = as(std::int64_t());
      break;
    case DType::uint8:
      value.i = *at;
      break;
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      value.dtype = DType::uint16;
      value.i = as(std::uint16_t());
      break;
    case DType::uint32:
      value.i = as(std::uint32_t());
      break;
    case DType::float32:
      value.f = static_cast<double>(as(float()));
      break;
    case DType::float64:
      value.f = as(double());
      break;
  }
  return literal(value);
}

}  // namespace

std::vector<NumberMember> numbers_of(std::span<const ExportUnit* const> plans) {
  const auto type = [](DType dtype) { return dtype == DType::bool_ ? "bool" : memory_type(dtype); };
  std::vector<NumberMember> out;
  for (std::size_t p = 0; p < plans.front()->numbers.size(); ++p) {
    const graph::Scalar& number = plans.front()->numbers[p];
    out.push_back({type(number.dtype), fmt::format("number{}", p),
                   number.dtype == DType::bool_ ? (number.i != 0 ? "true" : "false") : literal(number)});
  }
  for (const ExportLeaf* leaf : leaves_of(plans))
    if (leaf->kind == ExportLeaf::Kind::number) out.push_back({type(leaf->tensor.dtype), leaf->tensor.name, "0"});
  return out;
}

std::string run_parameters(const ExportUnit& unit, bool numbers) {
  return fmt::format("{}const Inputs& inputs, const Outputs& outputs, {}void* scratch",
                     unit.sized() ? "const Sizes& sizes, " : "", numbers ? "const Numbers& numbers, " : "");
}

std::string described(const ExportUnit& unit, const ExportedTensor& t) {
  const auto list = [&](const Ints& ints) {
    std::string text;
    for (const SymInt n : ints) text += (text.empty() ? "" : ", ") + size_text(unit, n);
    return "(" + text + ")";
  };
  const Ints plain = contiguous_strides(t.shape);
  const bool row_major = std::ranges::equal(t.strides, plain, [](SymInt a, SymInt b) { return identical(a, b); });
  return fmt::format("{} {}{}", name(t.dtype), list(t.shape), row_major ? "" : ", in strides of " + list(t.strides));
}

DType written_dtype(const ExportLeaf& leaf) {
  if (!holds_nan(leaf)) return leaf.tensor.dtype;
  return leaf.tensor.dtype == DType::float32 ? DType::uint32 : DType::uint64;
}

void write_array(ExportWriter& text, const ExportLeaf& leaf, const std::string& comment) {
  const ExportedTensor& t = leaf.tensor;
  if (t.bytes == 0) return;
  const std::size_t size = itemsize(t.dtype);
  const DType written = written_dtype(leaf);
  text.line("/// {}{}", comment, written != t.dtype ? ", by its bits" : "");
  text.add(fmt::format("alignas({}) constexpr {} {}[{}] = {{", kExportAlignment, memory_type(written), t.name,
                       leaf.data.size() / size));
  std::size_t width = 200;
  for (std::size_t i = 0; i < leaf.data.size(); i += size) {
    const std::string one = element(written, leaf.data.data() + i);
    if (width + one.size() > 112) {
      text.add("\n   ");
      width = 3;
    }
    text.add(" " + one + ",");
    width += one.size() + 2;
  }
  text.add("};\n");
}

std::string_view export_pragmas() {
  return R"(// What Clang does unless it is told: a*b+c in one rounding. And GCC warns of its own headers.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
// About variables in the headers of AVX-512, which are meant to hold anything.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

)";
}

}  // namespace oriel::source::cpp
