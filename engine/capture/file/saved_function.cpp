// Files of captured functions: a header, a checksum of everything else, and entries (capture/file/saved.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <limits>
#include <new>

#include "base/escape.hpp"
#include "capture/file/saved.hpp"
#include "io/file.hpp"
#include "oriel/error.hpp"
#include "oriel/saved_function.hpp"
#include "runtime/trace.hpp"

namespace oriel::io {
namespace {

constexpr std::string_view kSavedMagic = "oriel function\n";
/// Bytes read at a time, so that a forged length cannot make us allocate more memory than the file fills.
constexpr std::size_t kSavedPiece = std::size_t{64} << 20;

std::string_view text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// CRC-64 with the polynomial of ECMA-182, as the xz format has it. It finds what damages files: any burst of up to 64
/// bits, and all but one of 2^64 other changes. Nothing in a file is trusted because of it.
std::uint64_t checksum(std::string_view header, std::string_view body) {
  constexpr auto kAllOnes = ~std::uint64_t{0};
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, kAllOnes, kAllOnes, true, true> crc;
  crc.process_bytes(header.data(), header.size());
  crc.process_bytes(body.data(), body.size());
  return crc.checksum();
}

/// Magic, format, version of the library, length of the entries.
std::string saved_header(std::size_t length) {
  api::ByteWriter out;
  out.bytes() += kSavedMagic;
  out.u32(api::kSavedFormat);
  out.u64(length);
  return std::move(out.bytes());
}

class SavedFile {
 public:
  SavedFile(const std::string& path) : path_(path) {}  // NOLINT(google-explicit-constructor)

  /// The entries, whose checksum is right.
  const Bytes& read() {
    InputFile file("load_function", path_, InputFile::Kind::regular);
    Bytes header;
    file.read(header, kSavedMagic.size());
    if (text_of(header) != kSavedMagic) refuse("is no saved function by its first bytes; Function::save writes one");
    file.read(header, 12);
    api::ByteReader parts(text_of(header).substr(kSavedMagic.size()), path_);
    const std::uint32_t format = parts.u32();
    if (format != api::kSavedFormat)
      refuse(
          fmt::format("is of version {} of the format, and this library reads version {}; save it anew with this "
                      "version of Oriel, or load it with the one that wrote it",
                      format, api::kSavedFormat));
    const std::uint64_t length = parts.u64();
    const std::size_t most = *file.size();
    if (length > most)
      refuse(fmt::format("states {} bytes of entries, and there can be no more than {}; it is truncated or damaged",
                         length, most));
    Bytes stated;
    file.read(stated, sizeof(std::uint64_t));
    while (body_.size() < length) {
      const std::size_t before = body_.size();
      file.read(body_, static_cast<std::size_t>(std::min<std::uint64_t>(length - before, kSavedPiece)));
      if (body_.size() == before)
        refuse(fmt::format("ends after {} of {} bytes of entries; it is truncated", before, length));
    }
    Bytes behind;
    file.read(behind, 1);
    if (!behind.empty()) refuse("goes on behind its end");
    if (api::ByteReader(text_of(stated), path_).u64() != checksum(text_of(header), text_of(body_)))
      refuse("was altered, or damaged: its checksum is another one; save it again");
    return body_;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw IoError("load_function", fmt::format("\"{}\" {}", base::escaped(path_), why));
  }
  const std::string& path_;
  Bytes body_;
};

/// The entries for these types.
std::vector<api::SavedEntry> entries_for(api::ByteReader& reader, const detail::SavedSignature& signature) {
  std::vector<api::SavedEntry> all = api::split_entries(reader);
  std::vector<std::string> others;
  std::erase_if(all, [&](const api::SavedEntry& entry) {
    if (entry.arguments == signature.arguments && entry.result == signature.result) return false;
    std::string other = base::escaped(entry.result + entry.arguments);
    if (std::find(others.begin(), others.end(), other) == others.end()) others.push_back(std::move(other));
    return true;
  });
  if (!all.empty()) return all;
  throw ArgumentError(
      "load_function",
      fmt::format("\"{}\" was asked for {}{} and holds {}", base::escaped(reader.path()), signature.result,
                  signature.arguments, others.empty() ? "nothing" : fmt::format("{}", fmt::join(others, " and "))));
}

/// Reads the file, and adds its entries to the function that `make` gives for so many of them.
template <class Make>
detail::Shared<detail::Captured> load_into(const std::string& path, const detail::SavedSignature& signature,
                                           const LoadOptions& options, Site site, bool callable, const Make& make) {
  runtime::check_may_read("load_function");
  const detail::CallSite call(site);
  try {
    SavedFile file(path);
    api::ByteReader reader(text_of(file.read()), path);
    const std::vector<api::SavedEntry> saved = entries_for(reader, signature);
    std::vector<std::unique_ptr<api::CapturedEntry>> loaded;
    for (const api::SavedEntry& entry : saved) {
      loaded.push_back(api::load_entry(entry, path, signature, options, site));
      // Without a callable these settings change nothing.
      if (!callable)
        std::erase_if(loaded.back()->guards, [](const api::CapturedGuard& guard) {
          return guard.fact == api::kDefaultDeviceFact || guard.fact == api::kRulesFact;
        });
    }
    auto captured = make(loaded.size());
    for (std::unique_ptr<api::CapturedEntry>& entry : loaded) {
      const api::CallKey key = entry->traced;
      captured->add(entry, key);
    }
    return captured;
  } catch (const std::bad_alloc&) {
    throw MemoryError("load_function", fmt::format("no memory to load \"{}\"", base::escaped(path)));
  }
}

int no_traces = 0;  // functions that are loaded have no callable

}  // namespace
}  // namespace oriel::io

namespace oriel::detail {

void save_captured(const Captured& captured, const std::string& path, Site site) {
  runtime::check_may_read("save");
  const CallSite call(site);
  try {
    const std::string body = api::saved_entries(captured);
    const std::string header = io::saved_header(body.size());
    api::ByteWriter stated;
    stated.u64(io::checksum(header, body));
    io::Bytes bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), stated.bytes().begin(), stated.bytes().end());
    bytes.insert(bytes.end(), body.begin(), body.end());
    io::replace_file("save", path, bytes);
  } catch (const std::bad_alloc&) {
    throw MemoryError("save", fmt::format("no memory to write \"{}\"", base::escaped(path)));
  }
}

std::size_t load_captured(Captured& captured, const std::string& path, const SavedSignature& signature,
                          const LoadOptions& options, Site site) {
  std::size_t count = 0;
  io::load_into(path, signature, options, site, true, [&](std::size_t entries) {
    count = entries;
    const std::size_t there = captured.living();
    if (captured.options.limit - there < entries)
      throw ArgumentError(
          "load_function",
          fmt::format("\"{}\" holds {}, and {} has room for {} (FunctionOptions::limit)", base::escaped(path),
                      counted(entries, "entry"), called(captured), captured.options.limit - there));
    return Shared<Captured>(Shared<Captured>(), &captured);
  });
  return count;
}

Shared<Captured> load_captured(const std::string& path, const SavedSignature& signature, const LoadOptions& options,
                               Site site) {
  return io::load_into(path, signature, options, site, false, [&](std::size_t entries) {
    FunctionOptions function_options;
    function_options.limit = entries;
    return make_captured(std::move(function_options), io::no_traces, site);
  });
}

}  // namespace oriel::detail
