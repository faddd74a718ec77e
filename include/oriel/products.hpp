// Products of vectors, matrices and tensors: each is a view of its operands and a sum of products, which devices run as
// they run matmul (reduce.hpp). The dtypes are promoted, halves are summed in float32 and rounded once; for bool, sum
// is `or` and product is `and`. The definitions are PyTorch's. Every function throws ShapeError if shapes do not fit.
#pragma once

#include <string_view>

#include "oriel/api.hpp"
#include "oriel/list.hpp"
#include "oriel/reduce.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// Einstein's summation: `equation` names the axes of each operand by letters, operands separated by commas, and those
/// of the result behind `->`. Letters that the result lacks are summed. A letter that an operand names twice takes its
/// diagonal. `...` stands for any axes, which broadcast. Without `->` the result has the axes of `...` and then, in
/// alphabetical order (capitals first), the letters that occur once. Spaces are ignored. Three and more operands are
/// multiplied in pairs, in the order that is estimated to take the least time (more than four: the cheapest pair
/// first), which explain() shows. Throws ArgumentError, which quotes the equation, if it is malformed or does not fit
/// the operands.
///   einsum("bhqd,bhkd->bhqk", {q, k});  // scores of attention
///   einsum("ii", {x});                  // the trace
/// @{
[[nodiscard]] Tensor einsum(std::string_view equation, ListOf<Tensor> operands, Site site = Site::here());
/// @}
// clang-format off
/// Does not compile.
template <std::same_as<Tensor> T, class... More> detail::Nothing einsum(std::string_view, const T&, const More&...) { static_assert(detail::kNever<T>, "the operands are one list: einsum(\"ij,jk->ik\", {x, y})"); return {}; }
// clang-format on

// ---- Patterns: einops' notation of movements and reductions. A pattern names the axes of x, `->`, and those of the
// result: names of letters, digits and `_`, separated by spaces. Names in parentheses are one axis, the last one
// varying fastest, `1` is an axis of extent 1, and `...` stands for any axes, which keep their order (in parentheses on
// the right: as one). `sizes` gives the extents of names that x does not tell: of all but one in parentheses on the
// left, and of those that only the result has. Throws ArgumentError, which quotes the pattern, if it is malformed or
// does not fit x.

// clang-format off
/// The pattern of a repetition: a text. No list in braces converts to it, which is one of counts: repeat(x, {0}).
namespace detail { struct PatternText { std::string_view text; template <std::convertible_to<std::string_view> T> PatternText(const T& pattern) : text(pattern) {} }; }  // NOLINT
// clang-format on
/// A name of a pattern and its extent.
struct NamedSize {
  std::string_view name;  ///< as the pattern has it
  SymInt size;            ///< its extent
};

/// The same elements, with the axes of the left in the order and the groups of the right; a view.
///   rearrange(x, "b (h w) c -> b c h w", {{"h", 4}})
[[nodiscard]] Tensor rearrange(const Operand& x, std::string_view pattern, ListOf<NamedSize> sizes = {});
/// The same, reduced over the axes that only the left has. `how` is sum, mean, prod, amax or amin, in the dtypes of the
/// functions of these names (max and min) in reduce.hpp.
///   reduce(x, "b c (h 2) (w 2) -> b c h w", Combine::amax)  // max_pool2d(x, {2}); numbers are extents
[[nodiscard]] Tensor reduce(const Operand& x, std::string_view pattern, Combine how, ListOf<NamedSize> sizes = {});
/// The same elements, repeated along the axes that only the right has.
///   repeat(x, "h w -> h (w c)", {{"c", 3}})
[[nodiscard]] Tensor repeat(const Operand& x, const detail::PatternText& pattern, ListOf<NamedSize> sizes = {});

/// The sum of products over the last `count` axes of a and the first `count` of b.
///   tensordot(a, b, 1)  // of matrices: matmul
[[nodiscard]] Tensor tensordot(const Operand& a, const Operand& b, std::int64_t count = 2);
/// The sum of products over pairs of axes. The result has the other axes of a, then those of b.
///   tensordot(a, b, {1}, {0})
[[nodiscard]] Tensor tensordot(const Operand& a, const Operand& b, const Ints& axes_a, const Ints& axes_b);

[[nodiscard]] Tensor bmm(const Operand& a,
                         const Operand& b);  ///< (n, i, k) x (n, k, j) -> (n, i, j), without broadcasting
[[nodiscard]] Tensor mv(const Operand& a, const Operand& x);     ///< (i, k) x (k) -> (i)
[[nodiscard]] Tensor dot(const Operand& x, const Operand& y);    ///< (k) x (k) -> ()
[[nodiscard]] Tensor vdot(const Operand& x, const Operand& y);   ///< dot; they differ for complex numbers only
[[nodiscard]] Tensor outer(const Operand& x, const Operand& y);  ///< (i) x (j) -> (i, j)
/// The sums of products over the last axes of both: (.., k) x (--, k) -> (.., --). A tensor without axes multiplies.
[[nodiscard]] Tensor inner(const Operand& a, const Operand& b);
/// The vector product along an axis of extent 3; other axes broadcast. DTypeError for bool.
///   cross(Tensor::of<int>({1, 0, 0}), Tensor::of<int>({0, 1, 0}));  // {0, 0, 1}
[[nodiscard]] Tensor cross(const Operand& a, const Operand& b, std::int64_t axis = -1);
/// beta * c + alpha * matmul(a, b) of matrices, where c broadcasts. With beta 0 c is not read. Of integers, both
/// factors are whole numbers (else ArgumentError).
[[nodiscard]] Tensor addmm(const Operand& c, const Operand& a, const Operand& b, double beta = 1, double alpha = 1);
/// x times the transpose of w, (.., k) x (j, k) -> (.., j), and one number of `bias` added for each j. w may be a
/// vector.
/// @{
[[nodiscard]] Tensor linear(const Operand& x, const Operand& w);
[[nodiscard]] Tensor linear(const Operand& x, const Operand& w, const Tensor& bias);
/// @}
/// Kronecker's product: each element of a times all of b. Missing axes in front count as 1.
///   kron(eye(2), b)  // b twice along the diagonal
[[nodiscard]] Tensor kron(const Operand& a, const Operand& b);

}  // namespace oriel
