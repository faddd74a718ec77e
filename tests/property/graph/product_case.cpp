#include "product_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <ostream>

#include "oriel/oriel.hpp"

namespace oriel::testing {

namespace {

using Extents = std::vector<std::int64_t>;

// The most products of elements in one program.
constexpr std::int64_t kMostProducts = 2000000;

/// The value after rounding to the dtype.
double stored(DType dtype, double value) {
  switch (dtype) {
    case DType::float16:
      return static_cast<double>(static_cast<float>(float16_t(static_cast<float>(value))));
    case DType::bfloat16:
      return static_cast<double>(static_cast<float>(bfloat16_t(static_cast<float>(value))));
    case DType::int8:
      return static_cast<double>(static_cast<std::int8_t>(static_cast<std::int64_t>(value)));
    case DType::uint8:
      return static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
    case DType::int16:
      return static_cast<double>(static_cast<std::int16_t>(static_cast<std::int64_t>(value)));
    case DType::uint16:
      return static_cast<double>(static_cast<std::uint16_t>(static_cast<std::int64_t>(value)));
    default:
      return value;
  }
}

class ProductBuilder {
 public:
  explicit ProductBuilder(const ProductCase& c) : c_(c) {}

  BuiltProduct run() {
    const std::uint32_t form = roll(16);
    seed_ = roll(1000);
    dtype_ = draw_dtype();
    if (form < 6) return product();
    if (form >= 14) return small_products();
    if (form == 6) return windows();
    if (form == 7) return window_products();
    if (form < 10) return chain(false);
    if (form == 13) return three_factors();
    return chain(true);
  }

 private:
  std::uint32_t roll(std::size_t below) {
    const std::uint32_t value = c_.dice[next_++ % c_.dice.size()];
    return value % static_cast<std::uint32_t>(below);
  }
  template <class T, std::size_t N>
  T pick(const T (&list)[N]) {
    return list[roll(N)];
  }

  DType draw_dtype() {
    constexpr DType kDTypes[] = {DType::float32,  DType::float32, DType::float32, DType::float64, DType::float32,
                                 DType::float64,  DType::float64, DType::float32, DType::int32,   DType::float16,
                                 DType::bfloat16, DType::int8,    DType::int64,   DType::uint16,  DType::uint8};
    return pick(kDTypes);
  }

  Viewed operand(const char* name, const Extents& shape, const std::vector<ViewStep>& steps) {
    Viewed x = make_operand(shape, dtype_, steps, seed_++);
    out_.text += fmt::format("  {}: {}\n", name, x.text);
    return x;
  }

  void say(const std::string& text) { out_.text += "  " + text + "\n"; }

  /// Rows, columns and depth with at most kMostProducts products.
  struct Sizes {
    std::int64_t m = 0, n = 0, k = 0;
  };
  Sizes sizes() {
    constexpr std::int64_t kMany[] = {64, 2, 8, 5, 17, 33, 70, 130, 300};
    constexpr std::int64_t kFew[] = {2, 1, 3, 4, 1, 2};
    constexpr std::int64_t kColumns[] = {64, 16, 48, 17, 96, 100, 130, 528, 31};
    constexpr std::int64_t kDepths[] = {9, 64, 33, 100, 385, 2, 800, 16, 48};
    constexpr std::int64_t kLong[] = {300, 1100, 2500, 9000, 20000};
    Sizes s;
    switch (roll(4)) {
      case 0:
      case 1:
        s = {pick(kMany), pick(kColumns), pick(kDepths)};
        break;
      case 2:  // few rows, or, swapped, few columns
        s = {pick(kFew), pick(kColumns), pick(kDepths)};
        break;
      default:
        s = {pick(kFew), 1 + static_cast<std::int64_t>(roll(8)), pick(kLong)};
    }
    if (roll(3) == 0) std::swap(s.m, s.n);
    while (s.m * s.n * s.k > kMostProducts) (s.k > 64 ? s.k : s.m > s.n ? s.m : s.n) /= 2;
    return s;
  }

  /// want[b, i, j] = the sum over k of a[b, i, k] * b[b, k, j]. A batch of 1 is used for all batches.
  static Dense multiplied(const Dense& a, const Dense& b) {
    const std::int64_t batches = std::max(a.shape[0], b.shape[0]);
    const std::int64_t m = a.shape[1], depth = a.shape[2], n = b.shape[2];
    Dense out{{batches, m, n}, std::vector<double>(static_cast<std::size_t>(batches * m * n))};
    for (std::int64_t s = 0; s < batches; ++s) {
      const double* const x = a.values.data() + (a.shape[0] == 1 ? 0 : s * m * depth);
      const double* const y = b.values.data() + (b.shape[0] == 1 ? 0 : s * depth * n);
      for (std::int64_t i = 0; i < m; ++i) {
        double* const row = out.values.data() + (s * m + i) * n;
        for (std::int64_t k = 0; k < depth; ++k)
          for (std::int64_t j = 0; j < n; ++j) row[j] += x[i * depth + k] * y[k * n + j];
      }
    }
    return out;
  }

  BuiltProduct product() {
    const Sizes s = sizes();
    const std::int64_t batches = roll(3) == 0 ? 2 + roll(3) : 1;
    return product(s, batches);
  }

  // Many products of small matrices.
  BuiltProduct small_products() {
    constexpr std::int64_t kSides[] = {3, 2, 4, 5, 8, 1, 6, 11, 15, 7};
    constexpr std::int64_t kBatches[] = {20, 9, 37, 100, 16, 64, 8, 31};
    Sizes s{pick(kSides), pick(kSides), pick(kSides)};
    if (roll(8) == 0) s = {2, 3, 30 + static_cast<std::int64_t>(roll(80))};
    return product(s, pick(kBatches));
  }

  BuiltProduct product(const Sizes& s, std::int64_t batches) {
    const bool shared = roll(2) == 0;
    Extents left{batches, s.m, s.k}, right{shared ? 1 : batches, s.k, s.n};
    if (batches == 1) {
      left.erase(left.begin());
      right.erase(right.begin());
    }
    Viewed a = operand("a", left, c_.a);
    Viewed b = operand("b", right, c_.b);
    Tensor x;
    if (roll(3) == 0) {
      say("sum of the products of a and b, one beside the other");
      x = sum(unsqueeze(a.tensor, -1) * unsqueeze(b.tensor, -3), -2).to(dtype_);
    } else {
      say("matmul(a, b)");
      x = matmul(a.tensor, b.tensor);
    }
    for (Dense* d : {&a.model, &b.model})
      if (d->shape.size() == 2) d->shape.insert(d->shape.begin(), 1);
    Dense want = multiplied(a.model, b.model);
    for (double& v : want.values) v = stored(x.dtype(), v);
    finish(x, want, batches == 1);
    return std::move(out_);
  }

  void finish(Tensor x, Dense& want, bool flat) {
    if (flat) want.shape.erase(want.shape.begin());
    switch (roll(5)) {
      case 0: {
        const Viewed bias = operand("bias", {want.shape.back()}, c_.c);
        x = x + bias.tensor;
        for (std::size_t i = 0; i < want.values.size(); ++i)
          want.values[i] += bias.model.values[i % bias.model.values.size()];
        break;
      }
      case 1: {
        say("maximum with 3");
        x = maximum(x, 3);
        for (double& v : want.values) v = std::max(v, 3.0);
        break;
      }
      case 2: {
        say("its transpose, and 1 more");
        x = x.transpose() + 1;
        const auto rows = static_cast<std::size_t>(want.shape[want.shape.size() - 2]);
        const auto columns = static_cast<std::size_t>(want.shape.back());
        std::vector<double> transposed(want.values.size());
        for (std::size_t i = 0; i < transposed.size(); ++i) {
          const std::size_t s = i / (rows * columns), at = i % (rows * columns);
          transposed[i] = want.values[s * rows * columns + at % rows * columns + at / rows] + 1;
        }
        want.values = transposed;
        break;
      }
      default:
        break;
    }
    for (double& v : want.values) v = stored(x.dtype(), v);
    out_.result = x;
    out_.want = std::move(want.values);
  }

  // Sums (with or without weights), maxima or minima over windows of rows, or of rows and lines.
  BuiltProduct windows() {
    constexpr std::int64_t kAcross[] = {130, 33, 64, 17, 70, 16};
    constexpr std::int64_t kDown[] = {20, 9, 33, 5, 1};
    const auto planes = static_cast<std::int64_t>(1 + roll(3));
    const std::int64_t across = pick(kAcross), down = pick(kDown);
    const auto wide = static_cast<std::int64_t>(2 + roll(4));
    const std::int64_t high = down == 1 ? 1 : static_cast<std::int64_t>(1 + roll(3));
    const auto step = static_cast<std::int64_t>(1 + roll(5) / 3);
    const std::int64_t h = down + high - 1, w = (across - 1) * step + wide;
    const Viewed x = operand("x", {planes, h, w}, c_.a);
    const std::uint32_t how = roll(4);  // sum, maximum, minimum, weighted sum
    const Tensor cut = unfold(unfold(x.tensor, 1, high, 1), 2, wide, step);
    Viewed weights;
    if (how == 3) weights = operand("weights", {high, wide}, c_.b);
    say(fmt::format("windows of {} x {}, {} apart: {}", high, wide, step,
                    how == 0   ? "sums"
                    : how == 1 ? "maxima"
                    : how == 2 ? "minima"
                               : "sums with weights"));
    const Axes last{-2, -1};
    out_.result = how == 0   ? sum(cut, last)
                  : how == 1 ? max(cut, last)
                  : how == 2 ? min(cut, last)
                             : sum(cut * weights.tensor, last);
    for (std::int64_t p = 0; p < planes; ++p)
      for (std::int64_t i = 0; i < down; ++i)
        for (std::int64_t j = 0; j < across; ++j) {
          double value = how == 1   ? -std::numeric_limits<double>::infinity()
                         : how == 2 ? std::numeric_limits<double>::infinity()
                                    : 0;
          for (std::int64_t y = 0; y < high; ++y)
            for (std::int64_t z = 0; z < wide; ++z) {
              const double v = x.model.at({p, i + y, j * step + z});
              value = how == 0   ? value + v
                      : how == 1 ? std::max(value, v)
                      : how == 2 ? std::min(value, v)
                                 : value + v * weights.model.at({y, z});
            }
          out_.want.push_back(stored(out_.result.dtype(), value));
        }
    return std::move(out_);
  }

  // Products of images, summed over all places of windows that may reach beyond the edge: a convolution's gradient by
  // its weights.
  BuiltProduct window_products() {
    constexpr std::int64_t kAcross[] = {33, 5, 16, 70, 1, 28};
    constexpr std::int64_t kDown[] = {9, 1, 28, 4};
    constexpr std::int64_t kResults[] = {8, 17, 2, 33};
    const auto images = static_cast<std::int64_t>(1 + roll(3)), planes = static_cast<std::int64_t>(1 + roll(6));
    const std::int64_t across = pick(kAcross), down = pick(kDown), results = pick(kResults);
    const auto wide = static_cast<std::int64_t>(1 + roll(4)), high = static_cast<std::int64_t>(1 + roll(3));
    const auto step = static_cast<std::int64_t>(1 + roll(5) / 3), apart = static_cast<std::int64_t>(1 + roll(4) / 3);
    const auto edge = static_cast<std::int64_t>(roll(3));
    const std::int64_t h = (down - 1) * step + (high - 1) * apart + 1, w = (across - 1) * step + (wide - 1) * apart + 1;
    const auto inside = [&](std::int64_t n) { return std::max<std::int64_t>(n - 2 * edge, 1); };
    const Viewed x = operand("x", {images, planes, inside(h), inside(w)}, c_.a);
    const Viewed y = operand("y", {images, results, down, across}, c_.b);
    say(fmt::format("products at windows of {} x {}, {} apart, elements {} apart, edge {}", high, wide, step, apart,
                    edge));
    Ranges around(4, Range{0, 0});
    around[2] = {edge, std::max<std::int64_t>(h - inside(h) - edge, 0)};
    around[3] = {edge, std::max<std::int64_t>(w - inside(w) - edge, 0)};
    Tensor cut =
        unfold(unfold(pad(x.tensor, around), 2, (high - 1) * apart + 1, step), 3, (wide - 1) * apart + 1, step);
    cut = cut.slice({{}, {}, {0, down}, {0, across}, {.step = apart}, {.step = apart}}).unsqueeze(2);
    out_.result = sum(cut * y.tensor.reshape({images, 1, results, down, across, 1, 1}), {0, 3, 4});
    for (std::int64_t p = 0; p < planes; ++p)
      for (std::int64_t k = 0; k < results; ++k)
        for (std::int64_t i = 0; i < high; ++i)
          for (std::int64_t j = 0; j < wide; ++j) {
            double value = 0;
            for (std::int64_t n = 0; n < images; ++n)
              for (std::int64_t r = 0; r < down; ++r)
                for (std::int64_t c = 0; c < across; ++c) {
                  const std::int64_t at = r * step + i * apart - edge, column = c * step + j * apart - edge;
                  if (at < 0 || at >= inside(h) || column < 0 || column >= inside(w)) continue;
                  value += x.model.at({n, p, at, column}) * y.model.at({n, k, r, c});
                }
            out_.want.push_back(stored(out_.result.dtype(), value));
          }
    return std::move(out_);
  }

  // The sum of the products of three factors over four loops, each factor with some of them: in index notation, as
  // products of broadcast operands, and as an einsum.
  BuiltProduct three_factors() {
    constexpr DType kWide[] = {DType::float32, DType::int32, DType::float64, DType::float32, DType::int64};
    dtype_ = pick(kWide);
    constexpr std::int64_t kExtents[] = {16, 24, 33, 8, 64, 1, 40, 5};
    std::array<std::int64_t, 4> n{pick(kExtents), pick(kExtents), pick(kExtents), pick(kExtents)};
    while (n[0] * n[1] * n[2] * n[3] > kMostProducts / 4) *std::max_element(n.begin(), n.end()) /= 2;
    std::array<std::uint32_t, 3> has{};  // the loops of each factor, as bits
    for (std::uint32_t& loops : has) loops = 1 + roll(15);
    const std::uint32_t all = has[0] | has[1] | has[2];
    const std::uint32_t kept = roll(16) & all;
    const auto extents = [&](std::uint32_t loops, bool ones) {
      Extents shape;
      for (std::size_t d = 0; d < 4; ++d)
        if ((loops >> d & 1) != 0 || ones) shape.push_back((loops >> d & 1) != 0 ? n[d] : 1);
      return shape;
    };
    const Viewed x[] = {operand("a", extents(has[0], false), c_.a), operand("b", extents(has[1], false), c_.b),
                        operand("c", extents(has[2], false), c_.c)};
    out_.result = sum_of_three(x, has, all, kept, [&](std::uint32_t loops) { return extents(loops, true); });
    std::array<std::int64_t, 4> i{};
    const auto place = [&](std::uint32_t loops) {
      std::size_t at = 0;
      for (std::size_t d = 0; d < 4; ++d)
        if ((loops >> d & 1) != 0) at = at * static_cast<std::size_t>(n[d]) + static_cast<std::size_t>(i[d]);
      return at;
    };
    out_.want.assign(static_cast<std::size_t>(count(extents(kept, false))), 0);
    const auto end = [&](std::size_t d) { return (all >> d & 1) != 0 ? n[d] : 1; };
    for (i[0] = 0; i[0] < end(0); ++i[0])
      for (i[1] = 0; i[1] < end(1); ++i[1])
        for (i[2] = 0; i[2] < end(2); ++i[2])
          for (i[3] = 0; i[3] < end(3); ++i[3])
            out_.want[place(kept)] +=
                x[0].model.values[place(has[0])] * x[1].model.values[place(has[1])] * x[2].model.values[place(has[2])];
    return std::move(out_);
  }

  template <class Broadcast>
  Tensor sum_of_three(const Viewed (&x)[3], const std::array<std::uint32_t, 3>& has, std::uint32_t all,
                      std::uint32_t kept, Broadcast broadcast) {
    const auto letters = [](std::uint32_t loops, const char* between) {
      std::string text;
      for (std::size_t d = 0; d < 4; ++d)
        if ((loops >> d & 1) != 0) text += (text.empty() ? "" : between) + std::string(1, "ijkl"[d]);
      return text;
    };
    const std::uint32_t how = roll(4);
    if (how == 0) {
      const auto access = [&](const char* tensor, std::uint32_t loops) {
        return fmt::format("{}({})", tensor, letters(loops, ", "));
      };
      const auto sizes = [&](const char* tensor, std::uint32_t loops) {
        std::string text = letters(loops, ", ");
        for (char& c : text) c = static_cast<char>(std::toupper(c));
        return fmt::format("T({}) {}", text, tensor);
      };
      const std::string text = fmt::format("def f<T>({}, {}, {}) -> (S) {{ {} +=! {} * {} * {} }}", sizes("A", has[0]),
                                           sizes("B", has[1]), sizes("C", has[2]), kept == 0 ? "S" : access("S", kept),
                                           access("A", has[0]), access("B", has[1]), access("C", has[2]));
      say(text);
      return comprehension(text)(x[0].tensor, x[1].tensor, x[2].tensor);
    }
    if (how == 1) {
      const std::string text =
          fmt::format("{},{},{}->{}", letters(has[0], ""), letters(has[1], ""), letters(has[2], ""), letters(kept, ""));
      say("einsum " + text);
      return einsum(text, {x[0].tensor, x[1].tensor, x[2].tensor});
    }
    const auto wide = [&](std::size_t k) { return x[k].tensor.reshape(to_shape(broadcast(has[k]))); };
    Ints axes;
    for (std::size_t d = 0; d < 4; ++d)
      if ((kept >> d & 1) == 0) axes.push_back(d);
    say(fmt::format("{} summed but for {}", how == 2 ? "(a * b) * c" : "a * (b * c)", letters(kept, ", ")));
    const Tensor product = how == 2 ? wide(0) * wide(1) * wide(2) : wide(0) * (wide(1) * wide(2));
    return (axes.empty() ? product : sum(product, axes)).to(dtype_).reshape(to_shape(broadcast(kept & all)));
  }

  // Two products with a layer between them that reads the rows of the first product again.
  BuiltProduct chain(bool attention) {
    if (dtype_ != DType::float64) dtype_ = DType::float32;
    constexpr std::int64_t kRows[] = {64, 80, 65, 100, 130};
    constexpr std::int64_t kColumns[] = {48, 17, 96, 31, 64, 600, 128};
    constexpr std::int64_t kDepths[] = {16, 8, 33, 64, 400};
    constexpr std::int64_t kResults[] = {16, 48, 17, 8, 33};
    const std::int64_t batches = roll(4) == 0 ? 2 : 1;
    const std::int64_t m = pick(kRows), n = pick(kColumns), e = pick(kResults);
    std::int64_t depth = pick(kDepths);
    while (batches * m * n * depth > kMostProducts) depth /= 2;
    const Extents one = batches == 1 ? Extents{} : Extents{batches};
    const auto with = [&](std::int64_t rows, std::int64_t columns) {
      Extents shape = one;
      shape.push_back(rows);
      shape.push_back(columns);
      return shape;
    };
    Viewed a = operand("a", with(m, depth), c_.a);
    const bool transposed = roll(2) == 0;
    Viewed b = operand("b", transposed ? with(n, depth) : with(depth, n), c_.b);
    Viewed v = operand("v", with(n, e), c_.c);
    Tensor x = matmul(a.tensor, transposed ? b.tensor.transpose() : b.tensor);
    for (Dense* d : {&a.model, &b.model, &v.model})
      if (d->shape.size() == 2) d->shape.insert(d->shape.begin(), 1);
    if (transposed) {
      Dense across{{b.model.shape[0], depth, n}, {}};
      for (std::int64_t s = 0; s < across.shape[0]; ++s)
        for (std::int64_t k = 0; k < depth; ++k)
          for (std::int64_t j = 0; j < n; ++j) across.values.push_back(b.model.at({s, j, k}));
      b.model = std::move(across);
    }
    Dense y = multiplied(a.model, b.model);
    if (attention) {
      x = x * 0.0625;
      for (double& value : y.values) value *= 0.0625;
    }
    add_bias(x, y, m, n, attention);
    layer(x, y, n, attention);
    say("times v");
    out_.result = matmul(x, v.tensor);
    const Dense want = multiplied(y, v.model);
    out_.want = want.values;
    // Sums of large numbers are rounded even if the numbers are whole.
    double most = 1;
    for (const double w : out_.want) most = std::max(most, std::abs(w));
    out_.allowed = most * (dtype_ == DType::float64 ? 1e-14 : 1e-6) * (attention ? 20 : 1);
    return std::move(out_);
  }

  void add_bias(Tensor& x, Dense& y, std::int64_t m, std::int64_t n, bool attention) {
    const auto each = [&](auto&& f) {
      for (std::size_t i = 0; i < y.values.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        y.values[i] = f(y.values[i], at / n % m, at % n);
      }
    };
    switch (roll(attention ? 5 : 4)) {
      case 0: {
        // Adds an entry of a table, at the distance of row and column or at a random position.
        const std::int64_t length = m + n - 1;
        const bool relative = roll(2) == 0;
        const Viewed table = make_operand({length}, dtype_, {}, seed_++);
        Viewed index = make_positions({m, n}, -2, length + 2, seed_++);
        if (relative) {
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j)
              index.model.values[static_cast<std::size_t>(i * n + j)] = static_cast<double>(i - j + n - 1);
          index.tensor = arange(m).reshape({m, 1}) - arange(n).reshape({1, n}) + (n - 1);
        }
        say(fmt::format("and what {} of {} elements holds at {}", table.text, length,
                        relative ? "the distance" : index.text));
        x = x + take(table.tensor, index.tensor);
        return each([&](double value, std::int64_t i, std::int64_t j) {
          auto at = static_cast<std::int64_t>(index.model.at({i, j}));
          if (at < 0) at += length;
          return at < 0 || at >= length ? value : value + table.model.values[static_cast<std::size_t>(at)];
        });
      }
      case 1: {
        const Viewed bias = make_operand({n}, dtype_, {}, seed_++);
        say("and a row of biases");
        x = x + bias.tensor;
        return each([&](double value, std::int64_t, std::int64_t j) {
          return value + bias.model.values[static_cast<std::size_t>(j)];
        });
      }
      case 2: {
        // Permutes the columns of the scores.
        const Viewed index = make_positions({n}, 0, n, seed_++);
        const Viewed rows = make_operand({m, n}, dtype_, {}, seed_++);
        say("and columns of a matrix, in any order");
        x = x + take(rows.tensor, index.tensor, 1);
        return each([&](double value, std::int64_t i, std::int64_t j) {
          return value + rows.model.at({i, static_cast<std::int64_t>(index.model.values[static_cast<std::size_t>(j)])});
        });
      }
      case 4: {
        say("causal");
        x = where(arange(m).reshape({m, 1}) >= arange(n).reshape({1, n}), x, -std::numeric_limits<double>::infinity());
        return each([](double value, std::int64_t i, std::int64_t j) {
          return i >= j ? value : -std::numeric_limits<double>::infinity();
        });
      }
      default:
        return;
    }
  }

  void layer(Tensor& x, Dense& y, std::int64_t n, bool attention) {
    const std::uint32_t how = attention ? 3 : roll(3);
    constexpr const char* kLayers[] = {"less the row's largest", "less the row's smallest, at most 5",
                                       "the row's largest less it, times 2", "softmax"};
    say(kLayers[how]);
    switch (how) {
      case 0:
        x = x - max(x, -1, true);
        break;
      case 1:
        x = minimum(x - min(x, -1, true), 5);
        break;
      case 2:
        x = (max(x, -1, true) - x) * 2;
        break;
      default:
        x = softmax(x);
    }
    for (auto row = y.values.begin(); row != y.values.end(); row += n) {
      const double most = *std::max_element(row, row + n), least = *std::min_element(row, row + n);
      double total = 0;
      for (auto v = row; v != row + n; ++v) {
        *v = how == 0   ? *v - most
             : how == 1 ? std::min(*v - least, 5.0)
             : how == 2 ? (most - *v) * 2
                        : std::exp(*v - most);
        total += *v;
      }
      if (how < 3) continue;
      for (auto v = row; v != row + n; ++v) *v /= total;
    }
  }

  const ProductCase& c_;
  std::size_t next_ = 0;
  std::uint32_t seed_ = 0;
  DType dtype_ = DType::float32;
  BuiltProduct out_;
};

}  // namespace

BuiltProduct build(const ProductCase& c) { return ProductBuilder(c).run(); }

void showValue(const ProductCase& c, std::ostream& out) { out << '\n' << build(c).text; }

}  // namespace oriel::testing
