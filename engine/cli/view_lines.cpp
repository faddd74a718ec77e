#include "cli/view_lines.hpp"

#include <fmt/format.h>

#include "cli/guards_lines.hpp"
#include "cli/guards_session.hpp"
#include "cli/json.hpp"
#include "fuzz/case_json.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace oriel::cli {
namespace {

void write_view(fmt::memory_buffer& text, const View& view) {
  append(text, "{\"shape\":");
  append_ints(text, view.shape);
  append(text, ",\"strides\":");
  append_ints(text, view.strides);
  append(text, ",\"offset\":");
  append_size(text, view.offset);
  append(text, ",\"mask\":");
  if (view.mask.empty()) {
    append(text, "null");
  } else {
    text.push_back('[');
    for (std::size_t d = 0; d < view.mask.size(); ++d) {
      append(text, d > 0 ? ",[" : "[");
      append_size(text, view.mask[d].lo);
      text.push_back(',');
      append_size(text, view.mask[d].hi);
      text.push_back(']');
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
  GuardsSession session;
  const bool symbolic = request.contains("symbols") || request.contains("unbacked");
  fuzz::SizeReader sizes;
  if (symbolic) {
    read_symbols(request, session, "view");
    sizes = [&session](const std::string& size) { return session.number(size, "view"); };
    if (table) throw ArgumentError("view", "a table needs plain sizes, but the line has symbols");
  }
  const fuzz::Case c = fuzz::read_case(request, "view", sizes);
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
  const std::optional<bool> contiguous =
      symbolic ? known_contiguity(tracker, session.environment()) : std::optional(tracker.is_contiguous());
  append(text, !contiguous   ? "],\"contiguous\":null"
               : *contiguous ? "],\"contiguous\":true"
                             : "],\"contiguous\":false");
  if (symbolic) {
    Json guards = Json::array();
    for (const auto& guard : session.environment().guards()) guards.push_back(whole_text(guard.str()));
    append(text, ",\"guards\":" + guards.dump());
  }
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

std::optional<bool> known_contiguity(const ShapeTracker& tracker, const ShapeEnv& environment) {
  sym::Checkpoint before(environment.environment());
  const std::size_t guards = environment.guards().size();
  try {
    const bool contiguous = tracker.is_contiguous();
    if (environment.guards().size() == guards && (contiguous || tracker.single())) return contiguous;
  } catch (const DataDependentError&) {
  }
  before.undo();
  return std::nullopt;
}

std::string answer_line(std::string_view line, bool table) {
  return answer_object("view", line, [table](const Json& request) { return answer(request, table); });
}

void answer_lines(std::istream& in, std::ostream& out, bool table) {
  answer_each_line(in, out, [table](std::string_view line) { return answer_line(line, table); });
}

}  // namespace oriel::cli
