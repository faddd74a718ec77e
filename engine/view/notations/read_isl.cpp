// Reads ISL's maps that are affine on a box.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

constexpr std::string_view kIslForm = "{ [i0, i1] -> [3*i0 + i1] : 0 <= i0 < 2 and 0 <= i1 < 3 }";

/// An affine sum of named indices: coefficients, and the constant last.
class AffineReader {
 public:
  AffineReader(Reader& reader, const std::vector<std::string_view>& names) : reader_(reader), names_(names) {}

  Ints sum() {
    Ints all;
    for (std::size_t k = 0; k <= names_.size(); ++k) all.push_back(0);
    SymInt sign = reader_.take("-") ? -1 : 1;
    do {
      term(sign, all);
      sign = reader_.sees("-") ? -1 : 1;
    } while (reader_.take("+") || reader_.take("-"));
    return all;
  }

 private:
  void term(SymInt factor, Ints& all) {
    std::size_t at = names_.size();
    bool any = false;
    do {
      const std::string_view name = reader_.word();
      if (!name.empty()) {
        const auto found = std::ranges::find(names_, name);
        if (found == names_.end() || at != names_.size())
          reader_.refuse("a sum of multiples of the indices (an affine map)");
        at = static_cast<std::size_t>(found - names_.begin());
      } else {
        if (reader_.sees("(") || reader_.sees("f")) reader_.refuse("a sum of multiples of the indices (an affine map)");
        factor = factor * reader_.number();
      }
      any = true;
    } while (reader_.take("*") || (any && next_is_name()));
    all[at] = all[at] + factor;
  }
  bool next_is_name() const { return std::ranges::find(names_, reader_.next_word()) != names_.end(); }

  Reader& reader_;
  const std::vector<std::string_view>& names_;
};

}  // namespace

Parsed parse_isl(std::string_view text) {
  Reader reader(text, kIslForm);
  reader.expect("{");
  reader.word();  // the name of the space
  reader.expect("[");
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<std::string_view> names;
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  while (!reader.take("]")) {
    names.push_back(reader.word());
    if (names.back().empty()) reader.refuse("the name of an index");
    low.push_back(reader.take("=") ? reader.number().value() : kNone);  // isl prints [i0 = 1] for one value
    high.push_back(low.back());
    reader.take(",");
  }
  reader.expect("->");
  reader.word();
  reader.expect("[");
  AffineReader affine(reader, names);
  const Ints position = affine.sum();
  if (reader.sees(",")) reader.refuse("']': a layout of one buffer has one position");
  reader.expect("]");
  // a <= b, a < b, ...: one side less the other is the multiple of one index plus a number.
  const auto bound = [&](const Ints& less, const Ints& more, bool strict) {
    std::size_t at = names.size();
    SymInt factor = 0;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const SymInt c = more[k] - less[k];
      if (c == 0) continue;
      if (at != names.size() || (c != 1 && c != -1)) reader.refuse("bounds of one index each (a box)");
      at = k;
      factor = c;
    }
    const SymInt rest = more[names.size()] - less[names.size()] - (strict ? 1 : 0);
    if (at == names.size()) {
      if (rest < 0) reader.refuse("bounds that hold");
    } else if (factor == 1) {
      low[at] = std::max(low[at], (-rest).value());
    } else {
      high[at] = high[at] == kNone ? rest.value() : std::min(high[at], rest.value());
    }
  };
  if (reader.take(":")) {
    do {
      Ints left = affine.sum();
      bool any = false;
      while (true) {
        const std::string_view relation = reader.take("<=")   ? "<="
                                          : reader.take(">=") ? ">="
                                          : reader.take("<")  ? "<"
                                          : reader.take(">")  ? ">"
                                          : reader.take("=")  ? "="
                                                              : "";
        if (relation.empty()) break;
        any = true;
        const Ints right = affine.sum();
        if (relation.front() != '>') bound(left, right, relation == "<");
        if (relation.front() != '<') bound(right, left, relation == ">");
        left = right;
      }
      if (!any) reader.refuse("a comparison, such as 0 <= i0 < 2");
    } while (reader.take("and") || reader.take("&&"));
  }
  reader.expect("}");
  reader.end();
  View view;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (low[k] == kNone || high[k] == kNone) {
      throw ArgumentError(
          "layout",
          fmt::format("index {} of '{}' has no bounds on both sides; a layout has finite extents", names[k], text));
    }
    if (low[k] < 0) {
      throw ArgumentError("layout", fmt::format("index {} of '{}' begins at {}; indices of a layout begin at 0",
                                                names[k], text, low[k]));
    }
    const std::int64_t end = std::max(low[k], high[k] + 1);
    view.shape.push_back(end);
    view.strides.push_back(position[k]);
    view.mask.push_back({low[k], end});
  }
  view.offset = position[names.size()];
  if (std::ranges::all_of(low, [](std::int64_t first) { return first == 0; })) view.mask = {};
  Shape shape = view.shape;
  return {Notation::isl, flat_shape(shape),
          ShapeTracker(View::make(std::move(view.shape), std::move(view.strides), view.offset, std::move(view.mask)))};
}

}  // namespace oriel::layouts
