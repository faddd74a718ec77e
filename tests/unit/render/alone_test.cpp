// Each op of the table alone in a kernel, in every dtype that it takes, as a compiled kernel and as an export. The
// source must include what it uses and must give the tile machine's bits. Only sources with the same headers are
// compiled together, so that none depends on headers that another includes.
#include <map>
#include <memory>
#include <set>

#include "../../support/temporary_folder.hpp"
#include "backend/eigen/compiled/compiler.hpp"
#include "formula/call.hpp"
#include "graph/build.hpp"
#include "library.hpp"
#include "oriel/oriel.hpp"
#include "support/isa_levels.hpp"

namespace alone_test {

using namespace oriel;
using namespace oriel::test;
using backend::eigen::Compiler;
using backend::eigen::EigenBackend;

namespace {

constexpr std::int64_t kElements = 4111;  // whole tiles and a remainder

struct Case {
  Op op;
  DType from;
  DType to;
  std::string name;
};

bool reduces(Op op) { return graph::is_reduce(op); }

std::vector<Case> cases() {
  std::vector<DType> dtypes = register_dtypes();
  dtypes.push_back(DType::float16);
  dtypes.push_back(DType::bfloat16);
  std::vector<Case> all;
  const auto add = [&](Op op, DType from, DType to) {
    all.push_back(
        {op, from, to,
         "alone_" + std::string(graph::name(op)) + "_" + std::string(name(from)) + "_" + std::string(name(to))});
  };
  for (const graph::OpRow& row : graph::kOpTable) {
    if (row.op_class != graph::OpClass::Elementwise && row.op_class != graph::OpClass::Reduce) continue;
    for (const DType from : dtypes) {
      if (!takes(row.op, from)) continue;
      if (row.op == Op::Cast) {
        for (const DType to : {DType::bool_, DType::int16, DType::uint64, DType::float32, DType::float64})
          if (to != from) add(row.op, from, to);
      } else if (row.op == Op::Bitcast) {
        for (const DType to : register_dtypes())
          if (to != from && to != DType::bool_ && itemsize(to) == itemsize(from)) add(row.op, from, to);
      } else {
        const bool test = row.rule == graph::DTypeRule::Compare || row.rule == graph::DTypeRule::FloatTest;
        add(row.op, from, test ? DType::bool_ : from);
      }
    }
  }
  return all;
}

LoopProgram program_of(const Case& c) {
  const bool whole = reduces(c.op);
  Builder k(whole ? Ints{} : Ints{kElements});
  k.p.name = c.name;
  const int arity = graph::row(c.op).arity;
  const ShapeTracker flat(Shape{kElements});
  const auto in0 = k.argument(c.op == Op::Where ? DType::bool_ : c.from, kElements);
  const auto in1 = k.argument(c.from, kElements);
  const auto in2 = k.argument(c.from, kElements);
  const auto out = k.argument(c.to, whole ? 1 : kElements, true);
  const DType held = register_dtype(c.to);
  if (whole) {
    k.stage({kElements});
    ValueId v = k.reduce(c.op, k.load(true, in0, flat));
    if (is_half(c.to)) v = k.round(false, c.to, v);
    k.store(false, v, out, ShapeTracker(Shape{}));
    return k.p;
  }
  k.stage();
  const ValueId a = k.load(false, in0, flat);
  const ValueId b = arity > 1 ? k.load(false, in1, flat) : kNoValue;
  const ValueId d = arity > 2 ? k.load(false, in2, flat) : kNoValue;
  ValueId v = k.op(false, c.op, held, a, b, d);
  if (c.op == Op::Bitcast) k.p.stages[0].outer.back().from = c.from;
  if (is_half(c.to)) v = k.round(false, c.to, v);
  k.store(false, v, out, flat);
  return k.p;
}

/// Ordinary numbers and common special ones.
Bytes numbers(DType dtype, unsigned seed) {
  Bytes b = random_bytes(dtype, kElements, seed);
  // Every other float has random bits.
  for (std::int64_t i = static_cast<std::int64_t>(seed) % 2; is_floating(dtype) && i < kElements; i += 2) {
    const auto pattern = static_cast<std::uint64_t>(i) * 0x3fe0a73b15e97 * seed;
    std::memcpy(b.as<char>() + i * static_cast<std::int64_t>(itemsize(dtype)), &pattern, itemsize(dtype));
  }
  for (std::int64_t i = static_cast<std::int64_t>(seed); i < kElements; i += 5) {
    if (!is_floating(dtype)) {
      write_element(b, i, 0);
      continue;
    }
    const double special[] = {0.0, INFINITY, -0.0, NAN, 1e-40, -INFINITY, 1};
    const double x = special[static_cast<std::size_t>(i) % std::size(special)];
    write_element(b, i, dtype == DType::float64 ? put(x) : put(static_cast<float>(x)));
  }
  return b;
}

std::vector<Bytes> inputs_of(const Case& c) {
  std::vector<Bytes> in;
  in.push_back(numbers(c.op == Op::Where ? DType::bool_ : c.from, 1));
  in.push_back(numbers(c.from, 2));
  in.push_back(numbers(c.from, 3));
  return in;
}

/// The result of the tile machine.
Bytes tile_result(const Case& c, const std::vector<Bytes>& in) {
  static EigenBackend device({1, 0, "", EigenTier::tile});
  const LoopProgram program = program_of(c);
  codegen::verify(program);
  const Bytes out(c.to, reduces(c.op) ? 1 : kElements);
  void* const arguments[] = {in[0].data(), in[1].data(), in[2].data(), out.data()};
  device.launch(*device.compile(program), arguments, {});
  return out;
}

bool same_elements(const Bytes& got, const Bytes& want) {
  for (std::int64_t i = 0; i < want.elements(); ++i)
    if (!same_number(want.dtype(), read_element(got, i), read_element(want, i))) return false;
  return true;
}

/// The headers that a source includes in <>.
std::string headers(const std::string& source) {
  std::set<std::string> all;
  for (std::size_t at = source.find("#include <"); at != std::string::npos; at = source.find("#include <", at + 1))
    all.insert(source.substr(at, source.find('\n', at) - at));
  std::string text;
  for (const std::string& header : all) text += header + "\n";
  return text;
}

/// Builds the source for the level of the tile machine above, whose bits it must give.
std::unique_ptr<Library> built(const std::string& source, const std::string& optimised) {
  std::string flags =
      optimised +
      " -fno-math-errno -fno-trapping-math -fno-strict-aliasing -Wno-uninitialized -Wno-maybe-uninitialized";
  for (const std::string& flag : Compiler::system().flags(backend::isa::table().name))
    if (flag.rfind("-m", 0) == 0) flags += " " + flag;
  return std::make_unique<Library>(compilers().front(), flags, source);
}

Tensor tensor_of(const Bytes& b) {
  const Tensor t = zeros({kElements}, b.dtype()) + zeros({kElements}, b.dtype());
  t.realize();
  std::memcpy(detail::Access::node(t)->buffer->data(), b.data(), b.bytes());
  return t;
}

Tensor value_of(const Case& c, const std::vector<Tensor>& in) {
  std::vector<graph::NodePtr> x;
  for (const Tensor& t : in) x.push_back(detail::Access::node(t));
  const int arity = graph::row(c.op).arity;
  graph::NodePtr y = reduces(c.op)         ? graph::reduce(c.op, x[0], {0})
                     : c.op == Op::Cast    ? graph::cast(x[0], c.to)
                     : c.op == Op::Bitcast ? graph::bitcast(x[0], c.to)
                     : arity == 1          ? graph::unary(c.op, x[0])
                     : arity == 2          ? graph::binary(c.op, x[0], x[1])
                                           : graph::where(x[0], x[1], x[2]);
  return detail::Access::tensor(std::move(y));
}

}  // namespace

TEST_CASE("each op of the table alone is a compiled kernel with the tile machine's bits") {
  const std::vector<Case> all = cases();
  std::map<std::string, std::string> units;
  std::map<std::string, std::vector<const Case*>> held;
  for (const Case& c : all) {
    const std::string source = source::cpp::render(program_of(c));
    units[headers(source)] += source + "\n";
    held[headers(source)].push_back(&c);
  }
  CHECK(units.size() >= 3);  // types only; the C library's mathematics; Eigen
  for (const auto& [included, source] : units) {
    const auto unit = built(source, "-O1");
    for (const Case* c : held[included]) {
      CAPTURE(c->name);
      const Library::Kernel kernel = unit->kernel(c->name);
      const std::vector<Bytes> in = inputs_of(*c);
      const Bytes want = tile_result(*c, in);
      const Bytes got(c->to, want.elements());
      void* const arguments[] = {in[0].data(), in[1].data(), in[2].data(), got.data()};
      kernel(arguments, nullptr, 0, reduces(c->op) ? 1 : kElements);
      CHECK(same_elements(got, want));
    }
  }
}

TEST_CASE("each op of the table alone is an export with the tile machine's bits") {
  const TemporaryFolder folder;
  const std::vector<Case> all = cases();
  std::map<std::string, std::string> units;
  std::map<std::string, std::vector<const Case*>> held;
  for (const Case& c : all) {
    CAPTURE(c.name);
    const std::vector<Bytes> in = inputs_of(c);
    std::vector<Tensor> x;
    for (const Bytes& b : in) x.push_back(tensor_of(b));
    const Tensor y = value_of(c, x);
    ExportOptions options{.name = c.name, .outputs = {"y"}};
    for (std::size_t k = 0; k < graph::row(c.op).arity; ++k)
      options.inputs.emplace_back(std::string(1, "abc"[k]), x[k]);
    const ExportedFiles files = export_cpp({y}, folder.path(), options);
    const std::string source = file_text(files.source);
    std::string text = source;
    text.erase(text.find("#include \"" + c.name), std::string("#include \"" + c.name + ".hpp\"\n").size());
    // Calls the function as a kernel is called. p[5] receives the status.
    std::string call = "extern \"C\" void call_" + c.name +
                       "(void* const* p, const void*, std::int64_t, std::int64_t) {\n  " + c.name + "::Inputs in;\n";
    for (const ExportedTensor& t : files.inputs) {
      call += "  in." + t.name + " = static_cast<const " + c.name + "::input::" + t.name + "::Element*>(p[" +
              std::to_string(t.name[0] - 'a') + "]);\n";
    }
    call += "  " + c.name + "::Outputs out;\n  out.y = static_cast<" + c.name +
            "::output::y::Element*>(p[3]);\n  *static_cast<bool*>(p[5]) = " + c.name +
            "::run(in, out, p[4]) == " + c.name + "::Status::ok;\n}\n";
    const std::string header = file_text(files.header);
    REQUIRE(files.scratch_bytes < 4096);
    std::string once = header;
    once.erase(once.find("#pragma once"), 12);
    units[headers(source)] += once + text + call + "\n";
    held[headers(source)].push_back(&c);
  }
  for (const auto& [included, source] : units) {
    const auto unit = built(source, "-O0");
    for (const Case* c : held[included]) {
      CAPTURE(c->name);
      const Library::Kernel call = unit->kernel("call_" + c->name);
      const std::vector<Bytes> in = inputs_of(*c);
      const Bytes want = tile_result(*c, in);
      const Bytes got(c->to, want.elements());
      alignas(64) unsigned char scratch[4096];
      bool fine = false;
      void* const arguments[] = {in[0].data(), in[1].data(), in[2].data(), got.data(), scratch, &fine};
      call(arguments, nullptr, 0, 0);
      CHECK(fine);
      CHECK(same_elements(got, want));
    }
  }
}

}  // namespace alone_test
