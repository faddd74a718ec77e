#include "fuzz/case.hpp"

#include <fmt/format.h>

#include <iterator>

#include "fuzz/case_json.hpp"
#include "fuzz/generate_moves.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {
namespace {

using Text = fmt::memory_buffer;

template <class... Args>
void put(Text& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

void put_ints(Text& text, const Ints& ints) {
  for (std::size_t d = 0; d < ints.size(); ++d) put(text, "{}{}", d > 0 ? "," : "", ints[d].value());
}

/// Appends pairs, with text before, between and after the two numbers of each.
void put_pairs(Text& text, const Ranges& ranges, const char* open, const char* between, const char* close,
               const char* separator) {
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    put(text, "{}{}{}{}{}{}", d > 0 ? separator : "", open, ranges[d].lo.value(), between, ranges[d].hi.value(), close);
  }
}

void put_braced(Text& text, const Ints& ints) {
  put(text, "{{");
  put_ints(text, ints);
  put(text, "}}");
}

void put_braced(Text& text, const Ranges& ranges) {
  put(text, "{{");
  put_pairs(text, ranges, "{", ", ", "}", ", ");
  put(text, "}}");
}

void put_arguments(Text& text, const Movement& movement) {
  if (takes_pairs(movement.kind)) {
    put_braced(text, movement.ranges);
  } else {
    put_braced(text, movement.ints);
  }
}

void put_view(Text& text, const View& view) {
  put(text, "oriel::View::make(");
  put_braced(text, view.shape);
  put(text, ", ");
  put_braced(text, view.strides);
  put(text, ", {}, ", view.offset.value());
  put_braced(text, view.mask);
  put(text, ")");
}

/// True if the case starts from a plain tensor.
bool plain(const Case& c) { return c.start.size() == 1 && c.start[0] == View::contiguous(c.start[0].shape); }

}  // namespace

bool takes_pairs(MovementKind kind) {
  const graph::Takes takes = graph::row(kind).takes;
  return takes == graph::Takes::Slices || takes == graph::Takes::Pads;
}

std::string name_of(MovementKind kind) { return graph::snake_name(kind); }

MovementKind movement_named(std::string_view name, std::string_view operation) {
  std::vector<std::string> names;
  for (const MovementKind kind : kMovements) {
    names.push_back(name_of(kind));
    if (name == names.back()) return kind;
  }
  throw ParseError(operation, fmt::format("unknown movement '{}'; there are {}", name, fmt::join(names, ", ")));
}

ShapeTracker start_of(const Case& c) { return ShapeTracker::from_views(c.start); }

ShapeTracker apply(const ShapeTracker& tracker, const Movement& movement) {
  return graph::moved(tracker, move_of(movement));
}

std::string program_text(const Case& c) {
  Text text;
  if (plain(c)) {
    if (c.start[0].rank() == 0) put(text, "()");
    put_ints(text, c.start[0].shape);
  } else {
    for (std::size_t k = c.start.size(); k-- > 0;) put(text, "{}{}", c.start[k].str(), k > 0 ? " over " : "");
  }
  for (const Movement& movement : c.movements) {
    put(text, " | {} ", name_of(movement.kind));
    if (takes_pairs(movement.kind)) {
      const bool pads = graph::row(movement.kind).takes == graph::Takes::Pads;
      put_pairs(text, movement.ranges, "", pads ? "," : ":", "", pads ? " " : ",");
    } else {
      if (movement.ints.empty()) put(text, "()");
      put_ints(text, movement.ints);
    }
  }
  return fmt::to_string(text);
}

std::string json_text(const Case& c) {
  runtime::JsonWriter json;
  json.begin('{');
  if (plain(c)) {
    write(json.key("base_shape"), c.start[0].shape);
  } else {
    json.key("start_views").begin('[');
    for (const View& view : c.start) write(json, view);
    json.end(']');
  }
  if (!c.movements.empty()) {
    json.key("ops").begin('[');
    for (const Movement& movement : c.movements) {
      json.begin('[').text(name_of(movement.kind));
      if (takes_pairs(movement.kind)) {
        json.begin('[');
        for (const Range& range : movement.ranges) write(json, Ints{range.lo, range.hi});
        json.end(']');
      } else {
        write(json, movement.ints);
      }
      json.end(']');
    }
    json.end(']');
  }
  return json.end('}').str();
}

std::string tracker_statements(const Case& c) {
  Text text;
  if (plain(c)) {
    put(text, "  auto tracker = oriel::ShapeTracker(oriel::Shape");
    put_braced(text, c.start[0].shape);
    put(text, ");\n");
  } else {
    put(text, "  const oriel::View views[] = {{  // innermost first\n");
    for (const View& view : c.start) {
      put(text, "      ");
      put_view(text, view);
      put(text, ",\n");
    }
    put(text, "  }};\n  auto tracker = oriel::ShapeTracker::from_views(views);\n");
  }
  Shape shape = c.start.back().shape;
  for (const Movement& movement : c.movements) {
    const bool named = graph::movement(movement.kind).stack != nullptr;
    put(text, "  tracker = tracker.{}(", named ? name_of(movement.kind) : "view");
    if (named)
      put_arguments(text, movement);
    else
      put_view(text, graph::view_of(move_of(movement), shape));
    put(text, ");\n");
    shape = moved_shape(shape, movement);
  }
  return fmt::to_string(text);
}

std::string tensor_statements(const Case& c) {
  Text text;
  put(text, "  oriel::Tensor x = oriel::reshape(oriel::arange(1.F, {}.F), ", c.start[0].numel().value() + 1);
  put_braced(text, c.start[0].shape);
  put(text, ");\n");
  for (const Movement& movement : c.movements) {
    // A flip of no axes does nothing, but in C++ `{}` would mean all axes, so it is left out.
    if (movement.kind == MovementKind::Flip && movement.ints.empty()) continue;
    put(text, "  x = oriel::{}(x, ", name_of(movement.kind));
    put_arguments(text, movement);
    put(text, ");\n");
  }
  return fmt::to_string(text);
}

}  // namespace oriel::fuzz
