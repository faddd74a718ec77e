#include "codegen/loop_program.hpp"

#include <fmt/format.h>

#include <boost/container_hash/hash.hpp>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/stack.hpp"

namespace oriel::codegen {
namespace {

template <class E>
void mix(std::size_t& seed, E value) {
  boost::hash_combine(seed, static_cast<std::int64_t>(value));
}

// Sizes are compared as they stand: nothing is asked of symbols.
bool same(const Ints& a, const Ints& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](SymInt x, SymInt y) { return identical(x, y); });
}
bool same(const View& a, const View& b) {
  const auto same_range = [](const Range& x, const Range& y) { return identical(x.lo, y.lo) && identical(x.hi, y.hi); };
  return same(a.shape, b.shape) && same(a.strides, b.strides) && identical(a.offset, b.offset) &&
         std::equal(a.mask.begin(), a.mask.end(), b.mask.begin(), b.mask.end(), same_range);
}
bool same(const Access& a, const Access& b) {
  const auto ours = stack_of(a).views(), theirs = stack_of(b).views();
  return a.buffer == b.buffer && a.dtype == b.dtype &&
         std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                    [](const View& x, const View& y) { return same(x, y); });
}
bool same(const Argument& a, const Argument& b) {
  return a.dtype == b.dtype && identical(a.elements, b.elements) && a.output == b.output && a.shares == b.shares &&
         a.local == b.local;
}
// The number of a parameter comes at launch, so only its dtype belongs to the program.
bool same(const Constant& a, const Constant& b) {
  return a.parameter == b.parameter && identical(a.size, b.size) &&
         (a.parameter >= 0 ? a.value.dtype == b.value.dtype : a.value == b.value);
}

bool same(const Stage& a, const Stage& b);

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}
bool same(const Stage& a, const Stage& b) {
  return a.part == b.part && same(a.columns, b.columns) && same(a.inner, b.inner) && a.body == b.body &&
         a.reductions == b.reductions && a.outer == b.outer;
}

void mix_all(std::size_t& seed, const std::vector<Instr>& instructions) {
  mix(seed, instructions.size());
  for (const Instr& in : instructions) {
    const std::uint64_t kinds = static_cast<std::uint64_t>(in.code) << 24 | static_cast<std::uint64_t>(in.op) << 16 |
                                static_cast<std::uint64_t>(in.dtype) << 8 | static_cast<std::uint64_t>(in.from);
    mix(seed, kinds);
    mix(seed, in.result);
    mix(seed, in.a);
    mix(seed, in.b);
    mix(seed, in.c);
    mix(seed, in.aux);
  }
}

std::string value_name(ValueId v) { return "v" + std::to_string(v); }

std::string loops(const Ints& extents, char letter) {
  std::string text;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    text += fmt::format("{}{}{} < {}", d == 0 ? "" : ", ", letter, d, extents[d].value());
  }
  return text;
}

class Writer {
 public:
  explicit Writer(const LoopProgram& program) : program_(program) {}

  std::string run() {
    add("kernel {}\n", program_.name);
    add("  orientation {}, {} operations, {} bytes\n", program_.orientation == Orientation::Inner ? "inner" : "outer",
        program_.flops, program_.bytes);
    if (program_.online) add("  with a running maximum and sum\n");
    add("arguments\n");
    for (const Argument& a : program_.arguments) {
      add("  {}: {}[{}]{}", a.name, name(a.dtype), a.elements.value(),
          a.local    ? ", a row at a time"
          : a.output ? ", output"
                     : "");
      if (a.shares >= 0) add(" in the memory of {}", program_.arguments[static_cast<std::size_t>(a.shares)].name);
      add("\n");
    }
    add("accesses\n");
    for (std::size_t a = 0; a < program_.accesses.size(); ++a) write_access(a);
    add("for each {}\n", program_.outer.empty() ? "kernel" : loops(program_.outer, 'o'));
    for (std::size_t s = 0; s < program_.stages.size(); ++s) write_stage(s);
    if (const auto& sorting = program_.sorting)
      add("  {} of {} elements, {}\n", sorting->positions ? "positions in the order" : "in the order", sorting->extent,
          sorting->descending ? "descending" : "ascending");
    if (const auto& scan = program_.scanning)
      add("  {} along {} lines of {} elements{}\n", graph::name(scan->op), scan->extent, scan->inner,
          scan->restarts ? ", restarts at factors of 0" : "");
    if (const auto& scatter = program_.scattering) {
      add("  {} of {} lines of {} elements into {} entries\n", graph::name(scatter->op), scatter->keys, scatter->inner,
          scatter->extent);
    }
    if (const auto& host = program_.hosting) {
      add("  the host function {}", host->function->name);
      for (const Shape& shape : host->shapes)
        add("{}{}", &shape == &host->shapes.back() ? " -> " : " ", to_string(shape));
      add("\n");
    }
    return std::move(text_);
  }

 private:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(arguments)...);
  }

  void write_access(std::size_t a) {
    const Access& access = program_.accesses[a];
    const AccessText text = expression(access, access_names(program_, a));
    add("  a{}: {}[{}]", a,
        access.buffer < 0 ? "position" : program_.arguments[static_cast<std::size_t>(access.buffer)].name, text.index);
    if (text.valid != "1") add(" if {}", text.valid);
    add("    {}\n", access.stack_text());
  }

  void write_stage(std::size_t s) {
    const Stage& stage = program_.stages[s];
    add("  stage {}{}{}\n", s, stage.columns.empty() ? "" : " for each ", loops(stage.columns, 'c'));
    const bool looped = !stage.inner.empty() || !stage.body.empty() || !stage.reductions.empty();
    if (looped) add("    for each {}\n", stage.inner.empty() ? "outer point" : loops(stage.inner, 'r'));
    for (const Instr& in : stage.body) write_instruction(in, "      ");
    for (const Reduction& r : stage.reductions) {
      add("      {} : {} = {} of {} over the inner points\n", value_name(r.result), name(r.dtype), graph::name(r.op),
          value_name(r.input));
    }
    if (looped && !stage.outer.empty()) add("    then\n");
    for (const Instr& in : stage.outer) write_instruction(in, "    ");
  }

  void write_instruction(const Instr& in, const char* indent) {
    add("{}", indent);
    if (in.code != Code::Store) add("{} : {} = ", value_name(in.result), name(in.dtype));
    switch (in.code) {
      case Code::Elementwise:
        add("{}", graph::name(in.op));
        for (const ValueId v : {in.a, in.b, in.c}) {
          if (v != kNoValue) add(" {}", value_name(v));
        }
        if (in.op == graph::Op::Cast || in.op == graph::Op::Bitcast) add(" from {}", name(in.from));
        break;
      case Code::Load:
        add("Load a{}", in.aux);
        break;
      case Code::Index:
        add("Index a{}", in.aux);
        break;
      case Code::Gather:
        add("Gather a{} at {}", in.aux, value_name(in.a));
        break;
      case Code::Valid:
        add("Valid a{}", in.aux);
        break;
      case Code::Const: {
        const Constant& c = program_.constants[static_cast<std::size_t>(in.aux)];
        add("Const {}", c.parameter >= 0 ? fmt::format("parameter {}", c.parameter) : c.value.str());
        break;
      }
      case Code::Round:
        add("Round {} to {}", value_name(in.a), name(in.from));
        break;
      case Code::Store:
        add("Store {} to a{}", value_name(in.a), in.aux);
        break;
    }
    add("\n");
  }

  const LoopProgram& program_;
  std::string text_;
};

}  // namespace

// The counts of operations and bytes follow from the rest, so they are no part of a program's identity.
std::uint64_t hash_value(const LoopProgram& program) noexcept {
  std::size_t seed = program.stages.size();
  mix(seed, program.orientation);
  mix(seed, program.online);
  if (program.sorting) {
    mix(seed, program.sorting->rows);
    mix(seed, program.sorting->extent);
    mix(seed, program.sorting->descending);
    mix(seed, program.sorting->positions);
  }
  if (program.scanning) {
    mix(seed, program.scanning->op);
    mix(seed, program.scanning->rows);
    mix(seed, program.scanning->extent);
    mix(seed, program.scanning->inner);
    mix(seed, program.scanning->number);
    mix(seed, program.scanning->restarts);
  }
  if (const auto& s = program.scattering) {
    mix(seed, s->op);
    for (const std::int64_t n : {s->axis, s->rows, s->keys, s->extent, s->inner}) mix(seed, n);
    for (const bool b : {s->each, s->number}) mix(seed, b);
  }
  if (program.hosting) {
    mix(seed, program.hosting->function->number);
    for (const Shape& shape : program.hosting->shapes) boost::hash_combine(seed, oriel::hash_value(shape));
  }
  boost::hash_combine(seed, oriel::hash_value(program.outer));
  for (const Stage& stage : program.stages) {
    mix(seed, stage.part);
    boost::hash_combine(seed, oriel::hash_value(stage.columns));
    boost::hash_combine(seed, oriel::hash_value(stage.inner));
    mix_all(seed, stage.body);
    mix(seed, stage.reductions.size());
    for (const Reduction& r : stage.reductions) {
      mix(seed, r.op);
      mix(seed, r.dtype);
      mix(seed, r.input);
      mix(seed, r.result);
    }
    mix_all(seed, stage.outer);
  }
  for (const Access& access : program.accesses) {
    mix(seed, access.buffer);
    mix(seed, access.dtype);
    boost::hash_combine(seed, oriel::hash_value(stack_of(access)));
  }
  for (const Argument& argument : program.arguments) {
    mix(seed, argument.dtype);
    mix(seed, argument.elements.representation());
    mix(seed, argument.output);
    mix(seed, argument.local);
  }
  for (const Constant& constant : program.constants) {
    mix(seed, constant.parameter);
    mix(seed, constant.value.dtype);
    if (constant.parameter < 0)
      mix(seed, constant.size.is_symbolic() ? constant.size.representation() : constant.value.i);
  }
  for (const DType dtype : program.values) mix(seed, dtype);
  return seed;
}

bool same_program(const LoopProgram& a, const LoopProgram& b) noexcept {
  return a.orientation == b.orientation && a.online == b.online && a.sorting == b.sorting && a.scanning == b.scanning &&
         a.scattering == b.scattering && a.hosting == b.hosting && same(a.outer, b.outer) && a.values == b.values &&
         same(a.stages, b.stages) && same(a.accesses, b.accesses) && same(a.arguments, b.arguments) &&
         same(a.constants, b.constants);
}

std::string to_string(const LoopProgram& program) { return Writer(program).run(); }

std::vector<std::string> access_names(const LoopProgram& program, std::size_t access) {
  const std::size_t rank = program.accesses[access].loops();
  const std::size_t outer = std::min(rank, program.outer.size());
  std::size_t columns = 0;
  for (const Stage& stage : program.stages) {
    if (stage.columns.empty()) continue;
    each_instruction(stage, [&](const Instr& in) {
      if (has_access(in) && in.aux == static_cast<std::int32_t>(access)) columns = stage.columns.size();
    });
  }
  std::vector<std::string> names = loop_names(outer, rank - outer - columns);
  for (std::size_t c = 0; c < columns; ++c)
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(outer + c), "c" + std::to_string(c));
  return names;
}

}  // namespace oriel::codegen
