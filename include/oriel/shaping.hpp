// More functions of shapes and positions, as compositions of movements and of arithmetic on positions.
//
// Where a comment says "a view", the result names elements of x and can be written through, as in movement.hpp. Other
// results have a storage of their own. Every function throws ShapeError for an axis that is out of range or named
// twice. Where a comment says "Throws" without a type, it means ShapeError. The definitions are PyTorch's, or NumPy's
// where a comment names it.
#pragma once

#include <vector>

#include "oriel/api.hpp"
#include "oriel/list.hpp"
#include "oriel/movement.hpp"
#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The pieces of `size` elements along an axis, as views; the last one may be shorter. An axis of extent 0 gives one
/// empty piece. The number of pieces is fixed in a captured function. Throws ArgumentError for a size < 1.
///   split(arange(5), 2);  // {0, 1}, {2, 3}, {4}
[[nodiscard]] std::vector<Tensor> split(const Operand& x, SymInt size, std::int64_t axis = 0);
/// Pieces of these sizes, as views. Throws unless their sum is the extent.
[[nodiscard]] std::vector<Tensor> split_with_sizes(const Operand& x, const Ints& sizes, std::int64_t axis = 0);
/// The pieces before, between and behind positions of an axis, as views. Positions are those of a Slice: negative ones
/// count from the end, and those beyond the axis are cut to it. numpy.split with a list, torch.tensor_split.
///   split_at(arange(5), {1, 3});  // {0}, {1, 2}, {3, 4}
[[nodiscard]] std::vector<Tensor> split_at(const Operand& x, const Ints& positions, std::int64_t axis = 0);
// clang-format off
/// Does not compile.
template <class T> detail::Nothing split(const Operand&, std::initializer_list<T>, std::int64_t = 0) { static_assert(detail::kNever<T>, "split_with_sizes(x, {2, 3}) names sizes, as PyTorch's split, split_at(x, {2, 5}) positions, as NumPy's"); return {}; }
// clang-format on
/// The entries x[0], x[1], ... of an axis, as views without it. Their number is fixed in a captured function. Throws
/// for a tensor without axes. torch.unbind.
///   for (const Tensor& row : unbind(x)) ...
[[nodiscard]] std::vector<Tensor> unbind(const Operand& x, std::int64_t axis = 0);
/// At most `count` pieces of equal size, of which the last may be shorter, as views: split by ceil(extent / count).
///   chunk(arange(5), 3);  // {0, 1}, {2, 3}, {4}
[[nodiscard]] std::vector<Tensor> chunk(const Operand& x, std::int64_t count, std::int64_t axis = 0);

/// Repeats the tensor counts[k] times along its last axes. Missing counts and missing axes in front count as 1.
///   tile(Tensor::of<int>({1, 2}), {2, 2});  // {{1, 2, 1, 2}, {1, 2, 1, 2}}
[[nodiscard]] Tensor tile(const Operand& x, const Ints& counts);
/// Each element `count` times in a row: of all elements in row-major order, or along an axis. Throws for count < 0.
///   repeat_interleave(Tensor::of<int>({1, 2}), 2);  // {1, 1, 2, 2}
/// @{
[[nodiscard]] Tensor repeat_interleave(const Operand& x, SymInt count);
[[nodiscard]] Tensor repeat_interleave(const Operand& x, SymInt count, std::int64_t axis);
/// Repeats entry k along the axis counts[k] times, as torch.repeat_interleave. The size of the result depends on the
/// counts, so they are computed at once, or in each call of a captured function. `counts`: integers of shape (n) for n
/// entries, each >= 0. Throws DTypeError, ShapeError, ArgumentError for a negative count, and OverflowError if the
/// counts pass 2^62 in sum.
///   repeat_interleave(Tensor::of<int>({7, 8, 9}), Tensor::of<int>({2, 0, 1}), 0);  // {7, 7, 9}
[[nodiscard]] Tensor repeat_interleave(const Operand& x, const Tensor& counts, std::int64_t axis);
/// @}

/// Exchanges two axes; a view.
[[nodiscard]] Tensor swapaxes(const Operand& x, std::int64_t a, std::int64_t b);
/// Moves axis from[k] to position to[k] of the result; the other axes keep their order. A view. Throws if the lists
/// differ in length.
///   movedim(x, {0}, {-1})
[[nodiscard]] Tensor movedim(const Operand& x, const Ints& from, const Ints& to);
/// Joins the axes first to last (included) to one; a view. A tensor without axes gets one.
[[nodiscard]] Tensor flatten(const Operand& x, std::int64_t first = 0, std::int64_t last = -1);
/// Splits an axis in axes of these extents, of which one may be -1; a view. Throws ShapeError for no extents, and
/// unless their product is the extent.
[[nodiscard]] Tensor unflatten(const Operand& x, std::int64_t axis, const Shape& shape);
/// Reverses the second axis (fliplr) or the first one (flipud); views. fliplr throws for fewer than two axes, flipud
/// for none.
/// @{
[[nodiscard]] Tensor fliplr(const Operand& x);
[[nodiscard]] Tensor flipud(const Operand& x);
/// @}
/// Rotates by `quarters` quarter turns in the plane of two axes, from the first towards the second; a view. Throws if
/// both are the same.
///   rot90(Tensor::of<int>({{1, 2}, {3, 4}}));  // {{2, 4}, {1, 3}}
[[nodiscard]] Tensor rot90(const Operand& x, std::int64_t quarters = 1, std::int64_t first = 0,
                           std::int64_t second = 1);
/// x with axes of extent 1 added up to one, two or three axes; views. atleast_3d makes (1, n, 1) of (n) and (m, n, 1)
/// of (m, n).
/// @{
[[nodiscard]] Tensor atleast_1d(const Operand& x);
[[nodiscard]] Tensor atleast_2d(const Operand& x);
[[nodiscard]] Tensor atleast_3d(const Operand& x);
/// @}
/// The tensors broadcast to their common shape, as views. Throws if they do not broadcast.
[[nodiscard]] std::vector<Tensor> broadcast_tensors(ListOf<Tensor> tensors, Site site = Site::here());

/// Joins tensors side by side: concat along axis 1, or along axis 0 if they have one axis. Errors as concat.
[[nodiscard]] Tensor hstack(ListOf<Tensor> tensors, Site site = Site::here());
/// Joins tensors one below the other: concat of atleast_2d along axis 0. Errors as concat.
[[nodiscard]] Tensor vstack(ListOf<Tensor> tensors, Site site = Site::here());
/// Joins tensors in depth: concat of atleast_3d along axis 2. Errors as concat.
[[nodiscard]] Tensor dstack(ListOf<Tensor> tensors, Site site = Site::here());
/// Do not compile: tensors are a list.
/// @{
// clang-format off
ORIEL_LIST_OF_TENSORS(hstack) ORIEL_LIST_OF_TENSORS(vstack) ORIEL_LIST_OF_TENSORS(dstack)
#undef ORIEL_LIST_OF_TENSORS
    // clang-format on
    /// @}

    /// A matrix with x on a diagonal and 0 elsewhere, for one axis; a diagonal as a view, for two axes. Throws for
    /// others.
    ///   diag(Tensor::of<int>({1, 2}));  // {{1, 0}, {0, 2}}
    [[nodiscard]] Tensor diag(const Operand& x, std::int64_t offset = 0);
/// Matrices with the last axis of x on the diagonal `offset` and 0 elsewhere. The rows lie along axis a of the result,
/// the columns along b. Throws if both are the same, or x has no axes.
[[nodiscard]] Tensor diag_embed(const Operand& x, std::int64_t offset = 0, std::int64_t a = -2, std::int64_t b = -1);
/// The matrices along one diagonal, with 0 elsewhere. A vector counts as one row. Throws for more than two axes,
/// ArgumentError for an empty list.
[[nodiscard]] Tensor block_diag(ListOf<Tensor> tensors, Site site = Site::here());
/// The sum of a diagonal of the first two axes, in the dtypes of sum. PyTorch takes matrices only.
[[nodiscard]] Tensor trace(const Operand& x, std::int64_t offset = 0);

/// Along a new last axis: 1 at the position that x holds, 0 elsewhere. A position outside of [0, classes) is an
/// IndexError as take's are (movement.hpp); with Bounds::zero it gives a row of zeros. `classes` is not found from the
/// data. Throws DTypeError unless x holds integers, ArgumentError for classes < 0.
///   one_hot(Tensor::of<int>({1, 0}), 3);  // {{0, 1, 0}, {1, 0, 0}}
[[nodiscard]] Tensor one_hot(const Operand& x, SymInt classes, DType dtype = DType::int64,
                             Bounds bounds = default_bounds());

/// The order of the axes of meshgrid: matrices (i, j), or images (x, y), where the first two axes are exchanged.
enum class Indexing { ij, xy };
/// The coordinates of all combinations of vectors, as views: one tensor for each vector, with an axis for each. A
/// tensor without axes counts as one of one element. Throws for more than one axis, ArgumentError for an empty list.
[[nodiscard]] std::vector<Tensor> meshgrid(ListOf<Tensor> tensors, Indexing indexing = Indexing::ij,
                                           Site site = Site::here());
/// All combinations of elements of vectors, a row each, the last one varying fastest: (n * m * ..., k) for k vectors.
/// One vector is returned as it is. Errors as meshgrid.
[[nodiscard]] Tensor cartesian_product(ListOf<Tensor> tensors, Site site = Site::here());

/// The index of each element of a shape, as int64 of shape (rank, shape...): numpy.indices.
///   indices({2, 2})[0]: {{0, 0}, {1, 1}}, [1]: {{0, 1}, {0, 1}}
[[nodiscard]] Tensor indices(const Shape& shape, Site site = Site::here());
/// The coordinates of row-major positions in `shape`: one int64 tensor for each axis. A negative position counts from
/// the end. Positions outside of the shape are not checked: their first coordinate leaves its axis. Throws DTypeError
/// unless x holds integers.
[[nodiscard]] std::vector<Tensor> unravel_index(const Operand& x, const Shape& shape);
/// The row-major position in `shape` of coordinates, one tensor for each axis, which broadcast: the inverse of
/// unravel_index (numpy.ravel_multi_index). Coordinates outside of their axes are not checked. Throws if there is not
/// one tensor for each axis, DTypeError unless they hold integers.
[[nodiscard]] Tensor ravel_index(ListOf<Tensor> coordinates, const Shape& shape, Site site = Site::here());
/// Rows and columns of the elements of a triangle of a matrix, in row-major order, as int64 of shape (2, count).
/// Element (i, j) counts if j - i <= offset (tril) or >= offset (triu). Throws for negative extents.
/// @{
[[nodiscard]] Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                                  Site site = Site::here());
[[nodiscard]] Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                                  Site site = Site::here());
/// @}

/// base to the power of linspace(start, stop, count), computed in float64. Errors as linspace.
///   logspace(0, 2, 3);  // {1, 10, 100}
[[nodiscard]] Tensor logspace(const Operand& start, const Operand& stop, SymInt count, double base = 10,
                              DType dtype = DType::float32);
/// `count` numbers from start to stop with equal quotients, computed in float64 (numpy.geomspace). Both ends are exact.
/// Throws ArgumentError if an end is 0 or their signs differ; else as linspace.
///   geomspace(1, 8, 4);  // {1, 2, 4, 8}
[[nodiscard]] Tensor geomspace(double start, double stop, SymInt count, DType dtype = DType::float32,
                               Site site = Site::here());

/// Do both name one storage, so that a write to the one may show in the other?
///   same_storage(x, x.reshape(-1));  // true
bool same_storage(const Tensor& a, const Tensor& b);

/// @cond
#define ORIEL_OR(value)
ORIEL_SHAPING_VIEWS(ORIEL_VIEW_BODY)
ORIEL_SHAPING_METHODS(ORIEL_METHOD_BODY)
#undef ORIEL_OR
/// @endcond

}  // namespace oriel
