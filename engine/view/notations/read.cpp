// Reads the notations.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

constexpr std::string_view kCuteForm = "(2,(3,4)):(1,(2,6)), or Sw<2,0,3> o 0 o (8,8):(8,1)";
constexpr std::string_view kTorchForm = "size=(2, 3), stride=(3, 1), storage_offset=0";
constexpr std::string_view kNumpyForm =
    "{'shape': (2, 3), 'typestr': '<f4', 'strides': (12, 4), 'offset': 0, 'version': 3}";
constexpr std::string_view kTinygradForm =
    "View(shape=(2, 3), strides=(3, 1), offset=0, mask=None, contiguous=True), or ShapeTracker(views=(View(..), ..))";
constexpr std::string_view kOrielForm = "(2,3):(3,1)+0[0:2,0:3), or such views joined by ' over '";
constexpr std::string_view kLinearForm = "linear<{dim0 = [[1]], dim1 = [[2], [4]]}>";

bool congruent(const IntTuple& a, const IntTuple& b) {
  if (a.list != b.list || a.parts.size() != b.parts.size()) return false;
  for (std::size_t k = 0; k < a.parts.size(); ++k) {
    if (!congruent(a.parts[k], b.parts[k])) return false;
  }
  return true;
}

/// Strides of the tree's form, the first number fastest.
IntTuple compact_strides(const IntTuple& shape, SymInt& step) {
  IntTuple strides{0, {}, shape.list};
  if (!shape.list) {
    strides.value = step;
    step = step * shape.value;
  }
  for (const IntTuple& part : shape.parts) strides.parts.push_back(compact_strides(part, step));
  return strides;
}

Parsed parse_cute(std::string_view text) {
  Reader reader(text, kCuteForm);
  std::optional<Swizzle> swizzle;
  SymInt offset = 0;
  const bool enclosed = reader.sees("(Sw") && reader.take("(");
  for (const std::string_view word : {"Swizzle(", "Swizzle<", "Sw<", "S<"}) {
    if (!reader.take(word)) continue;
    const SymInt bits = reader.number();
    reader.expect(",");
    const SymInt base = reader.number();
    reader.expect(",");
    const SymInt shift = reader.number();
    reader.expect(word.back() == '(' ? ")" : ">");
    if (enclosed) reader.expect(")");
    reader.expect("o");
    swizzle = checked_swizzle(bits, base, shift);
    if (reader.take("{")) {  // tensor-layouts writes an offset so
      offset = reader.number();
      reader.expect("}");
      reader.expect("o");
    } else if (!reader.sees("(")) {
      offset = reader.number();
      if (reader.take(":")) {  // it was the layout's shape
        const SymInt stride = reader.number();
        reader.end();
        View view = view_of(CuteLayout::of({offset, stride}));
        return {Notation::cute, IntTuple::of(offset), ShapeTracker(std::move(view)), swizzle};
      }
      reader.expect("o");
    }
    break;
  }
  const bool inner = enclosed && reader.sees("((") && reader.take("(");
  CuteLayout layout{reader.tree(), {}};
  if (reader.take(":")) {
    layout.stride = reader.tree();
  } else {
    SymInt step = 1;
    layout.stride = compact_strides(layout.shape, step);
  }
  if (inner) reader.expect(")");
  reader.end();
  if (!congruent(layout.shape, layout.stride)) {
    throw ShapeError("layout",
                     fmt::format("the strides {} have another form than the shape {}; each number of the shape "
                                 "has a stride",
                                 layout.stride.str(), layout.shape.str()));
  }
  View view = view_of(layout);
  view.offset = offset;
  return {Notation::cute, layout.shape, ShapeTracker(std::move(view)), swizzle};
}

Parsed strided(Notation notation, Shape shape, Ints strides, SymInt offset) {
  IntTuple tree = flat_shape(shape);
  return {notation, std::move(tree), ShapeTracker(View::make(std::move(shape), std::move(strides), offset))};
}

Parsed parse_torch(std::string_view text) {
  Reader reader(text, kTorchForm);
  const bool enclosed = reader.take("torch(");
  std::optional<Ints> size;
  std::optional<Ints> stride;
  SymInt offset = 0;
  do {
    const std::string_view key = reader.word();
    if (key.empty() || !(reader.take("=") || reader.take(":"))) reader.refuse("size=, stride= or storage_offset=");
    const bool wrapped = reader.take("torch.Size(");
    if (key == "size" || key == "shape") {
      size = reader.numbers();
    } else if (key == "stride" || key == "strides") {
      stride = reader.numbers();
    } else if (key == "storage_offset" || key == "offset") {
      offset = reader.number();
    } else {
      reader.refuse("size, stride or storage_offset");
    }
    if (wrapped) reader.expect(")");
  } while (reader.take(","));
  if (enclosed) reader.expect(")");
  reader.end();
  if (!size) reader.refuse("size=");
  return strided(Notation::torch, *size, stride ? *stride : contiguous_strides(*size), offset);
}

SymInt elements(SymInt bytes, SymInt item, std::string_view what) {
  if (bytes % item != 0) {
    throw ArgumentError("layout",
                        fmt::format("{} of {} bytes is no multiple of the element's {} bytes; such an array is "
                                    "no view of whole elements",
                                    what, to_string(Ints{bytes}), to_string(Ints{item})));
  }
  return bytes / item;
}

Parsed parse_numpy(std::string_view text) {
  Reader reader(text, kNumpyForm);
  reader.expect("{");
  std::optional<Ints> shape;
  std::optional<Ints> strides;
  SymInt item = 0;
  SymInt offset = 0;
  const auto quoted = [&] {
    const std::string_view quote = reader.sees("\"") ? "\"" : "'";
    reader.expect(quote);
    (void)(reader.take("<") || reader.take(">") || reader.take("|") || reader.take("="));
    const std::string_view word = reader.word();
    reader.expect(quote);
    return word;
  };
  while (!reader.take("}")) {
    const std::string_view key = quoted();
    reader.expect(":");
    if (key == "shape") {
      shape = reader.numbers();
    } else if (key == "strides") {
      if (!reader.take("None")) strides = reader.numbers();
    } else if (key == "offset") {
      offset = reader.number();
    } else if (key == "version") {
      reader.number();
    } else if (key == "data") {  // an address says nothing about the map
      if (!reader.take("None")) {
        reader.expect("(");
        reader.number();
        reader.expect(",");
        reader.word();
        reader.expect(")");
      }
    } else if (key == "typestr") {
      const std::string_view type = quoted();
      for (const char c : type.substr(std::min<std::size_t>(1, type.size()))) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0 || item > 100'000)
          reader.refuse("a typestr such as '<f4'");
        item = item * 10 + (c - '0');
      }
    } else {
      reader.refuse("the keys shape, typestr, strides, offset, data and version");
    }
    if (!reader.take(",") && !reader.sees("}")) reader.refuse("',' or '}'");
  }
  reader.end();
  if (!shape || item <= 0) reader.refuse("a shape and a typestr with a size, such as '<f4'");
  Ints steps = contiguous_strides(*shape);
  if (strides) {
    steps = {};
    for (const SymInt stride : *strides) steps.push_back(elements(stride, item, "a stride"));
  }
  return strided(Notation::numpy, *shape, steps, elements(offset, item, "an offset"));
}

View tinygrad_view(Reader& reader) {
  reader.expect("View(");
  View view;
  do {
    const std::string_view key = reader.word();
    reader.expect("=");
    if (key == "shape") {
      view.shape = reader.numbers();
    } else if (key == "strides") {
      view.strides = reader.numbers();
    } else if (key == "offset") {
      view.offset = reader.number();
    } else if (key == "contiguous") {
      reader.word();
    } else if (key == "mask") {
      if (reader.take("None")) continue;
      reader.expect("(");
      while (!reader.take(")")) {
        const Ints range = reader.numbers();
        if (range.size() != 2) reader.refuse("a mask of pairs, such as ((0, 2), (1, 3))");
        view.mask.push_back({range[0], range[1]});
        reader.take(",");
      }
    } else {
      reader.refuse("shape, strides, offset, mask or contiguous");
    }
  } while (reader.take(","));
  reader.expect(")");
  return View::make(view.shape, view.strides, view.offset, view.mask);
}

Parsed stacked(Notation notation, const std::vector<View>& innermost_first) {
  ShapeTracker tracker =
      innermost_first.size() == 1 ? ShapeTracker(innermost_first[0]) : ShapeTracker::from_views(innermost_first);
  return {notation, flat_shape(tracker.shape()), std::move(tracker)};
}

Parsed parse_tinygrad(std::string_view text) {
  Reader reader(text, kTinygradForm);
  std::vector<View> views;
  if (reader.take("ShapeTracker(")) {
    if (reader.take("views")) reader.expect("=");
    reader.expect("(");
    while (!reader.take(")")) {
      views.push_back(tinygrad_view(reader));
      reader.take(",");
    }
    reader.expect(")");
  } else {
    views.push_back(tinygrad_view(reader));
  }
  reader.end();
  if (views.empty()) reader.refuse("at least one View");
  return stacked(Notation::tinygrad, views);
}

Parsed parse_oriel(std::string_view text) {
  Reader reader(text, kOrielForm);
  std::vector<View> views;
  do {
    View view;
    if (!reader.sees("(")) reader.refuse("'('");
    view.shape = reader.numbers();
    reader.expect(":");
    if (!reader.sees("(")) reader.refuse("'('");
    view.strides = reader.numbers();
    if (reader.take("+") || reader.sees("-")) view.offset = reader.number();
    if (reader.take("[")) {
      while (!reader.take(")")) {
        const SymInt low = reader.number();
        reader.expect(":");
        view.mask.push_back({low, reader.number()});
        reader.take(",");
      }
    }
    views.insert(views.begin(), View::make(view.shape, view.strides, view.offset, view.mask));
  } while (reader.take("over"));
  reader.end();
  return stacked(Notation::oriel, views);
}

Parsed parse_linear(std::string_view text) {
  Reader reader(text, kLinearForm);
  if (!reader.take("#ttg.linear<")) reader.expect("linear<");
  reader.expect("{");
  std::vector<Ints> dims;
  while (!reader.take("}")) {
    if (reader.word().empty()) reader.refuse("the name of a dimension");
    reader.expect("=");
    reader.expect("[");
    Ints bases;
    while (!reader.take("]")) {
      const Ints base = reader.numbers();
      if (base.size() != 1) {
        throw ArgumentError("layout",
                            fmt::format("a basis of '{}' has {} coordinates; a layout of one buffer has one, the "
                                        "position",
                                        text, base.size()));
      }
      if (base[0] < 0) reader.refuse("bases that are not negative");
      bases.push_back(base[0]);
      reader.take(",");
    }
    dims.push_back(bases);
    reader.take(",");
  }
  reader.expect(">");
  reader.end();
  // Bits that no two bases share add up as numbers do, so the bases are strides. A swizzle is its own inverse and is
  // linear itself: bases that it makes disjoint are strides behind a swizzle.
  const auto disjoint = [&](const Swizzle& swizzle) {
    std::int64_t all = 0;
    for (const Ints& dim : dims) {
      for (const SymInt base : dim) {
        const std::int64_t bits = swizzle(base.value());
        if ((all & bits) != 0) return false;
        all |= bits;
      }
    }
    return true;
  };
  std::optional<Swizzle> found;
  if (disjoint({})) found = Swizzle{};
  for (int bits = 1; bits < 8 && !found; ++bits) {
    for (int base = 0; base < 32 && !found; ++base) {
      for (int shift = bits; base + shift + bits < 62 && !found; ++shift) {
        for (const Swizzle swizzle : {Swizzle{bits, base, shift}, Swizzle{bits, base, -shift}}) {
          if (!found && disjoint(swizzle)) found = swizzle;
        }
      }
    }
  }
  if (!found) {
    throw ArgumentError("layout",
                        fmt::format("the bases of '{}' share bits, and no single swizzle parts them; no strides "
                                    "have this map",
                                    text));
  }
  std::vector<CuteLayout> modes;
  for (const Ints& dim : dims) {
    std::vector<Mode> bits;
    for (const SymInt base : dim) bits.push_back({2, (*found)(base.value())});
    modes.push_back(CuteLayout::coalesced(bits));
  }
  const CuteLayout layout = CuteLayout::list(modes);
  std::optional<Swizzle> swizzle;
  if (*found != Swizzle{}) swizzle = found;
  return {Notation::linear, layout.shape, ShapeTracker(view_of(layout)), swizzle};
}

/// The notation that the text is in, by its form.
Notation notation_of(std::string_view text) {
  Reader reader(text, "a layout");
  if (reader.sees("View(") || reader.sees("ShapeTracker(")) return Notation::tinygrad;
  if (reader.sees("linear<") || reader.sees("#ttg.linear<")) return Notation::linear;
  if (reader.sees("size") || reader.sees("torch(") || reader.sees("shape")) return Notation::torch;
  if (reader.sees("{")) return text.find("->") != std::string_view::npos ? Notation::isl : Notation::numpy;
  // An offset behind the strides, a mask, and views over each other are Oriel's alone.
  const std::size_t end = text.find_last_of(')'), next = text.find_first_not_of(" \t\r\n", end + 1);
  const bool offset =
      end != std::string_view::npos && next != std::string_view::npos && (text[next] == '+' || text[next] == '-');
  if (offset || text.find("over") != std::string_view::npos ||
      (text.find('[') != std::string_view::npos && text.find(":(") != std::string_view::npos))
    return Notation::oriel;
  return Notation::cute;
}

}  // namespace

Swizzle checked_swizzle(SymInt bits, SymInt base, SymInt shift) {
  const SymInt distance = shift < 0 ? -shift : shift;
  if (bits < 0 || base < 0 || distance < bits || bits > 62 || base > 62 || distance > 62 ||
      bits + base + distance > 62) {
    throw ArgumentError("layout",
                        fmt::format("a swizzle <bits, base, shift> has bits, base >= 0, |shift| >= bits and lies "
                                    "in 62 bits; got {}",
                                    to_string(Ints{bits, base, shift})));
  }
  return {static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift)};
}

IntTuple flat_shape(const Ints& extents) {
  IntTuple shape = IntTuple::of(std::vector<IntTuple>());
  for (const SymInt extent : extents) shape.parts.push_back(IntTuple::of(extent));
  return shape;
}

Parsed parse(std::string_view text, Notation notation) {
  switch (notation) {
    case Notation::cute:
      return parse_cute(text);
    case Notation::torch:
      return parse_torch(text);
    case Notation::numpy:
      return parse_numpy(text);
    case Notation::tinygrad:
      return parse_tinygrad(text);
    case Notation::oriel:
      return parse_oriel(text);
    case Notation::linear:
      return parse_linear(text);
    case Notation::isl:
      return parse_isl(text);
  }
  throw InternalError("layout", "no such notation");
}

Parsed parse(std::string_view text) { return parse(text, notation_of(text)); }

}  // namespace oriel::layouts
