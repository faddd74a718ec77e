// Entries of captured functions as bytes.
//
// All numbers are little-endian (capture/file/bytes.hpp). Ops, dtypes and expressions are texts of a table of words, so
// the numbers of enumerators may change between versions of the library. An entry is
//   the words · the traced call (CapturedOrigin) · guards on symbols · buffers · nodes, sources first, and masks before
//   the positions that are found by them · statements on counts · writes · results · the sizes among the results · the
//   sets of sizes that it has been scheduled for.
// Any change of this is another kSavedFormat.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/captured.hpp"
#include "capture/file/bytes.hpp"
#include "graph/build.hpp"
#include "graph/make.hpp"
#include "oriel/saved_parts.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

inline constexpr std::uint32_t kSavedFormat = 5;

/// All entries, each with its length before it. Throws ArgumentError if there are none, or if one cannot be written.
std::string saved_entries(const detail::Captured& captured);

/// An entry of a file before it is decoded.
struct SavedEntry {
  std::string_view bytes;
  std::string arguments;  // CapturedForm
  std::string result;
};
/// Splits what saved_entries wrote. Throws IoError.
std::vector<SavedEntry> split_entries(ByteReader& reader);
/// Makes the entry on this device, or on the devices that it names. Throws IoError.
std::unique_ptr<CapturedEntry> load_entry(const SavedEntry& saved, const std::string& path,
                                          const detail::SavedSignature& signature, const LoadOptions& options,
                                          Site site);

/// The most sets of sizes that are written of an entry.
inline constexpr std::size_t kMostSavedSizes = 64;

/// What a node's argument is in a file.
enum class SavedArg : std::uint8_t { none, scalar, ints, ranges, view, stack, host, count };
/// Where a node of a file comes from. `unbacked`: positions that a call finds by a mask, or an element that it reads.
enum class SavedNode : std::uint8_t { made, input, number, constant, unbacked, count };
/// How a guard is written: as an expression, or as sizes and strides that are dense, or are not.
enum class SavedGuard : std::uint8_t { text, dense, not_dense, count };
/// Marks of a node that its parts do not determine.
enum SavedMark : std::uint8_t { kMirrored = 1, kBroadcast = 2, kLayoutAny = 4, kHasStrides = 8, kHasLayout = 16 };

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
