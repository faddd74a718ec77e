#include "lang/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::lang {
namespace {

/// The capacity of the caches: texts whose definitions are kept, and shapes per definition for which inference is kept.
constexpr std::size_t kKeptTexts = 256;
constexpr std::size_t kKeptShapes = 16;

// Guards the cache and the inferences that definitions share.
base::ForkMutex& cache_lock() { return base::fork_mutex(base::ForkLock::definitions); }

class Cache {
 public:
  static Cache& instance() {
    // Never destroyed: static objects may call comprehensions while the process ends.
    static constinit Cache* cache = nullptr;
    const std::lock_guard guard(cache_lock());
    if (cache == nullptr) cache = new Cache;
    return *cache;
  }

  std::vector<CompiledDefinitionPtr> get(std::string_view text, std::string_view name, std::span<const DType> types) {
    std::string key;
    for (const DType type : types) key += fmt::format("{} ", oriel::name(type));
    key += fmt::format("{}\n{}", name, text);
    {
      const std::lock_guard guard(cache_lock());
      if (const auto found = places_.find(key); found != places_.end()) {
        kept_.splice(kept_.begin(), kept_, found->second);
        return kept_.front().definitions;
      }
    }
    const std::vector<ProgramPtr> programs = check(text, name, types);
    std::vector<std::string> canonical;
    canonical.reserve(programs.size());
    for (const ProgramPtr& program : programs) canonical.push_back(canonical_text(*program));
    const std::lock_guard guard(cache_lock());
    if (const auto found = places_.find(key); found != places_.end()) return found->second->definitions;
    std::vector<CompiledDefinitionPtr> definitions;
    for (std::size_t k = 0; k < programs.size(); ++k) {
      definitions.push_back(CompiledDefinitionPtr::make(programs[k], shared(canonical[k])));
    }
    kept_.push_front({key, definitions});
    places_.emplace(std::move(key), kept_.begin());
    if (kept_.size() > kKeptTexts) {
      places_.erase(kept_.back().key);
      kept_.pop_back();
      std::erase_if(inferences_, [](const auto& entry) { return entry.second.expired(); });
    }
    return definitions;
  }

 private:
  struct Kept {
    std::string key;
    std::vector<CompiledDefinitionPtr> definitions;
  };

  std::shared_ptr<Inferences> shared(const std::string& canonical) {
    std::weak_ptr<Inferences>& place = inferences_[canonical];
    std::shared_ptr<Inferences> out = place.lock();
    if (!out) place = out = std::make_shared<Inferences>();
    return out;
  }

  std::list<Kept> kept_;
  std::unordered_map<std::string, std::list<Kept>::iterator> places_;
  std::unordered_map<std::string, std::weak_ptr<Inferences>> inferences_;  // by canonical text
};

bool same(const std::vector<Shape>& known, std::span<const std::optional<Shape>> asked) {
  return std::equal(known.begin(), known.end(), asked.begin(), asked.end(),
                    [](const Shape& a, const std::optional<Shape>& b) { return b && a == *b; });
}

}  // namespace

std::shared_ptr<const Inference> Inferences::get(const Program& program, std::span<const std::optional<Shape>> shapes) {
  {
    const std::lock_guard guard(cache_lock());
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return same(known.shapes, shapes); });
    if (found != known_.end()) {
      known_.splice(known_.begin(), known_, found);
      return known_.front().inference;
    }
  }
  auto inference = std::make_shared<const Inference>(infer(program, shapes));
  Known known;
  for (const std::optional<Shape>& shape : shapes) {
    if (!shape) return inference;  // no parameter has this position
    known.shapes.push_back(*shape);
  }
  known.inference = inference;
  const std::lock_guard guard(cache_lock());
  known_.push_front(std::move(known));
  if (known_.size() > kKeptShapes) known_.pop_back();
  return inference;
}

bool Inferences::first_call(const Inference& inference) {
  const std::lock_guard guard(cache_lock());
  for (Known& known : known_) {
    if (known.inference.get() == &inference) return !std::exchange(known.called, true);
  }
  return true;
}

std::vector<CompiledDefinitionPtr> compile(std::string_view text, std::string_view name, std::span<const DType> types) {
  return Cache::instance().get(text, name, types);
}

CompiledDefinitionPtr compile(const CompiledDefinition& definition, std::span<const DType> types) {
  const Program& program = *definition.program;
  for (CompiledDefinitionPtr& other : compile(program.source().text, program.source().name, types)) {
    if (other->program->definition.span.begin == program.definition.span.begin) return std::move(other);
  }
  throw InternalError("comprehension", "a definition is not where it was");
}

}  // namespace oriel::lang
