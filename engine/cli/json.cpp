#include "cli/json.hpp"

#include <istream>
#include <new>
#include <ostream>
#include <utility>

#include "oriel/error.hpp"

namespace oriel::cli {

SymInt read_int(std::string_view command, const Json& value, std::string_view what) {
  if (!value.is_number_integer()) {
    throw ParseError(command, fmt::format("{} holds {}; it must hold integers", what, value.type_name()));
  }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    throw ParseError(command, fmt::format("{} holds {}, which does not fit a signed 64-bit integer", what,
                                          value.get<std::uint64_t>()));
  }
  return value.get<std::int64_t>();
}

Ints read_ints(std::string_view command, const Json& value, std::string_view what) {
  if (!value.is_array()) {
    throw ParseError(command, fmt::format("{} must be an array of integers, not {}", what, value.type_name()));
  }
  Ints ints;
  for (const Json& entry : value) ints.push_back(read_int(command, entry, what));
  return ints;
}

Layout read_layout(std::string_view command, const Json& object) {
  if (!object.is_object()) {
    throw ParseError(command,
                     fmt::format("a layout must be an object with shape and strides, not {}", object.type_name()));
  }
  const auto member = [&](const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) {
      throw ParseError(command, fmt::format(R"(a layout lacks "{}"; it has shape and strides)", name));
    }
    Ints ints = read_ints(command, *found, name);
    if (ints.size() > kMaxRank) {
      throw ParseError(command, fmt::format("{} has {} entries; there may be {}", name, ints.size(), kMaxRank));
    }
    return ints;
  };
  Shape shape = member("shape");
  return Layout::make(std::move(shape), member("strides"));
}

void append(fmt::memory_buffer& text, std::string_view part) { text.append(part.data(), part.data() + part.size()); }

void append_ints(fmt::memory_buffer& text, const Ints& ints) {
  text.push_back('[');
  for (std::size_t d = 0; d < ints.size(); ++d) {
    if (d > 0) text.push_back(',');
    text.append(fmt::format_int(ints[d].value()));
  }
  text.push_back(']');
}

std::string error_line(const std::string& message, Json more) {
  more["error"] = message;
  return more.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string answer_object(std::string_view command, std::string_view line,
                          const std::function<std::string(const Json& request)>& respond) {
  try {
    const Json request = Json::parse(line.begin(), line.end());
    if (!request.is_object()) {
      throw ParseError(command, fmt::format("a line must hold one JSON object, not {}", request.type_name()));
    }
    return respond(request);
  } catch (const Error& error) {
    return error_line(error.what());
  } catch (const Json::exception& error) {
    return error_line(fmt::format("{}: not a JSON object ({})", command, error.what()));
  } catch (const std::bad_alloc&) {
    return error_line(fmt::format("{}: out of memory", command));
  }
}

void answer_each_line(std::istream& in, std::ostream& out, const std::function<std::string(std::string_view)>& answer) {
  std::string line;
  while (std::getline(in, line)) out << answer(line) << '\n';
  out.flush();
}

}  // namespace oriel::cli
