// Views never copy: movements only change how an index becomes a position in the buffer.
#include <oriel/oriel.hpp>

#include <iostream>
#include <numeric>
#include <vector>

int main() {
  // 24 numbers in row-major order. Transposed, flipped and cut to the middle rows, they are still one view of the same
  // buffer.
  const oriel::ShapeTracker rows(oriel::Shape{4, 6});
  const oriel::ShapeTracker turned = rows.permute({1, 0}).flip({0}).shrink({{1, 4}, {0, 4}});
  std::cout << rows.str() << "  becomes  " << turned.str() << "\n  index: " << turned.index_expression() << '\n';

  // No single view can flatten this one, so a second view lies on top. When a reshape restores whole rows, the two
  // merge.
  const oriel::ShapeTracker flat = turned.reshape({12});
  std::cout << flat.str() << "\n  index: " << flat.index_expression() << '\n';
  const oriel::ShapeTracker back = flat.reshape({3, 2, 2}).simplify();
  std::cout << back.str() << "\n  index: " << back.index_expression() << '\n';

  // A tensor is such a view of memory, here of the caller's.
  std::vector<int> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0);
  const oriel::Tensor x = oriel::Tensor::borrow(numbers, {4, 6});
  for (const int n : x.transpose().flip(0).slice({{.start = 1, .stop = 4}}).to_vector<int>()) std::cout << n << ' ';
  std::cout << '\n';
}
