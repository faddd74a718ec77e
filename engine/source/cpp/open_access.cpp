#include "source/cpp/open_access.hpp"

namespace oriel::source::cpp {

namespace {

std::string open_position(const View& view, const std::vector<std::string>& names, KernelSizes& sizes) {
  std::string text;
  const auto add = [&](SymInt factor, const std::string& term) {
    if (!factor.is_symbolic() && factor.value() == 0) return;
    const bool negative = !factor.is_symbolic() && factor.value() < 0;
    const SymInt by = negative ? -factor : factor;
    std::string one = term;
    if (term.empty()) {
      one = sizes.of(by);
    } else if (by.is_symbolic() || by.value() != 1) {
      one += "*" + sizes.of(by);
    }
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    text += one;
  };
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (view.shape[d].is_symbolic() || view.shape[d].value() != 1) add(view.strides[d], names[d]);
  add(view.offset, "");
  return text.empty() ? "0" : text;
}

std::string open_condition(const View& view, const std::vector<std::string>& names, int fast, KernelSizes& sizes) {
  std::string text;
  const auto both = [&](const std::string& test) { text += (text.empty() ? "" : " && ") + test; };
  for (std::size_t d = 0; d < view.mask.size(); ++d) {
    const auto [lo, hi] = view.mask[d];
    if (!lo.is_symbolic() && !hi.is_symbolic() && lo.value() >= hi.value()) return std::string(kNever);
    if (static_cast<int>(d) == fast) continue;
    if (lo.is_symbolic() || lo.value() > 0) both(names[d] + " >= " + sizes.of(lo));
    if (!identical(hi, view.shape[d])) both(names[d] + " < " + sizes.of(hi));
  }
  return text;
}

}  // namespace

std::string OpenAccesses::position(std::int32_t access, const CodePosition& place) {
  return open_position(view(access), place.names, sizes_);
}

std::string OpenAccesses::condition(std::int32_t access, const CodePosition& place) {
  return open_condition(view(access), place.names, place.fast, sizes_);
}

std::optional<std::int64_t> OpenAccesses::step(std::int32_t access, const CodePosition& place) const {
  if (place.fast < 0) return 0;
  const SymInt stride = view(access).strides[at(place.fast)];
  if (stride.is_symbolic()) return std::nullopt;
  return stride.value();
}

std::optional<LaneRange> OpenAccesses::cut(std::int32_t access, const CodePosition& place) {
  const View& v = view(access);
  if (place.fast < 0 || v.mask.empty()) return std::nullopt;
  const auto [lo, hi] = v.mask[at(place.fast)];
  if (!lo.is_symbolic() && lo.value() <= 0 && identical(hi, v.shape[at(place.fast)])) return std::nullopt;
  return LaneRange{sizes_.of(lo), sizes_.of(hi)};
}

codegen::AccessText OpenAccesses::expression(std::int32_t access, const std::vector<std::string>& names) {
  const auto all = views(access);
  if (all.size() == 1) {
    const std::string valid = open_condition(all[0], names, -1, sizes_);
    return {open_position(all[0], names, sizes_), valid.empty() ? "1" : valid == kNever ? "0" : valid};
  }
  const detail::StackExpression written = detail::express(all);
  const detail::LeafText leaves{[&](std::size_t axis) { return names[axis]; }, codegen::plain_number,
                                [&](sym::Expr e) { return sizes_.of(SymInt(e)); }};
  return {detail::index_text(written, leaves), detail::valid_text(written, leaves)};
}

}  // namespace oriel::source::cpp
