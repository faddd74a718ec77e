#include "lang/open_ranges.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "lang/open_rounds.hpp"
#include "oriel/error.hpp"
#include "sym/build.hpp"

namespace oriel::lang {
namespace {

/// Gives the size variables and the parameters' dimensions their values.
class OpenBinding {
 public:
  explicit OpenBinding(OpenState& state) : state_(state), builder_(*state.out.builder) {}

  void run(std::span<const OpenShape> shapes) {
    const Definition& d = state_.program.definition;
    state_.out.sizes.assign(state_.program.sizes.size(), nullptr);
    for (std::size_t k = 0; k < d.parameters.size(); ++k) {
      const Parameter& parameter = d.parameters[k];
      const OpenShape shape = k < shapes.size() ? shapes[k] : OpenShape();
      if (shape && shape->size() != parameter.dims.size()) {
        state_.fail(ErrorKind::RankMismatch, parameter.span,
                    fmt::format("'{}' has {} dimension{}, but its argument has {}", parameter.name,
                                parameter.dims.size(), parameter.dims.size() == 1 ? "" : "s", shape->size()));
      }
      for (std::size_t axis = 0; axis < parameter.dims.size(); ++axis) {
        if (shape && ((*shape)[axis].value >= 0 || !(*shape)[axis].name.empty())) {
          bind(parameter, axis, of((*shape)[axis]));
        }
      }
    }
    for (std::size_t size = 0; size < state_.out.sizes.size(); ++size) {
      if (state_.out.sizes[size] == nullptr)
        state_.out.sizes[size] = symbol(std::string(state_.program.sizes[size]), Interval::at_least(1));
    }
  }

 private:
  sym::Expr of(const OpenSize& size) {
    return size.value >= 0 ? builder_.pool().constant(size.value) : symbol(size.name, size.range);
  }
  sym::Expr symbol(const std::string& name, Interval range) {
    for (const sym::Expr known : state_.out.open) {
      if (known->name == name) return known;
    }
    return state_.out.open.emplace_back(builder_.open_size(name, range));
  }

  void bind(const Parameter& parameter, std::size_t axis, sym::Expr came) {
    const Dimension& dim = parameter.dims[axis];
    if (dim.size >= 0 && state_.out.sizes[static_cast<std::size_t>(dim.size)] == nullptr) {
      state_.out.sizes[static_cast<std::size_t>(dim.size)] = came;
      bound_by_[dim.size] = fmt::format("dimension {} of '{}'", axis, parameter.name);
      return;
    }
    const sym::Expr wanted =
        dim.size >= 0 ? state_.out.sizes[static_cast<std::size_t>(dim.size)] : builder_.pool().constant(dim.value);
    const std::string what = dim.size >= 0 ? std::string(dim.name) : std::to_string(dim.value);
    if (came->is_constant() && wanted->is_constant() && came->value != wanted->value) {
      state_.fail(ErrorKind::SizeMismatch, dim.span,
                  dim.size >= 0
                      ? fmt::format("{} is {} by {} and {} by dimension {} of '{}'; one name is one size", what,
                                    wanted->value, bound_by_[dim.size], came->value, axis, parameter.name)
                      : fmt::format("dimension {} of '{}' is {}, and the argument's is {}", axis, parameter.name, what,
                                    came->value));
    }
    state_.require({sym::eq(came, wanted), 0, -1, dim.span,
                    fmt::format("dimension {} of '{}' is {}", axis, parameter.name, what), true},
                   ErrorKind::SizeMismatch);
  }

  OpenState& state_;
  IndexBuilder& builder_;
  std::map<std::int32_t, std::string> bound_by_;  // the dimension that gave a size variable its value
};

// The target's coordinates must be those of earlier statements and those declared.
void check_open_target(OpenState& state, std::size_t number, std::vector<OpenRange> box, bool assigned) {
  const CheckedStatement& statement = state.program.statements[number];
  const auto target = static_cast<std::size_t>(statement.target);
  const TensorSymbol& tensor = state.program.tensors[target];
  std::vector<OpenRange>& before = state.out.boxes[target];
  for (std::size_t d = 0; assigned && d < box.size(); ++d) {
    const std::string reason = fmt::format("all statements give dimension {} of '{}' one range", d, tensor.name);
    for (const sym::Expr condition : {sym::eq(before[d].lo, box[d].lo), sym::eq(before[d].end, box[d].end)})
      state.require({condition, number, -1, statement.syntax->head, reason, true}, ErrorKind::ShapeConflict);
  }
  if (tensor.result >= 0) {
    const Result& result = state.program.definition.results[static_cast<std::size_t>(tensor.result)];
    for (std::size_t d = 0; d < result.dims.size(); ++d) {
      const Dimension& dim = result.dims[d];
      const sym::Expr wanted = dim.size >= 0 ? state.out.sizes[static_cast<std::size_t>(dim.size)]
                                             : state.out.builder->pool().constant(dim.value);
      state.require({sym::eq(sym::sub(box[d].end, box[d].lo), wanted), number, -1, dim.span,
                     fmt::format("dimension {} of '{}' is as declared", d, tensor.name), true},
                    ErrorKind::SizeMismatch);
    }
  }
  if (!assigned) before = std::move(box);
}

void infer_statements(OpenState& state) {
  std::vector<char> assigned(state.program.tensors.size(), 0);
  for (std::size_t s = 0; s < state.program.statements.size(); ++s) {
    const CheckedStatement& statement = state.program.statements[s];
    try {
      state.out.statements.push_back(infer_open_statement(state, s));
      const std::vector<OpenRange>& ranges = state.out.statements.back().ranges;
      const auto target = static_cast<std::size_t>(statement.target);
      check_open_target(state, s, {ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(statement.left)},
                        assigned[target] != 0);
      assigned[target] = 1;
    } catch (const detail::ArithmeticOverflow&) {
      state.fail(ErrorKind::Overflow, statement.syntax->span, "the formulas of this statement do not fit 64 bits");
    } catch (const OverflowError&) {
      state.fail(ErrorKind::Overflow, statement.syntax->span, "the formulas of this statement do not fit 64 bits");
    }
  }
}

}  // namespace

OpenInference infer_open(const Program& program, std::span<const OpenShape> shapes) {
  OpenInference out;
  out.builder = std::make_unique<IndexBuilder>();
  OpenFacts facts;
  OpenState state{program, out, facts};
  OpenBinding(state).run(shapes);
  out.boxes.resize(program.tensors.size());
  for (std::size_t k = 0; k < program.tensors.size(); ++k) {
    const TensorSymbol& tensor = program.tensors[k];
    if (!tensor.input()) continue;
    for (const Dimension& dim : program.definition.parameters[static_cast<std::size_t>(tensor.parameter)].dims) {
      const sym::Expr size =
          dim.size >= 0 ? out.sizes[static_cast<std::size_t>(dim.size)] : out.builder->pool().constant(dim.value);
      out.boxes[k].push_back({out.builder->pool().constant(0), size});
    }
  }
  infer_statements(state);
  return out;
}

}  // namespace oriel::lang
