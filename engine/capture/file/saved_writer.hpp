// Writes the parts of an entry of a captured function: words, numbers, views, nodes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/file/bytes.hpp"
#include "graph/build.hpp"
#include "graph/make.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

/// The tables of a saved entry, and what refers to them. SavedReader and NodeReader read it back.
class SavedWriter {
 public:
  /// Symbols belong to `environment`; null if there are none.
  explicit SavedWriter(sym::Environment* environment) : environment_(environment) {}

  ByteWriter& out() noexcept { return out_; }
  /// The tables, then what was written.
  void finish(ByteWriter& to) const;

  void word(std::string_view text);
  void dtype(DType d);
  /// The place in the table, or one behind the last: numbers and positions may be on a device that nothing else names.
  void device(Device d);
  /// Adds it to the table.
  void add_device(Device d);
  void site(Site s);

  /// Only what reads back as the same expression is written.
  void expression(sym::Expr e);
  void condition(sym::Expr e);
  void number(SymInt n);
  void numbers(const Ints& ints);
  void ranges(const Ranges& list);
  void view(const View& v);

  void argument(const graph::Arg& arg);

  /// Everything of a node but its sources.
  void node(const graph::Node& n);
  void movements(const std::vector<graph::NodePtr>& list);
  void realized_kind(const graph::RealizedKind& kind);

 private:
  sym::Environment* environment_;
  std::vector<Device> devices_;
  ByteWriter out_;
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::size_t> word_of_;
};

}  // namespace oriel::api
