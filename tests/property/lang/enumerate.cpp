#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "affine_program.hpp"

namespace oriel::testing {

bool few_points(const Ranges& ranges, const std::vector<std::size_t>& over, std::int64_t most) {
  std::int64_t points = 1;
  for (const std::size_t d : over) {
    points *= std::max<std::int64_t>(ranges[d].second - ranges[d].first, 0);
    if (points > most) return false;
  }
  return true;
}

namespace {

constexpr std::int64_t kWindow = 1500;  // larger than any relevant range
constexpr std::int64_t kEdge = 24;      // larger than any period
constexpr std::int64_t kFar = 100;      // larger ranges are not enumerated
constexpr std::int64_t kMostTries = 400;
constexpr std::int64_t kMostPoints = 20000;

/// One axis of one access.
struct Bound {
  Index index;
  Range target;
  std::size_t tensor = 0;
  std::size_t dimension = 0;
  const Guard* guard = nullptr;

  bool reads() const { return index.table >= 0; }
  bool has(std::size_t d) const { return index.depends_on(d); }
  bool legal(const Values& v) const {
    const std::int64_t at = index.at(v);
    return at >= target.first && at < target.second;
  }
};

class Enumeration {
 public:
  explicit Enumeration(const ProgramCase& program) : p_(program) {
    for (const TensorCase& tensor : p_.tensors) {
      Ranges box;
      if (tensor.kind != TensorCase::Kind::Assigned)
        for (const std::int64_t extent : tensor.extents) box.emplace_back(0, extent);
      out_.boxes.push_back(box);
      out_.values.emplace_back(tensor.data.begin(), tensor.data.end());
    }
  }

  Expected run() {
    for (const StatementCase& s : p_.statements) {
      // These errors depend on the text alone, so they come before all others.
      for (std::size_t d = s.left; d < s.variables; ++d) {
        if (s.assign == Assign::Set && s.used(d)) out_.errors.insert("reduction_without_operator");
      }
    }
    std::set<std::string> refused;
    for (const StatementCase& s : p_.statements) refused.merge(unresolvable(s));
    for (std::size_t s = 0; s < p_.statements.size() && good(); ++s) statement(p_.statements[s]);
    // If no shapes would resolve an index, the engine may report that before an error of an earlier statement.
    if (!out_.errors.empty()) out_.errors.merge(refused);
    return out_;
  }

 private:
  bool good() const { return out_.errors.empty() && !out_.large; }

  /// The errors of indices that stay unresolved whatever the shapes are.
  std::set<std::string> unresolvable(const StatementCase& s) const {
    std::vector<Affine> bounding;
    std::vector<bool> named(s.variables, false);
    for (const TensorAccess& access : s.accesses) {
      for (const Index& index : access.indices) {
        bounding.push_back(index.affine);  // of a gather: the position in the table
        for (std::size_t d = 0; d < s.variables; ++d) named[d] = named[d] || index.affine.has(d);
      }
    }
    for (const Index& index : s.positions) bounding.push_back(index.affine);
    std::vector<char> known(s.variables, 0);
    for (std::size_t d = 0; d < s.variables; ++d) {
      known[d] = !s.used(d) || s.where[d] || (s.assign == Assign::Update && d < s.left) ? 1 : 0;
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (const Affine& affine : bounding) {
        std::size_t unknown = 0;
        std::size_t last = 0;
        for (std::size_t d = 0; d < s.variables; ++d) {
          if (known[d] != 0 || !affine.has(d)) continue;
          ++unknown;
          last = d;
        }
        if (unknown != 1) continue;
        known[last] = 1;
        progress = true;
      }
    }
    std::set<std::string> errors;
    for (std::size_t d = 0; d < s.variables; ++d) {
      if (known[d] == 0) errors.insert(d < s.left && !named[d] ? "unconstrained_output_index" : "unresolved_variable");
    }
    return errors;
  }

  void statement(const StatementCase& s) {
    s_ = &s;
    ranges_.assign(s.variables, Range{0, 1});
    known_.assign(s.variables, 0);
    if (!s.positions.empty() && out_.boxes[s.target].empty())
      for (const std::int64_t extent : p_.tensors[s.target].extents) out_.boxes[s.target].emplace_back(0, extent);
    bounds();
    if (!good()) return;
    start();
    while (good() && round()) {
    }
    if (!good()) return;
    if (std::find(known_.begin(), known_.end(), 0) != known_.end()) {
      out_.errors.insert("unresolved_variable");
      return;
    }
    preconditions();
    if (!good()) return;
    Ranges& old = out_.boxes[s.target];
    const Ranges box =
        s.positions.empty() ? Ranges(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(s.left)) : old;
    if (!old.empty() && old != box) {
      out_.errors.insert("shape_conflict");
      return;
    }
    evaluate();
    old = box;
    out_.ranges.push_back(ranges_);
  }

  void bounds() {
    bounds_.clear();
    solving_.clear();
    const auto add = [&](const Index& index, std::size_t tensor, std::size_t d, const Guard* guard) {
      const Range target = out_.boxes[tensor][d];
      if (target.first == target.second) out_.large = true;
      bounds_.push_back({index, target, tensor, d, guard});
    };
    if (s_->assign == Assign::Update) {
      for (std::size_t d = 0; d < s_->left; ++d) {
        Index self;
        self.affine.coefficient[d] = 1;
        add(self, s_->target, d, nullptr);
      }
    }
    const auto add_all = [&](const std::vector<Index>& indices, std::size_t tensor, const Guard* guard) {
      for (std::size_t d = 0; d < indices.size(); ++d) {
        add(indices[d], tensor, d, guard);
        if (indices[d].table < 0) continue;
        Index place;
        place.affine = indices[d].affine;
        add(place, table(), 0, guard);
      }
    };
    add_all(s_->positions, s_->target, nullptr);
    for (const TensorAccess& access : s_->accesses)
      add_all(access.indices, access.tensor, access.guard ? &*access.guard : nullptr);
  }

  std::size_t table() const {
    std::size_t t = 0;
    while (p_.tensors[t].kind != TensorCase::Kind::Table) ++t;
    return t;
  }

  void start() {
    for (std::size_t d = 0; d < s_->variables; ++d) {
      known_[d] = !s_->used(d) || s_->where[d] ? 1 : 0;
      if (s_->used(d) && s_->where[d]) ranges_[d] = *s_->where[d];
      const bool named =
          std::any_of(bounds_.begin(), bounds_.end(), [&](const Bound& b) { return b.index.affine.has(d); });
      if (known_[d] == 0 && !named && d < s_->left) out_.errors.insert("unconstrained_output_index");
    }
  }

  // The variables other than d in the expression, if d is the only one without a range; else nullopt.
  std::optional<std::vector<std::size_t>> others(const Bound& b, std::size_t d, const std::vector<char>& before) const {
    std::vector<std::size_t> out;
    if (b.reads() || !b.has(d)) return {};
    for (std::size_t o = 0; o < s_->variables; ++o) {
      if (o == d || !b.has(o)) continue;
      if (before[o] == 0) return {};
      out.push_back(o);
    }
    return out;
  }

  bool round() {
    const std::vector<char> before = known_;
    Ranges found = ranges_;
    bool progress = false;
    for (std::size_t d = 0; d < s_->variables; ++d) {
      if (before[d] != 0) continue;
      std::vector<std::pair<std::size_t, std::vector<std::size_t>>> mine;
      for (std::size_t b = 0; b < bounds_.size(); ++b) {
        if (auto other = others(bounds_[b], d, before)) mine.emplace_back(b, std::move(*other));
      }
      if (mine.empty()) continue;
      Values legal;
      Values v(s_->variables, 0);
      for (const auto& [b, other] : mine) out_.large = out_.large || !few_points(ranges_, other, kMostTries);
      if (out_.large) return false;
      for (std::int64_t x = -kWindow; x <= kWindow; ++x) {
        bool good = true;
        for (const auto& [b, other] : mine) {
          each_point(ranges_, other, v, [&, b = b] {
            v[d] = x;
            good = good && bounds_[b].legal(v);
          });
          if (!good) break;
        }
        if (good) legal.push_back(x);
      }
      if (!legal.empty() && (legal.front() <= -kWindow + kEdge || legal.back() >= kWindow - kEdge)) continue;
      if (legal.empty()) {
        out_.errors.insert("empty_range");
      } else if (legal.back() - legal.front() + 1 != static_cast<std::int64_t>(legal.size())) {
        out_.errors.insert("non_interval");
      } else {
        found[d] = {legal.front(), legal.back() + 1};
        if (legal.front() < -kFar || legal.back() > kFar) out_.large = true;
        known_[d] = 1;
        progress = true;
        for (const auto& [b, other] : mine) solving_.insert(b);
      }
    }
    ranges_ = found;
    return progress;
  }

  std::vector<std::size_t> used_variables(std::size_t from, std::size_t to) const {
    std::vector<std::size_t> out;
    for (std::size_t d = from; d < to; ++d) {
      if (s_->used(d)) out.push_back(d);
    }
    return out;
  }

  void preconditions() {
    const std::vector<std::size_t> all = used_variables(0, s_->variables);
    if (!few_points(ranges_, all, kMostPoints)) {
      out_.large = true;
      return;
    }
    for (std::size_t k = 0; k < bounds_.size(); ++k) {
      if (solving_.contains(k)) continue;
      const Bound& b = bounds_[k];
      bool any = false;
      bool outside = false;
      bool taken_outside = false;
      Values v(s_->variables, 0);
      each_point(ranges_, all, v, [&] {
        any = true;
        if (b.reads() || b.legal(v)) return;
        outside = true;
        taken_outside = taken_outside || b.guard == nullptr || b.guard->takes(v);
      });
      if (taken_outside) out_.errors.insert("precondition_violated");
      if (!any || (!b.reads() && !outside)) continue;
      out_.preconditions.emplace(p_.tensors[b.tensor].name, b.dimension, b.reads() ? "data_dependent" : "guarded");
    }
  }

  // The row-major place of an element; nullopt outside.
  std::optional<std::size_t> place_of(std::size_t tensor, const Values& at) {
    const Ranges& box = out_.boxes[tensor];
    std::int64_t place = 0;
    for (std::size_t d = 0; d < box.size(); ++d) {
      if (at[d] < box[d].first || at[d] >= box[d].second) {
        out_.leaves = true;
        return std::nullopt;
      }
      place = place * (box[d].second - box[d].first) + at[d] - box[d].first;
    }
    return static_cast<std::size_t>(place);
  }

  double element(std::size_t tensor, const Values& at) {
    const std::optional<std::size_t> place = place_of(tensor, at);
    return place ? out_.values[tensor][*place] : 0;
  }

  Values at(const std::vector<Index>& indices, const Values& v) {
    Values out;
    for (const Index& index : indices) {
      out.push_back(index.table < 0 ? index.at(v)
                                    : static_cast<std::int64_t>(element(table(), {index.affine.at(v)})) + index.more);
    }
    return out;
  }

  double value(const TensorAccess& access, const Values& v) {
    return access.guard && !access.guard->takes(v) ? 2 : element(access.tensor, at(access.indices, v));
  }

  std::vector<double> written() {
    const bool max = s_->assign == Assign::Max;
    std::int64_t size = 1;
    for (const auto& [lo, end] : out_.boxes[s_->target]) size *= end - lo;
    std::vector<double> result(static_cast<std::size_t>(size), max ? -std::numeric_limits<double>::infinity() : 0);
    Values v(s_->variables, 0);
    each_point(ranges_, used_variables(0, s_->variables), v, [&] {
      double sum = 0;
      for (const TensorAccess& access : s_->accesses) sum += value(access, v);
      const std::optional<std::size_t> place = place_of(s_->target, at(s_->positions, v));
      if (place) result[*place] = max ? std::max(result[*place], sum) : result[*place] + sum;
    });
    return result;
  }

  void evaluate() {
    const std::vector<std::size_t> left = used_variables(0, s_->left);
    const std::vector<std::size_t> reduced = used_variables(s_->left, s_->variables);
    const bool max = s_->assign == Assign::Max;
    std::vector<double> result;
    Values v(s_->variables, 0);
    each_point(ranges_, left, v, [&] {
      double total = max ? -std::numeric_limits<double>::infinity() : 0;
      each_point(ranges_, reduced, v, [&] {
        double sum = 0;
        for (const TensorAccess& access : s_->accesses) sum += value(access, v);
        total = max ? std::max(total, sum) : total + sum;
      });
      result.push_back(total);
    });
    if (!s_->positions.empty()) result = written();
    if (s_->assign == Assign::Update) {
      for (std::size_t k = 0; k < result.size(); ++k) result[k] += out_.values[s_->target][k];
    }
    out_.values[s_->target] = std::move(result);
  }

  const ProgramCase& p_;
  Expected out_;
  const StatementCase* s_ = nullptr;
  Ranges ranges_;
  std::vector<char> known_;
  std::vector<Bound> bounds_;
  std::set<std::size_t> solving_;
};

}  // namespace

Expected enumerate(const ProgramCase& program) { return Enumeration(program).run(); }

}  // namespace oriel::testing
