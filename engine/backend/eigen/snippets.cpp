#include "backend/eigen/snippets.hpp"

#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

template <class F>
void for_each_snippet(F f) {
  for (const auto& table : {tile_snippets(), element_snippets(), packet_snippets(), float_math_snippets(),
                            math_snippets(), reduce_snippets()}) {
    for (const Snippet& snippet : table) f(snippet);
  }
}

}  // namespace

void Snippets::need(std::string_view name) {
  const Snippet* found = nullptr;
  for_each_snippet([&](const Snippet& snippet) {
    if (snippet.name == name) found = &snippet;
  });
  if (found == nullptr) throw InternalError("render", "no helper is named " + std::string(name));
  if (!needed_.insert(found->name).second) return;
  for (std::string_view uses = found->uses; !uses.empty();) {
    const std::size_t end = uses.find(' ');
    need(uses.substr(0, end));
    uses.remove_prefix(end + 1);
  }
}

bool Snippets::needs_math() const {
  const std::string used = text();
  for (const char* function : {"std::f", "std::sqrt", "std::ceil", "std::nearbyint", "std::trunc", "std::pow",
                               "std::sin", "std::cos", "std::tan", "std::erf"}) {
    if (used.find(function) != std::string::npos) return true;
  }
  return false;
}

std::string Snippets::text() const {
  std::string text;
  for_each_snippet([&](const Snippet& snippet) {
    if (needs(snippet.name)) text += snippet.text;
  });
  return text;
}

}  // namespace oriel::backend::eigen
