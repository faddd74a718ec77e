// Builds loop programs by hand, runs them on the tile machine, and owns their buffers.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "backend/eigen/backend.hpp"
#include "codegen/definitions.hpp"
#include "codegen/loop_program.hpp"
#include "oriel/error.hpp"
#include "support/bytes.hpp"

namespace oriel::test {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Orientation;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

inline const std::vector<DType>& register_dtypes() {
  static const std::vector<DType> all = {DType::bool_,  DType::int8,    DType::int16,  DType::int32,
                                         DType::int64,  DType::uint8,   DType::uint16, DType::uint32,
                                         DType::uint64, DType::float32, DType::float64};
  return all;
}

using ops::takes;

/// The table's reductions that take a dtype.
inline std::vector<Op> reductions(DType dtype) {
  std::vector<Op> list;
  for (const graph::OpRow& row : graph::kOpTable)
    if (row.op_class == graph::OpClass::Reduce && takes(row.op, dtype)) list.push_back(row.op);
  return list;
}

/// Random numbers of any dtype, small enough to be added up.
inline Bytes random_bytes(DType dtype, std::int64_t elements, unsigned seed) {
  Bytes b(dtype, elements);
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < elements; ++i) {
    const double real = static_cast<double>(static_cast<std::int64_t>(random() % 20001) - 10000) / 1237.0;
    const auto whole = static_cast<std::int64_t>(random() % 200);
    switch (dtype) {
      case DType::bool_:
        b.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(whole & 1);
        break;
      case DType::int8:
        b.as<std::int8_t>()[i] = static_cast<std::int8_t>(whole - 100);
        break;
      case DType::int16:
        b.as<std::int16_t>()[i] = static_cast<std::int16_t>(whole * 301);
        break;
      case DType::int32:
        b.as<std::int32_t>()[i] = static_cast<std::int32_t>(random());
        break;
      case DType::int64:
        b.as<std::int64_t>()[i] = static_cast<std::int64_t>(random());
        break;
      case DType::uint8:
        b.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(whole);
        break;
      case DType::uint16:
        b.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(random());
        break;
      case DType::uint32:
        b.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(random());
        break;
      case DType::uint64:
        b.as<std::uint64_t>()[i] = random();
        break;
      case DType::float16:
        b.as<float16_t>()[i] = float16_t(static_cast<float>(real));
        break;
      case DType::bfloat16:
        b.as<bfloat16_t>()[i] = bfloat16_t(static_cast<float>(real));
        break;
      case DType::float32:
        b.as<float>()[i] = static_cast<float>(real);
        break;
      case DType::float64:
        b.as<double>()[i] = real;
        break;
    }
  }
  return b;
}

/// A loop program under construction.
struct Builder {
  LoopProgram p;

  explicit Builder(Ints outer, Orientation orientation = Orientation::Inner) {
    p.name = "test";
    p.outer = std::move(outer);
    p.orientation = orientation;
  }
  Builder& stage(Ints inner = {}) {
    p.stages.emplace_back();
    p.stages.back().inner = std::move(inner);
    return *this;
  }
  std::int32_t argument(DType dtype, std::int64_t elements, bool output = false) {
    p.arguments.push_back({dtype, elements, output, (output ? "out" : "in") + std::to_string(p.arguments.size())});
    return static_cast<std::int32_t>(p.arguments.size()) - 1;
  }
  std::int32_t access(std::int32_t buffer, DType dtype, ShapeTracker tracker) {
    p.accesses.push_back({buffer, dtype, std::move(tracker)});
    return static_cast<std::int32_t>(p.accesses.size()) - 1;
  }
  ValueId value(DType dtype) {
    p.values.push_back(dtype);
    return static_cast<ValueId>(p.values.size()) - 1;
  }
  ValueId add(bool body, Instr in) {
    Stage& s = p.stages.back();
    (body ? s.body : s.outer).push_back(in);
    return in.result;
  }
  ValueId load(bool body, std::int32_t buffer, const ShapeTracker& tracker) {
    const DType memory = p.arguments[static_cast<std::size_t>(buffer)].dtype;
    Instr in;
    in.code = Code::Load;
    in.dtype = in.from = register_dtype(memory);
    in.result = value(in.dtype);
    in.aux = access(buffer, memory, tracker);
    return add(body, in);
  }
  ValueId position(bool body, Code code, const ShapeTracker& tracker) {
    Instr in;
    in.code = code;
    in.dtype = in.from = code == Code::Index ? DType::int64 : DType::bool_;
    in.result = value(in.dtype);
    in.aux = access(-1, in.dtype, tracker);
    return add(body, in);
  }
  void store(bool body, ValueId v, std::int32_t buffer, const ShapeTracker& tracker) {
    const DType memory = p.arguments[static_cast<std::size_t>(buffer)].dtype;
    Instr in;
    in.code = Code::Store;
    in.dtype = in.from = p.values[static_cast<std::size_t>(v)];
    in.a = v;
    in.aux = access(buffer, memory, tracker);
    add(body, in);
    p.form = codegen::form_of(p);
  }
  ValueId op(bool body, Op op, DType dtype, ValueId a, ValueId b = kNoValue, ValueId c = kNoValue) {
    Instr in;
    in.op = op;
    in.dtype = dtype;
    // The dtype of a Where is that of its branches.
    in.from = p.values[static_cast<std::size_t>(op == Op::Where ? b : a)];
    in.result = value(register_dtype(dtype));
    in.a = a;
    in.b = b;
    in.c = c;
    return add(body, in);
  }
  ValueId round(bool body, DType half, ValueId a) {
    Instr in;
    in.code = Code::Round;
    in.dtype = DType::float32;
    in.from = half;
    in.result = value(DType::float32);
    in.a = a;
    return add(body, in);
  }
  ValueId constant(bool body, graph::Scalar scalar, std::int32_t parameter = -1) {
    p.constants.push_back({scalar, parameter});
    Instr in;
    in.code = Code::Const;
    in.dtype = in.from = scalar.dtype;
    in.result = value(scalar.dtype);
    in.aux = static_cast<std::int32_t>(p.constants.size()) - 1;
    return add(body, in);
  }
  ValueId reduce(Op op, ValueId input) {
    const DType dtype = p.values[static_cast<std::size_t>(input)];
    const ValueId result = value(dtype);
    const codegen::Definitions definitions(p, p.stages.size() - 1);
    const Instr* const made = definitions.of(input);
    std::vector<Instr> below;
    const bool product = op == Op::Sum && made != nullptr && made->code == Code::Elementwise && made->op == Op::Mul &&
                         definitions.gather(made->a, below) && definitions.gather(made->b, below);
    const auto source = product ? schedule::ReductionSource::Product : schedule::ReductionSource::Values;
    p.stages.back().reductions.push_back({op, dtype, source, graph::row(op).windows, input, result});
    return result;
  }
};

inline void run(backend::Backend& backend, const LoopProgram& p, const std::vector<const Bytes*>& arguments,
                std::span<const graph::Scalar> parameters = {}) {
  std::vector<void*> data;
  for (const Bytes* b : arguments) data.push_back(b->data());
  const auto kernel = backend.compile(p);
  backend.launch(*kernel, data, parameters);
}

}  // namespace oriel::test
