// Tensors on several machines: each rank of an MPI job runs the same program and holds a part. Not in oriel.hpp:
// programs that include this link `oriel_ranks` as well.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/ops.hpp"
#include "oriel/shared.hpp"
#include "oriel/tensor.hpp"

namespace oriel::shards {
class Sharding;
}

namespace ORIEL_API oriel {

/// An axis of a mesh: its name, and how many ranks lie along it.
struct MeshAxis {
  std::string name;       ///< such as "rows"
  std::int64_t size = 1;  ///< at least 1
};

/// Ranks as a grid with named axes, numbered row-major: the last axis varies fastest.
///   const Mesh mesh({{"rows", 2}, {"cols", 2}});
struct Mesh {
  /// The axes, slowest first.
  std::vector<MeshAxis> axes;
  /// A mesh with these axes; `shard` checks them.
  explicit Mesh(std::vector<MeshAxis> mesh_axes) : axes(std::move(mesh_axes)) {}
};

/// The number of this process among those that mpirun started together; 0 if there is one.
[[nodiscard]] std::int64_t rank();
/// How many processes mpirun started together. 1 in a build without MPI.
[[nodiscard]] std::int64_t rank_count();

/// A tensor of which each rank holds a part. Shapes are those of the whole tensor. Every rank calls the same functions
/// in the same order; they send each other what a result needs and a rank lacks, and no more (SHARDS.md).
///
/// Calls fail on all ranks within a time limit, ORIEL_RANKS_SECONDS (60 by default), with an error that names the ranks
/// that did not answer or that ask for another exchange.
class Sharded {
 public:
  /// The shape of the whole tensor.
  [[nodiscard]] Shape shape() const;
  /// This rank's block. Places that hold nothing, such as the end of an uneven part, are zero or anything else.
  [[nodiscard]] const Tensor& local() const noexcept { return local_; }
  /// How the tensor lies on the ranks, as a view: "(4,2,6):(12,6,1)".
  [[nodiscard]] std::string placement() const;

  /// The whole tensor, on each rank.
  [[nodiscard]] Tensor gather() const;
  /// The same tensor, divided as `shard` divides it.
  [[nodiscard]] Sharded to(const Mesh& mesh, const std::vector<std::string>& axes) const;

  /// Movements of the whole tensor. They send nothing.
  /// @{
  [[nodiscard]] Sharded reshape(const Shape& target) const;
  [[nodiscard]] Sharded permute(const Ints& order) const;
  [[nodiscard]] Sharded shrink(const Ranges& ranges) const;
  [[nodiscard]] Sharded pad(const Ranges& before_after) const;
  [[nodiscard]] Sharded flip(const Ints& axes) const;
  /// @}

  /// The sum along one axis, which the result lacks. Where ranks hold parts of a sum, these are added when an operation
  /// needs the sum, in the order of the ranks. Throws ShapeError if a rank's part is a piece of several rows.
  [[nodiscard]] Sharded sum(std::size_t axis) const;

  /// f of the operands' elements, where `f` takes and returns tensors of equal shape and works element by element. The
  /// operands have the same shape. They are brought to the sharding of the first one that holds every element.
  ///   elementwise([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, x, y);
  template <class F, class... Others>
  friend Sharded elementwise(const F& f, const Sharded& first, const Others&... others) {
    const Sharded on = common({&first, &others...});
    return on.with_local(f(first.as(on).local_, others.as(on).local_...));
  }

  /// Element by element.
  /// @{
  friend Sharded operator+(const Sharded& a, const Sharded& b) {
    return elementwise([](const Tensor& x, const Tensor& y) { return x + y; }, a, b);
  }
  friend Sharded operator-(const Sharded& a, const Sharded& b) {
    return elementwise([](const Tensor& x, const Tensor& y) { return x - y; }, a, b);
  }
  friend Sharded operator*(const Sharded& a, const Sharded& b) {
    return elementwise([](const Tensor& x, const Tensor& y) { return x * y; }, a, b);
  }
  friend Sharded operator/(const Sharded& a, const Sharded& b) {
    return elementwise([](const Tensor& x, const Tensor& y) { return x / y; }, a, b);
  }
  friend Sharded operator*(double factor, const Sharded& x) {
    return elementwise([&](const Tensor& one) { return one * factor; }, x);
  }
  /// @}

 private:
  friend Sharded shard(const Tensor& x, const Mesh& mesh, const std::vector<std::string>& axes);
  friend Sharded assemble(const Tensor& local, const Shape& shape, const Mesh& mesh,
                          const std::vector<std::string>& axes);
  friend Sharded matmul(const Sharded& a, const Sharded& b, const Mesh& mesh, const std::vector<std::string>& axes,
                        const std::string& inner);
  Sharded(Tensor local, detail::Shared<const shards::Sharding> sharding)
      : local_(std::move(local)), sharding_(std::move(sharding)) {}

  /// One whose sharding an operation of these takes.
  static Sharded common(std::initializer_list<const Sharded*> operands);
  /// This tensor in the sharding of another one.
  Sharded as(const Sharded& other) const { return moved_to(other.sharding_); }
  Sharded with_local(Tensor local) const;
  Sharded moved_to(const detail::Shared<const shards::Sharding>& target) const;

  Tensor local_;
  detail::Shared<const shards::Sharding> sharding_;
};

/// Divides a tensor that every rank can compute; each computes its part alone. `axes` names for each axis of `x` the
/// mesh axis that divides it, or "" for none. Mesh axes that no entry names replicate the tensor.
///   const Sharded u = shard(zeros({1024, 1024}), Mesh({{"rows", 4}}), {"rows", ""});
/// Throws ArgumentError if the mesh has more or fewer ranks than the program, ShapeError, and DTypeError for dtypes
/// other than float32, float64, int32 and int64.
[[nodiscard]] Sharded shard(const Tensor& x, const Mesh& mesh, const std::vector<std::string>& axes);

/// A tensor of this shape, of which each rank already has its block. Where an axis does not divide evenly, the last
/// blocks hold anything behind their end. So programs compute with local blocks and go on with the whole:
///   // Each rank counts what it sees in n classes; the counts of all ranks, each class on one of them.
///   assemble(counts.reshape({1, n}), {rank_count(), n}, mesh, {"ranks", ""}).sum(0).to(mesh, {"ranks"});
/// Throws ShapeError unless the block has the shape that `shard` gives it, and errors as shard.
[[nodiscard]] Sharded assemble(const Tensor& local, const Shape& shape, const Mesh& mesh,
                               const std::vector<std::string>& axes);

/// The product of two matrices, divided along its two axes as `axes` says. Each rank first gets the rows of `a` and the
/// columns of `b` that its part needs. With `inner`, a mesh axis divides the summed axis too: ranks hold partial sums,
/// which are added when an operation needs them.
///   matmul(x, w, mesh, {"rows", "cols"});                    // tiles: gathers rows of x and columns of w
///   matmul(x.permute({1, 0}), error, mesh, {"", ""}, "batch");  // a gradient: sends its sums alone
/// Throws ShapeError unless these are matrices whose inner extents are equal.
[[nodiscard]] Sharded matmul(const Sharded& a, const Sharded& b, const Mesh& mesh, const std::vector<std::string>& axes,
                             const std::string& inner = {});

}  // namespace oriel
