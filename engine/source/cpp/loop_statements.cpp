#include "source/cpp/loop_statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "source/cpp/frame.hpp"
#include "source/cpp/spelling.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {

using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Reduction;
using codegen::Stage;
using codegen::ValueId;

namespace {

// In a kernel of at most this many instructions every value is a variable of its own.
constexpr std::size_t kNamed = 48;
// With so many levels any number of blocks can be paired.
constexpr int kMostLevels = 54;

// Does any value leave the loop that makes it?
bool uses_tiles(const std::vector<PlacedValue>& values) {
  return std::any_of(values.begin(), values.end(), [](const PlacedValue& v) { return v.leaves; });
}

}  // namespace

LoopStatements::LoopStatements(const LoopProgram& program, const LoopsForm& form)
    : CppStatementWriter(program, form.symbolic) {
  std::size_t count = 0;
  for (const Stage& stage : program_.stages) count += stage.body.size() + stage.outer.size();
  variables_.set_framed(count > kNamed || form.keep == Keep::Frame);
  tiling_ = choose_tiling(program_, sizes_, form_, form, variables_.framed());
  variables_.set_tiles(tiling_.tile, tiling_.rows_length());
  find_tiles(tiling_.in_registers);
  read_inside_ = find_lives(program_, values_);
}

void LoopStatements::open_loop(const std::string& name, const std::string& first, const std::string& end,
                               const std::string& step) {
  if (variables_.framed()) {
    variables_.member(position_type(), name);
    open("for (f.{0} = {1}; f.{0} < {2}; {3}) {{", name, first, end,
         step == "1" ? "++f." + name : "f." + name + " += " + step);
  } else {
    open("for (Int {0} = {1}; {0} < {2}; {3}) {{", name, first, end, step == "1" ? "++" + name : name + " += " + step);
  }
}

void LoopStatements::write_loops() {
  const std::size_t rank = program_.outer.size();
  CodePosition outer;
  outer.tile = tiling_.rows ? "Rows" : "Tile";
  outer.width = 0;
  outer.count = variables_.var(tiling_.rows ? "rows" : "n");
  for (std::size_t d = 0; d < rank; ++d) outer.names.push_back(variables_.var(fmt::format("o{}", d)));
  std::string body;
  const auto stages = [&] {
    now_ = 0;
    each_stage([&](std::size_t s) { write_loops(s, outer); }, [&](std::size_t s) { write_outer(s, outer); });
  };
  if (rank == 0) {
    line("static_cast<void>(first);");
    line("static_cast<void>(last);");
    variables_.set(position_type(), tiling_.rows ? "rows" : "n", "1");
    line("static_cast<void>({});", outer.count);
    return stages();
  }
  if (std::any_of(program_.outer.begin(), program_.outer.end(),
                  [](const SymInt& n) { return sym::estimate(n) == 0; })) {
    line("static_cast<void>(first);");
    line("static_cast<void>(last);");
    return;
  }
  const std::string base = fmt::format("o{}{}", rank - 1, tiling_.rows ? "_first" : "");
  outer.names.back() = variables_.var(base);
  outer.fast = static_cast<int>(rank) - 1;
  SymInt below = 1;
  for (std::size_t d = rank; d-- > 0;) {
    const bool first = !below.is_symbolic() && below.value() == 1;
    const std::string part = first ? "first" : fmt::format("first / {}", sizes_.of(below));
    variables_.declare(position_type(), d + 1 == rank ? base : fmt::format("o{}", d),
                       d == 0 ? part : fmt::format("{} % {}", part, sizes_.of(program_.outer[d])));
    below *= program_.outer[d];
  }
  const int depth = indent();
  elsewhere(body, depth + 1, stages);
  open("for (Int left = last - first; left > 0;) {{");
  std::string length = fmt::format("least({} - {}, left)", sizes_.of(program_.outer.back()), variables_.var(base));
  if (tiling_.rows) {
    length = fmt::format("least({}, {})", length, sizes_.unit() ? variables_.var("row_step") : "kRowStep");
  } else if (uses_tiles(values_)) {
    length = fmt::format("least({}, kTile)", length);
  }
  variables_.set(position_type(), tiling_.rows ? "rows" : "n", length);
  body.erase(0, 2 * static_cast<std::size_t>(depth + 1));
  if (!body.empty()) line("{}", std::string_view(body).substr(0, body.size() - 1));
  line("left -= {};", outer.count);
  line("{} += {};", variables_.var(base), outer.count);
  for (std::size_t d = rank - 1; d > 0; --d) {
    const std::string name = variables_.var(d + 1 == rank ? base : fmt::format("o{}", d));
    open("if ({} == {}) {{", name, sizes_.of(program_.outer[d]));
    line("{} = 0;", name);
    line("++{};", variables_.var(fmt::format("o{}", d - 1)));
  }
  for (std::size_t d = rank - 1; d > 0; --d) close();
  close();
}

std::string LoopStatements::declare_kept() {
  if (sizes_.unit() && tiling_.rows && !program_.outer.empty()) from_sizes_ = rows_from_sizes(kRowElements, kMostRows);
  std::string text;
  for (std::size_t s = 0; s < program_.stages.size(); ++s) {
    const Stage& stage = program_.stages[s];
    for (const Instr& in : stage.body) {
      if (in.result == kNoValue || kept_[at(in.result)].empty() || sizes_.unit()) continue;
      if (sizes_.symbolic()) {
        const std::string& name = kept_[at(in.result)];
        const std::string element = type_of(in.result).text;
        if (form_.packets) snippets_.need("allocated_packets");
        if (variables_.framed()) variables_.member(pointer_type(element), name);
        from_sizes_ += fmt::format("  {}{} = static_cast<{}*>(arguments[{}]);\n",
                                   variables_.framed() ? "f." : element + "* const ", name, element,
                                   program_.arguments.size() + kept_bytes_.size());
        kept_bytes_.push_back((tiling_.row_step * numel(program_.stages[s].inner) + 64) *
                              static_cast<std::int64_t>(itemsize(program_.values[at(in.result)])));
        continue;
      }
      const std::int64_t elements = tiling_.row_step * numel(stage.inner, "render").value() + 64;
      const Type type = values_type(fmt::format("Values<{}, {}>", type_of(in.result).text, elements),
                                    program_.values[at(in.result)], elements);
      snippets_.need("Values");
      if (variables_.framed()) {
        variables_.member(type, kept_[at(in.result)]);
      } else {
        text += fmt::format("  {} {};\n", type.text, kept_[at(in.result)]);
      }
    }
  }
  return text;
}

void LoopStatements::write_loops(std::size_t s, const CodePosition& outer) {
  for (const Reduction& r : program_.stages[s].reductions) take(r.result, outer.tile);
  tiling_.rows ? write_rows(s, outer) : write_columns(s, outer);
}

void LoopStatements::write_outer(std::size_t s, const CodePosition& outer) {
  const Stage& stage = program_.stages[s];
  for (const ValueId v : read_inside_[s]) release(v);
  for (const Reduction& r : stage.reductions) {
    release(r.input);
    release(r.result);
  }
  ++now_;
  write_list(stage.outer, outer, fmt::format("stage{}_outer", s));
}

void LoopStatements::open_inner_loops(std::size_t s, std::size_t count) {
  for (std::size_t d = 0; d < count; ++d)
    open_loop(fmt::format("r{}", d), "0", sizes_.of(program_.stages[s].inner[d]), "1");
}

std::string LoopStatements::reducer(const Reduction& r) const {
  return fmt::format("v{}_{}", r.result, reduction_name(r.op));
}

void LoopStatements::declare_reducer(const Type& type, const std::string& name) {
  if (variables_.framed()) {
    variables_.member(type, name);
    line("f.{}.reset();", name);
  } else {
    line("{} {};", type.text, name);
  }
}

void LoopStatements::write_columns(std::size_t s, const CodePosition& outer) {
  const Stage& stage = program_.stages[s];
  const auto blocks =
      static_cast<std::uint64_t>((sym::estimate(numel(stage.inner, "render")) - 1) / kReductionBlock + 1);
  const bool one = one_block(stage) && (!sizes_.symbolic() || sizes_.unit());
  const int levels = one ? 1 : sizes_.symbolic() ? kMostLevels : static_cast<int>(std::bit_width(blocks));
  for (const Reduction& r : stage.reductions) {
    snippets_.need("ColumnReduction");
    const std::string functor = spell_reduction(r.op, r.dtype, snippets_);
    const DType dtype = program_.values[at(r.result)];
    declare_reducer(column_reduction_type(functor, dtype, tiling_.tile, levels), reducer(r));
  }
  CodePosition place = outer;
  for (std::size_t d = 0; d < stage.inner.size(); ++d) place.names.push_back(variables_.var(fmt::format("r{}", d)));
  if (stage.inner.empty()) open("{{");
  open_inner_loops(s, stage.inner.size());
  write_list(stage.body, place, fmt::format("stage{}_body", s));
  for (const Reduction& r : stage.reductions) {
    line("{}.{}({}, {});", variables_.var(reducer(r)), one ? "add_to_block" : "add", values_[at(r.input)].text,
         outer.count);
  }
  for (std::size_t d = 0; d < std::max<std::size_t>(stage.inner.size(), 1); ++d) close();
  for (const Reduction& r : stage.reductions) {
    line("{}.result({}, {});", variables_.var(reducer(r)), values_[at(r.result)].text, outer.count);
  }
}

void LoopStatements::write_rows(std::size_t s, const CodePosition& outer) {
  const Stage& stage = program_.stages[s];
  CodePosition place;
  place.tile = "Tile";
  place.width = 0;
  place.count = variables_.var("n");
  for (std::size_t d = 0; d < program_.outer.size(); ++d) place.names.push_back(variables_.var(fmt::format("o{}", d)));
  if (place.names.empty()) {
    open("{{");
    variables_.set(position_type(), "row", "0");
  } else {
    const std::string last = fmt::format("o{}", place.names.size() - 1);
    open_loop(last, outer.names.back(), outer.names.back() + " + " + outer.count, "1");
    variables_.set(position_type(), "row", place.names.back() + " - " + outer.names.back());
  }
  for (const Reduction& r : stage.reductions) {
    snippets_.need("RowReduction");
    const std::string functor = spell_reduction(r.op, r.dtype, snippets_);
    declare_reducer(row_reduction_type(functor, program_.values[at(r.result)]), reducer(r));
  }
  const bool gathered = tiling_.in_registers[s];
  std::vector<Gather> gathers;
  for (const Reduction& r : stage.reductions) {
    if (!gathered) break;
    const bool apart = graph::row(graph::row(r.op).combination).packets == ops::Packets::NanApart;
    const std::string_view lanes = apart ? "GatheredExtreme" : "Gathered";
    snippets_.need(lanes);
    gathers.push_back({r.input, reducer(r) + "_lanes", reducer(r)});
    line("{}<{}> {};", lanes, spell_reduction(r.op, r.dtype, snippets_), gathers.back().lanes);
  }
  // In these loops an outer value is one number: an element of its tile.
  std::map<ValueId, std::string> outside;
  for (const ValueId v : read_inside_[s]) {
    if (values_[at(v)].scalar) continue;
    const std::string name = fmt::format("v{}_row", v);
    variables_.set(type_of(v), name, fmt::format("{}[{}]", values_[at(v)].text, variables_.var("row")));
    outside[v] = std::exchange(values_[at(v)].text, variables_.var(name));
    values_[at(v)].scalar = true;
  }
  const std::size_t slow = stage.inner.empty() ? 0 : stage.inner.size() - 1;
  open_inner_loops(s, slow);
  for (std::size_t d = 0; d < stage.inner.size(); ++d) place.names.push_back(variables_.var(fmt::format("r{}", d)));
  std::string position = variables_.var("row");
  for (std::size_t d = 0; d < stage.inner.size(); ++d)
    position = fmt::format("({} * {} + {})", position, sizes_.of(program_.stages[s].inner[d]),
                           place.names[program_.outer.size() + d]);
  kept_at_ = position;
  if (stage.inner.empty()) {
    variables_.set(position_type(), "n", "1");
  } else {
    place.fast = static_cast<int>(place.names.size()) - 1;
    open_loop(fmt::format("r{}", slow), "0", sizes_.of(program_.stages[s].inner.back()), "kTile");
    variables_.set(
        position_type(), "n",
        fmt::format("least(kTile, {} - {})", sizes_.of(program_.stages[s].inner.back()), place.names.back()));
  }
  gathers_ = std::move(gathers);
  write_list(stage.body, place, fmt::format("stage{}_body", s));
  gathers_.clear();
  for (const Reduction& r : stage.reductions) {
    if (gathered) {
      line("{}.took({});", reducer(r), place.count);
    } else {
      line("{}.add({}, {});", variables_.var(reducer(r)), values_[at(r.input)].text, place.count);
    }
  }
  for (std::size_t d = 0; d < stage.inner.size(); ++d) close();
  for (auto& [v, text] : outside) {
    values_[at(v)].text = text;
    values_[at(v)].scalar = false;
  }
  for (const Reduction& r : stage.reductions) {
    line("{}[{}] = {}.result();", values_[at(r.result)].text, variables_.var("row"), variables_.var(reducer(r)));
  }
  close();
}

}  // namespace oriel::source::cpp
