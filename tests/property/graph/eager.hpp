// The model of random_writes: tensors whose elements are written at once, and the movements that programs draw.
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

/// Reads a step's choices off its numbers.
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

/// What an int8 or int32 holds of it.
std::int64_t wrap(DType dtype, std::int64_t value);

/// The model's tensor: which elements of which storage. Elements are whole numbers of int32 or int8.
struct Eager {
  std::shared_ptr<std::vector<std::int64_t>> storage;
  std::vector<std::int64_t> at;
  Shape shape;
  DType dtype = DType::int32;

  std::vector<std::int64_t> values() const;
};

/// A tensor with a storage of its own.
Eager own(std::vector<std::int64_t> values, const Shape& shape, DType dtype);

struct Movement {
  std::function<Tensor(const Tensor&)> move;
  std::string before, after;  // C++ text before and after the tensor's name
  std::string of(const std::string& name) const { return before + name + after; }
};
/// One that fits the shape, or none.
std::optional<Movement> draw_movement(Dice& dice, const Shape& shape);

/// The same movement of the model: which elements it picks is asked of the interpreter, over their positions.
Eager moved(const Eager& x, const std::function<Tensor(const Tensor&)>& movement);
/// Its values, broadcast.
std::vector<std::int64_t> spread(const Eager& x, const Shape& shape);

}  // namespace oriel::testing
