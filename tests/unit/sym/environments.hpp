// Helpers for the tests of symbolic sizes.
#pragma once

#include <string>
#include <vector>

#include "oriel/shape_env.hpp"
#include "sym/environment.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"

namespace oriel::test {

using Strings = std::vector<std::string>;

inline Strings guard_texts(const ShapeEnv& env, sym::Notation notation = sym::Notation::infix) {
  Strings texts;
  for (const auto& guard : env.guards()) texts.push_back(sym::to_string(guard.condition.node(), notation));
  return texts;
}

inline Strings deferred_texts(const ShapeEnv& env) {
  Strings texts;
  for (const auto& check : env.deferred_checks()) texts.push_back(check.symbol + ": " + to_string(check.condition));
  return texts;
}

inline ShapeEnv::Symbol symbol_named(const ShapeEnv& env, const std::string& name) {
  for (const auto& symbol : env.symbols()) {
    if (symbol.name == name) return symbol;
  }
  return {};
}

/// Parses an expression. Symbols are made when they first appear, without bounds.
inline sym::Expr read(sym::Pool& pool, const std::string& text, sym::Interval bounds = {}) {
  return sym::parse(pool, text, [&](std::string_view name) { return pool.symbol(name, bounds); });
}

}  // namespace oriel::test
