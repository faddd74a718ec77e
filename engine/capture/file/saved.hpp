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
#include <vector>

#include "capture/captured.hpp"
#include "capture/file/bytes.hpp"
#include "oriel/saved_parts.hpp"

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

}  // namespace oriel::api
