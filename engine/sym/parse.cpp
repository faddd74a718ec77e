#include "sym/parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "oriel/error.hpp"
#include "sym/build.hpp"

namespace oriel::sym {
namespace {

constexpr std::array<std::string_view, 8> kWords{"and", "or", "not", "max", "min", "select", "True", "False"};
// Longer operators come first, so that "//" is not read as two "/".
constexpr std::array<std::string_view, 16> kSigns{"**", "//", "==", "!=", "<=", ">=", "+", "-",
                                                  "*",  "%",  "<",  ">",  "(",  ")",  ",", "|"};

bool starts_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_decimal(char c) noexcept { return c >= '0' && c <= '9'; }

class ExpressionParser {
 public:
  ExpressionParser(Pool& pool, std::string_view text, const std::function<Expr(std::string_view)>& symbol)
      : pool_(pool), text_(text), symbol_(symbol) {
    next();
  }
  /// Those that parse() tells of.
  const std::vector<Expr>& divisors() const noexcept { return divisors_; }

  Expr whole() {
    const Expr result = disjunction();
    if (!token_.empty()) refuse("an operator or the end of the text");
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& wanted) const {
    const std::string found = token_.empty() ? "the text ends" : "'" + std::string(token_) + "' stands";
    throw ParseError("expression", found + " at column " + std::to_string(start_ + 1) + " of '" + std::string(text_) +
                                       "' where " + wanted + " is expected");
  }

  void next() {
    position_ = std::min(text_.find_first_not_of(" \t", position_), text_.size());
    start_ = position_;
    token_ = {};
    if (position_ == text_.size()) return;
    std::size_t length = 1;
    const char c = text_[position_];
    if (starts_name(c) || is_decimal(c)) {
      while (position_ + length < text_.size() &&
             (starts_name(text_[position_ + length]) || is_decimal(text_[position_ + length]))) {
        ++length;
      }
    } else {
      const auto sign = std::ranges::find_if(kSigns, [&](auto s) { return text_.substr(position_).starts_with(s); });
      if (sign != kSigns.end()) length = sign->size();
    }
    token_ = text_.substr(position_, length);
    position_ += length;
  }

  bool take(std::string_view token) {
    if (token_ != token) return false;
    next();
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token)) refuse("'" + std::string(token) + "'");
  }

  Expr number(Expr e) const {
    if (e->is_condition()) refuse_type("a number", "a condition");
    return e;
  }
  Expr condition(Expr e) const {
    if (!e->is_condition()) refuse_type("a condition", "a number");
    return e;
  }
  [[noreturn]] void refuse_type(const char* wanted, const char* found) const {
    throw ParseError("expression", std::string(found) + " stands before column " + std::to_string(start_ + 1) +
                                       " of '" + std::string(text_) + "' where " + wanted + " is expected");
  }

  Expr disjunction() {
    const NestingLimit limit(*this);
    const std::size_t divisors = divisors_.size();
    Expr left = conjunction();
    while (token_ == "or") {
      condition(left);
      next();
      left = logical_or(left, condition(conjunction()));
      divisors_.resize(divisors);
    }
    return left;
  }

  Expr conjunction() {
    const std::size_t divisors = divisors_.size();
    Expr left = negation();
    while (token_ == "and") {
      condition(left);
      next();
      left = logical_and(left, condition(negation()));
      divisors_.resize(divisors);
    }
    return left;
  }

  Expr negation() {
    if (!take("not")) return comparison();
    const NestingLimit limit(*this);
    return logical_not(condition(negation()));
  }

  static const Kind* comparison_kind(std::string_view token) {
    static constexpr std::array<std::string_view, 6> signs{"==", "!=", "<", "<=", ">", ">="};
    static constexpr std::array<Kind, 6> kinds{Kind::eq, Kind::ne, Kind::lt, Kind::le, Kind::gt, Kind::ge};
    const auto found = std::ranges::find(signs, token);
    return found == signs.end() ? nullptr : &kinds[std::size_t(found - signs.begin())];
  }

  Expr comparison() {
    Expr left = sum();
    Expr all = nullptr;
    while (const Kind* const kind = comparison_kind(token_)) {
      number(left);
      next();
      const Expr right = number(sum());
      const Expr one = relation(*kind, left, right);
      all = all == nullptr ? one : logical_and(all, one);
      left = right;
    }
    return all == nullptr ? left : all;
  }

  Expr sum() {
    Expr left = product();
    while (token_ == "+" || token_ == "-") {
      const bool plus = token_ == "+";
      number(left);
      next();
      const Expr right = number(product());
      left = plus ? add(left, right) : sub(left, right);
    }
    return left;
  }

  Expr product() {
    Expr left = unary();
    while (token_ == "*" || token_ == "//" || token_ == "%") {
      const char sign = token_[0];
      number(left);
      next();
      const Expr right = number(unary());
      left = sign == '*' ? mul(left, right) : (sign == '/' ? floor_div(left, right) : mod(left, right));
      if (sign != '*' && lost_divisor(left, right)) divisors_.push_back(right);
    }
    return left;
  }

  Expr unary() {
    const NestingLimit limit(*this);
    if (take("-")) {
      // The smallest int64 has no positive counterpart, so it is read here.
      if (token_ == "9223372036854775808") {
        next();
        return pool_.constant(Interval::kMinusInfinity);
      }
      return neg(number(unary()));
    }
    if (take("+")) return number(unary());
    const Expr base = atom();
    if (token_ != "**") return base;
    number(base);
    next();
    const Expr exponent = number(unary());
    if (exponent->kind != Kind::constant) refuse_type("a constant exponent", "a symbolic one");
    return power(base, exponent->value);
  }

  Expr atom() {
    if (take("(")) {
      const Expr inner = disjunction();
      expect(")");
      return inner;
    }
    if (token_.empty()) refuse("a number, a name or '('");
    if (is_decimal(token_[0])) return literal();
    if (!starts_name(token_[0])) refuse("a number, a name or '('");
    if (take("True")) return pool_.truth(true);
    if (take("False")) return pool_.truth(false);
    if (take("max")) return extreme_call(max);
    if (take("min")) return extreme_call(min);
    if (take("select")) return select_call();
    if (std::ranges::find(kWords, token_) != kWords.end()) refuse("a number, a name or '('");
    const Expr found = symbol_(token_);
    if (found == nullptr) {
      throw ParseError("expression", "unknown symbol '" + std::string(token_) + "' at column " +
                                         std::to_string(start_ + 1) + " of '" + std::string(text_) + "'");
    }
    next();
    return found;
  }

  Expr literal() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(token_.data(), token_.data() + token_.size(), value);
    if (end != token_.data() + token_.size() || error != std::errc()) refuse("a 64-bit integer");
    next();
    return pool_.constant(value);
  }

  Expr extreme_call(Expr (*join)(Expr, Expr)) {
    expect("(");
    Expr result = number(disjunction());
    while (take(",")) result = join(result, number(disjunction()));
    expect(")");
    return result;
  }

  Expr select_call() {
    expect("(");
    const std::size_t divisors = divisors_.size();
    const Expr chosen = condition(disjunction());
    expect(",");
    const Expr a = number(disjunction());
    expect(",");
    const Expr b = number(disjunction());
    expect(")");
    divisors_.resize(divisors);
    return select(chosen, a, b);
  }

  struct NestingLimit {
    explicit NestingLimit(ExpressionParser& its_parser) : parser(its_parser) {
      if (++parser.depth_ > 3 * kMaxNesting) {
        throw ParseError("expression", "the text nests more than " + std::to_string(kMaxNesting) + " deep");
      }
    }
    ~NestingLimit() { --parser.depth_; }
    NestingLimit(const NestingLimit&) = delete;
    NestingLimit& operator=(const NestingLimit&) = delete;
    ExpressionParser& parser;
  };

  Pool& pool_;
  std::string_view text_;
  const std::function<Expr(std::string_view)>& symbol_;
  std::size_t position_ = 0;
  std::size_t start_ = 0;  // of the token
  std::string_view token_;
  int depth_ = 0;
  std::vector<Expr> divisors_;
};

}  // namespace

bool is_symbol_name(std::string_view name) noexcept {
  return !name.empty() && starts_name(name[0]) &&
         std::ranges::all_of(name, [](char c) { return starts_name(c) || is_decimal(c); }) &&
         std::ranges::find(kWords, name) == kWords.end();
}

Expr parse(Pool& pool, std::string_view text, const std::function<Expr(std::string_view name)>& symbol,
           std::vector<Expr>* divisors) {
  if (text.size() > kMaxExpressionText) {
    throw ParseError("expression", "the text has " + std::to_string(text.size()) + " characters; there may be " +
                                       std::to_string(kMaxExpressionText));
  }
  ExpressionParser parser(pool, text, symbol);
  const Expr read = parser.whole();
  if (divisors != nullptr) divisors->insert(divisors->end(), parser.divisors().begin(), parser.divisors().end());
  return read;
}

}  // namespace oriel::sym
