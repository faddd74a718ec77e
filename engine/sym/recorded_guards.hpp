// The guards of an environment.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/call_frames.hpp"
#include "oriel/symint.hpp"
#include "sym/knowledge.hpp"
#include "sym/node.hpp"

namespace oriel::sym {

/// The guards that an environment has recorded, in the order in which they were asked. In Mode::quick they answer the
/// conditions that were asked, and the opposites.
class RecordedGuards {
 public:
  struct Guard {
    Expr condition;
    Site site;
    /// Values of all symbols that satisfy every other guard but not this one; empty if none are known.
    std::unordered_map<Expr, std::int64_t> witness;
    std::shared_ptr<const base::CallFrames> frames = {};  // if call_frames is set and the line is unknown
  };

  const std::vector<Guard>& all() const noexcept { return list_; }
  void add(Guard guard) { list_.push_back(std::move(guard)); }
  void set_last_site(Site site) { list_.back().site = site; }
  void clear();

  /// The number of guards that name the symbol.
  std::size_t count_of(Expr symbol) const;
  /// Drops older guards that the newest one makes redundant. `stated` gives what is known without guards.
  void drop_implied(const std::function<Knowledge()>& stated);

  /// @{
  /// In Mode::quick.
  std::optional<bool> answer(Expr condition) const;
  /// Adds the guard that the condition holds, or does not.
  void add_answer(Expr condition, bool holds, Site site);
  /// @}

 private:
  std::vector<Guard> list_;
  std::unordered_map<Expr, bool> answers_;  // the conditions that guards decide
};

}  // namespace oriel::sym
