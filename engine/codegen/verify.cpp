// The invariants of a loop program, checked one by one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "codegen/loop_program.hpp"
#include "codegen/stack.hpp"
#include "graph/build.hpp"
#include "oriel/error.hpp"
#include "view/positions.hpp"

namespace oriel::codegen {
namespace {

using graph::DTypeRule;
using graph::Op;

std::string_view accepted(DTypeRule rule) {
  switch (rule) {
    case DTypeRule::Numeric:
      return "any dtype but bool";
    case DTypeRule::Floating:
      return "floats";
    case DTypeRule::Integral:
      return "integers and bool";
    case DTypeRule::Word:
      return "uint64";
    default:
      return "integers";
  }
}

class Verifier {
 public:
  explicit Verifier(const LoopProgram& program) : program_(program) {}

  void run() {
    check_extents("outer", program_.outer);
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      if (is_half(program_.values[v])) {
        fail("v{} has dtype {}; values are never halves, they are held as float32", v, name(program_.values[v]));
      }
    }
    for (std::size_t a = 0; a < program_.arguments.size(); ++a) {
      const Argument& argument = program_.arguments[a];
      if (argument.local && (!argument.output || argument.shares >= 0))
        fail("argument {} is local and no output of its own", a);
      if (!argument.local && a > 0 && program_.arguments[a - 1].local) fail("argument {} comes after a local one", a);
      if (argument.elements < 0) fail("argument {} has {} elements", a, argument.elements.value());
      if (argument.shares < 0) continue;
      const auto shared = static_cast<std::size_t>(argument.shares);
      if (!argument.output || shared >= program_.arguments.size() || program_.arguments[shared].output ||
          program_.arguments[shared].dtype != argument.dtype) {
        fail("argument {} shares the memory of {}; an output may share that of an input of its dtype", a, shared);
      }
    }
    for (std::size_t a = 0; a < program_.accesses.size(); ++a) check_access(a);
    if (program_.sorting) check_sorting();
    if (program_.scanning) check_scanning();
    if (program_.scattering) check_scattering();
    if (program_.hosting) check_hosting();
    homes_.assign(program_.values.size(), kUndefined);
    for (std::size_t s = 0; s < program_.stages.size(); ++s) check_stage(s);
  }

 private:
  // The home of a value: none yet, outside the inner loops, or (a number n >= 0) the body of stage n.
  static constexpr int kUndefined = -2;
  static constexpr int kOuter = -1;
  // The result of a reduction whose loops are not over.
  static constexpr int kReduced = -3;
  // A value of an earlier part, which later parts cannot read.
  static constexpr int kGone = -4;

  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> format, T&&... arguments) const {
    throw InternalError("verify", fmt::format("kernel {}: {}{}", program_.name, where_,
                                              fmt::format(format, std::forward<T>(arguments)...)));
  }

  void check_extents(const char* which, const Ints& extents) const {
    for (const SymInt n : extents) {
      if (n < 0) fail("the {} extents {} hold a negative one", which, to_string(extents));
    }
  }

  // A program that sorts, scans or scatters reads arguments, writes another, the last one, and has nothing else.
  void check_alone(std::size_t reads) const {
    if (!program_.stages.empty() || !program_.constants.empty()) fail("there are stages or constants beside it");
    const auto& arguments = program_.arguments;
    bool fits = arguments.size() == reads + 1;
    for (std::size_t a = 0; fits && a <= reads; ++a)
      fits = arguments[a].output == (a == reads) && arguments[a].shares < 0;
    if (!fits) fail("{} arguments; {} read and another written", arguments.size(), reads == 1 ? "one is" : "two are");
  }

  void check_hosting() {
    const Hosting& h = *program_.hosting;
    where_ = "host function: ";
    if (!program_.stages.empty() || !program_.constants.empty()) fail("there are stages or constants beside it");
    const std::size_t count = program_.arguments.size();
    if (count < 2 || h.shapes.size() != count) fail("{} shapes of {} arguments", h.shapes.size(), count);
    for (std::size_t a = 0; a < count; ++a) {
      const Argument& argument = program_.arguments[a];
      if (argument.output != (a + 1 == count) || argument.shares >= 0) fail("only the last argument is written");
      if (numel(h.shapes[a]) != argument.elements) fail("argument {} has not the elements of its shape", a);
      if (!h.function->options.batched) continue;
      if (h.shapes[a].empty() || h.shapes.back().empty() || h.shapes[a][0] != h.shapes.back()[0])
        fail("argument {} has not the batches of the result", a);
    }
  }

  void check_sorting() {
    const Sorting& s = *program_.sorting;
    where_ = "sorting: ";
    check_alone(1);
    if (s.rows < 1 || s.extent < 1 || program_.arguments[0].elements != s.rows * s.extent ||
        program_.arguments[1].elements != s.rows * s.extent)
      fail("{} rows of {} do not fill its arguments", s.rows, s.extent);
    const DType wanted = s.positions ? DType::int64 : program_.arguments[0].dtype;
    if (program_.arguments[1].dtype != wanted)
      fail("its result has dtype {}; {} is expected", name(program_.arguments[1].dtype), name(wanted));
  }

  void check_scanning() {
    const Scanning& s = *program_.scanning;
    where_ = "scanning: ";
    const bool recurs = s.op == graph::Op::Recurrence;
    check_alone(recurs ? 2 : 1);
    const std::int64_t elements = s.rows * s.extent * s.inner;
    const auto filled = [&](const Argument& a) {
      return a.elements == (s.number && &a == program_.arguments.data() ? 1 : elements);
    };
    if (s.rows < 1 || s.extent < 1 || s.inner < 1 || !std::ranges::all_of(program_.arguments, filled))
      fail("{} blocks of {} lines of {} do not fill its arguments", s.rows, s.extent, s.inner);
    if (s.restarts && (!recurs || s.number)) fail("it restarts at factors that it does not have");
    if (!graph::is_scan(s.op)) fail("{} is no scan", graph::name(s.op));
    const DType wanted = graph::scanned(program_.arguments[0].dtype);
    for (std::size_t a = recurs ? 0 : 1; a < program_.arguments.size(); ++a) {
      if (program_.arguments[a].dtype != wanted)
        fail("its result has dtype {}; {} is expected", name(program_.arguments[a].dtype), name(wanted));
    }
  }

  void check_scattering() {
    const Scattering& s = *program_.scattering;
    where_ = "scattering: ";
    const bool numbers = s.op == graph::Op::ScatterLast;
    check_alone(numbers ? 1 : 2);
    const auto& arguments = program_.arguments;
    const std::int64_t elements = s.rows * s.keys * s.inner;
    if (s.rows < 1 || s.keys < 0 || s.extent < 1 || s.inner < 1 ||
        arguments[0].elements != (s.each ? elements : s.keys) ||
        arguments.back().elements != s.rows * s.extent * s.inner ||
        (!numbers && arguments[1].elements != (s.number ? 1 : elements)))
      fail("{} blocks of {} lines of {} for {} entries do not fill its arguments", s.rows, s.keys, s.inner, s.extent);
    if (!graph::is_scatter(s.op)) fail("{} is no scatter", graph::name(s.op));
    if (arguments[0].dtype != DType::int64) fail("its positions have dtype {}", name(arguments[0].dtype));
    const DType wanted = numbers ? DType::int64 : arguments[1].dtype;
    if (arguments.back().dtype != wanted || is_half(wanted))
      fail("its result has dtype {}; {} is expected", name(arguments.back().dtype), name(wanted));
  }

  /// Does nothing but gathers use the access? They check their positions when they run.
  bool only_gathered(std::size_t a) const {
    bool only = true;
    each_instruction(program_, [&](const Instr& in) {
      only = only && (!has_access(in) || in.aux != static_cast<std::int32_t>(a) || in.code == Code::Gather);
    });
    return only;
  }

  void check_access(std::size_t a) {
    const Access& access = program_.accesses[a];
    where_ = fmt::format("access a{}: ", a);
    if (access.buffer < -1 || access.buffer >= static_cast<std::int32_t>(program_.arguments.size())) {
      fail("buffer {} of {} arguments", access.buffer, program_.arguments.size());
    }
    if (access.buffer < 0) return;
    const Argument& argument = program_.arguments[static_cast<std::size_t>(access.buffer)];
    if (access.dtype != argument.dtype) {
      fail("dtype {} on argument {} of dtype {}", name(access.dtype), access.buffer, name(argument.dtype));
    }
    if (!access.affine() || (argument.elements == 0 && only_gathered(a))) return;
    const std::optional<detail::PositionRange> range = detail::position_range(stack_of(access).views().back());
    if (range && (range->least < 0 || range->greatest >= argument.elements.value())) {
      fail("positions {} to {} leave the {} elements of argument {}", range->least.value(), range->greatest.value(),
           argument.elements.value(), access.buffer);
    }
  }

  void check_stage(std::size_t s) {
    const Stage& stage = program_.stages[s];
    where_ = fmt::format("stage {}: ", s);
    check_extents("inner", stage.inner);
    check_extents("column", stage.columns);
    check_part(s);
    Shape points = program_.outer;
    points.insert(points.end(), stage.columns.begin(), stage.columns.end());
    Shape shape = points;
    shape.insert(shape.end(), stage.inner.begin(), stage.inner.end());
    for (std::size_t i = 0; i < stage.body.size(); ++i) {
      where_ = fmt::format("stage {}, body instruction {}: ", s, i);
      check(stage.body[i], static_cast<int>(s), shape);
    }
    for (std::size_t i = 0; i < stage.reductions.size(); ++i) {
      where_ = fmt::format("stage {}, reduction {}: ", s, i);
      check(stage.reductions[i], static_cast<int>(s));
    }
    // A reduction's result is known after the loops.
    for (const Reduction& r : stage.reductions) homes_[static_cast<std::size_t>(r.result)] = kOuter;
    for (std::size_t i = 0; i < stage.outer.size(); ++i) {
      where_ = fmt::format("stage {}, outer instruction {}: ", s, i);
      check(stage.outer[i], kOuter, points);
    }
  }

  // Checks the order of parts. A part cannot read the values of an earlier one.
  void check_part(std::size_t s) {
    const Stage& stage = program_.stages[s];
    if (s == 0) return;
    const Stage& before = program_.stages[s - 1];
    if (stage.part < before.part) fail("part {} after part {}", stage.part, before.part);
    if (stage.part == before.part && stage.columns != before.columns)
      fail("columns {} in a part of columns {}", to_string(stage.columns), to_string(before.columns));
    if (stage.part == before.part) return;
    for (int& home : homes_)
      if (home >= kOuter) home = kGone;
  }

  /// The dtype of an operand that may be read from `home`.
  DType read(const char* operand, ValueId v, int home) const {
    if (v < 0 || static_cast<std::size_t>(v) >= program_.values.size()) {
      fail("operand {} is value {} of {}", operand, v, program_.values.size());
    }
    const int at = homes_[static_cast<std::size_t>(v)];
    if (at <= kUndefined) fail("operand {} reads v{} before it is defined", operand, v);
    if (at != kOuter && at != home && !kept(at, home))
      fail("operand {} reads v{}, which lives in the body of stage {}", operand, v, at);
    return program_.values[static_cast<std::size_t>(v)];
  }

  /// May the body of stage `to` read what the body of stage `from` computes?
  bool kept(int from, int to) const {
    return program_.orientation == Orientation::Inner && from >= 0 && to > from &&
           program_.stages[static_cast<std::size_t>(from)].inner == program_.stages[static_cast<std::size_t>(to)].inner;
  }

  void expect(const char* operand, ValueId v, int home, DType dtype) const {
    const DType got = read(operand, v, home);
    if (got != dtype) fail("operand {} (v{}) has dtype {}; {} is expected", operand, v, name(got), name(dtype));
  }

  void expect_none(const char* operand, ValueId v) const {
    if (v != kNoValue) fail("operand {} (v{}) is one too many", operand, v);
  }

  void define(ValueId v, int home, DType dtype) {
    if (v < 0 || static_cast<std::size_t>(v) >= program_.values.size()) {
      fail("result is value {} of {}", v, program_.values.size());
    }
    int& at = homes_[static_cast<std::size_t>(v)];
    if (at != kUndefined) fail("v{} is defined a second time", v);
    const DType declared = program_.values[static_cast<std::size_t>(v)];
    if (declared != dtype) fail("result v{} is declared {}; the instruction gives {}", v, name(declared), name(dtype));
    at = home;
  }

  void check(const Reduction& r, int stage) {
    if (!graph::is_reduce(r.op)) fail("{} is no reduction", graph::name(r.op));
    if (is_half(r.dtype)) fail("{} of dtype {}; values are never halves", graph::name(r.op), name(r.dtype));
    check_rule(r.op, r.dtype);
    expect("a", r.input, stage, r.dtype);
    const int at = homes_[static_cast<std::size_t>(r.input)];
    if (at != kOuter && at != stage) fail("it gathers v{}, which lives in the body of stage {}", r.input, at);
    define(r.result, kReduced, r.dtype);
  }

  void check_rule(Op op, DType dtype) const {
    const DTypeRule rule = graph::row(op).rule;
    if (!ops::takes(op, dtype)) fail("{} of {}; it takes {}", graph::name(op), name(dtype), accepted(rule));
  }

  void check(const Instr& in, int home, const Shape& shape) {
    const bool unary = in.code == Code::Round || in.code == Code::Store || in.code == Code::Gather;
    if (in.code != Code::Elementwise && !unary) expect_none("a", in.a);
    if (in.code != Code::Elementwise) {
      expect_none("b", in.b);
      expect_none("c", in.c);
    }
    switch (in.code) {
      case Code::Elementwise:
        check_elementwise(in, home);
        break;
      case Code::Load: {
        const Access& access = memory(in, "Load", shape);
        if (register_dtype(in.from) != register_dtype(access.dtype) || in.dtype != register_dtype(access.dtype)) {
          fail("Load from {} to {} of an access of dtype {}", name(in.from), name(in.dtype), name(access.dtype));
        }
        define(in.result, home, in.dtype);
        break;
      }
      case Code::Gather: {
        const Access& access = memory(in, "Gather", shape);
        if (register_dtype(in.from) != register_dtype(access.dtype) || in.dtype != register_dtype(access.dtype)) {
          fail("Gather from {} to {} of an access of dtype {}", name(in.from), name(in.dtype), name(access.dtype));
        }
        if (!stays_at_zero(access)) fail("Gather through access a{}, which is not of position 0 everywhere", in.aux);
        expect("a", in.a, home, DType::int64);
        define(in.result, home, in.dtype);
        break;
      }
      case Code::Index:
      case Code::Valid: {
        const DType dtype = in.code == Code::Index ? DType::int64 : DType::bool_;
        access_of(in, in.code == Code::Index ? "Index" : "Valid", shape);
        if (in.dtype != dtype) {
          fail("{} gives {}, not {}", in.code == Code::Index ? "Index" : "Valid", name(dtype), name(in.dtype));
        }
        define(in.result, home, dtype);
        break;
      }
      case Code::Const:
        check_constant(in);
        define(in.result, home, in.dtype);
        break;
      case Code::Round:
        if (!is_half(in.from)) fail("Round to {}; it takes float16 and bfloat16", name(in.from));
        if (in.dtype != DType::float32) fail("Round gives float32, not {}", name(in.dtype));
        expect("a", in.a, home, DType::float32);
        define(in.result, home, DType::float32);
        break;
      case Code::Store: {
        const Access& access = memory(in, "Store", shape);
        if (register_dtype(in.dtype) != register_dtype(access.dtype) || in.from != register_dtype(access.dtype)) {
          fail("Store from {} to {} of an access of dtype {}", name(in.from), name(in.dtype), name(access.dtype));
        }
        if (!program_.arguments[static_cast<std::size_t>(access.buffer)].output) {
          fail("Store to argument {}, which is no output", access.buffer);
        }
        if (in.result != kNoValue) fail("Store has a result, v{}", in.result);
        expect("a", in.a, home, in.from);
        break;
      }
    }
  }

  const Access& access_of(const Instr& in, const char* code, const Shape& shape) const {
    if (in.aux < 0 || static_cast<std::size_t>(in.aux) >= program_.accesses.size()) {
      fail("{} through access {} of {}", code, in.aux, program_.accesses.size());
    }
    const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
    if (stack_of(access).shape() != shape) {
      fail("access a{} has shape {}; the loops here are {}", in.aux, to_string(stack_of(access).shape()),
           to_string(shape));
    }
    return access;
  }

  static bool stays_at_zero(const Access& access) {
    if (!access.affine() || access.boxed()) return false;
    const std::optional<detail::PositionRange> range = detail::position_range(stack_of(access).views().back());
    return !range || (range->least == 0 && range->greatest == 0);
  }

  const Access& memory(const Instr& in, const char* code, const Shape& shape) const {
    const Access& access = access_of(in, code, shape);
    if (access.buffer < 0) fail("{} through access a{}, which has no buffer", code, in.aux);
    return access;
  }

  void check_constant(const Instr& in) const {
    if (in.aux < 0 || static_cast<std::size_t>(in.aux) >= program_.constants.size()) {
      fail("constant {} of {}", in.aux, program_.constants.size());
    }
    const DType dtype = program_.constants[static_cast<std::size_t>(in.aux)].value.dtype;
    if (register_dtype(dtype) != in.dtype)
      fail("constant {} is {}; the instruction gives {}", in.aux, name(dtype), name(in.dtype));
  }

  void check_elementwise(const Instr& in, int home) {
    if (!graph::is_elementwise(in.op)) fail("{} is no elementwise op", graph::name(in.op));
    const graph::OpRow& row = graph::row(in.op);
    const bool bitcast = in.op == Op::Bitcast;
    if (is_half(in.from) && row.rule != DTypeRule::Convert)
      fail("{} from {}; it takes float32", row.name, name(in.from));
    if (is_half(in.dtype) && !bitcast)
      fail("{} to {}; arithmetic gives float32, and Round a half", row.name, name(in.dtype));
    check_rule(in.op, in.from);
    const DType from = register_dtype(in.from);
    const bool select = row.rule == DTypeRule::Select;
    expect("a", in.a, home, select ? DType::bool_ : from);
    row.arity > 1 ? expect("b", in.b, home, from) : expect_none("b", in.b);
    row.arity > 2 ? expect("c", in.c, home, from) : expect_none("c", in.c);
    if (ops::gives_bool(in.op)) {
      if (in.dtype != DType::bool_) fail("{} gives bool, not {}", row.name, name(in.dtype));
    } else if (row.rule != DTypeRule::Convert) {
      if (in.dtype != in.from) fail("{} of {} gives the same, not {}", row.name, name(in.from), name(in.dtype));
    } else if (bitcast && itemsize(in.from) != itemsize(in.dtype)) {
      fail("Bitcast from {} to {}; their widths differ", name(in.from), name(in.dtype));
    }
    define(in.result, home, register_dtype(in.dtype));
  }

  const LoopProgram& program_;
  std::vector<int> homes_;
  std::string where_;
};

}  // namespace

void verify(const LoopProgram& program) {
  Verifier(program).run();
  verify_decisions(program);
  if (form_of(program) != program.form)
    throw InternalError("verify", "kernel " + program.name + ": the form is not what the loops and accesses say");
}

}  // namespace oriel::codegen
