// Tilers: a layout for each of the first modes.
#include <fmt/format.h>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

/// The modes of a CuTe layout as layouts.
std::vector<Map> modes_of(const Map& layout, std::size_t tiled) {
  const std::string text = layout.str(Notation::cute);
  if (layout.swizzle()) {
    throw ArgumentError("layout",
                        fmt::format("a tiler takes modes apart, which {} with its swizzle does not allow", text));
  }
  const CuteLayout whole = *split_layout(layout.shape(), layout.tracker());
  if (tiled > whole.rank()) {
    throw ShapeError("layout", fmt::format("the tiler has {} modes, but {} has {}", tiled, text, whole.rank()));
  }
  std::vector<Map> modes;
  for (std::size_t k = 0; k < whole.rank(); ++k) modes.push_back(Map::read(cute_text(whole.part(k))));
  return modes;
}

Map listed(const std::vector<Map>& modes) {
  std::vector<CuteLayout> parts;
  for (const Map& mode : modes) {
    const std::optional<CuteLayout> part = split_layout(mode.shape(), mode.tracker());
    if (!part)
      throw ArgumentError("layout", fmt::format("a mode of the result is no layout of strides: {}", mode.str()));
    parts.push_back(*part);
  }
  return Map::read(cute_text(CuteLayout::list(parts)));
}

/// `combine` of each tiled mode; the others as they are.
template <class F>
std::vector<Map> each_mode(const Map& layout, const std::vector<Map>& tiler, F combine) {
  std::vector<Map> modes = modes_of(layout, tiler.size());
  for (std::size_t k = 0; k < tiler.size(); ++k) modes[k] = combine(modes[k], tiler[k]);
  return modes;
}

}  // namespace

std::vector<Map> read_tiler(std::string_view text) {
  std::vector<Map> tiler;
  Reader reader(text, "<2:1, (2,2):(1,4)>: a layout for each of the first modes");
  const std::string_view close = reader.take("<") ? ">" : ")";
  if (close == ")") reader.expect("(");
  while (!reader.take(close)) {
    const IntTuple shape = reader.tree();
    reader.expect(":");
    tiler.push_back(Map::read(shape.str() + ":" + reader.tree().str(), Notation::cute));
    if (!reader.take(",") && !reader.sees(close)) reader.refuse("','");
  }
  reader.end();
  if (tiler.empty()) reader.refuse("at least one layout");
  return tiler;
}

Map compose(const Map& layout, const std::vector<Map>& tiler) {
  return listed(each_mode(layout, tiler, [](const Map& a, const Map& b) { return a.compose(b); }));
}

Map logical_divide(const Map& layout, const std::vector<Map>& tiler) {
  return listed(each_mode(layout, tiler, [](const Map& a, const Map& b) { return a.logical_divide(b); }));
}

Map zipped_divide(const Map& layout, const std::vector<Map>& tiler) {
  const Map divided = logical_divide(layout, tiler);
  const CuteLayout whole = *split_layout(divided.shape(), divided.tracker());
  std::vector<CuteLayout> inside;
  std::vector<CuteLayout> tiles;
  for (std::size_t k = 0; k < whole.rank(); ++k) {
    const CuteLayout mode = whole.part(k);
    if (k < tiler.size()) inside.push_back(mode.part(0));
    tiles.push_back(k < tiler.size() ? mode.part(1) : mode);
  }
  return Map::read(cute_text(CuteLayout::list({CuteLayout::list(inside), CuteLayout::list(tiles)})));
}

}  // namespace oriel::layouts
