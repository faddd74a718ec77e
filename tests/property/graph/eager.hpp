// The model of random_writes: tensors whose elements are written at once; and the movements that programs make.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oriel/tensor.hpp"
#include "writes.hpp"

namespace oriel::testing {

/// Derives the choices of a step from its numbers.
class Dice {
 public:
  explicit Dice(const WriteStep& step) : step_(step) {}
  std::size_t roll(std::size_t below) {
    const std::size_t value = step_.dice[next_ % step_.dice.size()] + next_ / step_.dice.size();
    ++next_;
    return below == 0 ? 0 : value % below;
  }

 private:
  const WriteStep& step_;
  std::size_t next_ = 0;
};

/// The value that an int8 or int32 holds.
std::int64_t wrap(DType dtype, std::int64_t value);

/// The model's tensor: a storage, and which of its elements the tensor shows. Elements are whole numbers of int32 or
/// int8.
struct Eager {
  std::shared_ptr<std::vector<std::int64_t>> storage;
  std::vector<std::int64_t> at;
  Shape shape;
  DType dtype = DType::int32;

  std::vector<std::int64_t> values() const;
};

/// A tensor with its own storage.
Eager own(std::vector<std::int64_t> values, const Shape& shape, DType dtype);

struct Movement {
  std::function<Tensor(const Tensor&)> move;
  std::string before, after;  // C++ text before and after the tensor's name
  std::string of(const std::string& name) const { return before + name + after; }
};
/// A movement that fits the shape; nullopt if the dice choose one that does not.
std::optional<Movement> draw_movement(Dice& dice, const Shape& shape);

/// Applies the same movement to the model. The interpreter, applied to a tensor of positions, tells which elements it
/// picks.
Eager moved(const Eager& x, const std::function<Tensor(const Tensor&)>& movement);
/// The elements of x, broadcast to `shape`.
std::vector<std::int64_t> spread(const Eager& x, const Shape& shape);

}  // namespace oriel::testing
