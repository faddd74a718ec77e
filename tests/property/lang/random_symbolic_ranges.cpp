// Random definitions in index notation with symbolic sizes: at random shapes the formulas have the values that
// inference with these numbers finds, and the preconditions hold exactly where it accepts the shapes. RC_PARAMS as for
// random_affine.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>

#include "affine_program.hpp"
#include "lang/infer.hpp"
#include "support/fixed_seed.hpp"
#include "support/sized.hpp"
#include "sym/print.hpp"

using namespace oriel;

namespace {

[[maybe_unused]] const bool fixed = test::fix_seed();

constexpr std::size_t kNumbers = 200;  // more than a program takes
constexpr int kShapes = 12;

using Sizes = std::map<std::string, std::int64_t, std::less<>>;

std::int64_t value(sym::Expr e, const Sizes& sizes) {
  return sym::evaluate(
      e, [&](sym::Expr variable) -> std::optional<std::int64_t> { return sizes.at(std::string(variable->name)); });
}

bool accepts(const lang::Program& program, std::span<const std::optional<Shape>> shapes, lang::Inference& out) {
  try {
    out = lang::infer(program, shapes);
    return true;
  } catch (const ComprehensionError& error) {
    RC_LOG() << error.kind() << '\n';
    return false;
  }
}

/// Shapes for the parameters, and the size variables that they give values.
struct Sample {
  std::vector<std::optional<Shape>> shapes;
  Sizes sizes;
};

Sample sample(const lang::Program& program) {
  Sample out;
  for (const lang::Parameter& parameter : program.definition.parameters) {
    Shape shape;
    for (const lang::Dimension& dim : parameter.dims) {
      const auto extent = *test::any_of<std::int64_t>(1, 11);
      out.sizes[std::string(dim.name)] = extent;
      shape.push_back(extent);
    }
    out.shapes.emplace_back(shape);
  }
  return out;
}

void check_ranges(const lang::Inference& symbolic, const lang::Inference& numbers, const Sizes& sizes) {
  for (std::size_t s = 0; s < symbolic.statements.size(); ++s) {
    for (std::size_t v = 0; v < symbolic.statements[s].ranges.size(); ++v) {
      const lang::IndexRange range = symbolic.statements[s].ranges[v];
      RC_LOG() << "statement " << s << ", loop " << v << ": " << sym::to_string(range.lo) << " to "
               << sym::to_string(range.end) << '\n';
      RC_ASSERT(value(range.lo, sizes) == numbers.statements[s].box[v].lo);
      RC_ASSERT(value(range.end, sizes) == numbers.statements[s].box[v].hi + 1);
    }
  }
}

void check_program(const std::vector<std::uint8_t>& numbers) {
  testing::ProgramCase drawn = testing::decode(numbers);
  for (testing::StatementCase& statement : drawn.statements) {
    for (auto& where : statement.where) {  // symbolic sizes need where clauses with values
      if (where) where->second = std::max(where->second, where->first + 1);
    }
  }
  RC_LOG() << drawn.text() << '\n';
  lang::ProgramPtr program;
  try {
    program = lang::select(lang::check(drawn.text()), {});
  } catch (const ComprehensionError&) {
    RC_TAG("refused for all shapes");
    return;
  }
  lang::Inference symbolic;
  std::string error;
  try {
    symbolic = lang::infer_symbolic(*program, {});
  } catch (const ComprehensionError& refused) {
    error = refused.kind();
  }
  if (error == "open_sizes") {
    RC_TAG("without a formula");
    return;
  }
  int accepted = 0;
  for (int k = 0; k < kShapes; ++k) {
    const Sample at = sample(*program);
    for (const auto& [name, size] : at.sizes) RC_LOG() << name << " = " << size << "; ";
    lang::Inference found;
    const bool accepts_numbers = accepts(*program, at.shapes, found);
    if (!error.empty()) {
      RC_LOG() << "symbolic sizes: " << error << '\n';
      RC_ASSERT(!accepts_numbers);
      continue;
    }
    // Each precondition is exact if all before it hold.
    const lang::SizePrecondition* violated = nullptr;
    for (const lang::SizePrecondition& precondition : symbolic.preconditions) {
      if (violated == nullptr && value(precondition.condition, at.sizes) == 0) violated = &precondition;
    }
    if (violated == nullptr) {
      RC_ASSERT(accepts_numbers);
      check_ranges(symbolic, found, at.sizes);
      ++accepted;
    } else if (violated->exact) {
      RC_LOG() << "violated: " << sym::to_string(violated->condition) << '\n';
      RC_ASSERT(!accepts_numbers);
    }
  }
  RC_TAG(!error.empty() ? "refused for all sizes" : accepted == 0 ? "no shape accepted" : "some shapes accepted");
}

}  // namespace

TEST_CASE("formulas for symbolic sizes have the values that inference with numbers finds") {
  CHECK(rc::check([] {
    check_program(*rc::gen::container<std::vector<std::uint8_t>>(kNumbers, test::any_of<std::uint8_t>(0, 255)));
  }));
}
