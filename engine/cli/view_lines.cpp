#include "cli/lines.hpp"

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

/// Answers a reshape of a layout by the rules of PyTorch's view().
std::string answer_reshape(const Json& request) {
  const Layout layout = read_layout("view", request);
  const Ints shape = fuzz::read_ints(request["new_shape"], "view", "new_shape");
  const detail::StridedReshape reshaped = detail::strided_reshape(layout, shape);
  if (!reshaped) return fmt::format(R"({{"ok":false,"error":"{}"}})", detail::name(*reshaped.refusal));
  runtime::JsonWriter json;
  fuzz::write(json.begin('{').key("ok").boolean(true).key("shape"), reshaped.layout.shape);
  fuzz::write(json.key("strides"), reshaped.layout.strides);
  return json.end('}').str();
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
  runtime::JsonWriter json;
  fuzz::write(json.begin('{').key("shape"), tracker.shape());
  json.key("views").begin('[');
  for (const View& view : tracker.views()) fuzz::write(json, view);
  json.end(']').key("contiguous");
  const std::optional<bool> contiguous =
      symbolic ? known_contiguity(tracker, session.environment()) : std::optional(tracker.is_contiguous());
  if (contiguous)
    json.boolean(*contiguous);
  else
    json.null();
  if (symbolic) write_guards(json.key("guards"), session);
  if (table) {
    json.key("table").begin('[');
    for (const std::int64_t position : tracker.table(kTableLimit)) json.number(position);
    json.end(']');
  }
  return json.end('}').str();
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
