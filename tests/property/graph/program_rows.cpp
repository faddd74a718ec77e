// Steps that reduce short rows, once and again: rows of 0 to 16 elements, of which a kernel reduces several in several
// stages, and axes of extent 1, whose reductions have no loops.
#include "builder.hpp"

namespace oriel::testing {

Shape short_rows(Dice& dice) {
  constexpr std::int64_t kRows[] = {32, 40, 33, 64, 77, 31, 100, 8, 1};
  const std::int64_t rows = kRows[dice.roll(std::size(kRows))];
  const auto terms = static_cast<std::int64_t>(dice.roll(18));
  const std::int64_t k = terms == 17 ? 1 : terms;
  switch (dice.roll(8)) {
    case 0:
      return {k, rows};
    case 1:
      return {rows, k, 1};
    case 2:
      return {rows, 1, k};
    case 3:
      return {2, (rows + 1) / 2, k};
    default:
      return {rows, k};
  }
}

const RowReduction& row_reduction(Dice& dice) {
  static constexpr RowReduction kOps[] = {{"sum", &oriel::sum},       {"max", &oriel::max},
                                          {"min", &oriel::min},       {"prod", &oriel::prod},
                                          {"any", &oriel::any},       {"all", &oriel::all},
                                          {"mean", &oriel::mean},     {"argmax", &oriel::argmax},
                                          {"argmin", &oriel::argmin}, {"logsumexp", &oriel::logsumexp},
                                          {"asum", &oriel::asum},     {"count_nonzero", &oriel::count_nonzero}};
  return kOps[dice.roll(std::size(kOps))];
}

// A reduction of rows that keeps their axis, and a few values of it and of the rows.
void Builder::rowed(Dice& dice) {
  using F = Tensor (*)(const Operand&, const Operand&);
  static constexpr std::pair<const char*, F> kOps[] = {
      {"operator+", static_cast<F>(&oriel::operator+)}, {"operator-", static_cast<F>(&oriel::operator-)},
      {"operator*", &oriel::operator* }, {"maximum", &oriel::maximum}, {"operator==", &oriel::operator== } };
  const std::size_t x = pick(dice);
  const auto last = [&] { return built_.values.size() - 1; };
  const auto reduce = [&](std::size_t of) {
    // Mostly sums, which are reductions also of one term.
    const RowReduction& r = dice.roll(2) == 0 ? RowReduction{"sum", &oriel::sum} : row_reduction(dice);
    const std::int64_t axis = dice.roll(4) == 0 && at(of).rank() > 1 ? -2 : -1;
    add(r.of(at(of), axis, true), fmt::format("{}({}, {}, true)", r.name, v(of), axis));
  };
  const auto join = [&](std::size_t a, std::size_t b) {
    const auto& [name, op] = kOps[dice.roll(std::size(kOps))];
    add(op(at(a), at(b)), fmt::format("{}({}, {})", name, v(a), v(b)));
  };
  reduce(x);
  for (std::uint32_t more = dice.roll(4); more > 0; --more) {
    const std::size_t y = last();
    switch (dice.roll(4)) {
      case 0:
        reduce(y);
        break;
      case 1:
        join(x, y);
        break;
      case 2:
        add(softmax(at(y)), fmt::format("softmax({})", v(y)));
        break;
      default:
        reduce(y);
        join(y, last());
    }
  }
}

}  // namespace oriel::testing
