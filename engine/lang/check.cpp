#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "lang/check_expression.hpp"
#include "lang/resolvable.hpp"
#include "lang/syntax/program.hpp"
#include "oriel/error.hpp"

namespace oriel::lang {
namespace {

class Checker {
 public:
  Checker(Program& program, const Lines& lines) : p_(program), d_(program.definition), lines_(lines) {}

  void run() {
    for (std::size_t k = 0; k < d_.parameters.size(); ++k) parameter(k);
    for (std::size_t k = 0; k < d_.results.size(); ++k) result(k);
    for (const Statement& statement : d_.statements) this->statement(statement);
    for (const std::int32_t id : p_.results) {
      const TensorSymbol& tensor = p_.tensors[static_cast<std::size_t>(id)];
      if (tensor.assigned) continue;
      if (tensor.input()) {
        fail(ErrorKind::Redefinition, tensor.span, fmt::format("'{}' is an input and a result", tensor.name));
      }
      fail(ErrorKind::UndefinedOutput, tensor.span,
           fmt::format("the result '{}' is assigned by no statement", tensor.name));
    }
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const {
    lang::fail(p_.source(), kind, span, message, notes);
  }

  void check_free(std::string_view name, Span span) const {
    if (find_builtin(name) != nullptr) {
      fail(ErrorKind::ReservedName, span, fmt::format("'{}' is a builtin function", name));
    }
    if (const std::int32_t tensor = find_tensor(p_, name); tensor >= 0) {
      fail(ErrorKind::Redefinition, span, fmt::format("'{}' names a tensor already", name),
           {{p_.tensors[static_cast<std::size_t>(tensor)].span, "it came up here"}});
    }
    if (find_size(p_, name) >= 0) {
      fail(ErrorKind::Redefinition, span, fmt::format("'{}' is a size variable already", name));
    }
  }

  void dimensions(std::vector<Dimension>& dims, bool may_define) {
    for (Dimension& dim : dims) {
      if (dim.name.empty()) continue;
      dim.size = find_size(p_, dim.name);
      if (dim.size >= 0) continue;
      if (!may_define) {
        fail(ErrorKind::UndefinedName, dim.span,
             fmt::format("'{}' is no size variable: no parameter has such a dimension", dim.name));
      }
      check_free(dim.name, dim.span);
      dim.size = p_.size_ids[dim.name] = static_cast<std::int32_t>(p_.sizes.size());
      p_.sizes.push_back(dim.name);
    }
  }

  std::int32_t add_tensor(const TensorSymbol& tensor) {
    p_.tensors.push_back(tensor);
    return p_.tensor_ids[tensor.name] = static_cast<std::int32_t>(p_.tensors.size() - 1);
  }

  void parameter(std::size_t k) {
    Parameter& parameter = d_.parameters[k];
    dimensions(parameter.dims, true);
    check_free(parameter.name, parameter.span);
    TensorSymbol tensor;
    tensor.name = parameter.name;
    tensor.span = parameter.span;
    tensor.dtype = parameter.dtype;
    tensor.rank = parameter.dims.size();
    tensor.parameter = static_cast<std::int32_t>(k);
    add_tensor(tensor);
  }

  void result(std::size_t k) {
    Result& result = d_.results[k];
    dimensions(result.dims, false);
    std::int32_t id = find_tensor(p_, result.name);
    if (id >= 0 && p_.tensors[static_cast<std::size_t>(id)].result >= 0) {
      fail(ErrorKind::Redefinition, result.span, fmt::format("the result '{}' is listed twice", result.name));
    }
    if (id < 0) {
      check_free(result.name, result.span);
      TensorSymbol tensor;
      tensor.name = result.name;
      tensor.span = result.span;
      id = add_tensor(tensor);
    }
    p_.tensors[static_cast<std::size_t>(id)].result = static_cast<std::int32_t>(k);
    p_.results.push_back(id);
  }

  std::int32_t target(const Statement& statement) {
    std::int32_t id = find_tensor(p_, statement.target);
    if (id < 0) {
      check_free(statement.target, statement.target_span);
      TensorSymbol tensor;
      tensor.name = statement.target;
      tensor.span = statement.target_span;
      id = add_tensor(tensor);
      p_.has_temporaries = true;
    }
    const TensorSymbol& tensor = p_.tensors[static_cast<std::size_t>(id)];
    if (tensor.input()) {
      fail(ErrorKind::AssignToInput, statement.target_span,
           fmt::format("'{}' is an input, and inputs are immutable; assign to another name", tensor.name),
           {{tensor.span, "it came in here"}});
    }
    if (tensor.assigned && tensor.rank != statement.left.size()) {
      fail(ErrorKind::RankMismatch, statement.head,
           fmt::format("'{}' has {} dimensions since an earlier statement, but {} indices here", tensor.name,
                       tensor.rank, statement.left.size()));
    }
    if (tensor.result >= 0) {
      const Result& result = d_.results[static_cast<std::size_t>(tensor.result)];
      if (result.has_dims && result.dims.size() != statement.left.size()) {
        fail(ErrorKind::RankMismatch, statement.head,
             fmt::format("'{}' is declared with {} dimensions, but has {} indices here", tensor.name,
                         result.dims.size(), statement.left.size()),
             {{result.span, "it is declared here"}});
      }
    }
    return id;
  }

  void left_indices(const Statement& statement, StatementNames& names) {
    for (const Index& index : statement.left) {
      if (index.position != kNoExpr) continue;
      if (find_builtin(index.name) != nullptr) {
        fail(ErrorKind::ReservedName, index.span, fmt::format("'{}' is a builtin function", index.name));
      }
      if (find_tensor(p_, index.name) >= 0 || find_size(p_, index.name) >= 0) {
        fail(ErrorKind::ShadowedName, index.span,
             fmt::format("'{}' names a tensor or a size variable; an index needs a name of its own", index.name));
      }
      if (names.find_variable(index.name) >= 0) {
        fail(ErrorKind::DuplicateIndex, index.span, fmt::format("the index '{}' occurs twice on the left", index.name));
      }
      names.add_variable(index.name, index.span, true);
    }
  }

  static const Index* first_position(const Statement& statement) {
    const auto found =
        std::ranges::find_if(statement.left, [](const Index& index) { return index.position != kNoExpr; });
    return found == statement.left.end() ? nullptr : &*found;
  }

  // Positions say nothing about how many there are, so the tensor has its sizes before.
  void check_declared(const Statement& statement, const TensorSymbol& tensor, const Index& position) const {
    if (tensor.assigned) return;
    if (tensor.result >= 0 && d_.results[static_cast<std::size_t>(tensor.result)].has_dims) return;
    std::vector<std::string> sizes, indices, ranges;
    for (std::size_t k = 0; k < statement.left.size(); ++k) {
      sizes.push_back(fmt::format("N{}", k));
      indices.push_back(fmt::format("n{}", k));
      ranges.push_back(fmt::format("n{0} in 0:N{0}", k));
    }
    fail(ErrorKind::Parse, position.span,
         fmt::format("this is a position that is written, not an index of '{0}', and gives it no size; declare the "
                     "sizes, as in -> (float({1}) {0}), or assign '{0}' before, as in {0}({2}) = 0.0 where {3}",
                     tensor.name, fmt::join(sizes, ", "), fmt::join(indices, ", "), fmt::join(ranges, ", ")));
  }

  void statement(const Statement& statement) {
    const std::int32_t target = this->target(statement);
    ExpressionChecker expressions(p_, static_cast<std::int32_t>(p_.statements.size()));
    left_indices(statement, expressions.names());
    for (std::size_t k = 0; k < statement.clauses.size(); ++k) expressions.clause(statement.clauses[k], k);
    expressions.positions(statement);
    expressions.check(statement.right);

    CheckedStatement out;
    out.syntax = &statement;
    out.line = static_cast<int>(lines_.place(statement.span).line);
    out.target = target;
    TensorSymbol& tensor = p_.tensors[static_cast<std::size_t>(target)];
    const Index* position = first_position(statement);
    if (position != nullptr) check_declared(statement, tensor, *position);
    const bool set = statement.assignment == Assignment::Set, update = !set && !statement.initialises;
    out.updates = (update || (set && position != nullptr)) && tensor.assigned;
    out.starts_from_identity = update && !tensor.assigned;
    if (out.updates || position != nullptr) expressions.add_self(statement, target);
    expressions.finish(statement, out);
    if (statement.assignment == Assignment::Set && out.variables.size() > out.left) {
      const Variable& variable = out.variables[out.left];
      fail(ErrorKind::ReductionWithoutOperator, variable.span,
           fmt::format("'{}' does not occur on the left, so the statement reduces over it, but '=' is no reduction; "
                       "write +=! *=! min=! or max=!",
                       variable.name),
           {{statement.operator_span, "instead of this"}});
    }
    types(statement, out, tensor);
    if (out.starts_from_identity) p_.warnings.push_back(fmt::format("uninitialized_reduction:{}", tensor.name));
    tensor.rank = statement.left.size();
    tensor.assigned = true;
    tensor.dtype = out.target_dtype;
    p_.statements.push_back(std::move(out));
  }

  void types(const Statement& statement, CheckedStatement& out, const TensorSymbol& tensor) const {
    DType dtype = d_[statement.right].dtype;
    const bool counts = statement.assignment == Assignment::Add || statement.assignment == Assignment::Mul;
    if (dtype == DType::bool_ && counts) dtype = DType::int32;
    if (out.updates) dtype = promote_values(dtype, tensor.dtype);
    out.value_dtype = dtype;
    out.target_dtype = dtype;
    if (tensor.result < 0) return;
    const Result& result = d_.results[static_cast<std::size_t>(tensor.result)];
    if (!result.dtype) return;
    if (promote_values(*result.dtype, dtype) != *result.dtype) {
      fail(ErrorKind::NarrowingAssignment, d_[statement.right].span,
           fmt::format("this is {}, which the declared {} of '{}' cannot hold; cast it, or declare a wider type",
                       name(dtype), name(*result.dtype), tensor.name),
           {{result.span, "it is declared here"}});
    }
    out.target_dtype = *result.dtype;
  }

  Program& p_;
  Definition& d_;
  const Lines& lines_;
};

}  // namespace

Site Program::site(const CheckedStatement& statement, Site otherwise) const {
  if (text->name == Source::kNoName) return otherwise;
  // Nodes keep the pointer as long as they live. So names are never freed; there are few of them.
  static auto& names = *new std::unordered_set<std::string>();
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::definitions));
  return Site(Site::Kind::line, names.insert(text->name).first->c_str(), statement.line);
}

std::vector<ProgramPtr> check(std::string_view text, std::string_view name, std::span<const DType> types) {
  const auto source = std::make_shared<const Source>(Source{std::string(text), std::string(name)});
  const Lines lines(source->text);
  std::vector<ProgramPtr> programs;
  for (Definition& definition : parse(*source, types)) {
    auto program = std::make_shared<Program>();
    program->text = source;
    program->definition = std::move(definition);
    Checker(*program, lines).run();
    check_resolvable(*program);
    programs.push_back(std::move(program));
  }
  return programs;
}

ProgramPtr select(const std::vector<ProgramPtr>& programs, std::string_view name) {
  if (name.empty()) return programs.back();
  std::string names;
  ProgramPtr found;
  for (const ProgramPtr& program : programs) {
    if (program->definition.name == name) found = program;
    names += (names.empty() ? "" : ", ") + std::string(program->definition.name);
  }
  if (!found)
    throw ArgumentError("comprehension", fmt::format("no definition '{}'; there are {}", base::escaped(name), names));
  return found;
}

DType promote_values(DType a, DType b) noexcept {
  const auto kind = [](DType dtype) { return dtype == DType::bool_ ? 0 : is_floating(dtype) ? 2 : 1; };
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  if (a == b) return a;
  if (kind(a) == 2) {
    if (itemsize(a) == itemsize(b)) return DType::float32;  // float16 with bfloat16
    return itemsize(a) > itemsize(b) ? a : b;
  }
  const std::size_t width = std::max(itemsize(a), itemsize(b));
  if (is_unsigned(a) && is_unsigned(b)) return itemsize(a) == width ? a : b;
  constexpr DType kSigned[] = {DType::int8, DType::int16, DType::int32, DType::int64};
  for (const DType dtype : kSigned) {
    if (itemsize(dtype) == width) return dtype;
  }
  return DType::int64;
}

}  // namespace oriel::lang
