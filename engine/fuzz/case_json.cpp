#include "fuzz/case_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "oriel/error.hpp"
#include "sym/print.hpp"

namespace oriel::fuzz {
namespace {

using Json = nlohmann::json;

/// Reads members of an object; errors name the operation.
struct Reader {
  std::string_view operation;
  const SizeReader* sizes = nullptr;

  [[noreturn]] void refuse(const std::string& message) const { throw ParseError(operation, message); }

  SymInt read_int(const Json& value, std::string_view what) const {
    if (sizes != nullptr && value.is_string()) return (*sizes)(value.get_ref<const std::string&>());
    if (!value.is_number_integer()) refuse(fmt::format("{} holds {}; it must hold integers", what, value.type_name()));
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      refuse(fmt::format("{} holds {}, which does not fit a signed 64-bit integer", what, value.get<std::uint64_t>()));
    }
    return value.get<std::int64_t>();
  }

  Ints ints(const Json& value, std::string_view what) const {
    if (!value.is_array()) refuse(fmt::format("{} must be an array of integers, not {}", what, value.type_name()));
    Ints list;
    for (const Json& entry : value) list.push_back(read_int(entry, what));
    return list;
  }

  Ranges pairs(const Json& value, std::string_view what) const {
    if (!value.is_array()) refuse(fmt::format("{} must be an array of pairs, not {}", what, value.type_name()));
    Ranges list;
    for (const Json& entry : value) {
      if (!entry.is_array() || entry.size() != 2) {
        refuse(fmt::format("each entry of {} must be a pair of integers", what));
      }
      list.push_back({read_int(entry[0], what), read_int(entry[1], what)});
    }
    return list;
  }

  const Json& member(const Json& object, const char* name) const {
    const auto found = object.find(name);
    if (found == object.end()) {
      refuse(fmt::format(R"(a view lacks "{}"; it has shape, strides, offset and mask)", name));
    }
    return *found;
  }

  std::vector<View> views(const Json& value, std::string_view what) const {
    if (!value.is_array()) refuse(fmt::format("{} must be an array of views, not {}", what, value.type_name()));
    std::vector<View> list;
    for (const Json& entry : value) {
      const View raw = view(entry, what);
      list.push_back(View::make(raw.shape, raw.strides, raw.offset, raw.mask));
    }
    if (list.empty()) refuse("a stack of no views; give at least one, innermost first");
    return list;
  }

  View view(const Json& value, std::string_view what) const {
    if (!value.is_object()) refuse(fmt::format("each entry of {} must be an object, not {}", what, value.type_name()));
    View view;
    view.shape = ints(member(value, "shape"), "shape");
    view.strides = ints(member(value, "strides"), "strides");
    const auto offset = value.find("offset");
    if (offset != value.end()) view.offset = read_int(*offset, "offset");
    const auto mask = value.find("mask");
    if (mask != value.end() && !mask->is_null()) {
      view.mask = pairs(*mask, "mask");
      // Internally an empty list means "no mask". In the protocol it is a mask with too few entries.
      if (view.mask.empty() && !view.shape.empty()) refuse("mask is empty; give one range for each axis, or null");
    }
    return view;
  }

  Movement movement(const Json& op) const {
    if (!op.is_array() || op.size() != 2 || !op[0].is_string()) {
      refuse(R"(each entry of ops must be [name, arguments], such as ["flip", [0]])");
    }
    const auto& name = op[0].get_ref<const std::string&>();
    Movement movement;
    movement.kind = movement_named(name, operation);
    if (takes_pairs(movement.kind)) {
      movement.ranges = pairs(op[1], name);
    } else {
      movement.ints = ints(op[1], name);
    }
    return movement;
  }
};

}  // namespace

Ints read_ints(const Json& value, std::string_view operation, std::string_view what, const SizeReader& sizes) {
  return Reader{operation, sizes ? &sizes : nullptr}.ints(value, what);
}

std::vector<View> read_views(const Json& value, std::string_view operation, std::string_view what) {
  return Reader{operation}.views(value, what);
}

Case read_case(const Json& request, std::string_view operation, const SizeReader& sizes) {
  const Reader reader{operation, sizes ? &sizes : nullptr};
  if (!request.is_object()) reader.refuse(fmt::format("a line must hold one JSON object, not {}", request.type_name()));
  const auto shape = request.find("base_shape");
  const auto views = request.find("start_views");
  if ((shape == request.end()) == (views == request.end())) {
    reader.refuse(R"(give either "base_shape" or "start_views")");
  }
  Case c;
  if (shape != request.end()) {
    c.start.push_back(View::contiguous(reader.ints(*shape, "base_shape")));
  } else {
    c.start = reader.views(*views, "start_views");
  }
  const auto ops = request.find("ops");
  if (ops == request.end() || ops->is_null()) return c;
  if (!ops->is_array()) reader.refuse(fmt::format("ops must be an array, not {}", ops->type_name()));
  for (const Json& op : *ops) c.movements.push_back(reader.movement(op));
  return c;
}

Case parse_case(std::string_view line, std::string_view operation) {
  const Json request = Json::parse(line.begin(), line.end(), nullptr, false);
  if (request.is_discarded())
    throw ParseError(operation, "not a JSON object: '" + std::string(line.substr(0, 200)) + "'");
  return read_case(request, operation);
}

std::string whole_text(std::string text) {
  if (text.size() > sym::kMaxText)
    throw OverflowError("write", fmt::format("an expression takes more than {} characters", sym::kMaxText));
  return text;
}

void write(runtime::JsonWriter& json, SymInt size) {
  if (size.is_symbolic())
    json.raw('"' + whole_text(to_string(size)) + '"');  // names and operators need no escapes
  else
    json.number(size.value());
}

void write(runtime::JsonWriter& json, const Ints& ints) {
  json.begin('[');
  for (const SymInt n : ints) write(json, n);
  json.end(']');
}

void write(runtime::JsonWriter& json, const View& view) {
  write(json.begin('{').key("shape"), view.shape);
  write(json.key("strides"), view.strides);
  write(json.key("offset"), view.offset);
  json.key("mask");
  if (view.mask.empty()) {
    json.null();
  } else {
    json.begin('[');
    for (const Range& range : view.mask) write(json, Ints{range.lo, range.hi});
    json.end(']');
  }
  json.end('}');
}

}  // namespace oriel::fuzz
