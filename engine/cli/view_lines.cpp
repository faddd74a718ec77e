#include "cli/view_lines.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/json.hpp"
#include "fuzz/case_json.hpp"
#include "oriel/error.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace oriel::cli {
namespace {

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

/// Answers a reshape of a layout by the rules of PyTorch's view().
std::string answer_reshape(const Json& request) {
  const Layout layout = read_layout("view", request);
  const Ints shape = fuzz::read_ints(request["new_shape"], "view", "new_shape");
  const detail::StridedReshape reshaped = detail::strided_reshape(layout, shape);
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
  const fuzz::Case c = fuzz::read_case(request, "view");
  ShapeTracker tracker = fuzz::start_of(c);
  for (const fuzz::Movement& movement : c.movements) tracker = fuzz::apply(tracker, movement);
  tracker = tracker.simplify();
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
