#include "cli/view_lines.hpp"

#include <fmt/format.h>

#include <istream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <ostream>

#include "fuzz/case_json.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

using Json = nlohmann::json;

void write_ints(fmt::memory_buffer& text, const Ints& ints) {
  text.push_back('[');
  for (std::size_t d = 0; d < ints.size(); ++d) {
    if (d > 0) text.push_back(',');
    text.append(fmt::format_int(ints[d].value()));
  }
  text.push_back(']');
}

void append(fmt::memory_buffer& text, std::string_view part) { text.append(part.data(), part.data() + part.size()); }

void write_view(fmt::memory_buffer& text, const View& view) {
  append(text, "{\"shape\":");
  write_ints(text, view.shape);
  append(text, ",\"strides\":");
  write_ints(text, view.strides);
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

std::string answer(std::string_view line, bool table) {
  const fuzz::Case request = fuzz::parse_case(line, "view");
  ShapeTracker tracker = fuzz::start_of(request);
  for (const fuzz::Movement& movement : request.movements) tracker = fuzz::apply(tracker, movement);
  tracker = tracker.simplify();
  fmt::memory_buffer text;
  append(text, "{\"shape\":");
  write_ints(text, tracker.shape());
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

std::string error_line(const std::string& message) {
  const Json answer = {{"error", message}};
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string answer_line(std::string_view line, bool table) {
  try {
    return answer(line, table);
  } catch (const Error& error) {
    return error_line(error.what());
  } catch (const std::bad_alloc&) {
    return error_line("view: out of memory");
  }
}

void answer_lines(std::istream& in, std::ostream& out, bool table) {
  std::string line;
  while (std::getline(in, line)) out << answer_line(line, table) << '\n';
  out.flush();
}

}  // namespace oriel::cli
