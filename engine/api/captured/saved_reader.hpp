// Reads the parts of a saved entry: numbers, nodes, layouts. Each is checked as far as it can be alone.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/captured/bytes.hpp"
#include "api/captured/saved.hpp"
#include "graph/build.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

class SavedReader {
 public:
  /// Reads the tables. `bytes` begins behind the form.
  SavedReader(ByteReader& bytes, const LoadOptions& options);

  ByteReader& bytes() noexcept { return bytes_; }
  /// Names the environment of the expressions that follow; none are accepted before.
  void set_environment(sym::Environment* environment) { environment_ = environment; }

  std::string_view word() { return words_[bytes_.below(words_.size(), "a word")]; }
  DType dtype() { return dtype_from_name(word()); }
  /// The device in a table of devices, or the first one.
  Device device();
  Site site();
  sym::Expr condition();
  SymInt number();
  Ints numbers();
  /// Extents, of which no number is negative.
  Shape shape();
  graph::RealizedKind realized_kind();
  /// A movement over positions of `shape`.
  graph::NodePtr movement(const Shape& shape);
  /// Movements over positions of `shape`, the first one first.
  std::vector<graph::NodePtr> movements(Shape shape);
  /// A node that is neither an input nor in memory. `made`: the nodes before it.
  graph::NodePtr node(std::span<const graph::NodePtr> made);

 private:
  struct Parts {
    graph::Op op = graph::Op::Const;
    DType dtype = DType::float32;
    Shape shape;
    graph::Arg arg;
    Site site = Site::unknown();
    std::uint8_t marks = 0;
    graph::FoundLayout layout;
    graph::AxisStrides strides;
  };
  Parts parts();
  graph::Arg argument();
  graph::Scalar scalar();
  Ranges ranges();
  View view();
  sym::Expr expression();
  graph::AxisStrides axis_strides();
  graph::NodePtr build(Parts parts, std::span<graph::NodePtr> sources, Device device);
  void check(bool holds, std::string_view rule) const;
  void check_movement(const Parts& parts, const Shape& source) const;
  void check_ranks(const Parts& parts, std::span<const graph::NodePtr> sources) const;
  void check_argument(const Parts& parts) const;
  void check_axes(const Ints& axes, std::size_t rank) const;

  ByteReader& bytes_;
  std::vector<std::string_view> words_;
  std::vector<Device> devices_;
  Device first_device_;
  sym::Environment* environment_ = nullptr;
  std::unordered_map<std::string_view, sym::Expr> expressions_;
};

}  // namespace oriel::api
