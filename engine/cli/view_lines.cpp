#include "cli/view_lines.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/json.hpp"
#include "cli/view_program.hpp"
#include "oriel/error.hpp"
#include "view/strided_reshape.hpp"

namespace oriel::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw ParseError("view", message); }

SymInt read_int(const Json& value, const char* what) { return cli::read_int("view", value, what); }
Ints read_ints(const Json& value, const char* what) { return cli::read_ints("view", value, what); }

Ranges read_pairs(const Json& value, const char* what) {
  if (!value.is_array()) refuse(fmt::format("{} must be an array of pairs, not {}", what, value.type_name()));
  Ranges pairs;
  for (const Json& entry : value) {
    if (!entry.is_array() || entry.size() != 2)
      refuse(fmt::format("each entry of {} must be a pair of integers", what));
    pairs.push_back({read_int(entry[0], what), read_int(entry[1], what)});
  }
  return pairs;
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) refuse(fmt::format(R"(a view lacks "{}"; it has shape, strides, offset and mask)", name));
  return *found;
}

View read_view(const Json& value) {
  if (!value.is_object()) refuse(fmt::format("each entry of start_views must be an object, not {}", value.type_name()));
  View view;
  view.shape = read_ints(member(value, "shape"), "shape");
  view.strides = read_ints(member(value, "strides"), "strides");
  const auto offset = value.find("offset");
  if (offset != value.end()) view.offset = read_int(*offset, "offset");
  const auto mask = value.find("mask");
  if (mask != value.end() && !mask->is_null()) {
    view.mask = read_pairs(*mask, "mask");
    // An empty list means "no mask" inside, but here it is one that has an entry too few.
    if (view.mask.empty() && !view.shape.empty()) refuse("mask is empty; give one range for each axis, or null");
  }
  return view;
}

ShapeTracker read_start(const Json& request) {
  const auto shape = request.find("base_shape");
  const auto views = request.find("start_views");
  if ((shape == request.end()) == (views == request.end())) {
    refuse(R"(give either "base_shape" or "start_views")");
  }
  if (shape != request.end()) return ShapeTracker(read_ints(*shape, "base_shape"));
  if (!views->is_array()) refuse(fmt::format("start_views must be an array of views, not {}", views->type_name()));
  std::vector<View> stack;
  for (const Json& view : *views) stack.push_back(read_view(view));
  return ShapeTracker::from_views(stack);
}

ShapeTracker run_ops(ShapeTracker tracker, const Json& request) {
  const auto ops = request.find("ops");
  if (ops == request.end() || ops->is_null()) return tracker;
  if (!ops->is_array()) refuse(fmt::format("ops must be an array, not {}", ops->type_name()));
  for (const Json& op : *ops) {
    if (!op.is_array() || op.size() != 2 || !op[0].is_string()) {
      refuse(R"(each entry of ops must be [name, arguments], such as ["flip", [0]])");
    }
    const auto& movement = op[0].get_ref<const std::string&>();
    tracker = takes_pairs(movement) ? apply(tracker, movement, read_pairs(op[1], movement.c_str()))
                                    : apply(tracker, movement, read_ints(op[1], movement.c_str()));
  }
  return tracker;
}

void write_view(fmt::memory_buffer& text, const View& view) {
  append(text, "{\"shape\":");
  append_ints(text, view.shape);
  append(text, ",\"strides\":");
  append_ints(text, view.strides);
  fmt::format_to(std::back_inserter(text), R"(,"offset":{},"mask":)", view.offset.value());
  if (view.mask.empty()) {
    append(text, "null");
  } else {
    text.push_back('[');
    for (std::size_t d = 0; d < view.mask.size(); ++d) {
      fmt::format_to(std::back_inserter(text), "{}[{},{}]", d > 0 ? "," : "", view.mask[d].lo.value(),
                     view.mask[d].hi.value());
    }
    text.push_back(']');
  }
  text.push_back('}');
}

/// PyTorch's view() of a layout.
std::string answer_reshape(const Json& request) {
  const Layout layout = read_layout("view", request);
  const detail::StridedReshape reshaped = detail::strided_reshape(layout, read_ints(request["new_shape"], "new_shape"));
  if (!reshaped) return fmt::format(R"({{"ok":false,"error":"{}"}})", detail::name(*reshaped.refusal));
  fmt::memory_buffer text;
  append(text, R"({"ok":true,"shape":)");
  append_ints(text, reshaped.layout.shape);
  append(text, ",\"strides\":");
  append_ints(text, reshaped.layout.strides);
  text.push_back('}');
  return fmt::to_string(text);
}

std::string answer(const Json& request, bool table) {
  if (request.contains("new_shape")) return answer_reshape(request);
  const ShapeTracker tracker = run_ops(read_start(request), request).simplify();
  fmt::memory_buffer text;
  append(text, "{\"shape\":");
  append_ints(text, tracker.shape());
  append(text, ",\"views\":[");
  for (const View& view : tracker.views()) {
    if (&view != tracker.views().data()) text.push_back(',');
    write_view(text, view);
  }
  append(text, tracker.is_contiguous() ? "],\"contiguous\":true" : "],\"contiguous\":false");
  if (table) {
    append(text, ",\"table\":[");
    bool first = true;
    for (const std::int64_t position : tracker.table(kTableLimit)) {
      if (!first) text.push_back(',');
      first = false;
      text.append(fmt::format_int(position));
    }
    text.push_back(']');
  }
  text.push_back('}');
  return fmt::to_string(text);
}

}  // namespace

std::string answer_line(std::string_view line, bool table) {
  return answer_object("view", line, [table](const Json& request) { return answer(request, table); });
}

void answer_lines(std::istream& in, std::ostream& out, bool table) {
  answer_each_line(in, out, [table](std::string_view line) { return answer_line(line, table); });
}

}  // namespace oriel::cli
