// The steps of random programs, one function for each kind.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "leaf.hpp"
#include "oriel/oriel.hpp"
#include "program.hpp"

namespace oriel::testing {

inline constexpr std::int64_t kMostElements = 3000;

// Reads the numbers of a step one by one.
class Dice {
 public:
  explicit Dice(const Step& step) : step_(step) {}
  std::uint32_t roll(std::size_t below) {
    const std::uint32_t value =
        step_.dice[next_ % step_.dice.size()] + static_cast<std::uint32_t>(next_ / step_.dice.size());
    ++next_;
    return below == 0 ? 0 : value % static_cast<std::uint32_t>(below);
  }

 private:
  const Step& step_;
  std::size_t next_ = 0;
};

/// The shape of a leaf with rows of 0 to 16 elements, mostly enough of them to fill registers with neighbouring rows.
Shape short_rows(Dice& dice);

struct RowReduction {
  const char* name;
  Tensor (*of)(const Operand&, const Axes&, KeepDim);
};
const RowReduction& row_reduction(Dice& dice);

class Builder {
 public:
  /// `in_callers_memory`: all leaves lie in memory of the caller. `scatters`: steps that gather scatter. `rows`: all
  /// leaves have short rows.
  explicit Builder(bool in_callers_memory, bool scatters = false, bool rows = false)
      : in_callers_memory_(in_callers_memory), scatters_(scatters), rows_(rows) {}
  void step(const Step& step);
  Built finish() && { return std::move(built_); }

 private:
  void leaf(Dice& dice);
  void made(Dice& dice);
  void laid_out(Dice& dice);
  void unary(Dice& dice);
  void binary(Dice& dice);
  void number(Dice& dice);
  void choose(Dice& dice);
  void convert(Dice& dice);
  void rearrange(Dice& dice);
  void padded(Dice& dice);
  void cut(Dice& dice);
  void sliced(Dice& dice);
  void flipped(Dice& dice);
  void grown(Dice& dice);
  void reduced(Dice& dice);
  void rowed(Dice& dice);
  void composed(Dice& dice);
  void joined(Dice& dice);
  void product(Dice& dice);
  void windowed(Dice& dice);
  void along(Dice& dice);
  void alike(Dice& dice);
  void gathered(Dice& dice);
  void scattered(Dice& dice, std::size_t x, const Tensor& index, const std::string& text, std::int64_t axis,
                 bool lines);
  void chained(Dice& dice);
  void shaped(Dice& dice);
  void summed(Dice& dice);
  void transformed(Dice& dice);
  void derived(Dice& dice);
  void sent(Dice& dice);

  Leaf picked(Dice& dice, const Shape& shape, DType dtype);

  /// A leaf whose memory the program keeps.
  Leaf leaf_of(DType dtype, const Shape& shape, std::uint32_t seed) {
    Leaf leaf = make_leaf(dtype, shape, seed, in_callers_memory_);
    if (leaf.memory) built_.memories.push_back(leaf.memory);
    return leaf;
  }

  std::size_t pick(Dice& dice) {
    if (built_.values.empty()) add(leaf_of(DType::float32, {2, 3}, 1));
    // Prefers the latest values, so that programs grow deep rather than wide.
    const std::size_t back =
        dice.roll(dice.roll(3) == 0 ? built_.values.size() : std::min<std::size_t>(2, built_.values.size()));
    std::size_t at = built_.values.size() - 1 - back;
    // Results of empty tensors are empty, so empty tensors are usually passed over.
    while (at > 0 && built_.values[at].numel() == 0 && dice.roll(4) != 0) --at;
    needed_.push_back(at);
    return at;
  }
  // A partner that broadcasts with the value, or the value itself.
  std::size_t partner(Dice& dice, std::size_t with) {
    const std::size_t start = dice.roll(built_.values.size());
    for (std::size_t k = 0; k < built_.values.size(); ++k) {
      const std::size_t at = (start + k) % built_.values.size();
      try {
        if (numel(broadcast_shape(built_.values[at].shape(), built_.values[with].shape())) <= kMostElements) return at;
      } catch (const ShapeError&) {
        continue;
      }
    }
    return with;
  }
  const Tensor& at(std::size_t k) {
    needed_.push_back(k);
    return built_.values[k];
  }
  static std::string v(std::size_t k) { return fmt::format("v{}", k); }

  void add(const Leaf& leaf) { add(leaf.tensor, leaf.text); }
  void add(const Tensor& tensor, const std::string& text) {
    if (tensor.numel() > kMostElements) return;
    built_.lines.push_back(fmt::format("auto v{} = {};  // {}", built_.values.size(), text, tensor.str()));
    built_.needs.push_back(std::exchange(needed_, {}));
    built_.values.push_back(tensor);
  }

  int derivatives_ = 0;
  bool in_callers_memory_;
  bool scatters_;
  bool rows_;
  Built built_;
  std::vector<std::size_t> needed_;  // by the current step
};

}  // namespace oriel::testing
