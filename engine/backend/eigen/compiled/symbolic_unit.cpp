#include "backend/eigen/compiled/symbolic_unit.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork_lock.hpp"
#include "codegen/sizes.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "source/cpp/render.hpp"
#include "sym/environment.hpp"

namespace oriel::backend::eigen {

bool SymbolicUnit::render(std::span<const std::int64_t> values) const {
  // Kernels of one plan share the pool of their expressions, to which rendering adds.
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  if (maker_ == nullptr) return false;
  if (own_text_ != nullptr) return true;
  own_text_ = std::make_unique<const Text>(maker_->rendered(values));
  text_.store(own_text_.get(), std::memory_order_release);
  return true;
}

std::optional<std::vector<std::int64_t>> SymbolicUnit::numbers(std::span<const std::int64_t> values) const {
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  if (maker_ == nullptr) return std::nullopt;  // the program of sizes refers to expressions of the plan
  const Text& text = *own_text_;
  InlineVector<std::int64_t, 8> given;
  for (const std::size_t place : text.variables) given.push_back(values[place]);
  InlineVector<sym::Outcome, 64> work(text.sizes.steps());
  InlineVector<sym::Outcome, 32> out(text.count);
  text.sizes.run({given.data(), given.size()}, {work.data(), work.size()}, {out.data(), out.size()});
  std::vector<std::int64_t> numbers;
  for (const sym::Outcome& outcome : out) {
    if (outcome.fault != sym::Outcome::Fault::none) return std::nullopt;
    numbers.push_back(outcome.value);
  }
  return numbers;
}

SymbolicUnits::SymbolicUnits(const codegen::LoopProgram& kernel, std::span<const sym::Expr> variables,
                             std::int64_t row_bytes)
    : kernel_(kernel), variables_(variables.begin(), variables.end()), row_bytes_(row_bytes) {}

SymbolicUnits::~SymbolicUnits() {
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  for (const Known& known : known_) known.unit->maker_ = nullptr;
}

SymbolicUnit::Text SymbolicUnits::rendered(std::span<const std::int64_t> values) const {
  std::unordered_map<sym::Expr, std::int64_t> hints;
  for (std::size_t k = 0; k < variables_.size(); ++k) hints[variables_[k]] = values[k];
  sym::environment_of(variables_.front()).symbols.set_hints(hints);
  source::cpp::SizeTable table;
  std::string symbol;
  std::string source = source::cpp::render_unit(
      codegen::complete_symbolic({kernel_, {}, {}, {}, {}, {}}, row_bytes_).program, table, symbol);
  sym::Program sizes(table.sizes());
  std::vector<std::size_t> places;
  for (const sym::Expr variable : sizes.variables()) {
    const auto place = std::ranges::find(variables_, variable);
    if (place == variables_.end()) throw InternalError("compile", "a size of a kernel has no value");
    places.push_back(static_cast<std::size_t>(place - variables_.begin()));
  }
  return {std::move(symbol), std::move(source), std::move(sizes), table.sizes().size(), std::move(places)};
}

SizedUnit SymbolicUnits::at(const codegen::LoweredKernel& closed, std::span<const std::int64_t> values) const {
  source::cpp::SpecialisationKey key(closed.program, closed.former_accesses);
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  const auto sized = [&](const Known& known) { return SizedUnit{known.unit, {values.begin(), values.end()}}; };
  for (const Known& known : known_) {
    if (known.key != key) continue;
#ifndef NDEBUG
    const SymbolicUnit::Text* const text = known.unit->text();
    if (text != nullptr && rendered(values).source != text->source)
      throw InternalError("compile", "kernel " + closed.program.name + " has another source than " + text->symbol);
#endif
    return sized(known);
  }
  known_.push_back({std::move(key), std::make_shared<const SymbolicUnit>(*this)});
  return sized(known_.back());
}

}  // namespace oriel::backend::eigen
