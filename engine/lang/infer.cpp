#include "lang/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lang/rounds.hpp"
#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/print.hpp"

namespace oriel::lang {
namespace {

/// Gives the size variables their values, and the inputs their coordinates.
class Binding {
 public:
  explicit Binding(InferenceState& state)
      : state_(state), d_(state.program.definition), builder_(*state.out.builder), sizes_(state.out.sizes) {
    sizes_.assign(state.program.sizes.size(), nullptr);
    by_.resize(sizes_.size());
  }

  void run(std::span<const std::optional<Shape>> shapes) {
    for (std::size_t k = 0; k < d_.parameters.size(); ++k) {
      const Parameter& parameter = d_.parameters[k];
      if (k >= shapes.size() || !shapes[k]) {
        state_.fail(ErrorKind::MissingInput, parameter.span,
                    fmt::format("no argument came for '{}', which has {}", parameter.name, dimensions(parameter)));
      }
      const Shape& shape = *shapes[k];
      if (shape.size() != parameter.dims.size()) fail_rank(parameter, shape.size(), to_string(shape));
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        bind(parameter, axis, builder_.constant(shape[axis].value()));
    }
  }

  void run(std::span<const ArgumentShape> shapes) {
    for (std::size_t k = 0; k < d_.parameters.size() && k < shapes.size(); ++k) {
      const Parameter& parameter = d_.parameters[k];
      if (!shapes[k]) continue;
      const std::vector<ArgumentSize>& shape = *shapes[k];
      if (shape.size() != parameter.dims.size()) fail_rank(parameter, shape.size(), text_of(shape));
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const ArgumentSize& size = shape[axis];
        if (size.value >= 0) {
          bind(parameter, axis, builder_.constant(size.value));
        } else if (!size.name.empty()) {
          bind(parameter, axis, symbol(size.name, size.range));
        }
      }
    }
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      if (sizes_[size] == nullptr) sizes_[size] = symbol(state_.program.sizes[size], Interval::at_least(1));
    }
  }

  sym::Expr value(const Dimension& dim) const {
    return dim.size >= 0 ? sizes_[static_cast<std::size_t>(dim.size)] : builder_.constant(dim.value);
  }

 private:
  static std::string dimensions(const Parameter& parameter) {
    return fmt::format("{} dimension{}", parameter.dims.size(), parameter.dims.size() == 1 ? "" : "s");
  }
  [[noreturn]] void fail_rank(const Parameter& parameter, std::size_t rank, const std::string& shape) const {
    state_.fail(
        ErrorKind::RankMismatch, parameter.span,
        fmt::format("'{}' has {}, but its argument has {}: {}", parameter.name, dimensions(parameter), rank, shape));
  }
  static std::string text_of(const std::vector<ArgumentSize>& shape) {
    std::string text;
    for (const ArgumentSize& size : shape) {
      text += text.empty() ? "" : ", ";
      text += size.value >= 0 ? std::to_string(size.value) : size.name.empty() ? "?" : size.name;
    }
    return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
  }

  sym::Expr symbol(std::string_view name, Interval range) {
    for (const sym::Expr known : state_.out.symbols) {
      if (known->name == name) return known;
    }
    return state_.out.symbols.emplace_back(builder_.size_symbol(name, range));
  }

  void bind(const Parameter& parameter, std::size_t axis, sym::Expr came) {
    const Dimension& dim = parameter.dims[axis];
    if (dim.size >= 0 && sizes_[static_cast<std::size_t>(dim.size)] == nullptr) {
      sizes_[static_cast<std::size_t>(dim.size)] = came;
      by_[static_cast<std::size_t>(dim.size)] = {&parameter, axis};
      return;
    }
    const sym::Expr wanted = value(dim);
    if (came == wanted) return;
    if (!came->is_constant() || !wanted->is_constant()) {
      const std::string what = dim.size >= 0 ? std::string(dim.name) : std::to_string(dim.value);
      return state_.require({sym::eq(came, wanted), 0, -1, dim.span,
                             fmt::format("dimension {} of '{}' is {}", axis, parameter.name, what), true},
                            ErrorKind::SizeMismatch);
    }
    if (dim.size < 0) {
      state_.fail(ErrorKind::SizeMismatch, dim.span,
                  fmt::format("dimension {} of '{}' is {}, and the argument's is {}", axis, parameter.name, dim.value,
                              came->value));
    }
    const auto& [first, first_axis] = by_[static_cast<std::size_t>(dim.size)];
    state_.fail(ErrorKind::SizeMismatch, dim.span,
                fmt::format("{} is {} by dimension {} of '{}' and {} by dimension {} of '{}'; one name is one size",
                            dim.name, wanted->value, first_axis, first->name, came->value, axis, parameter.name));
  }

  InferenceState& state_;
  const Definition& d_;
  IndexBuilder& builder_;
  std::vector<sym::Expr>& sizes_;
  std::vector<std::pair<const Parameter*, std::size_t>> by_;  // the dimension that gave a size variable its value
};

// Checks the target's coordinates after a statement against those of earlier statements and those declared.
void check_target(InferenceState& state, const Binding& binding, std::size_t number, std::vector<IndexRange> box,
                  bool assigned) {
  const CheckedStatement& statement = state.program.statements[number];
  const TensorSymbol& tensor = state.program.tensors[static_cast<std::size_t>(statement.target)];
  std::vector<IndexRange>& before = state.out.boxes[static_cast<std::size_t>(statement.target)];
  const auto listed = [](const std::vector<IndexRange>& of) {
    std::string text;
    for (const IndexRange range : of)
      text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", sym::to_string(range.lo), sym::to_string(range.end));
    return text;
  };
  for (std::size_t d = 0; assigned && d < box.size(); ++d) {
    if (before[d].lo == box[d].lo && before[d].end == box[d].end) continue;
    if (!state.out.symbolic()) {
      state.fail(ErrorKind::ShapeConflict, statement.syntax->head,
                 fmt::format("'{}' ranges over ({}) here, but over ({}) in an earlier statement", tensor.name,
                             listed(box), listed(before)));
    }
    const std::string reason = fmt::format("all statements give dimension {} of '{}' one range", d, tensor.name);
    for (const sym::Expr condition : {sym::eq(before[d].lo, box[d].lo), sym::eq(before[d].end, box[d].end)})
      state.require({condition, number, -1, statement.syntax->head, reason, true}, ErrorKind::ShapeConflict);
  }
  if (tensor.result >= 0) {
    const Result& result = state.program.definition.results[static_cast<std::size_t>(tensor.result)];
    for (std::size_t d = 0; d < result.dims.size(); ++d) {
      const Dimension& dim = result.dims[d];
      const sym::Expr wanted = binding.value(dim);
      const sym::Expr found = sym::sub(box[d].end, box[d].lo);
      if (wanted == found) continue;
      if (wanted->is_constant() && found->is_constant()) {
        state.fail(ErrorKind::SizeMismatch, dim.span,
                   fmt::format("dimension {} of '{}' is declared as {}, but is {}", d, tensor.name, wanted->value,
                               found->value),
                   {{statement.syntax->head, "its range comes from here"}});
      }
      state.require({sym::eq(found, wanted), number, -1, dim.span,
                     fmt::format("dimension {} of '{}' is as declared", d, tensor.name), true},
                    ErrorKind::SizeMismatch);
    }
  }
  if (!assigned) before = std::move(box);
}

bool is_empty(IndexRange range) { return is_number(range) && range.end->value <= range.lo->value; }

// True if a tensor that the statement reads has no elements. A where clause may cause that.
bool reads_nothing(const Program& program, const CheckedStatement& statement, const Inference& known) {
  return std::ranges::any_of(statement.accesses, [&](const AccessUse& use) {
    return std::ranges::any_of(known.boxes[static_cast<std::size_t>(program.definition[use.expr].id)], is_empty);
  });
}

[[noreturn]] void fail_overflow(const InferenceState& state, const CheckedStatement& statement) {
  state.fail(ErrorKind::Overflow, statement.syntax->span,
             state.out.symbolic() ? "the formulas of this statement do not fit 64 bits"
                                  : "the arithmetic of this statement's indices does not fit 64 bits, or divides by "
                                    "zero");
}

void infer_statements(InferenceState& state, const Binding& binding) {
  const Program& program = state.program;
  Inference& out = state.out;
  bool zero_input = false;
  out.boxes.resize(program.tensors.size());
  for (std::size_t k = 0; k < program.tensors.size(); ++k) {
    const TensorSymbol& tensor = program.tensors[k];
    if (!tensor.input()) continue;
    for (const Dimension& dim : program.definition.parameters[static_cast<std::size_t>(tensor.parameter)].dims) {
      out.boxes[k].push_back({out.builder->constant(0), binding.value(dim)});
      zero_input = zero_input || is_empty(out.boxes[k].back());
    }
  }
  std::vector<char> assigned(program.tensors.size(), 0);
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const CheckedStatement& statement = program.statements[s];
    const auto target = static_cast<std::size_t>(statement.target);
    if (statement.written != kNoExpr && assigned[target] == 0) {
      const auto result = static_cast<std::size_t>(program.tensors[target].result);
      for (const Dimension& dim : program.definition.results[result].dims)
        out.boxes[target].push_back({out.builder->constant(0), binding.value(dim)});
    }
    try {
      out.statements.push_back(infer_statement(state, s, zero_input || reads_nothing(program, statement, out)));
      std::vector<IndexRange> box;
      for (std::size_t d = 0; d < statement.axes.size(); ++d) {
        const std::int32_t index = statement.axes[d];
        box.push_back(index < 0 ? out.boxes[target][d] : out.statements.back().ranges[static_cast<std::size_t>(index)]);
      }
      check_target(state, binding, s, std::move(box), assigned[target] != 0);
    } catch (const detail::ArithmeticOverflow&) {
      fail_overflow(state, statement);
    } catch (const OverflowError&) {
      fail_overflow(state, statement);
    }
    assigned[target] = 1;
  }
}

template <class Sizes>
Inference inferred(const Program& program, std::span<const Sizes> shapes) {
  Inference out;
  out.builder = std::make_unique<IndexBuilder>();
  InferenceState state{program, out};
  Binding binding(state);
  binding.run(shapes);
  infer_statements(state, binding);
  return out;
}

}  // namespace

std::vector<std::int64_t> bind_sizes(const Program& program, std::span<const std::optional<Shape>> shapes) {
  Inference out;
  out.builder = std::make_unique<IndexBuilder>();
  InferenceState state{program, out};
  Binding(state).run(shapes);
  std::vector<std::int64_t> sizes;
  for (const sym::Expr size : out.sizes) sizes.push_back(size->value);
  return sizes;
}

Inference infer(const Program& program, std::span<const std::optional<Shape>> shapes) {
  return inferred(program, shapes);
}

Inference infer_symbolic(const Program& program, std::span<const ArgumentShape> shapes) {
  return inferred(program, shapes);
}

}  // namespace oriel::lang
