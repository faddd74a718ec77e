// Checks the properties of this build's view algebra.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "base/hash.hpp"
#include "fuzz/choices.hpp"
#include "fuzz/eager.hpp"
#include "fuzz/formula.hpp"
#include "fuzz/properties.hpp"
#include "view/expression.hpp"
#include "view/merging/merge.hpp"
#include "view/merging/simplify.hpp"

namespace oriel::fuzz {
namespace {

using Found = std::optional<Failure>;

Failure broken(Property property, std::string seen) { return {property, std::move(seen)}; }

std::string text_of(const std::optional<View>& view) { return view ? view->str() : "no view"; }

std::string text_of(std::int64_t position) {
  if (position == kInvalid) return "invalid";
  return position == kOutside ? "a position that does not exist" : std::to_string(position);
}

/// The maps that needed two or more views so far, with the form of each. Used to count equal maps with different forms.
class Forms {
 public:
  void meet(const ShapeTracker& tracker, const Table& table, KindTally& tally) {
    if (forms_.size() > kMost) return;
    std::uint64_t map = base::mix(table.at.size(), table.shape.size());
    for (const std::int64_t extent : table.shape) map = base::mix(map, static_cast<std::uint64_t>(extent));
    for (const std::int64_t position : table.at) map = base::mix(map, static_cast<std::uint64_t>(position));
    const std::size_t form = hash_value(tracker);
    const auto [known, is_new] = forms_.emplace(map, form);
    if (is_new) return;
    ++tally.seen_again;
    if (known->second != form) ++tally.other_form;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 17;
  std::unordered_map<std::uint64_t, std::size_t> forms_;
};

class EngineSubject final : public Subject {
 public:
  void check(Kind kind, std::span<const Case> cases, std::span<Found> failures, KindTally& tally) override {
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Case& c = cases[k];
      longest_merge_ = 0;
      decision_ = {};
      try {
        failures[k] = info(kind).table ? check_table(c, tally) : check_samples(kind, c, tally);
      } catch (const std::exception& error) {
        failures[k] = broken(Property::Answers, std::string("threw: ") + error.what());
      }
      ++tally.cases;
      if (decision_.searches > 0) ++tally.searched;
      tally.steps += decision_.steps;
      tally.keep_if_hard(decision_.steps, longest_merge_, c);
    }
  }

 private:
  MergeResult timed_merge(const View& outer, const View& inner, KindTally& tally) {
    const detail::MergeStatistics before = detail::thread_merge_statistics();
    const auto start = std::chrono::steady_clock::now();
    MergeResult result = merge(outer, inner);
    const auto took = std::chrono::steady_clock::now() - start;
    decision_ = detail::thread_merge_statistics() - before;
    const auto nanoseconds =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    ++tally.merges;
    ++tally.merge_time[time_bucket(nanoseconds)];
    longest_merge_ = nanoseconds;
    if (result.verdict == MergeVerdict::Merged) ++tally.merged;
    if (result.verdict == MergeVerdict::No) ++tally.refused;
    if (result.verdict == MergeVerdict::Unknown) ++tally.unknown;
    return result;
  }

  static void count_length(const Case& c, bool one_view, KindTally& tally) {
    LengthTally& length = tally.by_length[std::min(c.length(), kLongest) - 1];
    ++length.cases;
    if (one_view) ++length.one_view;
    ++(one_view ? tally.one_view : tally.more_views);
  }

  // Checks cases that brute force can list.

  Found check_table(const Case& c, KindTally& tally) {
    eager_.run(c, table_);
    const std::optional<View> expected = eager_.fit(table_);
    count_length(c, expected.has_value(), tally);
    const bool pair = c.start.size() == 2 && c.movements.empty();
    if (pair) {
      if (Found found = check_merge(c, expected, tally)) return found;
    }
    ShapeTracker tracker = start_of(c);
    for (const Movement& movement : c.movements) tracker = apply(tracker, movement);
    const detail::MergeStatistics before = detail::thread_merge_statistics();
    const ShapeTracker simple = tracker.simplify();
    if (!pair) decision_ = detail::thread_merge_statistics() - before;
    if (Found found = check_positions(tracker, "the case")) return found;
    if (Found found = check_simple(simple, expected)) return found;
    if (Found found = check_expressions(simple)) return found;
    // Checking the unsimplified stack costs as much again, so only every fourth case is checked.
    if (table_.at.size() % 4 == 0 && !tracker.single()) {
      if (Found found = check_expressions(tracker)) return found;
    }
    if (!simple.single()) return check_several(c, simple, tally);
    if (Found found = check_idempotence(simple)) return found;
    if (Found found = check_inverse(simple)) return found;
    if (Found found = check_contiguity(simple)) return found;
    return pair ? std::nullopt : check_order(simple, c);  // a pair can be merged in only one order
  }

  /// Checks a map of two or more views. Each of these checks costs as much as the merging itself, so a map gets one.
  Found check_several(const Case& c, const ShapeTracker& simple, KindTally& tally) {
    switch (hash_value(simple) % 6) {
      case 0:
        return check_idempotence(simple);
      case 1:
        return check_inverse(simple);
      case 2:
        return check_contiguity(simple);
      case 3:
        return check_refinement(simple, tally);
      case 4:
        return check_form(simple, tally);
      default:
        return check_order(simple, c);
    }
  }

  static Found check_idempotence(const ShapeTracker& simple) {
    if (simple.simplify() == simple) return std::nullopt;
    return broken(Property::Idempotence, simple.str() + " simplified again");
  }

  /// Merges each view, if possible, into the views below it.
  static ShapeTracker bottom_up(const Case& c) {
    ShapeTracker tracker(c.start[0]);
    for (std::size_t k = 1; k < c.start.size(); ++k) tracker = tracker.view(c.start[k]);
    return tracker.simplify();
  }

  /// Merges after every movement, as the scheduler does when it composes maps.
  static ShapeTracker step_by_step(const Case& c) {
    ShapeTracker tracker = start_of(c);
    for (const Movement& movement : c.movements) {
      tracker = apply(tracker, movement);
      if (!tracker.single()) tracker = detail::merged(tracker);
    }
    return tracker.simplify();
  }

  Found check_refinement(const ShapeTracker& simple, KindTally& tally) {
    ++tally.refinable.asked;
    const std::optional<Refinement> refinement = simple.refine();
    if (!refinement) return std::nullopt;
    ++tally.refinable.found;
    // Splitting axes does not change the row-major order.
    const View stack[] = {refinement->view, View::contiguous(simple.shape())};
    eager_.tabulate(stack, other_);
    if (other_.at == table_.at) return std::nullopt;
    return broken(Property::Refinement, simple.str() + " was refined to " + refinement->view.str());
  }

  Found check_form(const ShapeTracker& simple, KindTally& tally) {
    const ShapeTracker form = simple.canonical();
    if (Found found = check_positions(form, "the canonical form")) return found;
    if (form.canonical() != form) return broken(Property::Idempotence, form.str() + " brought to its form again");
    forms_.meet(form, table_, tally);
    return std::nullopt;
  }

  Found check_merge(const Case& c, const std::optional<View>& expected, KindTally& tally) {
    const MergeResult result = timed_merge(c.start[1], c.start[0], tally);
    if (result.verdict == MergeVerdict::Unknown) {
      return broken(Property::Completeness,
                    "merge left undecided what can be listed: the stack is " + text_of(expected));
    }
    if (result.verdict == MergeVerdict::No) {
      if (!expected) return std::nullopt;
      return broken(Property::Completeness, "merge answered No, but the stack is " + expected->str());
    }
    // The view that fit found has this table, so an equal view has it too.
    if (expected && result.view == *expected) return std::nullopt;
    if (!eager_.equal(result.view, table_)) {
      return broken(Property::Soundness,
                    "merge answered " + result.view.str() + ", but the stack is " + text_of(expected));
    }
    return broken(Property::Canonical,
                  "merge answered " + result.view.str() + ", whose canonical form is " + text_of(expected));
  }

  /// Checks that the stack has the table of the case.
  Found check_positions(const ShapeTracker& tracker, const char* what) {
    eager_.tabulate(tracker.views(), other_);
    if (other_.shape == table_.shape && other_.at == table_.at) return std::nullopt;
    std::size_t n = 0;
    if (other_.at.size() != table_.at.size()) {
      return broken(Property::Soundness, std::string(what) + " became " + tracker.str() + ", of another shape");
    }
    while (n + 1 < table_.at.size() && other_.at[n] == table_.at[n]) ++n;
    return broken(Property::Soundness, fmt::format("{} became {}, which at flat index {} is {}, not {}", what,
                                                   tracker.str(), n, text_of(other_.at[n]), text_of(table_.at[n])));
  }

  Found check_simple(const ShapeTracker& simple, const std::optional<View>& expected) {
    if (simple.single() && expected && simple.views()[0] == *expected) return std::nullopt;
    if (Found found = check_positions(simple, "the simplified case")) return found;
    if (simple.single()) {
      return broken(Property::Canonical,
                    "simplified to " + simple.str() + ", whose canonical form is " + text_of(expected));
    }
    if (!expected) return std::nullopt;
    return broken(Property::Completeness, "simplified to " + simple.str() + ", but it is " + expected->str());
  }

  Found check_order(const ShapeTracker& simple, const Case& c) {
    if (c.length() < 2) return std::nullopt;
    const ShapeTracker stepwise = c.movements.empty() ? bottom_up(c) : step_by_step(c);
    if (simple == stepwise) return std::nullopt;
    if (Found found = check_positions(stepwise, "simplified step by step, the case")) {
      found->property = Property::Order;
      return found;
    }
    if (!simple.single() && !stepwise.single()) return std::nullopt;
    return broken(Property::Order, "simplified at the end it is " + simple.str() + ", step by step " + stepwise.str());
  }

  static Found check_inverse(const ShapeTracker& simple) {
    const Shape& shape = simple.shape();
    const std::size_t rank = shape.size();
    Ints axes;
    Ints rotation;
    Ints back;
    Ranges pads;
    Ranges inside;
    for (std::size_t d = 0; d < rank; ++d) {
      axes.push_back(d);
      rotation.push_back((d + 1) % rank);
      back.push_back((d + rank - 1) % rank);
      pads.push_back({d % 3 + 1, (d + 1) % 3});
      inside.push_back({pads[d].lo, pads[d].lo + shape[d]});
    }
    const auto cancels = [&simple](const char* what, const ShapeTracker& other) -> Found {
      if (other == simple) return std::nullopt;
      return broken(Property::Inverse, std::string(what) + " made " + other.str() + " of " + simple.str());
    };
    if (Found found = cancels("flip twice", simple.flip(axes).flip(axes))) return found;
    if (Found found = cancels("permute there and back", simple.permute(rotation).permute(back))) return found;
    if (Found found = cancels("pad and shrink", simple.pad(pads).shrink(inside))) return found;
    return cancels("reshape to one axis and back", simple.reshape({numel(shape)}).reshape(shape).simplify());
  }

  Found check_expressions(const ShapeTracker& tracker) {
    // Gives the texts of index_expression and valid_expression, but builds the expression once.
    const detail::StackExpression expression = detail::express(tracker.views());
    const std::string valid_text = detail::valid_text(expression);
    const std::string index_text = detail::index_text(expression);
    formula_.bind(table_.shape);
    const std::vector<std::int64_t>& valid = formula_.evaluate(valid_text);
    const std::vector<std::int64_t>& index = formula_.evaluate(index_text);
    for (std::size_t n = 0; n < table_.at.size(); ++n) {
      const std::int64_t position = valid[n] != 0 ? index[n] : kInvalid;
      if (position == table_.at[n]) continue;
      return broken(Property::Expressions,
                    fmt::format("{} has index '{}' and valid '{}', which at flat index {} say {}, not {}",
                                tracker.str(), index_text, valid_text, n, text_of(position), text_of(table_.at[n])));
    }
    return std::nullopt;
  }

  Found check_contiguity(const ShapeTracker& tracker) const {
    bool identity = true;
    for (std::size_t n = 0; n < table_.at.size() && identity; ++n) {
      identity = table_.at[n] == static_cast<std::int64_t>(n);
    }
    if (tracker.is_contiguous() == identity) return std::nullopt;
    return broken(Property::Contiguity,
                  tracker.str() + (identity ? " is contiguous, but was not said to be" : " was said to be contiguous"));
  }

  // Checks cases that are too large to list.

  Found check_samples(Kind kind, const Case& c, KindTally& tally) {
    const ShapeTracker tracker = start_of(c);
    const MergeResult result = timed_merge(c.start[1], c.start[0], tally);
    const ShapeTracker simple = tracker.simplify();
    count_length(c, simple.single(), tally);
    if (kind == Kind::Planted && result.verdict == MergeVerdict::No) {
      return broken(Property::Completeness, "merge answered No, but every outer axis is a digit of one inner axis");
    }
    if (result.verdict == MergeVerdict::Merged && (!simple.single() || result.view != simple.views()[0])) {
      return broken(Property::Canonical, "merge answered " + result.view.str() + ", but simplify " + simple.str());
    }
    // Near the limits of 64 bits merges may be undecided, reshapes may keep an extra view, and movements may refuse.
    if (kind != Kind::Edge) {
      if (Found found = check_idempotence(simple)) return found;
      if (Found found = check_inverse(simple)) return found;
    }
    if (numel(c.start[1].shape) == 0) return std::nullopt;
    Choices choices(static_cast<std::uint64_t>(hash_value(c.start[1])), 0);
    Extents index(c.start[1].rank());
    for (int sample = 0; sample < kSamples; ++sample) {
      for (std::size_t d = 0; d < index.size(); ++d) index[d] = sample_index(choices, c.start[1], d);
      const std::int64_t expected = position(c.start, index);
      const std::int64_t got = position(simple.views(), index);
      if (got == expected) continue;
      std::string where;
      for (const std::int64_t i : index) where += (where.empty() ? "" : ",") + std::to_string(i);
      return broken(Property::Soundness, fmt::format("simplified to {}, which at ({}) is {}, not {}", simple.str(),
                                                     where, text_of(got), text_of(expected)));
    }
    return std::nullopt;
  }

  /// A random index of the axis: anywhere, or near an end of the axis or of its mask.
  static std::int64_t sample_index(Choices& choices, const View& view, std::size_t d) {
    const std::int64_t extent = view.shape[d].value();
    const std::int64_t lo = view.mask.empty() ? 0 : view.mask[d].lo.value();
    const std::int64_t hi = view.mask.empty() ? extent : view.mask[d].hi.value();
    if (choices.chance(.3) || lo == hi) return choices.between(0, extent - 1);
    const std::int64_t near = choices.chance(.5) ? lo + choices.between(-1, 2) : hi + choices.between(-3, 0);
    return choices.chance(.5) ? choices.between(lo, hi - 1) : std::clamp<std::int64_t>(near, 0, extent - 1);
  }

  static constexpr int kSamples = 16;

  Eager eager_;
  Table table_;
  Table other_;
  Formula formula_;
  Forms forms_;
  std::uint64_t longest_merge_ = 0;
  // The counts of the case's merge; for cases other than pairs, of its simplify.
  detail::MergeStatistics decision_;
};

}  // namespace

std::unique_ptr<Subject> make_engine_subject() { return std::make_unique<EngineSubject>(); }

}  // namespace oriel::fuzz
