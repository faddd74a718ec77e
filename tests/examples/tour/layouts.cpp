// Memory formats: which strides a result has.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const auto show = [](const char* what, const Tensor& t) {
    std::cout << what << ':';
    for (const SymInt s : t.strides()) std::cout << ' ' << s.value();
    std::cout << '\n';
  };
  const Tensor image = zeros({2, 3, 4, 5});
  const Tensor last = image.to(MemoryFormat::channels_last);
  show("contiguous", image);
  show("channels last", last);
  show("what is computed from it", relu(last * 2 + ones({3, 1, 1})));
  show("transposed", image.transpose());

  // view never copies, so it throws if strides cannot express the shape. reshape accepts it, with a second view.
  try {
    (void)image.transpose().view({-1});
  } catch (const ShapeError& error) {
    std::cout << error.message() << '\n';
  }
  show("reshaped", image.transpose().reshape({-1}));
}
