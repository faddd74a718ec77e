#include "codegen/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "codegen/stack.hpp"
#include "graph/build.hpp"
#include "schedule/loops.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::codegen {

namespace {

double points_of(const Ints& extents) {
  double n = 1;
  for (SymInt e : extents) n *= static_cast<double>(e.value());
  return n;
}

}  // namespace

Orientation choose_orientation(const LoopProgram& p) {
  if (p.outer.empty()) return Orientation::Inner;
  schedule::WalkCost cost;
  for (const Stage& stage : p.stages) {
    if (stage.inner.empty()) continue;
    const double points = points_of(stage.columns) * points_of(stage.inner);
    for (const Instr& i : stage.body) {
      if (i.code != Code::Load && i.code != Code::Store) continue;
      const Access& a = p.accesses[static_cast<std::size_t>(i.aux)];
      cost.add(stack_of(a), a.dtype, p.outer.size(), points);
    }
  }
  return cost.columns_pay() ? Orientation::Outer : Orientation::Inner;
}

namespace {

std::int64_t clamp_count(double n) { return n > 9e18 ? INT64_MAX : static_cast<std::int64_t>(n); }

void append_lower_case(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// What a program does, for its name: "reducemax_sum" for a softmax. The reductions, or else the costliest op.
void append_work(std::string& out, const LoopProgram& p) {
  int shown = 0;
  for (const Stage& s : p.stages) {
    for (const Reduction& r : s.reductions) {
      if (shown++ >= 4) continue;
      if (!out.empty()) out += '_';
      append_lower_case(out, graph::name(r.op));
    }
  }
  if (shown != 0) return;
  const Instr* costliest = nullptr;
  each_instruction(p, [&](const Instr& i) {
    if (i.code != Code::Elementwise) return;
    if (costliest == nullptr || graph::row(i.op).cost > graph::row(costliest->op).cost) costliest = &i;
  });
  append_lower_case(out, costliest == nullptr ? "copy" : graph::name(costliest->op));
}

// "4x6"
void append_extents(std::string& out, const Ints& extents) {
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (d > 0) out += 'x';
    out += std::to_string(extents[d].value());
  }
}

void append_sizes(std::string& out, const LoopProgram& p) {
  if (p.outer.empty()) out += '1';
  append_extents(out, p.outer);
  const auto inner = std::find_if(p.stages.begin(), p.stages.end(), [](const Stage& s) { return !s.inner.empty(); });
  if (inner == p.stages.end()) return;
  out += "_by_";
  append_extents(out, inner->inner);
}

DType result_dtype(const LoopProgram& p) {
  DType dtype = DType::float32;
  for (const Argument& a : p.arguments)
    if (a.output && !a.local) dtype = a.dtype;
  return dtype;
}

int count_elementwise(const std::vector<Instr>& list) {
  return static_cast<int>(
      std::count_if(list.begin(), list.end(), [](const Instr& i) { return i.code == Code::Elementwise; }));
}

int count_ops(const LoopProgram& p) {
  int ops = 0;
  for (const Stage& s : p.stages)
    ops += count_elementwise(s.body) + static_cast<int>(s.reductions.size()) + count_elementwise(s.outer);
  return ops;
}

}  // namespace

const char* short_name(DType t) {
  constexpr const char* names[] = {"b8",  "i8",  "i16", "i32",  "i64", "u8", "u16",
                                   "u32", "u64", "f16", "bf16", "f32", "f64"};
  static_assert(std::size(names) == kDTypeCount && DType::bool_ == DType{0} && DType::float64 == DType{12});
  return names[static_cast<std::size_t>(t)];
}

namespace {

// Names are made for each kernel of each plan: in one string, without formats.
std::string make_name(const LoopProgram& p, bool sizes) {
  std::string out;
  out.reserve(64);
  append_work(out, p);
  out += '_';
  out += short_name(result_dtype(p));
  out += '_';
  if (sizes) {
    append_sizes(out, p);
    out += '_';
  }
  out += std::to_string(count_ops(p));
  out += "ops";
  return out;
}

std::string name_alone(const LoopProgram& p) {
  const std::string dtype = short_name(p.arguments.back().dtype);
  if (const auto& sorting = p.sorting)
    return fmt::format("{}_{}_{}_by_{}", sorting->positions ? "argsort" : "sort", dtype, sorting->rows,
                       sorting->extent);
  std::string out;
  if (const auto& host = p.hosting) {
    out = "host_";
    for (const char c : host->function->name)
      out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    return out;
  }
  if (const auto& s = p.scattering) {
    out = fmt::format("{}_{}_{}_into_{}", graph::snake_name(s->op), dtype, s->keys, s->rows * s->extent);
  } else {
    out = fmt::format("{}_{}_{}_by_{}", graph::snake_name(p.scanning->op), dtype, p.scanning->rows, p.scanning->extent);
  }
  const std::int64_t inner = p.scattering ? p.scattering->inner : p.scanning->inner;
  if (inner > 1) out += fmt::format("_lines_of_{}", inner);
  return out;
}

// Of a sort the least number of comparisons in a sort of each row.
std::int64_t operations_alone(const LoopProgram& p) {
  const std::int64_t elements = p.arguments.back().elements.value();
  if (const auto& s = p.scattering) return s->rows * s->keys * s->inner;
  return p.sorting ? elements * std::bit_width(static_cast<std::uint64_t>(p.sorting->extent - 1)) : elements;
}

}  // namespace

std::string name_without_sizes(const LoopProgram& p) {
  if (!p.scanning) return make_name(p, false);
  return fmt::format("{}_{}", graph::snake_name(p.scanning->op), short_name(p.arguments.back().dtype));
}

void finish(LoopProgram& p) {
  p.orientation = choose_orientation(p);
  const double outer = points_of(p.outer);
  double flops = 0;
  for (const Stage& s : p.stages) {
    const int body = count_elementwise(s.body) + static_cast<int>(s.reductions.size());
    flops += outer * points_of(s.columns) * (points_of(s.inner) * body + count_elementwise(s.outer));
  }
  std::vector<double> touched(p.arguments.size(), 0);
  for (const Access& a : p.accesses)
    if (a.buffer >= 0) touched[static_cast<std::size_t>(a.buffer)] += detail::distinct_elements(stack_of(a));
  double bytes = 0;
  for (std::size_t k = 0; k < touched.size(); ++k) {
    if (p.arguments[k].local) continue;
    bytes += std::min(touched[k], static_cast<double>(p.arguments[k].elements.value())) *
             static_cast<double>(itemsize(p.arguments[k].dtype));
  }
  p.flops = runs_alone(p) ? operations_alone(p) : clamp_count(flops);
  p.bytes = clamp_count(bytes);
  p.name = runs_alone(p) ? name_alone(p) : make_name(p, true);
  p.form = form_of(p);
}

}  // namespace oriel::codegen
