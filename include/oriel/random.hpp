// Random numbers from keys. A draw is a function of its key and of the position of each element, so it fuses with what
// stands behind it, and it is the same in every run and for any number of threads. Bits, integers and uniform numbers
// are the same on every device too. Other distributions take functions of floats, whose last places depend on the
// device.
//
// The generator is Philox 4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Element p
// reads words 0 and 1 of counter p, and words 2 and 3 where it needs more bits. So the numbers at the first positions
// do not depend on how many follow.
//
// Nothing here has a state: the same key gives the same numbers again. Draw once from a key; for a second draw split
// it. A key is an argument of a captured function like any other tensor:
//   auto noisy = function([](Tensor x, Key key) { return x + normal(key, x.shape()); });
//   auto [now, later] = split(Key(42));
//   Tensor y = noisy(x, now);
//
// `shape` may hold symbolic sizes. Parameters of distributions are numbers or tensors that broadcast to `shape`.
// Every function throws ShapeError for a negative extent and for parameters that do not broadcast, DTypeError for a
// dtype that it cannot give, and ArgumentError for a number outside of a parameter's range. Where an element of a
// tensor of parameters is outside, floats are NaN and integers 0, unless a comment says otherwise.
//
// Derivatives (grad.hpp) go through parameters of which the numbers are a function, for a fixed key: those of uniform,
// normal, truncated_normal and exponential, the scale of gamma, the elements of dropout and shuffle. By other
// parameters of gamma and beta they are an ArgumentError. Integers and bool have none.
#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The key of a stream of random numbers: a uint64 without axes. Two keys give streams that are independent of each
/// other. Thread safety: as Tensor.
class Key {
 public:
  /// The key of a seed.
  explicit Key(std::uint64_t seed = 0, Site site = Site::here());
  /// A key that bits() gave. Throws DTypeError unless it is uint64, ShapeError if it has axes.
  explicit Key(const Tensor& bits, Site site = Site::here());
  /// The key as a tensor.
  const Tensor& bits() const noexcept { return bits_; }

  /// Keys go into and out of captured functions.
  /// @{
  friend auto oriel_members(Key& key) { return std::tie(key.bits_); }
  friend auto oriel_members(const Key& key) { return std::tie(key.bits_); }
  /// @}

 private:
  Tensor bits_;
};

/// Two new keys. The old one must not be drawn from any more.
///   auto [a, b] = split(key);
[[nodiscard]] std::array<Key, 2> split(const Key& key, Site site = Site::here());
/// `count` new keys; the first ones do not depend on `count`. Throws ArgumentError if it is negative.
[[nodiscard]] std::vector<Key> split(const Key& key, std::int64_t count, Site site = Site::here());
/// A new key for each integer: that of a step of training, or of a row. Takes an integer or an integer tensor without
/// axes, modulo 2^60. Throws DTypeError and ShapeError for others.
///   fold_in(key, step)
[[nodiscard]] Key fold_in(const Key& key, const Operand& data);

// ---- Bits and uniform numbers: the same on every device.

/// 64 random bits for each element, as uint64.
[[nodiscard]] Tensor random_bits(const Key& key, const Shape& shape, Site site = Site::here());
/// Numbers from low up to but excluding high, low + (high - low) * k / 2^bits for a random k of as many bits as the
/// dtype's significand: 24 in float32, 53 in float64, 11 in float16, 8 in bfloat16. Where high - low is no power of two
/// rounding may give high itself. If high - low is beyond the range of floats, low * (1 - k / 2^bits) + high * k /
/// 2^bits. Throws ArgumentError for numbers with low > high, or infinite in the dtype; elements of tensors give NaN.
///   uniform(key, {2, 3});  uniform(key, {4}, -1, 1, DType::float64);
[[nodiscard]] Tensor uniform(const Key& key, const Shape& shape, const Operand& low = 0, const Operand& high = 1,
                             DType dtype = DType::float32);
/// Integers from low up to but excluding high. The probability of each differs from 1 / (high - low) by less than
/// 2^-32 of it. Throws ArgumentError unless low < high and high - 1 fits the dtype.
///   randint(key, {10}, 1, 7);  // dice
[[nodiscard]] Tensor randint(const Key& key, const Shape& shape, SymInt low, SymInt high, DType dtype = DType::int64,
                             Site site = Site::here());
/// true with probability p, which is rounded to 2^-24 (2^-53 for a float64 tensor). p is in [0, 1]; what is not, NaN
/// too, gives false.
[[nodiscard]] Tensor bernoulli(const Key& key, const Shape& shape, const Operand& p = 0.5);
/// x / (1 - p), with 0 in place of each element with probability p, in the dtype of x, which is a float. p is a number
/// in [0, 1]; with 1 the result is 0. The identity of inference is x itself: call nothing.
///   dropout(key, x, 0.1)
[[nodiscard]] Tensor dropout(const Key& key, const Operand& x, double p = 0.5);

// ---- Continuous distributions, in floats. float16 and bfloat16 are computed in float32 and rounded once.

/// Normal numbers, by the transform of Box and Muller. In float32 the radius has 31 bits and the angle 32, so numbers
/// reach 6.7 deviations; in float64 53 and 64 bits, up to 8.6.
[[nodiscard]] Tensor normal(const Key& key, const Shape& shape, const Operand& mean = 0, const Operand& deviation = 1,
                            DType dtype = DType::float32);
/// Normal numbers of mean 0 and deviation 1 within [low, high], by inversion in float64 (algorithm AS 241 of Wichura;
/// for an interval beyond 37 deviations by the expansion of the tail). NaN unless low <= high.
[[nodiscard]] Tensor truncated_normal(const Key& key, const Shape& shape, const Operand& low = -2,
                                      const Operand& high = 2, DType dtype = DType::float32);
/// Exponential numbers of this mean: -mean * log(u), with u of 31 bits in (0, 1] (53 in float64).
[[nodiscard]] Tensor exponential(const Key& key, const Shape& shape, const Operand& mean = 1,
                                 DType dtype = DType::float32);
/// Laplace numbers: the mean plus or minus an exponential number of this scale.
[[nodiscard]] Tensor laplace(const Key& key, const Shape& shape, const Operand& mean = 0, const Operand& scale = 1,
                             DType dtype = DType::float32);
/// Gumbel numbers, the distribution of the largest of many: location - scale * log(e), with e exponential. In float32
/// from -2.8 to 22 scales away from the location, in float64 to 36.
[[nodiscard]] Tensor gumbel(const Key& key, const Shape& shape, const Operand& location = 0, const Operand& scale = 1,
                            DType dtype = DType::float32);
/// Gamma numbers, x^(a-1) exp(-x/scale) up to a factor, by the method of Marsaglia and Tsang ("A simple method for
/// generating gamma variables", 2000). Each element makes 16 attempts at once and takes the first that is accepted,
/// which costs as much as all of them; none of the 16 is accepted with a probability below 2^-69, and then
/// the first counts. a > 0; small a give numbers that underflow to 0. An a below the least normal number of float32
/// (float64) counts as that number. A derivative by a is an ArgumentError: which attempt is accepted depends on it.
[[nodiscard]] Tensor gamma(const Key& key, const Shape& shape, const Operand& a, const Operand& scale = 1,
                           DType dtype = DType::float32);
/// Beta numbers: the share of a gamma number of a in the sum of it and one of b. Computed on logarithms, so that small
/// parameters do not give 0 / 0: with both near 0 the numbers are 0 or 1. A derivative by a or b is an ArgumentError.
[[nodiscard]] Tensor beta(const Key& key, const Shape& shape, const Operand& a, const Operand& b,
                          DType dtype = DType::float32);

// ---- Counts and choices, in int64.

/// Poisson numbers of this mean, computed in float64. Below a mean of 10 by inversion: the distribution is summed up to
/// 52, beyond which less than 2^-64 lies. From 10 on by transformed rejection (PTRS of Hörmann, 1993): each element
/// makes 32 attempts at once and takes the first that is accepted; none is with a probability below 2^-64. Means of a
/// number are in [0, 2^53]; in a tensor, others give 0.
[[nodiscard]] Tensor poisson(const Key& key, const Shape& shape, const Operand& mean);
/// The numbers 0 to n - 1 in random order. Sorts random bits. Throws ArgumentError for a negative n.
[[nodiscard]] Tensor permutation(const Key& key, SymInt n, Site site = Site::here());
/// The entries of x along an axis in random order.
[[nodiscard]] Tensor shuffle(const Key& key, const Operand& x, std::int64_t axis = 0);
/// Integers from 0 to n - 1: drawn one by one, or with `replace` off all different. Throws ArgumentError for n < 1, or
/// if more different ones are wanted than there are.
///   x.take(choice(key, x.size(0), {5}))
[[nodiscard]] Tensor choice(const Key& key, SymInt n, const Shape& shape, bool replace = true,
                            Site site = Site::here());
/// `count` positions along the last axis of weights (.., n), as (.., count), each with the probability of its weight.
/// With `replace` by a search in the running sums in float64; else those of the smallest of n exponential numbers over
/// the weights, all different, and positions of weight 0 come last. Weights are >= 0 and finite, and some are not 0;
/// rows of others give any positions from 0 to n - 1. Throws ShapeError without an axis or elements, ArgumentError if
/// count is negative, or more than n of different ones.
///   multinomial(key, Tensor::of<float>({1, 2, 1}), 10, true)
[[nodiscard]] Tensor multinomial(const Key& key, const Operand& weights, std::int64_t count, bool replace = false);
/// A position along an axis for each line of it, with a probability in proportion to exp(logits), by the largest of
/// logits plus Gumbel numbers. Logits of -inf are never drawn beside others. Throws ShapeError for an axis without
/// elements. jax.random.categorical. For several positions of a line expand the logits first.
///   categorical(key, logits.expand({10, logits.size(0)}))  // ten positions
[[nodiscard]] Tensor categorical(const Key& key, const Operand& logits, std::int64_t axis = -1);

/// Do not compile.
/// @{
// clang-format off
namespace detail { template <class T> Nothing with_key() { static_assert(kNever<T>, "a draw takes a key, the same key gives the same numbers again: normal(Key(1), {2, 3}), uniform(Key(1), {2, 3})"); return {}; } }
#define ORIEL_WITH_KEY(name) \
  template <class T> detail::Nothing name(std::initializer_list<T>, const auto&...) { return detail::with_key<T>(); } \
  template <detail::Integer T> detail::Nothing name(T, const Shape&, const auto&...) { return detail::with_key<T>(); }
ORIEL_WITH_KEY(uniform) ORIEL_WITH_KEY(normal) ORIEL_WITH_KEY(bernoulli) ORIEL_WITH_KEY(randint)
#undef ORIEL_WITH_KEY
// clang-format on
/// @}

}  // namespace oriel
