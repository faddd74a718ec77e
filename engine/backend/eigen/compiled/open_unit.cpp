#include "backend/eigen/compiled/open_unit.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <mutex>
#include <utility>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"
#include "source/cpp/render.hpp"

namespace oriel::backend::eigen {

OpenUnits::OpenUnits(const codegen::OpenKernel& kernel, std::span<const sym::Expr> variables)
    : kernel_(kernel), variables_(variables) {}

const OpenUnits::Known& OpenUnits::known(const codegen::LoweredKernel& closed) const {
  source::cpp::Outline outline(closed.program, closed.former_accesses);
  // Kernels of one plan share the pool of their expressions, to which rendering adds.
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::sources));
  for (const auto& k : known_) {
    if (k->outline != outline) continue;
#ifndef NDEBUG
    source::cpp::SizeTable again;
    std::string symbol;
    if (source::cpp::render_unit(kernel_, closed.program, closed.former_accesses, again, symbol) != k->unit->source)
      throw InternalError("compile", "kernel " + closed.program.name + " has another source than " + symbol);
#endif
    return *k;
  }
  source::cpp::SizeTable table;
  auto unit = std::make_shared<OpenUnit>();
  unit->source = source::cpp::render_unit(kernel_, closed.program, closed.former_accesses, table, unit->symbol);
  sym::Program sizes(table.sizes());
  std::vector<std::size_t> places;
  for (const sym::Expr variable : sizes.variables()) {
    const auto place = std::ranges::find(variables_, variable);
    if (place == variables_.end()) throw InternalError("compile", "a size of a kernel has no value");
    places.push_back(static_cast<std::size_t>(place - variables_.begin()));
  }
  known_.push_back(std::make_unique<const Known>(
      Known{std::move(outline), std::move(unit), std::move(sizes), table.sizes().size(), std::move(places)}));
  return *known_.back();
}

SizedUnit OpenUnits::at(const codegen::LoweredKernel& closed, std::span<const std::int64_t> values) const {
  const Known& k = known(closed);
  boost::container::small_vector<std::int64_t, 8> given;
  for (const std::size_t place : k.variables) given.push_back(values[place]);
  boost::container::small_vector<sym::Outcome, 64> work(k.sizes.steps());
  boost::container::small_vector<sym::Outcome, 32> out(k.count);
  k.sizes.run({given.data(), given.size()}, {work.data(), work.size()}, {out.data(), out.size()});
  SizedUnit made{k.unit, {}};
  for (const sym::Outcome& outcome : out) {
    if (outcome.fault != sym::Outcome::Fault::none) throw OverflowError("compile", "a size of a kernel has no value");
    made.sizes.push_back(outcome.value);
  }
  return made;
}

}  // namespace oriel::backend::eigen
