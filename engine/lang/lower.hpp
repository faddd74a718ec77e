// Lowers a checked definition with inferred ranges to graph nodes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/build.hpp"
#include "lang/infer.hpp"

namespace oriel::lang {

/// A gather whose indices inference could not prove: where `bad` is true, `index` lies outside of [0, extent).
struct GatherCheck {
  graph::NodePtr index;  // int64, in the tensor's coordinates
  graph::NodePtr bad;    // bool, of the same shape
  std::string access;
  std::string tensor;
  std::size_t dimension = 0;
  SymInt lo;    // the first position of the dimension
  SymInt size;  // and how many it has
};

struct Lowered {
  std::vector<graph::NodePtr> results;  // in the order in which the definition lists them
  std::vector<GatherCheck> checks;
};

/// The definition's results as nodes over the arguments' nodes. There is one argument per parameter, with the
/// parameter's dtype and shape. An affine access becomes one raw view of its operand over the statement's loops; if a
/// conditional keeps out-of-bounds values from being used, the operand is padded with zeros. Quotients and remainders
/// by constants become a second view below the first. All other indices become gathers.
Lowered lower(const Program& program, const Inference& inference, std::span<const graph::NodePtr> arguments,
              Device device, const graph::Origin& origin);

/// What lowering asks about one statement: numbers, or sizes that are symbols.
class StatementSpace {
 public:
  /// The first index along a loop or an axis, and how many there are.
  struct Axis {
    SymInt lo;
    SymInt size;
  };

  virtual ~StatementSpace() = default;
  virtual Axis loop(std::size_t variable) const = 0;
  /// The value of a size variable.
  virtual SymInt size(std::size_t number) const = 0;
  virtual Axis axis(std::size_t tensor, std::size_t dimension) const = 0;
  /// The access as views of the tensor, over all loops; nullopt if it must be a gather.
  virtual std::optional<graph::NodePtr> read(ExprId access, const graph::NodePtr& tensor) const = 0;
  /// True if every use of the access was proved in bounds along this dimension.
  virtual bool proved(ExprId access, std::size_t dimension) const = 0;
};

/// The target of the statement after it. `tensors` holds the program's tensors as they are before it.
graph::NodePtr lower_statement(const Program& program, const CheckedStatement& statement, const StatementSpace& space,
                               const std::vector<graph::NodePtr>& tensors, Device device, const graph::Origin& origin,
                               std::vector<GatherCheck>& checks);

/// Lowers all statements, in order. `space` is called with the number of each.
Lowered lower_program(const Program& program, std::span<const graph::NodePtr> arguments, Device device,
                      const graph::Origin& origin,
                      const std::function<std::unique_ptr<StatementSpace>(std::size_t)>& space);

}  // namespace oriel::lang
