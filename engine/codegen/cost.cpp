#include "codegen/cost.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "codegen/stack.hpp"
#include "schedule/loops.hpp"

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

std::string lower_case(std::string_view text) {
  std::string out;
  for (char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// What a program does, for its name: "reducemax_sum" for a softmax. The reductions, or else the costliest op.
std::string work_name(const LoopProgram& p) {
  std::string what;
  int shown = 0;
  for (const Stage& s : p.stages)
    for (const Reduction& r : s.reductions)
      if (shown++ < 4) what += (what.empty() ? "" : "_") + lower_case(graph::name(r.op));
  if (!what.empty()) return what;
  int best = -1;
  for (const Stage& s : p.stages) {
    for (const auto* list : {&s.body, &s.outer}) {
      for (const Instr& i : *list) {
        if (i.code != Code::Elementwise || graph::row(i.op).cost <= best) continue;
        best = graph::row(i.op).cost;
        what = lower_case(graph::name(i.op));
      }
    }
  }
  return what.empty() ? "copy" : what;
}

std::string sizes_name(const LoopProgram& p) {
  std::string domain;
  for (SymInt e : p.outer) domain += (domain.empty() ? "" : "x") + to_string(e);
  if (domain.empty()) domain = "1";
  const auto inner = std::find_if(p.stages.begin(), p.stages.end(), [](const Stage& s) { return !s.inner.empty(); });
  if (inner == p.stages.end()) return domain;
  domain += "_by_";
  for (std::size_t k = 0; k < inner->inner.size(); ++k) domain += (k == 0 ? "" : "x") + to_string(inner->inner[k]);
  return domain;
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
  switch (t) {
    case DType::bool_:
      return "b8";
    case DType::int8:
      return "i8";
    case DType::int16:
      return "i16";
    case DType::int32:
      return "i32";
    case DType::int64:
      return "i64";
    case DType::uint8:
      return "u8";
    case DType::uint16:
      return "u16";
    case DType::uint32:
      return "u32";
    case DType::uint64:
      return "u64";
    case DType::float16:
      return "f16";
    case DType::bfloat16:
      return "bf16";
    case DType::float32:
      return "f32";
    case DType::float64:
      return "f64";
  }
  return "";
}

std::string name_without_sizes(const LoopProgram& p) {
  return fmt::format("{}_{}_{}ops", work_name(p), short_name(result_dtype(p)), count_ops(p));
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
    if (a.buffer >= 0) touched[static_cast<std::size_t>(a.buffer)] += schedule::distinct_elements(stack_of(a));
  double bytes = 0;
  for (std::size_t k = 0; k < touched.size(); ++k) {
    if (p.arguments[k].local) continue;
    bytes += std::min(touched[k], static_cast<double>(p.arguments[k].elements)) *
             static_cast<double>(itemsize(p.arguments[k].dtype));
  }
  p.flops = clamp_count(flops);
  p.bytes = clamp_count(bytes);
  p.name = fmt::format("{}_{}_{}_{}ops", work_name(p), short_name(result_dtype(p)), sizes_name(p), count_ops(p));
  p.form = form_of(p);
}

}  // namespace oriel::codegen
