// Random statements of index notation against enumeration: ranges, error kinds, preconditions and values. A failing one
// is shrunk and printed as a definition.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace {

using oriel::Operand;
using oriel::Shape;
using oriel::Tensor;
using Values = std::vector<std::int64_t>;  // of all variables

constexpr const char* kNames[] = {"i", "j", "k"};
constexpr std::int64_t kWindow = 300;  // no range can reach its ends: coefficients, extents and divisors are small
constexpr std::int64_t kEdge = 12;     // more than any period

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// (c0 i + c1 j + c2 k + constant), perhaps divided, or its remainder.
struct Index {
  std::int64_t coefficient[3] = {0, 0, 0};
  std::int64_t constant = 0;
  std::int64_t divide = 1;
  std::int64_t modulo = 0;
  std::int64_t extent = 1;  // of the dimension that it indexes

  std::int64_t at(const Values& v) const {
    std::int64_t e = constant;
    for (std::size_t d = 0; d < v.size(); ++d) e += coefficient[d] * v[d];
    e = floor_div(e, divide);
    return modulo > 0 ? e - modulo * floor_div(e, modulo) : e;
  }
  bool legal(const Values& v) const { return at(v) >= 0 && at(v) < extent; }
  bool has(std::size_t d) const { return coefficient[d] != 0; }
  std::string str() const {
    std::string text = "(";
    for (std::size_t d = 0; d < 3; ++d) {
      if (has(d)) text += std::to_string(coefficient[d]) + "*" + kNames[d] + " + ";
    }
    text += std::to_string(constant) + ")";
    if (divide > 1) text += " / " + std::to_string(divide);
    if (modulo > 0) text = "(" + text + ") % " + std::to_string(modulo);
    return text;
  }
};

struct Statement {
  std::size_t variables = 1;
  std::size_t left = 1;
  std::vector<std::vector<Index>> accesses;
  std::optional<std::pair<std::int64_t, std::int64_t>> where[3];

  bool used(std::size_t d) const {
    if (d < left) return true;
    for (const auto& access : accesses) {
      for (const Index& index : access) {
        if (index.has(d)) return true;
      }
    }
    return false;
  }

  std::string text() const {
    std::string parameters;
    std::string right;
    std::string clauses;
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      const std::string number = std::to_string(a);
      std::string dims;
      std::string indices;
      for (std::size_t d = 0; d < accesses[a].size(); ++d) {
        dims += (d > 0 ? ", N" : "N") + number + std::to_string(d);
        indices += (d > 0 ? ", " : "") + accesses[a][d].str();
      }
      parameters += (a > 0 ? ", float(" : "float(") + dims + ") T" + number;
      right += (a > 0 ? " + T" : "T") + number + "(" + indices + ")";
    }
    std::string indices;
    for (std::size_t d = 0; d < left; ++d) indices += std::string(d > 0 ? ", " : "") + kNames[d];
    for (std::size_t d = 0; d < variables; ++d) {
      if (!where[d] || !used(d)) continue;
      clauses += std::string(clauses.empty() ? " where " : ", ") + kNames[d] + " in " +
                 std::to_string(where[d]->first) + ":" + std::to_string(where[d]->second);
    }
    return "def f(" + parameters + ") -> (Y) { Y(" + indices + ") +=! " + right + clauses + " }";
  }
};

/// A statement out of numbers; those that are missing are 0, so that fewer and smaller numbers are a smaller statement.
Statement decode(const std::vector<std::uint8_t>& numbers) {
  std::size_t next = 0;
  const auto take = [&](int below) {
    return next < numbers.size() ? static_cast<std::int64_t>(numbers[next++] % below) : 0;
  };
  Statement out;
  out.variables = static_cast<std::size_t>(1 + take(3));
  out.left = static_cast<std::size_t>(1 + take(static_cast<int>(out.variables)));
  const std::int64_t accesses = 1 + take(3);
  for (std::int64_t a = 0; a < accesses; ++a) {
    std::vector<Index> access(static_cast<std::size_t>(1 + take(2)));
    for (Index& index : access) {
      index.extent = 1 + take(6);
      for (std::size_t d = 0; d < out.variables; ++d) {
        constexpr std::int64_t kCoefficients[] = {1, 0, 1, 0, 2, 1, -2, -1};
        index.coefficient[d] = kCoefficients[take(8)];
      }
      index.constant = take(7) - 3;
      const std::int64_t form = take(8);
      if (form == 1 || form == 2) index.divide = form + 1;
      if (form == 3 || form == 4) index.modulo = form;
    }
    out.accesses.push_back(std::move(access));
  }
  for (std::size_t d = 0; d < out.variables; ++d) {
    if (take(3) != 1) continue;
    const std::int64_t lo = take(5) - 2;
    out.where[d] = {lo, lo + take(5)};
  }
  return out;
}

struct Expected {
  std::set<std::string> errors;  // any of these
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
};

/// Calls f for every point of the ranges, with all others of `v` left as they are.
template <class F>
void each_point(const Expected& e, const std::vector<std::size_t>& over, Values& v, std::size_t from, const F& f) {
  if (from == over.size()) return f();
  for (v[over[from]] = e.ranges[over[from]].first; v[over[from]] < e.ranges[over[from]].second; ++v[over[from]]) {
    each_point(e, over, v, from + 1, f);
  }
}

/// The rule of rounds, by trying every value.
Expected enumerate(const Statement& s) {
  Expected out;
  out.ranges.resize(s.variables);
  std::vector<bool> known(s.variables, false);
  std::vector<const Index*> indices;
  for (const auto& access : s.accesses) {
    for (const Index& index : access) indices.push_back(&index);
  }
  for (std::size_t d = 0; d < s.variables; ++d) {
    if (s.where[d] && s.used(d)) {
      out.ranges[d] = *s.where[d];
      known[d] = true;
    }
    const bool named = std::any_of(indices.begin(), indices.end(), [&](const Index* x) { return x->has(d); });
    if (!known[d] && !named && d < s.left) out.errors.insert("unconstrained_output_index");
    if (!s.used(d)) known[d] = true;  // it does not occur
    if (!s.used(d)) out.ranges[d] = {0, 1};
  }
  if (!out.errors.empty()) return out;
  std::set<const Index*> solving;
  for (bool progress = true; progress;) {
    progress = false;
    const std::vector<bool> before = known;
    for (std::size_t d = 0; d < s.variables; ++d) {
      if (before[d]) continue;
      std::vector<const Index*> mine;
      for (const Index* index : indices) {
        bool alone = index->has(d);
        for (std::size_t o = 0; o < s.variables; ++o) alone = alone && (o == d || !index->has(o) || before[o]);
        if (alone) mine.push_back(index);
      }
      if (mine.empty()) continue;
      Values legal;
      Values v(s.variables, 0);
      for (std::int64_t x = -kWindow; x <= kWindow; ++x) {
        bool good = true;
        for (const Index* index : mine) {
          std::vector<std::size_t> others;
          for (std::size_t o = 0; o < s.variables; ++o) {
            if (o != d && index->has(o)) others.push_back(o);
          }
          each_point(out, others, v, 0, [&] {
            v[d] = x;
            good = good && index->legal(v);
          });
        }
        if (good) legal.push_back(x);
      }
      if (!legal.empty() && (legal.front() <= -kWindow + kEdge || legal.back() >= kWindow - kEdge)) continue;
      if (legal.empty()) {
        out.errors.insert("empty_range");
        continue;
      }
      if (legal.back() - legal.front() + 1 != static_cast<std::int64_t>(legal.size())) {
        out.errors.insert("non_interval");
        continue;
      }
      out.ranges[d] = {legal.front(), legal.back() + 1};
      known[d] = true;
      progress = true;
      solving.insert(mine.begin(), mine.end());
    }
    if (!out.errors.empty()) return out;
  }
  if (std::find(known.begin(), known.end(), false) != known.end()) {
    out.errors.insert("unresolved_variable");
    return out;
  }
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d < s.variables; ++d) all.push_back(d);
  Values v(s.variables, 0);
  for (const Index* index : indices) {
    if (solving.contains(index)) continue;
    each_point(out, all, v, 0, [&] {
      if (!index->legal(v)) out.errors.insert("precondition_violated");
    });
  }
  return out;
}

std::vector<Shape> shapes(const Statement& s) {
  std::vector<Shape> out;
  for (const auto& access : s.accesses) {
    Shape shape;
    for (const Index& index : access) shape.push_back(index.extent);
    out.push_back(shape);
  }
  return out;
}

float element(std::size_t tensor, std::size_t place) { return static_cast<float>((7 * place + 3 * tensor) % 11); }

std::vector<float> values(const Statement& s, const Expected& e) {
  std::vector<std::size_t> left;
  std::vector<std::size_t> reduced;
  for (std::size_t d = 0; d < s.variables; ++d) {
    if (s.used(d)) (d < s.left ? left : reduced).push_back(d);
  }
  std::vector<float> out;
  Values v(s.variables, 0);
  each_point(e, left, v, 0, [&] {
    float sum = 0;
    each_point(e, reduced, v, 0, [&] {
      for (std::size_t a = 0; a < s.accesses.size(); ++a) {
        std::int64_t place = 0;
        for (const Index& index : s.accesses[a]) place = place * index.extent + index.at(v);
        sum += element(a, static_cast<std::size_t>(place));
      }
    });
    out.push_back(sum);
  });
  return out;
}

}  // namespace

TEST_CASE("ranges, errors and values are those of enumeration") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& numbers) {
    const Statement s = decode(numbers);
    RC_LOG() << s.text() << '\n';
    for (const Shape& shape : shapes(s)) RC_LOG() << oriel::to_string(shape) << '\n';
    const Expected expected = enumerate(s);
    const oriel::Comprehension f = oriel::comprehension(s.text());
    std::string error;
    std::optional<oriel::ComprehensionRanges> got;
    try {
      got = f.ranges(shapes(s));
    } catch (const oriel::ComprehensionError& e) {
      error = e.kind();
      RC_LOG() << e.diagnostic() << '\n';
    }
    RC_CLASSIFY(!error.empty(), error);
    RC_CLASSIFY(error.empty(), "accepted");
    if (!expected.errors.empty()) {
      RC_ASSERT(expected.errors.contains(error));
      return;
    }
    RC_ASSERT(error.empty());
    RC_ASSERT(got->preconditions.empty());
    for (const auto& variable : got->statements[0].variables) {
      const auto d =
          static_cast<std::size_t>(std::find(std::begin(kNames), std::end(kNames), variable.name) - std::begin(kNames));
      RC_ASSERT(variable.lo == expected.ranges[d].first);
      RC_ASSERT(variable.hi == expected.ranges[d].second);
    }
    std::vector<Tensor> tensors;
    for (std::size_t a = 0; a < s.accesses.size(); ++a) {
      const Shape shape = shapes(s)[a];
      std::vector<float> data;
      for (std::int64_t k = 0; k < oriel::numel(shape).value(); ++k) {
        data.push_back(element(a, static_cast<std::size_t>(k)));
      }
      tensors.push_back(Tensor::from(data, shape));
    }
    const std::vector<Operand> arguments(tensors.begin(), tensors.end());
    const Tensor result = f.call(arguments);
    RC_ASSERT(result.to_vector<float>() == values(s, expected));
  }));
}
