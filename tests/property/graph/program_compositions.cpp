// Steps that call the compositions of shaping.hpp, products.hpp, windows.hpp, statistics.hpp and order.hpp.
#include "builder.hpp"

namespace oriel::testing {

// Movements under other names, and what arithmetic on positions describes.
void Builder::shaped(Dice& dice) {
  const std::size_t x = pick(dice);
  const auto rank = static_cast<std::int64_t>(at(x).rank());
  const std::int64_t axis = rank == 0 ? 0 : dice.roll(at(x).rank());
  const std::int64_t k = dice.roll(4);
  switch (dice.roll(13)) {
    case 9:
      if (rank == 0) return;
      return add(oriel::rearrange(at(x), "... a -> a ..."), fmt::format("rearrange({}, \"... a -> a ...\")", v(x)));
    case 10:
      if (rank == 0 || at(x).size(axis) <= k) return;
      return add(unbind(at(x), axis)[static_cast<std::size_t>(k)], fmt::format("unbind({}, {})[{}]", v(x), axis, k));
    case 11:
      if (rank == 0) return;
      return add(split_at(at(x), {k, -1}, axis)[1], fmt::format("split_at({}, {{{}, -1}}, {})[1]", v(x), k, axis));
    case 0:
      return add(flatten(at(x), axis, rank == 0 ? 0 : rank - 1), fmt::format("flatten({}, {}, -1)", v(x), axis));
    case 1:
      return add(rot90(at(x), k, axis, -1), fmt::format("rot90({}, {}, {}, -1)", v(x), k, axis));
    case 2:
      return add(movedim(at(x), {axis}, {0}), fmt::format("movedim({}, {{{}}}, {{0}})", v(x), axis));
    case 3:
      return add(tile(at(x), {k, 2}), fmt::format("tile({}, {{{}, 2}})", v(x), k));
    case 4:
      return add(repeat_interleave(at(x), k, axis), fmt::format("repeat_interleave({}, {}, {})", v(x), k, axis));
    case 5:
      if (at(x).numel() > 60) return;
      return add(diag_embed(at(x), k - 1), fmt::format("diag_embed({}, {})", v(x), k - 1));
    case 6:
      return add(chunk(at(x), k + 1, axis).back(), fmt::format("chunk({}, {}, {}).back()", v(x), k + 1, axis));
    case 7:
      return add(one_hot(at(x), k + 1), fmt::format("one_hot({}, {})", v(x), k + 1));
    case 8:
      return add(diff(at(x), k % 3, axis), fmt::format("diff({}, {}, {})", v(x), k % 3, axis));
    default: {
      const Ranges around(at(x).rank(), Range{1, k % 2});
      std::string text;
      for (std::int64_t d = 0; d < rank; ++d) text += fmt::format("{}{{1, {}}}", d == 0 ? "" : ", ", k % 2);
      static constexpr std::pair<PadMode, const char*> kModes[] = {{PadMode::reflect, "reflect"},
                                                                   {PadMode::replicate, "replicate"},
                                                                   {PadMode::circular, "circular"},
                                                                   {PadMode::symmetric, "symmetric"}};
      const auto& [mode, name] = kModes[dice.roll(std::size(kModes))];
      return add(pad(at(x), around, mode), fmt::format("pad({}, {{{}}}, PadMode::{})", v(x), text, name));
    }
  }
}

// Sums of products, windows, statistics and order.
void Builder::summed(Dice& dice) {
  if (dice.roll(5) == 0) return transformed(dice);
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  const std::int64_t k = 1 + dice.roll(3);
  const std::int64_t axis = rank == 0 ? 0 : dice.roll(rank);
  switch (dice.roll(15)) {
    case 11:
      if (rank == 0) return;
      return add(reduce(at(x), "... a -> ...", Combine::amax),
                 fmt::format("reduce({}, \"... a -> ...\", Combine::amax)", v(x)));
    case 12:
      if (rank == 0 || at(x).size(axis) == 0) return;
      return add(max_with_indices(at(x), axis).values, fmt::format("max_with_indices({}, {}).values", v(x), axis));
    case 13:
      if (rank == 0 || at(x).numel() == 0 || at(x).numel() > 60) return;
      return add(convolve(at(x), at(x), Overlap::same), fmt::format("convolve({0}, {0}, Overlap::same)", v(x)));
    case 0:
      return add(einsum("...i,...i->...", {at(x), at(x)}),
                 fmt::format("einsum(\"...i,...i->...\", {{{0}, {0}}})", v(x)));
    case 1:
      return add(inner(at(x), at(x)), fmt::format("inner({0}, {0})", v(x)));
    case 2:
      return add(avg_pool1d(at(x), {k}, {.stride = {1}}),
                 fmt::format("avg_pool1d({}, {{{}}}, {{.stride = {{1}}}})", v(x), k));
    case 3:
      return add(max_pool1d(at(x), {k}, {.padding = {k / 2}, .ceil_mode = true}),
                 fmt::format("max_pool1d({}, {{{}}}, {{.padding = {{{}}}, .ceil_mode = true}})", v(x), k, k / 2));
    case 4:
      return add(interpolate(at(x), {k + 2}, Interpolation::linear),
                 fmt::format("interpolate({}, {{{}}}, Interpolation::linear)", v(x), k + 2));
    case 5:
      return add(nansum(at(x), axis), fmt::format("nansum({}, {})", v(x), axis));
    case 6:
      return add(nanmax(at(x), axis, true), fmt::format("nanmax({}, {}, true)", v(x), axis));
    case 7:
      return add(median(at(x), axis).values, fmt::format("median({}, {}).values", v(x), axis));
    case 8:
      if (at(x).numel() > 60) return;
      return add(median_filter(at(x), {k}), fmt::format("median_filter({}, {{{}}})", v(x), k));
    case 9:
      return add(nanquantile(at(x), 0.5, axis), fmt::format("nanquantile({}, 0.5, {})", v(x), axis));
    case 10:
      return add(lexsort({at(x), at(x)}, axis), fmt::format("lexsort({{{0}, {0}}}, {1})", v(x), axis));
    default:
      return add(topk(at(x), k, axis).positions, fmt::format("topk({}, {}, {}).positions", v(x), k, axis));
  }
}

// Complex numbers and Fourier transforms.
void Builder::transformed(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t y = partner(dice, x);
  const Complex z(at(x), at(y));
  const std::string text = fmt::format("Complex({}, {})", v(x), v(y));
  switch (dice.roll(9)) {
    case 0:
      return add(real(z * conj(z) + at(x)), fmt::format("real({0} * conj({0}) + {1})", text, v(x)));
    case 1:
      return add(imag(z / Complex(at(y), 2)), fmt::format("imag({} / Complex({}, 2))", text, v(y)));
    case 2:
      return add(abs(sqrt(z)), fmt::format("abs(sqrt({}))", text));
    case 3:
      return add(real(log(z)), fmt::format("real(log({}))", text));
    case 4:
      return add(imag(where(at(x) > 1, z, pow(z, 3))),
                 fmt::format("imag(where({0} > 1, {1}, pow({1}, 3)))", v(x), text));
    case 5:
      return add(as_pairs(z), fmt::format("as_pairs({})", text));
    default:
      break;
  }
  if (z.rank() == 0 || z.numel() == 0) return;
  const std::int64_t axis = dice.roll(z.rank());
  const std::int64_t n = 1 + dice.roll(12);
  switch (dice.roll(3)) {
    case 0:
      return add(real(ifft(fft(z, n, axis), {}, axis)),
                 fmt::format("real(ifft(fft({0}, {1}, {2}), {{}}, {2}))", text, n, axis));
    case 1:
      return add(irfft(rfft(at(x), {}, -1), n), fmt::format("irfft(rfft({}, {{}}, -1), {})", v(x), n));
    default:
      return add(abs(fft(at(x), n, -1, FftNorm::ortho)), fmt::format("abs(fft({}, {}, -1, FftNorm::ortho))", v(x), n));
  }
}

}  // namespace oriel::testing
