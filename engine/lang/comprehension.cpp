#include "oriel/comprehension.hpp"

#include <fmt/format.h>

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "lang/report.hpp"

namespace oriel {
namespace {

using lang::ProgramPtr;

/// Texts whose definitions are kept.
constexpr std::size_t kKeptTexts = 256;

/// Checked texts, the least recently used dropped first.
class Cache {
 public:
  static Cache& instance() {
    static Cache cache;
    return cache;
  }

  std::vector<ProgramPtr> get(std::string_view text, std::string_view file) {
    std::string key = fmt::format("{}\n{}", file, text);
    {
      const std::lock_guard guard(mutex_);
      const auto found = places_.find(key);
      if (found != places_.end()) {
        kept_.splice(kept_.begin(), kept_, found->second);
        return kept_.front().programs;
      }
    }
    std::vector<ProgramPtr> programs = lang::check(text, file);
    const std::lock_guard guard(mutex_);
    if (places_.contains(key)) return programs;  // another thread was faster
    kept_.push_front({key, programs});
    places_.emplace(std::move(key), kept_.begin());
    if (kept_.size() > kKeptTexts) {
      places_.erase(kept_.back().key);
      kept_.pop_back();
    }
    return programs;
  }

 private:
  struct Kept {
    std::string key;
    std::vector<ProgramPtr> programs;
  };
  std::mutex mutex_;
  std::list<Kept> kept_;
  std::unordered_map<std::string, std::list<Kept>::iterator> places_;
};

}  // namespace

std::string Comprehension::name() const { return std::string(program_->definition.name); }

std::vector<std::string> Comprehension::parameters() const {
  std::vector<std::string> names;
  for (const lang::Parameter& parameter : program_->definition.parameters) names.emplace_back(parameter.name);
  return names;
}

std::vector<std::string> Comprehension::results() const {
  std::vector<std::string> names;
  for (const lang::Result& result : program_->definition.results) names.emplace_back(result.name);
  return names;
}

std::string Comprehension::canonical_text() const { return lang::canonical_text(*program_); }

ComprehensionRanges Comprehension::ranges(std::span<const Shape> shapes, const ComprehensionOptions& options) const {
  lang::check_options(*program_, options);
  const std::vector<std::optional<Shape>> given(shapes.begin(), shapes.end());
  const lang::Inference inference = lang::infer(*program_, given);
  lang::check_options(*program_, inference, options);
  return lang::report(*program_, inference);
}

Comprehension comprehension(std::string_view text, std::string_view name, std::string_view file) {
  return Comprehension(lang::select(Cache::instance().get(text, file), name));
}

std::vector<Comprehension> comprehensions(std::string_view text, std::string_view file) {
  std::vector<Comprehension> out;
  for (const ProgramPtr& program : Cache::instance().get(text, file)) out.emplace_back(program);
  return out;
}

}  // namespace oriel
