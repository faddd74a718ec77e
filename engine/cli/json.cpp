#include "cli/json.hpp"

#include <fmt/format.h>

#include <istream>
#include <new>
#include <optional>
#include <ostream>
#include <utility>

#include "fuzz/case_json.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {

namespace {

using SizeText = std::function<SymInt(const std::string& text)>;

/// A list of sizes; nothing if the layout has no such member.
std::optional<Ints> read_member(std::string_view command, const Json& layout, const char* name, const SizeText& sizes) {
  const auto found = layout.find(name);
  if (found == layout.end()) return std::nullopt;
  Ints ints = fuzz::read_ints(*found, command, name, sizes);
  if (ints.size() > kMaxRank) {
    throw ParseError(command, fmt::format("{} has {} entries; there may be {}", name, ints.size(), kMaxRank));
  }
  return ints;
}

Ints need_member(std::string_view command, const Json& layout, const char* name, const SizeText& sizes = {}) {
  if (!layout.is_object()) {
    throw ParseError(command,
                     fmt::format("a layout must be an object with shape and strides, not {}", layout.type_name()));
  }
  std::optional<Ints> ints = read_member(command, layout, name, sizes);
  if (!ints) throw ParseError(command, fmt::format(R"(a layout lacks "{}"; it has shape and strides)", name));
  return std::move(*ints);
}

}  // namespace

Layout read_layout(std::string_view command, const Json& object) {
  Shape shape = need_member(command, object, "shape");
  return Layout::make(std::move(shape), need_member(command, object, "strides"));
}

Layout read_symbolic_layout(std::string_view command, const Json& object, const SizeText& sizes) {
  Layout layout{need_member(command, object, "shape", sizes), {}};
  std::optional<Ints> strides = read_member(command, object, "strides", sizes);
  layout.strides = strides ? std::move(*strides) : contiguous_strides(layout.shape);
  if (layout.strides.size() != layout.rank()) {
    throw ShapeError("layout", fmt::format("got {} strides for shape {}; give one for each axis", layout.strides.size(),
                                           to_string(layout.shape)));
  }
  return layout;
}

std::string error_line(const std::string& message, Json more) {
  more["error"] = message;
  return more.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string answer_object(std::string_view command, std::string_view line,
                          const std::function<std::string(const Json& request)>& respond) {
  try {
    const Json request = Json::parse(line.begin(), line.end(), nullptr, false);
    if (request.is_discarded()) {
      throw ParseError(command, fmt::format("not a JSON object: '{}'", line.substr(0, 200)));
    }
    if (!request.is_object()) {
      throw ParseError(command, fmt::format("a line must hold one JSON object, not {}", request.type_name()));
    }
    return respond(request);
  } catch (const Error& error) {
    return error_line(std::string(error.message()));
  } catch (const std::bad_alloc&) {
    return error_line(fmt::format("{}: out of memory", command));
  }
}

void answer_each_line(std::istream& in, std::ostream& out, const std::function<std::string(std::string_view)>& answer) {
  std::string line;
  while (out && std::getline(in, line)) out << answer(line) << '\n';
  out.flush();
}

}  // namespace oriel::cli
