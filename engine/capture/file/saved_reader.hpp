// Reads the parts of a saved entry: words, numbers, views. Each is checked as far as it can be alone.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/file/bytes.hpp"
#include "capture/file/saved.hpp"
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

  /// A name for reports, without what could act on a terminal.
  std::string name() { return base::escaped(word()); }
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
  Ranges ranges();
  View view();
  /// The first device, on which numbers and positions may be that name none.
  Device first_device() const noexcept { return first_device_; }
  /// Throws IoError: the file is damaged, because the rule does not hold.
  void check(bool holds, std::string_view rule) const;

 private:
  sym::Expr expression();

  ByteReader& bytes_;
  std::vector<std::string_view> words_;
  std::vector<Device> devices_;
  Device first_device_;
  sym::Environment* environment_ = nullptr;
  std::unordered_map<std::string_view, sym::Expr> expressions_;
};

}  // namespace oriel::api
