// What draws of random numbers share: the words of each position.
#pragma once

#include <optional>

#include "formula/value.hpp"
#include "oriel/random.hpp"

namespace oriel::api {

/// What the words at a counter are for. These bits of the counter keep them apart; positions lie below all of them.
enum class Words : std::uint64_t {
  First = 0,
  Second = std::uint64_t{1} << 63,  // words 2 and 3 of the same counter
  Split = std::uint64_t{1} << 62,   // new keys
  Fold = std::uint64_t{1} << 61,
  Third = std::uint64_t{1} << 60,  // more numbers for the same element
  Power = std::uint64_t{1} << 59,
  Other = std::uint64_t{1} << 58,  // a second distribution
};

/// What a parameter of a distribution may be: any number but NaN, a finite one, one >= 0, one > 0, a probability, or a
/// mean of counts, which is at most 2^53.
enum class Domain { Any, Finite, NotNegative, Positive, Share, Mean };

/// One draw of `shape` from a key.
class Draw {
 public:
  /// On the device of the first operand that is a tensor, or else of the key.
  Draw(std::string_view operation, const Key& key, Shape shape, Site site,
       std::initializer_list<const Operand*> operands = {});

  const Call& call() const noexcept { return call_; }
  const Shape& shape() const noexcept { return shape_; }
  Device device() const noexcept { return device_; }

  /// The position of each element, as uint64.
  Value positions() const;
  /// 64 random bits for each counter.
  Value words(const Value& counter, Words which = Words::First) const;
  Value words() const { return words(positions()); }
  /// A parameter of the distribution in `dtype`, broadcast to the shape. Throws ArgumentError for a number that is not
  /// in the domain, or infinite in the dtype `held`; elements of tensors that are not are NaN. A positive number stays
  /// positive.
  Value parameter(const Operand& x, DType dtype, const char* what, Domain domain, std::optional<DType> held = {}) const;
  /// The dtype in which numbers of `dtype` are computed. Throws DTypeError unless it is a float.
  DType computed(DType dtype) const;

 private:
  Call call_;
  Shape shape_;
  Device device_;
  Value key_;
};

/// An integer in the dtype and shape of a value.
Value integer_like(const Value& value, std::uint64_t integer);
/// The leading bits of each word as a number in [0, 1): as many as `dtype` has in its significand.
Value unit(const Value& words, DType dtype, DType wide);
/// The leading bits as a number in (0, 1]: 31 of them in float32, 53 in float64.
Value unit_above_zero(const Value& words, DType wide);
/// Normal numbers: of the first words in float32, of both in float64.
Value normals(const Draw& draw, const Value& counter, DType wide);

}  // namespace oriel::api
