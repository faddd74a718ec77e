#include "lang/pending_variables.hpp"

#include <algorithm>

namespace oriel::lang {

std::int32_t PendingVariables::only_unknown(const Condition& condition) const {
  std::int32_t only = -1;
  for (const std::int32_t v : condition.variables.loops) {
    if (resolved_[static_cast<std::size_t>(v)] != 0) continue;
    if (only >= 0) return -2;
    only = v;
  }
  return only;
}

void PendingVariables::count(const std::vector<Condition>& conditions) {
  of_.resize(resolved_.size());
  ready_.resize(resolved_.size());
  unknown_.assign(conditions.size(), 0);
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    if (conditions[k].variables.reads) continue;
    for (const std::int32_t v : conditions[k].variables.loops) {
      ++visited_;
      of_[static_cast<std::size_t>(v)].push_back(k);
      if (resolved_[static_cast<std::size_t>(v)] == 0) ++unknown_[k];
    }
    if (unknown_[k] == 1) make_ready(conditions, k);
  }
}

void PendingVariables::make_ready(const std::vector<Condition>& conditions, std::size_t condition) {
  const std::int32_t v = only_unknown(conditions[condition]);
  if (v < 0) return;  // resolved in the same round
  ready_[static_cast<std::size_t>(v)].push_back(condition);
  tried_next_.insert(v);
}

const std::vector<std::size_t>& PendingVariables::look(std::int32_t v) {
  std::vector<std::size_t>& mine = ready_[static_cast<std::size_t>(v)];
  std::sort(mine.begin(), mine.end());
  visited_ += mine.size();
  return mine;
}

void PendingVariables::resolve(const std::vector<Condition>& conditions, std::span<const std::int32_t> solved) {
  for (const std::int32_t v : solved) resolved_[static_cast<std::size_t>(v)] = 1;
  for (const std::int32_t v : solved) {
    for (const std::size_t k : of_[static_cast<std::size_t>(v)]) {
      ++visited_;
      if (--unknown_[k] == 1) make_ready(conditions, k);
    }
  }
}

}  // namespace oriel::lang
