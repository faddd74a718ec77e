// Random definitions in index notation, and the answers that the rules give, found by trying every value.
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

/// An affine expression, perhaps divided or reduced modulo a number; or the entry of a table at that place, plus a
/// constant.
struct Index {
  Affine affine;
  std::int64_t divide = 1;
  std::int64_t modulo = 0;
  int table = -1;         // the table that is read, or -1; `affine` is the place in the table
  std::int64_t more = 0;  // added to the entry

  /// The value of an index that reads no table.
  std::int64_t at(const Values& v) const;
  /// Whether variable `d` matters: not if its coefficient is a multiple of the remainder's period.
  bool depends_on(std::size_t d) const;
  /// Whether it equals an affine expression without a quotient or a remainder.
  bool linear() const;
  std::string str() const;
};

/// a < b for affine expressions, or two such conditions.
struct Guard {
  Affine less[2];  // holds if each is below 0
  bool both = false;
  bool otherwise = false;  // the access is the value if the condition is false

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
  std::size_t target = 0;  // index of a tensor
  std::size_t variables = 1;
  std::size_t left = 1;          // the variables that are axes of the target: the first ones, or none of them
  std::vector<Index> positions;  // where the target is written, if `left` is 0
  Assign assign = Assign::Sum;
  std::vector<TensorAccess> accesses;
  std::optional<Range> where[kVariables];

  bool used(std::size_t d) const;
};

/// A tensor: an input of floats, a table of int32, or a target of statements.
struct TensorCase {
  enum class Kind { Input, Table, Assigned } kind = Kind::Input;
  std::string name;
  Values extents;  // of inputs and tables, and declared ones
  std::size_t rank = 1;
  Values data;  // row-major
};

struct ProgramCase {
  std::vector<TensorCase> tensors;  // inputs, tables, targets
  std::vector<StatementCase> statements;

  std::string text() const;
  std::vector<Shape> shapes() const;  // of the parameters
};

/// Makes a program from numbers. Missing numbers count as 0, so fewer and smaller numbers give a smaller program.
ProgramCase decode(const std::vector<std::uint8_t>& numbers);

struct Expected {
  std::set<std::string> errors;  // one of these errors; empty: no error
  std::vector<Ranges> ranges;    // for each statement: the ranges of its variables
  std::set<std::tuple<std::string, std::size_t, std::string>> preconditions;
  std::vector<Ranges> boxes;                // for each tensor: the range of each coordinate
  std::vector<std::vector<double>> values;  // for each tensor, row-major
  bool leaves = false;                      // a table sends a relevant access outside its tensor
  bool large = false;                       // too large to enumerate: the other members mean nothing
};

/// Calls f for every point of the ranges of the variables `over`, in that order. Other variables keep their values.
template <class F>
void each_point(const Ranges& ranges, const std::vector<std::size_t>& over, Values& v, const F& f,
                std::size_t from = 0) {
  if (from == over.size()) return f();
  const auto [lo, hi] = ranges[over[from]];
  for (v[over[from]] = lo; v[over[from]] < hi; ++v[over[from]]) each_point(ranges, over, v, f, from + 1);
}

/// Are there at most `most` points?
bool few_points(const Ranges& ranges, const std::vector<std::size_t>& over, std::int64_t most);

/// Applies the rule of rounds and finds the preconditions and values by trying every value.
Expected enumerate(const ProgramCase& program);

}  // namespace oriel::testing
