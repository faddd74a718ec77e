#include "backend/eigen/compiled/symbolic_unit.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "source/cpp/render.hpp"

namespace oriel::backend::eigen {

bool SymbolicUnit::render(const codegen::LoopProgram& program) const {
  // Kernels of one plan share the pool of their expressions, to which rendering adds.
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  if (maker_ == nullptr) return false;
  if (own_text_ != nullptr) return true;
  own_text_ = std::make_unique<const Text>(maker_->rendered(program, accesses_));
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

SymbolicUnits::SymbolicUnits(const codegen::LoopProgram& kernel, std::span<const sym::Expr> variables)
    : kernel_(kernel), variables_(variables.begin(), variables.end()) {}

SymbolicUnits::~SymbolicUnits() {
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  for (const Known& known : known_) known.unit->maker_ = nullptr;
}

SymbolicUnit::Text SymbolicUnits::rendered(const codegen::LoopProgram& program,
                                           std::span<const std::int32_t> accesses) const {
  source::cpp::SizeTable table;
  std::string symbol;
  std::string source = source::cpp::render_unit(kernel_, program, accesses, table, symbol);
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
    if (text != nullptr && rendered(closed.program, closed.former_accesses).source != text->source)
      throw InternalError("compile", "kernel " + closed.program.name + " has another source than " + text->symbol);
#endif
    return sized(known);
  }
  std::vector<std::int32_t> accesses(closed.former_accesses.begin(), closed.former_accesses.end());
  known_.push_back({std::move(key), std::make_shared<const SymbolicUnit>(*this, std::move(accesses))});
  return sized(known_.back());
}

}  // namespace oriel::backend::eigen
