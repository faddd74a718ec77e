#include "source/cpp/snippets.hpp"

#include "oriel/error.hpp"

namespace oriel::source::cpp {
namespace {

template <class F>
void for_each_snippet(F f) {
  for (const auto& table : {tile_snippets(),
                            element_snippets(),
                            division_snippets(),
                            philox_snippets(),
                            halves_snippets(),
                            packets_snippets(),
                            float_math_snippets(),
                            vectors_snippets(),
                            elementary_snippets(),
                            angle_math_snippets(),
                            power_math_snippets(),
                            in_doubles_snippets(),
                            reduce_snippets(),
                            scatter_snippets(),
                            recurrence_snippets(),
                            reduction_order_snippets(),
                            reductions_snippets(),
                            product_order_snippets(),
                            vector_sums_snippets(),
                            register_blocks_snippets(),
                            size_arithmetic_snippets(),
                            value_places_snippets(),
                            memory_check_snippets()}) {
    for (const Snippet& snippet : table) f(snippet);
  }
}

}  // namespace

void Snippets::need(std::string_view name) {
  const Snippet* found = nullptr;
  for_each_snippet([&](const Snippet& snippet) {
    if (snippet.name != name) return;
    if (found != nullptr) throw InternalError("render", "two helpers are named " + std::string(name));
    found = &snippet;
  });
  if (found == nullptr) throw InternalError("render", "no helper is named " + std::string(name));
  if (!needed_.insert(found->name).second) return;
  for (std::string_view uses = found->uses; !uses.empty();) {
    const std::size_t end = uses.find(' ');
    const std::string_view used = uses.substr(0, end);
    if (used.front() == '<') {
      headers_.insert(used);
    } else {
      need(used);
    }
    uses.remove_prefix(end + 1);
  }
}

void Snippets::each(const std::function<void(std::size_t, std::string_view, std::string_view)>& f) const {
  std::size_t number = 0;
  for_each_snippet([&](const Snippet& snippet) {
    if (needs(snippet.name)) f(number, snippet.name, snippet.text);
    ++number;
  });
}

std::string Snippets::text() const {
  std::string text;
  each([&](std::size_t, std::string_view, std::string_view helper) { text += helper; });
  return text;
}

}  // namespace oriel::source::cpp
