// The words of the notation: its types, keywords and operators.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "lang/syntax/syntax.hpp"

namespace oriel::lang {

/// The dtype that a word names.
std::optional<DType> type_of_name(std::string_view word);
/// True for keywords, which cannot be names of sizes, tensors or indices.
bool is_keyword(std::string_view word);

struct BinaryOperator {
  std::string_view symbol;
  Operator op;
  int level;  // higher binds tighter
};
inline constexpr std::array kBinary{
    BinaryOperator{"||", Operator::Or, 0}, BinaryOperator{"&&", Operator::And, 1},
    BinaryOperator{"<", Operator::Lt, 2},  BinaryOperator{"<=", Operator::Le, 2},
    BinaryOperator{">", Operator::Gt, 2},  BinaryOperator{">=", Operator::Ge, 2},
    BinaryOperator{"==", Operator::Eq, 2}, BinaryOperator{"!=", Operator::Ne, 2},
    BinaryOperator{"+", Operator::Add, 3}, BinaryOperator{"-", Operator::Sub, 3},
    BinaryOperator{"*", Operator::Mul, 4}, BinaryOperator{"/", Operator::Div, 4},
    BinaryOperator{"%", Operator::Mod, 4},
};

struct AssignmentSymbol {
  std::string_view symbol;
  Assignment assignment;
  bool initialises;
};
inline constexpr std::array kAssignments{
    AssignmentSymbol{"=", Assignment::Set, false},    AssignmentSymbol{"+=", Assignment::Add, false},
    AssignmentSymbol{"+=!", Assignment::Add, true},   AssignmentSymbol{"*=", Assignment::Mul, false},
    AssignmentSymbol{"*=!", Assignment::Mul, true},   AssignmentSymbol{"min=", Assignment::Min, false},
    AssignmentSymbol{"min=!", Assignment::Min, true}, AssignmentSymbol{"max=", Assignment::Max, false},
    AssignmentSymbol{"max=!", Assignment::Max, true},
};

}  // namespace oriel::lang
