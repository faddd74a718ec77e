#include "fuzz/external_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fuzz/case_json.hpp"
#include "fuzz/eager.hpp"
#include "fuzz/process.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {
namespace {

using Found = std::optional<Failure>;
using Json = nlohmann::json;

/// A possibly incomplete answer.
struct Answer {
  std::optional<std::vector<View>> views;
  std::optional<std::vector<std::int64_t>> table;
  std::optional<bool> contiguous;
  std::string trouble;  // why it is not an answer, or empty
};

Answer read_answer(const std::string& line) {
  Answer answer;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return {{}, {}, {}, "'" + line.substr(0, 200) + "', which is no JSON object"};
  if (const auto error = json.find("error"); error != json.end()) return {{}, {}, {}, "the error " + error->dump()};
  try {
    if (json.contains("views")) answer.views = read_views(json["views"], "fuzz", "views");
    if (json.contains("contiguous")) answer.contiguous = json["contiguous"].get<bool>();
    if (json.contains("table")) answer.table = json["table"].get<std::vector<std::int64_t>>();
  } catch (const Error& error) {
    return {{}, {}, {}, std::string(error.message())};
  } catch (const Json::exception&) {
    return {{}, {}, {}, "'" + line.substr(0, 200) + "', whose members have other types than the protocol's"};
  }
  if (!answer.views && !answer.table) answer.trouble = R"(neither "views" nor "table")";
  return answer;
}

std::string text_of(const std::vector<View>& views) {
  std::string text;
  for (std::size_t k = views.size(); k-- > 0;) text += views[k].str() + (k > 0 ? " over " : "");
  return text;
}

class ExternalSubject final : public Subject {
 public:
  explicit ExternalSubject(ExternalOptions options) : options_(std::move(options)), process_(options_.command) {}

  void check(Kind kind, std::span<const Case> cases, std::span<Found> failures, KindTally& tally) override {
    std::vector<std::string> lines;
    for (const Case& c : cases) lines.push_back(json_text(c));
    Process::Exchange first = process_.exchange(lines, options_.seconds_without_answer);
    // The program is asked again about other forms of the case: its own answer, and the single view that equals the
    // case.
    std::vector<Question> again;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      if (k == first.answers.size()) {
        failures[k] = Failure{Property::Answers, "the program " + first.trouble};
        break;
      }
      ++tally.cases;
      failures[k] = judge(kind, cases[k], read_answer(first.answers[k]), k, again, tally);
      if (failures[k]) break;
    }
    if (again.empty()) return;
    lines.clear();
    for (const Question& question : again) lines.push_back(json_text({question.start, {}}));
    const Process::Exchange second = process_.exchange(lines, options_.seconds_without_answer);
    for (std::size_t q = 0; q < again.size(); ++q) {
      const Question& question = again[q];
      if (failures[question.number]) continue;
      if (q == second.answers.size()) {
        failures[question.number] = Failure{Property::Answers, "asked " + lines[q] + ", the program " + second.trouble};
        break;
      }
      const Answer answer = read_answer(second.answers[q]);
      if (answer.trouble.empty() && answer.views == question.expected) continue;
      const std::string got = answer.views ? text_of(*answer.views) : answer.trouble;
      failures[question.number] =
          Failure{question.property, fmt::format("asked for {}, it answered {} where it had answered {}",
                                                 text_of(question.start), got, text_of(question.expected))};
    }
  }

  std::string program(const Case& c) override {
    Json question = Json::parse(json_text(c));
    question["program"] = true;
    const Process::Exchange said = process_.exchange(std::vector{question.dump()}, options_.seconds_without_answer);
    const Json answer = said.answers.empty() ? Json() : Json::parse(said.answers.front(), nullptr, false);
    const bool has_text = answer.is_object() && answer.contains("program") && answer["program"].is_string();
    return has_text ? answer["program"].get<std::string>() : "";
  }

 private:
  struct Question {
    std::size_t number;
    Property property;
    std::vector<View> start;
    std::vector<View> expected;
  };

  bool wanted(Property property) const {
    return std::find(options_.properties.begin(), options_.properties.end(), property) != options_.properties.end();
  }

  Found judge(Kind kind, const Case& c, const Answer& answer, std::size_t number, std::vector<Question>& again,
              KindTally& tally) {
    if (!answer.trouble.empty()) return Failure{Property::Answers, "the program answered " + answer.trouble};
    const bool one_view = answer.views && answer.views->size() == 1;
    LengthTally& length = tally.by_length[std::min(c.length(), kLongest) - 1];
    ++length.cases;
    if (one_view) ++length.one_view;
    ++(one_view ? tally.one_view : tally.more_views);
    // Cases that are too large to list are judged by samples of the stack.
    if (!info(kind).table) return judge_samples(c, answer);
    eager_.run(c, table_);
    if (wanted(Property::Soundness)) {
      if (Found found = judge_table(answer)) return found;
    }
    const std::optional<View> fit = eager_.fit(table_);
    if (wanted(Property::Completeness) && answer.views && fit && !one_view) {
      return Failure{Property::Completeness, text_of(*answer.views) + " was answered, but it is " + fit->str()};
    }
    if (wanted(Property::Contiguity) && answer.contiguous) {
      bool identity = true;
      for (std::size_t n = 0; n < table_.at.size(); ++n)
        identity = identity && table_.at[n] == static_cast<std::int64_t>(n);
      if (*answer.contiguous != identity) {
        return Failure{Property::Contiguity, fmt::format("\"contiguous\" is {}, not {}", *answer.contiguous, identity)};
      }
    }
    if (answer.views && wanted(Property::Idempotence)) {
      again.push_back({number, Property::Idempotence, *answer.views, *answer.views});
    }
    if (one_view && fit && wanted(Property::Canonical)) {
      again.push_back({number, Property::Canonical, {*fit}, *answer.views});
    }
    return std::nullopt;
  }

  /// Judges the table in the answer, and the table of the views in the answer.
  Found judge_table(const Answer& answer) {
    if (answer.table) {
      std::size_t n = 0;
      const std::size_t count = table_.at.size();
      if (answer.table->size() != count) {
        return Failure{Property::Soundness,
                       fmt::format("the table has {} entries, not {}", answer.table->size(), count)};
      }
      while (n < count && (*answer.table)[n] == (table_.at[n] == kInvalid ? -1 : table_.at[n])) ++n;
      if (n < count) {
        return Failure{Property::Soundness,
                       fmt::format("the table has at flat index {} the position {}, not {}", n, (*answer.table)[n],
                                   table_.at[n] == kInvalid ? -1 : table_.at[n])};
      }
    }
    if (!answer.views) return std::nullopt;
    for (const View& view : *answer.views) {
      if (view.numel() > kMostEntries)
        return Failure{Property::Soundness, "the view " + view.str() + " is far too large"};
    }
    eager_.tabulate(*answer.views, other_);
    if (other_.shape == table_.shape && other_.at == table_.at) return std::nullopt;
    return Failure{Property::Soundness, text_of(*answer.views) + " was answered, which is another map"};
  }

  static Found judge_samples(const Case& c, const Answer& answer) {
    if (!answer.views) return std::nullopt;
    Extents index(c.start.back().rank());
    if (answer.views->back().shape != c.start.back().shape) {
      return Failure{Property::Soundness, text_of(*answer.views) + " was answered, of another shape"};
    }
    Choices choices(hash_value(c.start.back()), 1);
    for (int sample = 0; sample < 32 && numel(c.start.back().shape) > 0; ++sample) {
      for (std::size_t d = 0; d < index.size(); ++d) index[d] = choices.between(0, c.start.back().shape[d].value() - 1);
      if (position(*answer.views, index) == position(c.start, index)) continue;
      return Failure{Property::Soundness, fmt::format("{} was answered, which differs at ({})", text_of(*answer.views),
                                                      fmt::join(index.begin(), index.end(), ","))};
    }
    return std::nullopt;
  }

  static constexpr std::int64_t kMostEntries = 10'000'000;

  ExternalOptions options_;
  Process process_;
  Eager eager_;
  Table table_;
  Table other_;
};

}  // namespace

std::vector<Property> external_properties() {
  return {Property::Soundness, Property::Completeness, Property::Canonical, Property::Idempotence,
          Property::Contiguity};
}

std::unique_ptr<Subject> make_external_subject(ExternalOptions options) {
  return std::make_unique<ExternalSubject>(std::move(options));
}

}  // namespace oriel::fuzz
