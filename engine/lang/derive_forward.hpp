// A definition's statements for derivatives: each tensor is assigned once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lang/derive_expression.hpp"
#include "lang/derive_lines.hpp"

namespace oriel::lang {

/// A tensor after one of its statements: each of these has a name of its own.
struct Derived {
  DType dtype = DType::float32;
  std::vector<Loop> box;  // its axes
  std::string cotangent;  // the tensor that holds the derivative by this one; empty before anything is known of it
  std::string given;      // of a result: the parameter that holds that, from position 0
  bool declared = false;  // the cotangent is a result of the derivative
  bool active = false;    // it depends on what is derived by
};

/// A statement that does not keep what its target held.
struct Assigned {
  std::string target;
  InlineVector<ExprId, 3> left;
  Assignment assignment = Assignment::Set;
  ExprId right = kNoExpr;
  std::vector<Loop> loops;
  std::size_t left_loops = 0;
  bool scatters = false;
  const CheckedStatement* checked = nullptr;  // null if it only combines two values of a tensor
  const StatementRanges* ranges = nullptr;
};

class ForwardStatements {
 public:
  /// As derivative().
  ForwardStatements(const Program& program, std::span<const std::string> by);

 protected:
  [[noreturn]] void refuse(Span span, const std::string& message) const;

  /// Does the value depend on what is derived by?
  bool active(ExprId id) const;

  const Program& p_;
  Definition d_;
  Maker make_;
  Names names_;
  Inference inference_;
  std::vector<std::string> by_;
  std::vector<std::int32_t> given_;  // the results that hold floats
  std::map<std::string, Derived> values_;
  std::map<std::int32_t, std::string> now_;  // the present name of each tensor that was assigned
  std::vector<Assigned> assigned_;

 private:
  void inputs(std::span<const std::string> by);
  void statement(std::size_t s);
  void results();
  void add(Assigned of, std::string target, Derived value);
  void rename(ExprId id);
  std::vector<Loop> box(std::size_t tensor) const;
};

}  // namespace oriel::lang
