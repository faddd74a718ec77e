// The adjoints of random stacks of movements, with overlaps and masks, beside brute force, to the third order. The
// stack itself says which element it shows: it is applied to a table of positions. RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/property_main.hpp"
#include "support/sized.hpp"

namespace oriel::testing {
namespace {

using Dice = std::array<std::uint32_t, 4>;
constexpr std::int64_t kMost = 4000;

/// One movement; a refused one changes nothing.
Tensor moved(const Tensor& x, const Dice& dice, std::string& text) {
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto roll = [&](std::size_t k, std::int64_t below) {
    return below <= 0 ? 0 : static_cast<std::int64_t>(dice[k] / 16) % below;
  };
  const std::int64_t axis = roll(1, rank);
  const auto extent = [&](std::int64_t d) { return x.size(d).value(); };
  try {
    switch (dice[0] % 9) {
      case 0: {
        if (rank < 2) break;
        text += " transpose";
        return x.transpose(axis, (axis + 1) % rank);
      }
      case 1: {
        text += " flip";
        return flip(x, Axes(axis));
      }
      case 2: {
        const std::int64_t n = x.count();
        const std::int64_t rows = 1 + roll(1, 6);
        if (n % rows != 0) break;
        text += " reshape " + std::to_string(rows);
        return x.reshape({rows, n / rows});
      }
      case 3: {
        const std::int64_t before = roll(2, 3), after = roll(3, 3);
        Ranges around(static_cast<std::size_t>(rank), Range{0, 0});
        if (rank == 0) break;
        around[static_cast<std::size_t>(axis)] = {before, after};
        text += " pad";
        return pad(x, around);
      }
      case 4: {
        if (rank == 0) break;
        const std::int64_t size = 1 + roll(2, 5), step = 1 + roll(3, 4);
        if (size > extent(axis)) break;
        text += " unfold " + std::to_string(axis) + ' ' + std::to_string(size) + ' ' + std::to_string(step);
        return unfold(x, axis, size, step);
      }
      case 5: {
        if (rank == 0) break;
        const std::int64_t n = extent(axis), step = 1 + roll(3, 3), lo = roll(2, n);
        std::vector<Slice> slices(static_cast<std::size_t>(axis), Slice{});
        slices.push_back(dice[2] % 2 == 0 ? Slice{lo, n, step} : Slice{n - 1, lo, -step});
        text += " slice";
        return x.slice(slices);
      }
      case 6: {
        text += " expand";
        return x.unsqueeze(axis).expand([&] {
          Shape shape = x.shape();
          shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), SymInt(1 + roll(2, 4)));
          return shape;
        }());
      }
      case 7: {
        if (rank < 2) break;
        text += " diagonal";
        return diagonal(x, roll(2, 5) - 2);
      }
      default: {
        if (rank == 0) break;
        text += " roll";
        return oriel::roll(x, 1 + roll(2, 4), axis);
      }
    }
  } catch (const UserError&) {
  }
  return x;
}

Tensor stack(Tensor x, const std::vector<Dice>& steps, std::string& text) {
  for (const Dice& dice : steps) {
    const std::string before = text;
    Tensor next = moved(x, dice, text);
    if (next.numel() > kMost || next.numel() == 0) {
      text = before;
      continue;
    }
    x = next;
  }
  return x;
}

/// Whole numbers, so that all sums are exact.
std::vector<double> whole(std::size_t n, std::uint32_t seed) {
  std::vector<double> out;
  for (std::size_t k = 0; k < n; ++k) out.push_back(static_cast<double>((k * 7 + seed * 5 + 3) % 9) - 4);
  return out;
}

void agrees(const std::vector<Dice>& steps) {
  constexpr std::int64_t kShapes[][2] = {{3, 4}, {6, 5}, {1, 7}, {12, 2}, {4, 1}};
  const auto& shape = kShapes[steps.size() % 5];
  const auto n = static_cast<std::size_t>(shape[0] * shape[1]);
  std::string text;
  const auto view = [&](const Tensor& x) {
    std::string own;
    Tensor out = stack(x, steps, own);
    text = own;
    return out;
  };
  const Tensor table = view(iota({shape[0], shape[1]}) + 1);
  const std::vector<std::int64_t> from = table.to_vector<std::int64_t>();
  const std::vector<double> weights = whole(from.size(), 1), x = whole(n, 2), t = whole(n, 3), s = whole(n, 4);
  const auto tensor = [&](const std::vector<double>& v) { return Tensor::from(v, Shape{shape[0], shape[1]}); };
  const Tensor w = Tensor::from(weights, table.shape());
  // The sum of w v^3 has the gradient 3 w v^2, and so on, of what each element shows.
  std::vector<double> first(n), second(n), third(n);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 0) continue;
    const auto p = static_cast<std::size_t>(from[i] - 1);
    first[p] += 3 * weights[i] * x[p] * x[p];
    second[p] += 6 * weights[i] * x[p] * t[p];
    third[p] += 6 * weights[i] * s[p] * t[p];
  }
  const auto loss = [&](Tensor v) {
    const Tensor shown = view(v);
    return sum(w * shown * shown * shown);
  };
  const auto product = [&](Tensor v) { return jvp(grad(loss), v, tensor(t)).tangent; };
  const Tensor at = tensor(x).realize();
  const auto check = [&](const Tensor& got, const std::vector<double>& want, const char* what) {
    const std::vector<double> have = got.to_vector<double>();
    if (have != want) RC_FAIL(std::string(what) + " of" + text);
  };
  check(grad(loss)(at), first, "first derivative");
  check(product(at), second, "second derivative");
  check(jvp(product, at, tensor(s)).tangent, third, "third derivative");
}

}  // namespace
}  // namespace oriel::testing

int main() {
  if (!oriel::test::begin_property()) return oriel::test::kSkipped;
  using namespace oriel::testing;
  return rc::check("the adjoint of a stack of movements is the transpose of its table of positions",
                   [] {
                     const auto steps = *rc::gen::resize(
                         14, rc::gen::container<std::vector<Dice>>(
                                 rc::gen::container<Dice>(oriel::test::any_of<std::uint32_t>(0, 1000))));
                     agrees(steps);
                   })
             ? 0
             : 1;
}
