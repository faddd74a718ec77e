#include "reference/loops.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "codegen/keep.hpp"
#include "codegen/stack.hpp"
#include "reference/formats.hpp"

namespace oriel::test {

using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::ValueId;
using graph::Op;
using reference::Number;

namespace {

Number number_of(DType dtype, Word w) {
  if (is_floating(dtype)) return Number::floating(dtype == DType::float64 ? get<double>(w) : get<float>(w));
  return with_type(dtype,
                   [&](auto zero) { return Number::integer(static_cast<std::int64_t>(get<decltype(zero)>(w))); });
}

Word word_of(DType dtype, const Number& n) {
  return with_type(dtype, [&](auto zero) -> Word {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) return put(static_cast<T>(n.f));
    return put(static_cast<T>(n.i));
  });
}

/// An op whose result has the dtype of its operands.
Word arithmetic(Op op, DType dtype, Word a, Word b) {
  dtype = register_dtype(dtype);
  const Number x = number_of(dtype, a);
  const Number y = number_of(dtype, b);
  if (is_floating(dtype)) {
    const double value = reference::float_value(op, dtype, x.f, y.f);
    return word_of(dtype, Number::floating(reference::round_to(dtype, value)));
  }
  const reference::Wide value =
      reference::integer_value(op, dtype, reference::widen(dtype, x.i), reference::widen(dtype, y.i));
  return word_of(dtype, Number::integer(reference::narrow(dtype, value)));
}

Word evaluate(const Instr& in, Word a, Word b, Word c) {
  if (in.code == Code::Round) return put(to_half(get<float>(a), in.from));
  const DType from = register_dtype(in.from);
  switch (in.op) {
    case Op::Bitcast:
      if (is_half(in.from)) return put(half_bits(get<float>(a), in.from));
      if (is_half(in.dtype)) return put(half_value(get<std::uint16_t>(a), in.dtype));
      return in.dtype == DType::bool_ ? Word(a != 0) : a;
    case Op::Where:
      return get<std::uint8_t>(a) != 0 ? b : c;
    case Op::Cast:
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::IsNan:
    case Op::IsInf: {
      const Number operands[] = {number_of(from, a), number_of(from, b)};
      const DType to = register_dtype(in.dtype);
      return word_of(to, reference::apply(in.op, from, to, operands));
    }
    default:
      return arithmetic(in.op, from, a, b);
  }
}

Word identity_word(Op op, DType dtype) {
  return word_of(register_dtype(dtype), reference::reduce(op, register_dtype(dtype), {}));
}

}  // namespace

Word reduce_in_order(Op op, DType dtype, const std::vector<Word>& x) {
  if (x.empty()) return identity_word(op, dtype);
  const Op combination = reference::combination_of(op);
  const auto join = [&](Word a, Word b) { return arithmetic(combination, dtype, a, b); };
  std::vector<std::pair<int, Word>> waiting;  // (level, value)
  for (std::size_t at = 0; at < x.size(); at += 1024) {
    std::vector<Word> lane(32, identity_word(op, dtype));
    for (std::size_t i = at; i < std::min(at + 1024, x.size()); ++i) lane[i % 32] = join(lane[i % 32], x[i]);
    for (std::size_t half = 16; half >= 1; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lane[l] = join(lane[l], lane[l + half]);
    }
    std::pair<int, Word> value{0, lane[0]};
    while (!waiting.empty() && waiting.back().first == value.first) {
      value = {value.first + 1, join(waiting.back().second, value.second)};
      waiting.pop_back();
    }
    waiting.push_back(value);
  }
  while (waiting.size() > 1) {
    const Word last = waiting.back().second;
    waiting.pop_back();
    waiting.back().second = join(waiting.back().second, last);
  }
  return waiting[0].second;
}

void interpret(const codegen::LoopProgram& p, const std::vector<const Bytes*>& arguments,
               std::span<const graph::Scalar> parameters) {
  std::vector<Word> values(p.values.size());
  const auto unravel = [](std::int64_t i, const Ints& extents, std::vector<std::int64_t>& index, std::size_t from) {
    for (std::size_t d = extents.size(); d-- > 0;) {
      index[from + d] = i % extents[d].value();
      i /= extents[d].value();
    }
  };
  const auto execute = [&](const Instr& in, const std::vector<std::int64_t>& index) {
    const auto operand = [&](ValueId v) { return v == kNoValue ? Word{0} : values[static_cast<std::size_t>(v)]; };
    Word result = 0;
    std::optional<std::int64_t> at;
    if (codegen::has_access(in)) at = codegen::stack_of(p.accesses[static_cast<std::size_t>(in.aux)]).at(index);
    const Bytes* buffer = nullptr;
    if (in.code == Code::Load || in.code == Code::Store || in.code == Code::Gather) {
      buffer = arguments[static_cast<std::size_t>(p.accesses[static_cast<std::size_t>(in.aux)].buffer)];
    }
    switch (in.code) {
      case Code::Elementwise:
      case Code::Round:
        result = evaluate(in, operand(in.a), operand(in.b), operand(in.c));
        break;
      case Code::Load:
        result = at ? read_element(*buffer, *at) : 0;
        break;
      case Code::Gather: {
        const auto from = std::bit_cast<std::int64_t>(operand(in.a));
        const auto buffer_of = static_cast<std::size_t>(p.accesses[static_cast<std::size_t>(in.aux)].buffer);
        result = from >= 0 && from < p.arguments[buffer_of].elements ? read_element(*buffer, from) : 0;
        break;
      }
      case Code::Index:
        result = put(at.value_or(0));
        break;
      case Code::Valid:
        result = at.has_value();
        break;
      case Code::Const: {
        const codegen::Constant& k = p.constants[static_cast<std::size_t>(in.aux)];
        const graph::Scalar s = k.parameter >= 0 ? parameters[static_cast<std::size_t>(k.parameter)] : k.value;
        result = with_type(in.dtype, [&](auto zero) -> Word {
          using T = decltype(zero);
          return is_floating(s.dtype) ? put(static_cast<T>(s.f)) : put(static_cast<T>(s.i));
        });
        break;
      }
      case Code::Store:
        if (at) write_element(*buffer, *at, operand(in.a));
        return;
    }
    values[static_cast<std::size_t>(in.result)] = result;
  };
  // Values that later stages read at the same inner point.
  const std::vector<ValueId> kept = codegen::kept_values(p);
  std::vector<std::vector<Word>> rows(kept.size());
  const auto computes = [](const codegen::Stage& stage, ValueId v) {
    return std::any_of(stage.body.begin(), stage.body.end(), [&](const Instr& in) { return in.result == v; });
  };
  const std::int64_t points = numel(p.outer).value();
  for (std::int64_t o = 0; o < points; ++o) {
    std::vector<std::int64_t> outer(p.outer.size());
    unravel(o, p.outer, outer, 0);
    for (const codegen::Stage& stage : p.stages) {
      std::vector<std::vector<Word>> gathered(stage.reductions.size());
      if (!stage.body.empty() || !stage.reductions.empty()) {
        const std::int64_t inner = numel(stage.inner).value();
        std::vector<std::int64_t> index(outer.size() + stage.inner.size());
        std::copy(outer.begin(), outer.end(), index.begin());
        for (std::int64_t r = 0; r < inner; ++r) {
          unravel(r, stage.inner, index, outer.size());
          for (std::size_t k = 0; k < kept.size(); ++k) {
            if (!computes(stage, kept[k]) && static_cast<std::size_t>(r) < rows[k].size())
              values[static_cast<std::size_t>(kept[k])] = rows[k][static_cast<std::size_t>(r)];
          }
          for (const Instr& in : stage.body) execute(in, index);
          for (std::size_t k = 0; k < kept.size(); ++k) {
            if (!computes(stage, kept[k])) continue;
            rows[k].resize(static_cast<std::size_t>(inner));
            rows[k][static_cast<std::size_t>(r)] = values[static_cast<std::size_t>(kept[k])];
          }
          for (std::size_t k = 0; k < gathered.size(); ++k) {
            gathered[k].push_back(values[static_cast<std::size_t>(stage.reductions[k].input)]);
          }
        }
      }
      for (std::size_t k = 0; k < gathered.size(); ++k) {
        const codegen::Reduction& r = stage.reductions[k];
        values[static_cast<std::size_t>(r.result)] = reduce_in_order(r.op, r.dtype, gathered[k]);
      }
      for (const Instr& in : stage.outer) execute(in, outer);
    }
  }
}

}  // namespace oriel::test
