#include <fmt/format.h>

#include <algorithm>

#include "runtime/explain.hpp"

namespace oriel {

namespace runtime {

namespace {

constexpr std::size_t kOperandsShown = 16;  // operands of one kernel shown at Detail::kernels

std::string_view kind_text(ExplainedOperand::Kind kind) {
  switch (kind) {
    case ExplainedOperand::Kind::load:
      return "load";
    case ExplainedOperand::Kind::store:
      return "store";
    case ExplainedOperand::Kind::index:
      return "index";
    case ExplainedOperand::Kind::valid:
      return "valid";
  }
  return "";
}

std::string plural(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string title(const ExplainedOperand& o) {
  std::string text = o.name.empty() ? std::string(kind_text(o.kind)) : fmt::format("{} {}", kind_text(o.kind), o.name);
  text += fmt::format(": {} {}", o.value, name(o.dtype));
  if (!o.memory.empty()) text += fmt::format(" in {}", o.memory);
  return text;
}

}  // namespace

std::string indented(std::string_view text, std::string_view indent) {
  const std::string_view bare = indent.substr(0, indent.find_last_not_of(' ') + 1);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    out += fmt::format("{}{}\n", line.empty() ? bare : indent, line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string stack_text(std::span<const View> innermost_first) {
  std::string text;
  for (std::size_t k = innermost_first.size(); k-- > 0;)
    text += (text.empty() ? "" : " over ") + innermost_first[k].str();
  return text;
}

std::string outputs_text(const ExplainedKernel& kernel) {
  std::string text;
  for (const std::string& row : kernel.rows) text += fmt::format("keeps {}\n", row);
  for (const ExplainedOutput& o : kernel.outputs) {
    text += fmt::format("stores {}{}{}\n  because {}\n", o.text, o.site.empty() ? "" : ", line ", o.site, o.reason);
    if (!o.where.empty()) text += fmt::format("  {}\n", o.where);
  }
  return text;
}

std::string domain_text(const ExplainedKernel& k) {
  if (!k.runs) return {};
  std::string done;
  for (const auto& [was, what] : {std::pair{k.refined, "split"}, {k.permuted, "reordered"}, {k.coalesced, "joined"}})
    if (was) done += (done.empty() ? "" : ", ") + std::string(what);
  std::string method;
  if (!k.path.empty()) method = fmt::format("runs on {}\n", k.path);
  if (!k.method.empty()) method += k.method + "\n";
  if (done.empty()) return fmt::format("loops {}\n{}", k.domain_after, method);
  return fmt::format("loops {}, from {}: {}\n{}", k.domain_after, k.domain_before, done, method);
}

std::string operand_text(const ExplainedOperand& o, Detail detail) {
  if (detail == Detail::kernels) {
    return fmt::format("{}: {} -> {}: {}\n", title(o), plural(o.written.size(), "view"), o.normalised.size(),
                       stack_text(o.normalised));
  }
  std::string steps;
  for (const std::string& s : o.steps) steps += (steps.empty() ? "" : ", ") + s;
  return fmt::format(
      "{}\n  steps      {}\n  written    {}\n  merged     {}\n  normalised {}\n  index      {}\n  valid      {}\n",
      title(o), steps.empty() ? "none" : steps, stack_text(o.written), stack_text(o.merged), stack_text(o.normalised),
      o.index, o.valid);
}

std::string memory_text(const ExplainedMemory& m) {
  std::string text =
      fmt::format("memory: {} bytes at the peak in {} ({} bytes without reuse), {} bytes of results\n", m.peak_bytes,
                  plural(m.block_bytes.size(), "block"), m.bytes_without_reuse, m.output_bytes);
  return text;
}

std::string rules_text(std::span<const FiredRule> rules) {
  std::string text;
  for (const FiredRule& r : rules)
    text += fmt::format("{}{} ({})", text.empty() ? "rules: " : ", ", r.name,
                        r.times == 1 ? "once" : fmt::format("{} times", r.times));
  if (text.empty()) return "rules: none fired\n";
  for (const FiredRule& r : rules)
    for (const std::string& reason : r.reasons) text += "\n  " + reason;
  return text + "\n";
}

std::string view_merges_text(const ExplainedViewMerges& m) {
  return fmt::format("views: {}, {} by search, {} undecided\n", plural(m.merges, "merge"), m.searches, m.undecided);
}

std::string kernel_text(const ExplainedKernel& k, std::size_t step, Detail detail, bool spans) {
  std::string text = fmt::format("k{:02} {}", step, k.name);
  if (spans) text += " on " + k.device.str();
  if (!k.runs) return text + ": its values have no elements\n" + indented(outputs_text(k), "  ");
  text += fmt::format(": {}, {} operations, {} bytes\n", plural(k.values.size(), "value"), k.flops, k.bytes);
  std::string body = outputs_text(k) + domain_text(k);
  if (detail != Detail::kernels) {
    if (!k.tier.empty()) body += fmt::format("tier: {}\n", k.tier);
    if (!k.report.empty()) body += "on the device\n" + indented(k.report, "  ");
    body += "values\n";
    for (const std::string& v : k.values) body += fmt::format("  {}\n", v);
  }
  const std::size_t shown = detail == Detail::kernels ? std::min(kOperandsShown, k.operands.size()) : k.operands.size();
  for (std::size_t i = 0; i < shown; ++i) body += operand_text(k.operands[i], detail);
  if (shown < k.operands.size()) body += fmt::format("and {}\n", plural(k.operands.size() - shown, "more operand"));
  if (detail == Detail::full) {
    body += "loop program\n" + indented(k.program, "  ");
    if (k.source != k.program) body += "source\n" + indented(k.source, "  ");
  }
  return text + indented(body, "  ");
}

}  // namespace runtime

std::string Explanation::str(Detail detail) const {
  if (kernels.empty())
    return fmt::format(
        "nothing to run on {}: every value asked for is in memory. Explain before the work runs, or call "
        "keep_explanations(true) before it (ORIEL_EXPLAIN=1): then this shows what ran last\n",
        device.str());
  std::size_t running = 0, copies = 0;
  std::vector<Device> devices;
  for (const ExplainedKernel& k : kernels) {
    (k.copied_from && k.runs ? copies : running) += k.runs;
    for (const Device d : {k.copied_from.value_or(k.device), k.device})
      if (std::find(devices.begin(), devices.end(), d) == devices.end()) devices.push_back(d);
  }
  std::string on;
  for (const Device d : devices) on += (on.empty() ? "" : " and ") + d.str();
  const bool spans = devices.size() > 1;
  std::string what = runtime::plural(running, "kernel");
  if (copies > 0) what += fmt::format(" and {} {}", copies, copies == 1 ? "copy" : "copies");
  std::string text = ran ? "nothing to run: every value asked for is in memory. This ran last:\n" : "";
  text +=
      fmt::format("{} on {}: {} of {}\n", what, on, runtime::plural(values, "value"), runtime::plural(nodes, "node"));
  text += runtime::rules_text(rules) + runtime::view_merges_text(view_merges);
  for (std::size_t step = 0; step < kernels.size(); ++step)
    text += runtime::kernel_text(kernels[step], step, detail, spans);
  text += runtime::memory_text(memory);
  if (detail != Detail::kernels) {
    for (std::size_t b = 0; b < memory.block_bytes.size(); ++b)
      text += fmt::format("  block {}: {} bytes{}\n", b, memory.block_bytes[b],
                          spans ? " on " + memory.block_device[b].str() : "");
  }
  return text;
}

}  // namespace oriel
