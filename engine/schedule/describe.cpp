#include "schedule/describe.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "graph/build.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

std::string ranges_text(const Ranges& ranges) {
  std::string out;
  for (const Range& r : ranges)
    out += fmt::format("{}({}, {})", out.empty() ? "" : ", ", to_string(r.lo), to_string(r.hi));
  return "(" + out + ")";
}

// What an entry says beside its sources: "(1, 0)", "over (1)", "parameter 0".
std::string argument_text(const Entry& e) {
  if (e.op == Op::Buffer) return {};
  if (e.op == Op::Copy) return "to " + e.device->str();
  if (e.op == Op::Format) return e.strides == nullptr ? "row-major" : "to strides " + to_string(*e.strides);
  if (graph::is_sort(e.op)) return std::get<Ints>(e.node->arg)[0] == 1 ? "descending" : "ascending";
  if (graph::is_scan(e.op) || graph::is_scatter(e.op)) return "along axis " + to_string(std::get<Ints>(e.node->arg)[0]);
  if (graph::is_host(e.op)) return "by " + std::get<graph::HostFunctionPtr>(e.node->arg)->name;
  if (e.parameter >= 0) return fmt::format("parameter {}", e.parameter);
  if (graph::is_reduce(e.op)) return "over " + to_string(std::get<Ints>(e.node->arg));
  if (const auto* s = std::get_if<graph::Scalar>(&e.node->arg)) return s->str();
  if (e.op == Op::Assign) return e.where() == nullptr ? "all" : e.where()->str();
  if (const auto* ints = std::get_if<Ints>(&e.node->arg)) return to_string(*ints);
  if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&e.node->arg)) return ranges_text(**ranges);
  if (const auto* view = std::get_if<std::shared_ptr<const View>>(&e.node->arg)) return (*view)->str();
  if (graph::is_movement(e.op)) return to_string(e.shape());
  return {};
}

std::string step_text(const Entry& e) { return graph::snake_name(e.op) + " " + argument_text(e); }

bool alive(const KernelGraph& graph, EntryId id) {
  const auto i = static_cast<std::size_t>(id);
  return !graph.uses[i].empty() || graph.stored_by[i] >= 0;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string value_name(EntryId id) { return fmt::format("%{}", id); }

std::string value_text(const Arena& arena, EntryId id) {
  const Entry& e = arena[id];
  std::string sources;
  for (int k = 0; k < e.arity; ++k) sources += (k == 0 ? "" : ", ") + value_name(e.source[k]);
  const std::string argument = argument_text(e);
  return fmt::format("{} = {}{}{}{}{}: {} {}", value_name(id), name(e.op), argument.empty() ? "" : " ", argument,
                     sources.empty() ? "" : " of ", sources, name(e.dtype), to_string(e.shape()));
}

std::string site_text(const graph::Site& site) {
  if (site.file == nullptr) return {};
  const std::string_view file = site.file;
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), site.line);
}

std::vector<HeldValue> held_values(const Arena& arena, const Kernel& kernel) {
  std::vector<HeldValue> list;
  for (const Instance& i : kernel.instances) {
    const bool moved_out = i.role == Role::Alias && i.source == i.entry;  // the same value, at the outer scope
    if (i.role != Role::Load && !moved_out) list.push_back({i.entry, 1});
  }
  // Sources have smaller ids, so this order is a running order.
  std::sort(list.begin(), list.end(), [](const HeldValue& a, const HeldValue& b) { return a.entry < b.entry; });
  std::vector<HeldValue> values;
  for (const HeldValue& v : list) {
    if (!values.empty() && values.back().entry == v.entry)
      ++values.back().places;
    else
      values.push_back(v);
  }
  // A movement only passes its place on to its source, which is no second evaluation.
  for (HeldValue& v : values)
    if (graph::is_movement(arena[v.entry].op)) v.places = 1;
  return values;
}

std::size_t Paths::SpotHash::operator()(const Spot& s) const noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(s.entry) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ static_cast<std::uint64_t>(s.map)) * 0xff51afd7ed558ccdULL;
  return static_cast<std::size_t>(h ^ static_cast<std::uint64_t>(s.scope) ^ (h >> 31));
}

Paths::Paths(const Arena& arena, const KernelGraph& graph, KernelId kernel)
    : arena_(arena), kernel_(graph.kernels[static_cast<std::size_t>(kernel)]) {
  for (std::uint32_t n = 0; n < kernel_.instances.size(); ++n) {
    const Instance& i = kernel_.instances[n];
    if (i.role == Role::Compute) {
      for (int k = 0; k < arena[i.entry].arity; ++k)
        reader_.emplace(Spot{arena[i.entry].source[k], i.at_scope, i.at_map}, n);
    } else if (i.source != kNone) {
      reader_.emplace(Spot{i.source, i.scope, i.map}, n);
    }
  }
}

Path Paths::to(EntryId entry, ScopeId scope, MapId map) const {
  Path path;
  // Nothing is asked of symbols.
  const auto symbolic = [](const Shape& shape) {
    return std::ranges::any_of(shape, [](SymInt n) { return n.is_symbolic(); });
  };
  bool reduced = symbolic(arena_[entry].shape());
  if (!reduced) path.views.push_back(View::contiguous(arena_[entry].shape()));
  Spot spot{entry, scope, map};
  // The loop ends, because each reader is a consumer, or the same value in the root scope.
  for (auto it = reader_.find(spot); it != reader_.end(); it = reader_.find(spot)) {
    const Instance& i = kernel_.instances[it->second];
    const Entry& e = arena_[i.entry];
    if (graph::is_movement(e.op) && i.source != i.entry) {
      path.steps.push_back(step_text(e));
      reduced = reduced || symbolic(e.shape());
      if (!reduced)
        path.views.push_back(e.op == Op::Reshape ? View::contiguous(e.shape())
                                                 : graph::view_of(move_of(e), arena_[i.source].shape()));
    } else if (i.role == Role::Reduce) {
      path.steps.push_back(step_text(e));
      reduced = true;
    }
    spot = {i.entry, i.at_scope, i.at_map};
  }
  return path;
}

std::vector<int> running_order(const KernelGraph& graph) {
  std::vector<int> step_of(graph.kernels.size(), -1);
  for (std::size_t s = 0; s < graph.order.size(); ++s)
    step_of[static_cast<std::size_t>(graph.order[s])] = static_cast<int>(s);
  return step_of;
}

std::string graph_dot(const Arena& arena, const KernelGraph& graph) {
  constexpr std::size_t kNamed = 4;  // kernels named on one value
  const std::vector<int> step_of = running_order(graph);
  std::string out =
      "digraph oriel {\n  rankdir=TB;\n  node [shape=box, style=filled, fontname=\"monospace\", "
      "fillcolor=\"white\"];\n";
  std::string edges;
  for (EntryId id = 0; id < static_cast<EntryId>(arena.size()); ++id) {
    if (!alive(graph, id)) continue;
    const Entry& e = arena[id];
    std::vector<int> steps;
    for (const Use& p : graph.uses[static_cast<std::size_t>(id)]) {
      const bool loaded =
          p.instance >= 0 &&
          graph.kernels[static_cast<std::size_t>(p.kernel)].instances[static_cast<std::size_t>(p.instance)].role ==
              Role::Load;
      if (!loaded) steps.push_back(step_of[static_cast<std::size_t>(p.kernel)]);
    }
    const KernelId home = graph.stored_by[static_cast<std::size_t>(id)];
    if (home >= 0) steps.push_back(step_of[static_cast<std::size_t>(home)]);
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    const std::string argument = argument_text(e);
    std::string label = fmt::format("{} {}{}{}\\n{} {}", value_name(id), name(e.op), argument.empty() ? "" : " ",
                                    escaped(argument), name(e.dtype), to_string(e.shape()));
    for (std::size_t k = 0; k < steps.size() && k < kNamed; ++k)
      label += fmt::format("{}k{:02}", k == 0 ? "\\n" : " ", steps[k]);
    if (steps.size() > kNamed) label += fmt::format(" and {} more", steps.size() - kNamed);
    out += fmt::format("  v{} [label=\"{}\"", id, label);
    if (!steps.empty()) out += fmt::format(", fillcolor=\"0.{:03} 0.250 0.960\"", steps[0] % 1000 * 618 % 1000);
    if (home >= 0) {
      std::string_view reason;
      for (const Output& o : graph.kernels[static_cast<std::size_t>(home)].outputs)
        if (o.entry == id) reason = o.reason;
      out += fmt::format(", peripheries=2, tooltip=\"stored: {}\"", escaped(reason));
    } else if (const std::string site = site_text(e.node->site); !site.empty()) {
      out += fmt::format(", tooltip=\"{}\"", escaped(site));
    }
    out += "];\n";
    for (int k = 0; k < e.arity; ++k)
      if (alive(graph, e.source[k])) edges += fmt::format("  v{} -> v{};\n", e.source[k], id);
  }
  return out + edges + "}\n";
}

}  // namespace oriel::schedule
