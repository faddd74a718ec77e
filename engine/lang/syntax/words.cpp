#include "lang/syntax/words.hpp"

namespace oriel::lang {
namespace {

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array kTypes{
    TypeName{"bool", DType::bool_},      TypeName{"int8", DType::int8},       TypeName{"int16", DType::int16},
    TypeName{"int32", DType::int32},     TypeName{"int64", DType::int64},     TypeName{"uint8", DType::uint8},
    TypeName{"uint16", DType::uint16},   TypeName{"uint32", DType::uint32},   TypeName{"uint64", DType::uint64},
    TypeName{"float16", DType::float16}, TypeName{"float32", DType::float32}, TypeName{"float64", DType::float64},
    TypeName{"float", DType::float32},   TypeName{"double", DType::float64},  TypeName{"int", DType::int32},
};
constexpr std::array<std::string_view, 4> kKeywords{"def", "where", "in", "exists"};

}  // namespace

std::optional<DType> type_of_name(std::string_view word) {
  for (const TypeName& type : kTypes) {
    if (type.name == word) return type.dtype;
  }
  return {};
}

bool is_keyword(std::string_view word) {
  for (const std::string_view keyword : kKeywords) {
    if (keyword == word) return true;
  }
  return type_of_name(word).has_value() || word == "min" || word == "max" || word == "true" || word == "false";
}

std::string_view symbol(Operator op) noexcept {
  switch (op) {
    case Operator::Neg:
      return "-";
    case Operator::Not:
      return "!";
    case Operator::Min:
      return "min";
    case Operator::Max:
      return "max";
    default:
      for (const BinaryOperator& row : kBinary) {
        if (row.op == op) return row.symbol;
      }
      return "?";
  }
}

std::string_view symbol(Assignment assignment, bool initialises) noexcept {
  for (const AssignmentSymbol& row : kAssignments) {
    if (row.assignment == assignment && row.initialises == initialises) return row.symbol;
  }
  return "=";
}

}  // namespace oriel::lang
