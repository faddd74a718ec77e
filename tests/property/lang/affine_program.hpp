// Random definitions in index notation, and what the rules say of them by trying every value.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing {

using Values = std::vector<std::int64_t>;  // of all variables of a statement
using Range = std::pair<std::int64_t, std::int64_t>;
using Ranges = std::vector<Range>;

constexpr std::size_t kVariables = 4;
constexpr const char* kVariableNames[kVariables] = {"i", "j", "k", "l"};

std::int64_t floor_div(std::int64_t a, std::int64_t b);

/// c0 i + c1 j + c2 k + c3 l + constant.
struct Affine {
  std::int64_t coefficient[kVariables] = {};
  std::int64_t constant = 0;

  std::int64_t at(const Values& v) const;
  bool has(std::size_t d) const { return coefficient[d] != 0; }
  std::string str() const;
};

/// An affine expression, perhaps divided, or its remainder; or what a table holds there, plus a constant.
struct Index {
  Affine affine;
  std::int64_t divide = 1;
  std::int64_t modulo = 0;
  int table = -1;         // where it is read from; then `affine` is the place in the table
  std::int64_t more = 0;  // added to what was read

  /// For those that read nothing.
  std::int64_t at(const Values& v) const;
  /// Whether variable `d` matters: not if its coefficient is a multiple of the remainder's period.
  bool depends_on(std::size_t d) const;
  /// Whether it equals an affine expression without a quotient or a remainder.
  bool linear() const;
  std::string str() const;
};

/// a < b of affine expressions, perhaps two of them.
struct Guard {
  Affine less[2];  // each is below 0
  bool both = false;
  bool otherwise = false;  // the access stands on the other side

  bool takes(const Values& v) const;
  std::string str() const;
};

struct TensorAccess {
  std::size_t tensor = 0;
  std::vector<Index> indices;
  std::optional<Guard> guard;  // `guard ? access : 2`
};

enum class Assign { Set, Sum, Max, Update };

struct StatementCase {
  std::size_t target = 0;  // a tensor
  std::size_t variables = 1;
  std::size_t left = 1;
  Assign assign = Assign::Sum;
  std::vector<TensorAccess> accesses;
  std::optional<Range> where[kVariables];

  bool used(std::size_t d) const;
};

/// A tensor: an input of floats, a table of int32, or one that a statement assigns.
struct TensorCase {
  enum class Kind { Input, Table, Assigned } kind = Kind::Input;
  std::string name;
  Values extents;  // of inputs and tables
  std::size_t rank = 1;
  Values data;  // row-major
};

struct ProgramCase {
  std::vector<TensorCase> tensors;  // inputs, tables, targets
  std::vector<StatementCase> statements;

  std::string text() const;
  std::vector<Shape> shapes() const;  // of the parameters
};

/// A program out of numbers; those that are missing are 0, so that fewer and smaller numbers are a smaller program.
ProgramCase decode(const std::vector<std::uint8_t>& numbers);

struct Expected {
  std::set<std::string> errors;  // any of these, or none at all
  std::vector<Ranges> ranges;    // of each statement, its variables as numbered there
  std::set<std::tuple<std::string, std::size_t, std::string>> preconditions;
  std::vector<Ranges> boxes;                // of each tensor: its coordinates
  std::vector<std::vector<double>> values;  // of each tensor, row-major
  bool leaves = false;                      // a table sends an access that counts out of its tensor
  bool large = false;                       // too much to try: nothing else holds then
};

/// Calls f for every point of the ranges of the variables named, in the order of their names; others stay as they are.
template <class F>
void each_point(const Ranges& ranges, const std::vector<std::size_t>& over, Values& v, const F& f,
                std::size_t from = 0) {
  if (from == over.size()) return f();
  const auto [lo, hi] = ranges[over[from]];
  for (v[over[from]] = lo; v[over[from]] < hi; ++v[over[from]]) each_point(ranges, over, v, f, from + 1);
}

/// Whether no more than `most` points are there.
bool few_points(const Ranges& ranges, const std::vector<std::size_t>& over, std::int64_t most);

/// The rule of rounds, the preconditions and the values, by trying every value.
Expected enumerate(const ProgramCase& program);

}  // namespace oriel::testing
