#include "oriel/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

// clang 14 fails in the header <ranges>, which nlohmann/json.hpp would include.
#define JSON_HAS_RANGES 0
#include <nlohmann/json.hpp>

#include "base/escape.hpp"
#include "formula/call.hpp"
#include "io/file.hpp"
#include "oriel/error.hpp"

namespace oriel {
namespace io {
namespace {

using Json = nlohmann::json;

/// As the format's own reader has it.
constexpr std::size_t kMostHeaderBytes = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

struct StoredDType {
  std::string_view word;
  DType dtype;
};
constexpr std::array kStoredDTypes{
    StoredDType{"BOOL", DType::bool_},  StoredDType{"I8", DType::int8},       StoredDType{"I16", DType::int16},
    StoredDType{"I32", DType::int32},   StoredDType{"I64", DType::int64},     StoredDType{"U8", DType::uint8},
    StoredDType{"U16", DType::uint16},  StoredDType{"U32", DType::uint32},    StoredDType{"U64", DType::uint64},
    StoredDType{"F16", DType::float16}, StoredDType{"BF16", DType::bfloat16}, StoredDType{"F32", DType::float32},
    StoredDType{"F64", DType::float64},
};

std::string shown_entry(std::string_view word) {
  constexpr std::size_t kMost = 80;
  return base::escaped(word.substr(0, kMost)) + (word.size() > kMost ? "..." : "");
}

/// An entry of the header.
struct Entry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // of its bytes behind the header
};

/// Reads the header of one file.
class SafetensorsHeader {
 public:
  SafetensorsHeader(const std::string& path, std::string_view text) : path_(path) {
    if (!text.starts_with('{')) fail("the header does not begin with {; a file of tensors has a JSON object there");
    try {
      const Json header = Json::parse(text.begin(), text.end(), [&](int depth, Json::parse_event_t event, Json& value) {
        watch(depth, event, value);
        return true;
      });
      for (const auto& [name, value] : header.items()) read(name, value);
    } catch (const Json::exception& error) {
      fail(fmt::format("the header is no JSON: {}", shown_entry(error.what())));
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  }

  std::vector<Entry> entries;  // by their places
  NamedTexts metadata;

  [[noreturn]] void fail(std::string_view what) const {
    throw IoError("read_safetensors", fmt::format("\"{}\": {}", base::escaped(path_), what));
  }
  [[noreturn]] void fail(const std::string& entry, std::string_view what) const {
    fail(fmt::format("entry \"{}\": {}", shown_entry(entry), what));
  }

  /// Throws unless the entries fill `bytes` bytes without gaps and overlaps.
  void check_places(std::uint64_t bytes) const {
    std::uint64_t at = 0;
    const Entry* before = nullptr;
    for (const Entry& entry : entries) {
      if (entry.end > bytes)
        fail(entry.name,
             fmt::format("its bytes end at {}; the file has {} behind the header: it is truncated", entry.end, bytes));
      if (entry.begin < at) fail(entry.name, fmt::format("it overlaps with \"{}\"", shown_entry(before->name)));
      if (entry.begin > at)
        fail(entry.name, fmt::format("it begins at {}; the bytes from {} on belong to no tensor", entry.begin, at));
      at = entry.end;
      before = &entry;
    }
    if (at != bytes) fail(fmt::format("{} bytes behind the last tensor belong to none", bytes - at));
  }

 private:
  /// nlohmann::json takes the last of equal keys, and objects of any depth.
  void watch(int depth, Json::parse_event_t event, const Json& value) {
    constexpr int kMostDepth = 3;  // file, entry, shape
    if (depth > kMostDepth) fail("the header is nested too deeply");
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start && level + 1 < keys_.size()) keys_[level + 1].clear();
    if (event != Json::parse_event_t::key) return;
    const std::string& key = value.get_ref<const std::string&>();
    if (!keys_[level].insert(key).second) fail(key, "it comes twice");
  }

  void read(const std::string& name, const Json& value) {
    if (!value.is_object()) fail(name, "it is no object");
    if (name == kMetadata) {
      for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) fail(name, fmt::format("\"{}\" is no text", shown_entry(key)));
        metadata.set(key, text.get<std::string>());
      }
      return;
    }
    for (const auto& [key, part] : value.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        fail(name, fmt::format("\"{}\" is unknown", shown_entry(key)));
    for (const char* key : {"dtype", "shape", "data_offsets"})
      if (!value.contains(key)) fail(name, fmt::format("it has no \"{}\"", key));
    Entry entry;
    entry.name = name;
    entry.dtype = dtype(name, value["dtype"]);
    for (const std::uint64_t extent : numbers(name, "shape", value["shape"]))
      entry.shape.push_back(static_cast<std::int64_t>(extent));
    const std::vector<std::uint64_t> places = numbers(name, "data_offsets", value["data_offsets"]);
    if (places.size() != 2 || places[0] > places[1]) fail(name, "\"data_offsets\" are no two places in order");
    entry.begin = places[0];
    entry.end = places[1];
    std::uint64_t bytes = itemsize(entry.dtype);
    for (const SymInt extent : entry.shape)
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent.value()), &bytes))
        fail(name, fmt::format("shape {} is more than 2^64 bytes", to_string(entry.shape)));
    if (bytes != entry.end - entry.begin)
      fail(name, fmt::format("{} of {} needs {} bytes; the file gives it {}", to_string(entry.shape),
                             oriel::name(entry.dtype), bytes, entry.end - entry.begin));
    entries.push_back(std::move(entry));
  }

  DType dtype(const std::string& name, const Json& value) const {
    std::string known;
    for (const StoredDType& stored : kStoredDTypes) {
      if (value == stored.word) return stored.dtype;
      known += (known.empty() ? "" : ", ") + std::string(stored.word);
    }
    fail(name, fmt::format("its dtype is {}; {} are read", shown_entry(value.dump()), known));
  }
  std::vector<std::uint64_t> numbers(const std::string& name, const char* key, const Json& value) const {
    std::vector<std::uint64_t> out;
    if (!value.is_array()) fail(name, fmt::format("\"{}\" is no array", key));
    for (const Json& number : value) {
      constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost)
        fail(name, fmt::format("{} in \"{}\" is no whole number from 0 to 2^62", shown_entry(number.dump()), key));
      out.push_back(number.get<std::uint64_t>());
    }
    return out;
  }

  const std::string& path_;
  std::array<std::set<std::string>, 5> keys_;  // for each depth
};

Safetensors read_safetensors(const std::string& path, Site site) {
  const InputFile file("read_safetensors", path, InputFile::Kind::regular);
  const std::shared_ptr<unsigned char> all = file.map();
  const std::size_t size = file.size().value_or(0);
  const auto refuse = [&](const std::string& what) {
    throw IoError("read_safetensors", fmt::format("\"{}\": {}", base::escaped(path), what));
  };
  constexpr std::size_t kLengthBytes = 8;
  if (size < kLengthBytes)
    refuse(fmt::format("{} bytes are no file of tensors: it begins with 8 bytes, the length of the header", size));
  std::uint64_t length = 0;
  for (std::size_t k = kLengthBytes; k-- > 0;) length = length << 8 | all.get()[k];
  if (length > kMostHeaderBytes)
    refuse(fmt::format("no header has {} bytes; at most {} are read", length, kMostHeaderBytes));
  if (length > size - kLengthBytes)
    refuse(fmt::format("the file ends inside its header: after {} of {} bytes", size - kLengthBytes, length));
  const SafetensorsHeader header(path, {reinterpret_cast<const char*>(all.get()) + kLengthBytes, length});
  header.check_places(size - kLengthBytes - length);

  Safetensors out{{}, header.metadata};
  for (const Entry& entry : header.entries) {
    unsigned char* const data = all.get() + kLengthBytes + length + entry.begin;
    if (entry.dtype == DType::bool_)
      for (std::uint64_t k = 0; k < entry.end - entry.begin; ++k)
        if (data[k] > 1) header.fail(entry.name, fmt::format("a bool is {}, neither 0 nor 1", data[k]));
    const bool aligned = reinterpret_cast<std::uintptr_t>(data) % itemsize(entry.dtype) == 0;
    out.tensors.set(entry.name, aligned ? detail::Access::adopted(
                                              entry.dtype, data, entry.shape, [all](void*) {}, "read_safetensors", site)
                                        : detail::Access::copied(entry.dtype, data, entry.shape, site));
  }
  return out;
}

void write_safetensors(const std::string& path, const NamedTensors& tensors, const NamedTexts& metadata) {
  std::vector<const std::pair<std::string, Tensor>*> order;
  std::vector<Tensor> all;
  for (const auto& entry : tensors) {
    if (entry.first == kMetadata)
      throw ArgumentError("write_safetensors", "a tensor is named __metadata__; give another name");
    order.push_back(&entry);
    all.push_back(entry.second);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return itemsize(a->second.dtype()) > itemsize(b->second.dtype());
  });
  realize(all);
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metadata) header[kMetadata][name] = value;
  std::uint64_t at = 0;
  for (const auto* entry : order) {
    const Tensor& x = entry->second;
    const std::uint64_t end = at + x.count() * itemsize(x.dtype());
    std::vector<std::int64_t> shape;
    for (const SymInt extent : x.shape()) shape.push_back(extent.value());
    const auto stored = std::find_if(kStoredDTypes.begin(), kStoredDTypes.end(),
                                     [&](const StoredDType& d) { return d.dtype == x.dtype(); });
    header[entry->first] = {{"dtype", stored->word}, {"shape", shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    throw ArgumentError("write_safetensors", "a name or a text of the metadata is no UTF-8; give others");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  Bytes bytes;
  bytes.reserve(8 + text.size() + at);
  for (std::size_t k = 0; k < 8; ++k) bytes.push_back(static_cast<unsigned char>(text.size() >> (8 * k)));
  bytes.insert(bytes.end(), text.begin(), text.end());
  for (const auto* entry : order) {
    if (entry->second.count() == 0) continue;
    const detail::Shared<const void> elements =
        detail::Access::elements(io::on_host(entry->second), "write_safetensors");
    const auto* const first = static_cast<const unsigned char*>(elements.get());
    bytes.insert(bytes.end(), first, first + entry->second.count() * itemsize(entry->second.dtype()));
  }
  replace_file("write_safetensors", path, bytes);
}

}  // namespace
}  // namespace io

Safetensors read_safetensors(const std::string& path, Site site) {
  const detail::CallSite call(site);
  try {
    return io::read_safetensors(path, site);
  } catch (const std::bad_alloc&) {
    throw MemoryError("read_safetensors", fmt::format("no memory to read \"{}\"", base::escaped(path)));
  }
}

void write_safetensors(const std::string& path, const NamedTensors& tensors, const NamedTexts& metadata, Site site) {
  const detail::CallSite call(site);
  try {
    io::write_safetensors(path, tensors, metadata);
  } catch (const std::bad_alloc&) {
    throw MemoryError("write_safetensors", fmt::format("no memory to write \"{}\"", base::escaped(path)));
  }
}

Tensor detail::entry_like(const NamedTensors& tensors, const std::string& name, const Tensor& like, Site site) {
  const CallSite call(site);
  const Tensor* const found = tensors.find(name);
  if (found == nullptr)
    throw ArgumentError("restored",
                        fmt::format("there is no entry \"{}\"; it would be {}", base::escaped(name), like.str()));
  const Tensor& x = *found;
  const std::string both = fmt::format("entry \"{}\" is {}; it should be {}", base::escaped(name), x.str(), like.str());
  if (x.shape() != like.shape()) throw ShapeError("restored", both);
  if (x.dtype() != like.dtype()) throw DTypeError("restored", both);
  return x.to(like.device());
}

}  // namespace oriel
