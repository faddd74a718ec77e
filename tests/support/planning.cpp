#include "support/planning.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "codegen/stack.hpp"
#include "formula/call.hpp"
#include "graph/fold.hpp"
#include "graph/layout.hpp"
#include "reference/number.hpp"
#include "runtime/executor.hpp"
#include "runtime/key.hpp"

namespace oriel::test {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::LoopProgram;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

NodePtr counting(const Shape& shape, DType dtype) {
  const auto n = static_cast<std::size_t>(numel(shape).value());
  auto* data = new std::vector<std::byte>(n * itemsize(dtype) + 8);
  for (std::size_t i = 0; i < n; ++i) {
    const Scalar s = Scalar::of_int(dtype, static_cast<std::int64_t>(i) + 1);
    std::byte* at = data->data() + i * itemsize(dtype);
    if (dtype == DType::float32) {
      const auto f = static_cast<float>(s.f);
      std::memcpy(at, &f, 4);
    } else if (dtype == DType::float64) {
      std::memcpy(at, &s.f, 8);
    } else {
      std::memcpy(at, &s.i, itemsize(dtype));
    }
  }
  auto buffer =
      std::make_shared<mem::Buffer>(Device::eigen(), data->data(), n * itemsize(dtype), [data](void*) { delete data; });
  return graph::leaf(buffer, dtype, shape);
}

Tensor leaf(const Shape& shape, DType dtype) { return detail::Access::tensor(counting(shape, dtype)); }

namespace {

struct Planned {
  runtime::Key key;
  runtime::Plan plan;
};

Planned make(const std::vector<NodePtr>& roots, const schedule::FusionLimits& limits) {
  const base::Activity work;
  Planned p;
  runtime::make_key(work, roots, 0, p.key);
  p.plan = runtime::make_plan(roots, p.key, limits);
  for (const runtime::PlannedKernel& k : p.plan.kernels)
    if (k.runs) codegen::verify(k.lowered.program);
  return p;
}

void each_point(const Ints& extents, const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> at(extents.size(), 0);
  const std::int64_t points = numel(extents).value();
  for (std::int64_t n = 0; n < points; ++n) {
    visit(at);
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++at[d] < extents[d].value()) break;
      at[d] = 0;
    }
  }
}

Scalar load(const void* data, DType dtype, std::int64_t i) {
  const auto* at = static_cast<const std::byte*>(data) + static_cast<std::size_t>(i) * itemsize(dtype);
  if (dtype == DType::float32) {
    float f = 0;
    std::memcpy(&f, at, 4);
    return Scalar::of_float(dtype, static_cast<double>(f));
  }
  if (dtype == DType::float64) {
    double f = 0;
    std::memcpy(&f, at, 8);
    return Scalar::of_float(dtype, f);
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, itemsize(dtype));
  return Scalar::of_int(dtype, static_cast<std::int64_t>(bits));
}

/// Interprets a loop program for the dtypes that the schedule's tests use: float32, float64, integers and bool.
class Interpreter {
 public:
  Interpreter(const LoopProgram& program, std::vector<void*> arguments, const std::vector<Scalar>& parameters)
      : p_(program), arguments_(std::move(arguments)), parameters_(parameters), values_(program.values.size()) {}

  void run() {
    each_point(p_.outer, [&](const std::vector<std::int64_t>& outer) {
      for (const codegen::Stage& s : p_.stages) {
        for (const codegen::Reduction& r : s.reductions) value(r.result) = identity(r);
        if (!s.body.empty() || !s.reductions.empty()) {
          each_point(s.inner, [&](const std::vector<std::int64_t>& inner) {
            std::vector<std::int64_t> at = outer;
            at.insert(at.end(), inner.begin(), inner.end());
            for (const Instr& i : s.body) step(i, at);
            for (const codegen::Reduction& r : s.reductions) gather(r);
          });
        }
        for (const Instr& i : s.outer) step(i, outer);
      }
    });
  }

 private:
  Scalar& value(codegen::ValueId v) { return values_[static_cast<std::size_t>(v)]; }

  static Scalar scalar(DType dtype, const reference::Number& n) {
    return is_floating(dtype) ? Scalar::of_float(dtype, n.f) : Scalar::of_int(dtype, n.i);
  }
  static Scalar identity(const codegen::Reduction& r) { return scalar(r.dtype, reference::reduce(r.op, r.dtype, {})); }

  /// Functions of floats are not folded; the oracle computes them.
  static Scalar apply(Op op, DType result, const std::vector<Scalar>& operands) {
    const DType dtype = operands.back().dtype;
    if (graph::row(op).functor != ops::FunctorKind::Function || !is_floating(dtype))
      return graph::evaluate(op, result, operands);
    std::vector<reference::Number> numbers;
    for (const Scalar& x : operands) numbers.push_back(reference::Number::floating(x.f));
    return scalar(result, reference::apply(op, dtype, result, numbers));
  }

  void gather(const codegen::Reduction& r) {
    value(r.result) = apply(graph::row(r.op).combination, r.dtype, {value(r.result), value(r.input)});
  }

  void step(const Instr& i, const std::vector<std::int64_t>& at) {
    std::optional<std::int64_t> place;
    if (codegen::has_access(i)) place = codegen::stack_of(p_.accesses[static_cast<std::size_t>(i.aux)]).at(at);
    switch (i.code) {
      case Code::Load: {
        const Access& a = p_.accesses[static_cast<std::size_t>(i.aux)];
        value(i.result) =
            place ? load(arguments_[static_cast<std::size_t>(a.buffer)], a.dtype, *place) : Scalar::of_int(i.dtype, 0);
        break;
      }
      case Code::Gather: {
        const Access& a = p_.accesses[static_cast<std::size_t>(i.aux)];
        const std::int64_t from = value(i.a).i;
        const bool inside = from >= 0 && from < p_.arguments[static_cast<std::size_t>(a.buffer)].elements;
        value(i.result) =
            inside ? load(arguments_[static_cast<std::size_t>(a.buffer)], a.dtype, from) : Scalar::of_int(i.dtype, 0);
        break;
      }
      case Code::Index:
        value(i.result) = Scalar::of_int(DType::int64, place.value_or(0));
        break;
      case Code::Valid:
        value(i.result) = Scalar::of_int(DType::bool_, place.has_value());
        break;
      case Code::Const: {
        const codegen::Constant& c = p_.constants[static_cast<std::size_t>(i.aux)];
        value(i.result) = c.parameter >= 0 ? parameters_[static_cast<std::size_t>(c.parameter)] : c.value;
        break;
      }
      case Code::Store: {
        if (!place) break;
        const Access& a = p_.accesses[static_cast<std::size_t>(i.aux)];
        auto* to = static_cast<std::byte*>(arguments_[static_cast<std::size_t>(a.buffer)]) +
                   static_cast<std::size_t>(*place) * itemsize(a.dtype);
        const Scalar s = value(i.a);
        const auto f = static_cast<float>(is_floating(s.dtype) ? s.f : 0);
        if (a.dtype == DType::float32)
          std::memcpy(to, &f, 4);
        else
          std::memcpy(to, &s.i, itemsize(a.dtype));
        break;
      }
      case Code::Round:
        value(i.result) = value(i.a).cast(i.from).cast(DType::float32);
        break;
      case Code::Elementwise: {
        std::vector<Scalar> operands{value(i.a)};
        if (i.b >= 0) operands.push_back(value(i.b));
        if (i.c >= 0) operands.push_back(value(i.c));
        value(i.result) = apply(i.op, i.dtype, operands);
        break;
      }
    }
  }

  const LoopProgram& p_;
  std::vector<void*> arguments_;
  const std::vector<Scalar>& parameters_;
  std::vector<Scalar> values_;
};

}  // namespace

runtime::Plan plan(const std::vector<NodePtr>& roots, const schedule::FusionLimits& limits) {
  return std::move(make(roots, limits).plan);
}

std::size_t kernel_count(const std::vector<NodePtr>& roots, const schedule::FusionLimits& limits) {
  return plan(roots, limits).kernels.size();
}

std::vector<std::string> reasons(const runtime::Plan& plan) {
  std::vector<std::string> all;
  for (schedule::KernelId k : plan.graph.order)
    for (const schedule::Output& o : plan.graph.kernels[static_cast<std::size_t>(k)].outputs) all.push_back(o.reason);
  return all;
}

std::vector<std::vector<double>> interpret(const std::vector<NodePtr>& roots, const schedule::FusionLimits& limits) {
  const Planned p = make(roots, limits);
  std::vector<std::vector<std::byte>> outputs, blocks;
  for (const auto& o : p.plan.outputs) outputs.emplace_back(static_cast<std::size_t>(o.bytes) + 8, std::byte{0x5a});
  for (std::int64_t b : p.plan.memory.block_bytes)
    blocks.emplace_back(static_cast<std::size_t>(b) + 8, std::byte{0x5a});
  for (const runtime::PlannedKernel& k : p.plan.kernels) {
    if (!k.runs) continue;
    std::vector<void*> arguments;
    for (const runtime::ArgumentSource& a : k.arguments) {
      const auto i = static_cast<std::size_t>(a.index);
      switch (a.kind) {
        case runtime::ArgumentSource::Kind::Leaf:
          arguments.push_back(p.key.leaves[i]->data());
          break;
        case runtime::ArgumentSource::Kind::Output:
          arguments.push_back(outputs[i].data());
          break;
        case runtime::ArgumentSource::Kind::Temporary:
          arguments.push_back(blocks[static_cast<std::size_t>(p.plan.memory.block_of[i])].data());
          break;
      }
    }
    Interpreter(k.lowered.program, arguments, p.key.parameter_values).run();
  }
  std::vector<std::vector<double>> results;
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const auto o = static_cast<std::size_t>(p.plan.output_of_root[r]);
    const Shape& shape = roots[r]->shape;
    const Ints* strides = graph::memory_strides(*roots[r]);
    std::vector<double> values;
    for (std::int64_t i = 0; i < numel(shape).value(); ++i) {
      std::int64_t left = i, at = strides == nullptr ? i : 0;
      for (std::size_t d = shape.size(); strides != nullptr && d-- > 0; left /= shape[d].value())
        at += left % shape[d].value() * (*strides)[d].value();
      values.push_back(load(outputs[o].data(), roots[r]->dtype, at).as_double());
    }
    results.push_back(values);
  }
  return results;
}

}  // namespace oriel::test
