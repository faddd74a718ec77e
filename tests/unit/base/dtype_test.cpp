// Dtypes: names, promotion compared with PyTorch, and halves compared with a search over all their values.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "oriel/dtype.hpp"
#include "oriel/error.hpp"

namespace dtype_test {

using namespace oriel;

TEST_CASE("names, sizes and kinds") {
  CHECK(name(DType::bool_) == "bool");
  CHECK(name(DType::bfloat16) == "bfloat16");
  CHECK(itemsize(DType::bool_) == 1);
  CHECK(itemsize(DType::float16) == 2);
  CHECK(itemsize(DType::uint32) == 4);
  CHECK(itemsize(DType::float64) == 8);
  CHECK(is_floating(DType::float16));
  CHECK_FALSE(is_floating(DType::int8));
  CHECK(is_integer(DType::uint8));
  CHECK_FALSE(is_integer(DType::bool_));
  CHECK(is_unsigned(DType::uint64));
  CHECK_FALSE(is_unsigned(DType::int64));
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    CHECK(dtype_from_name(name(dtype)) == dtype);
  }
  CHECK_THROWS_WITH_AS(
      dtype_from_name("float"),
      "dtype: \"float\" names no dtype; use one of bool, int8, int16, int32, int64, uint8, uint16, uint32, "
      "uint64, float16, bfloat16, float32, float64",
      ArgumentError);
}

TEST_CASE("promotion is PyTorch's where PyTorch has the pair") {
  std::ifstream file(std::string(ORIEL_TEST_DATA) + "/torch_promotion.json");
  REQUIRE(file);
  const nlohmann::json table = nlohmann::json::parse(file);
  int pairs = 0;
  for (const auto& [left, row] : table["promote_types"].items()) {
    for (const auto& [right, result] : row.items()) {
      const std::string what = left + " with " + right;
      INFO(what);
      CHECK(name(promote(dtype_from_name(left), dtype_from_name(right))) == result.get<std::string>());
      ++pairs;
    }
  }
  CHECK(pairs == 100);
}

TEST_CASE("promotion of the unsigned dtypes that PyTorch lacks") {
  CHECK(promote(DType::uint16, DType::uint8) == DType::uint16);
  CHECK(promote(DType::uint16, DType::int8) == DType::int32);
  CHECK(promote(DType::uint16, DType::int64) == DType::int64);
  CHECK(promote(DType::uint32, DType::int32) == DType::int64);
  CHECK(promote(DType::uint64, DType::uint8) == DType::uint64);
  CHECK(promote(DType::uint64, DType::int8) == DType::float32);
  CHECK(promote(DType::uint64, DType::bool_) == DType::uint64);
  CHECK(promote(DType::uint64, DType::float16) == DType::float16);
  for (int a = 0; a < kDTypeCount; ++a) {
    for (int b = 0; b < kDTypeCount; ++b) {
      CHECK(promote(static_cast<DType>(a), static_cast<DType>(b)) ==
            promote(static_cast<DType>(b), static_cast<DType>(a)));
    }
  }
}

TEST_CASE_TEMPLATE("halves round to the nearest of all their values", Half, float16_t, bfloat16_t) {
  const auto value = [](std::uint16_t bits) {
    Half h;
    h.bits = bits;
    return static_cast<float>(h);
  };
  const std::uint16_t infinity = Half(std::numeric_limits<float>::infinity()).bits;
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const float low = value(bits);
    CHECK(Half(low).bits == bits);
    CHECK(Half(-low).bits == (bits | 0x8000));
    if (bits + 1 == infinity) break;
    const float high = value(static_cast<std::uint16_t>(bits + 1));
    REQUIRE(low < high);
    const float middle = low + (high - low) / 2;
    const std::uint16_t even = (bits & 1) == 0 ? bits : static_cast<std::uint16_t>(bits + 1);
    if (middle > low && middle < high) {
      CHECK(Half(middle).bits == even);
      CHECK(Half(std::nextafter(middle, low)).bits == bits);
      CHECK(Half(std::nextafter(middle, high)).bits == bits + 1);
    }
  }
  CHECK(std::isnan(static_cast<float>(Half(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isinf(static_cast<float>(Half(-std::numeric_limits<float>::infinity()))));
  CHECK(std::isinf(static_cast<float>(Half(std::numeric_limits<float>::max()))));
}

TEST_CASE("float16's largest and smallest") {
  CHECK(static_cast<float>(float16_t(65504.0F)) == 65504.0F);
  CHECK(static_cast<float>(float16_t(65519.0F)) == 65504.0F);
  CHECK(std::isinf(static_cast<float>(float16_t(65520.0F))));
  CHECK(static_cast<float>(float16_t(0x1p-24F)) == 0x1p-24F);
  CHECK(static_cast<float>(float16_t(0x1p-25F)) == 0.0F);  // a tie: rounds to even
  CHECK(static_cast<float>(float16_t(0x1.8p-25F)) == 0x1p-24F);
}

}  // namespace dtype_test
