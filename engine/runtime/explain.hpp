// A plan as an oriel::Explanation, from which explain(), the dumps and the debug lines are made.
#pragma once

#include <span>
#include <string>

#include "backend/backend.hpp"
#include "graph/node.hpp"
#include "oriel/explain.hpp"
#include "runtime/plan.hpp"

namespace oriel::base {
class ContextState;
}

namespace oriel::runtime {

struct Key;
using PlanSeen = std::function<void(const Explanation& explanation, const Plan& plan)>;

/// Plans what `realize(roots)` would run and describes the plan. Thread-safe.
/// `seen` is shown the description and the plan, if there is one.
Explanation explain(std::span<const graph::NodePtr> roots, const PlanSeen& seen = {});

/// The same for pending roots that have this key.
Explanation explain(std::span<const graph::NodePtr> pending, const Key& key, const PlanSeen& seen = {});

/// Sets by ORIEL_EXPLAIN whether a context keeps the explanation of what ran last, unless it is known. Throws
/// ArgumentError if the variable has no meaning.
void load_kept_explanations(base::ContextState& context);
/// Keeps the explanation of work that is about to run.
void keep_explanation(std::span<const graph::NodePtr> pending, const Key& key);

/// `texts`: includes loop programs and sources, which cost more than the rest. `nodes` stays 0.
Explanation explain(const Plan& plan, bool texts);

// Pieces of Explanation::str, each of whole lines.

/// "k00 sum_f32_...: ..." with all that `detail` asks for, and where it runs if the schedule spans devices.
std::string kernel_text(const ExplainedKernel& kernel, std::size_t step, Detail detail, bool spans = false);
/// The outputs with their reasons.
std::string outputs_text(const ExplainedKernel& kernel);
/// The loops before and after, and the changes between.
std::string domain_text(const ExplainedKernel& kernel);
/// One line for Detail::kernels; else with the stacks in full and the expressions.
std::string operand_text(const ExplainedOperand& operand, Detail detail);
std::string memory_text(const ExplainedMemory& memory);
std::string rules_text(std::span<const FiredRule> rules);
std::string view_merges_text(const ExplainedViewMerges& merges);
/// The text with `indent` before each line, without its blanks at the end where the line is empty.
std::string indented(std::string_view text, std::string_view indent);
/// The views' lines, outermost first, joined by " over ".
std::string stack_text(std::span<const View> innermost_first);

}  // namespace oriel::runtime
