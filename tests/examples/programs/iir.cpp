// Two first-order recursive filters, one behind the other.
#include "beside.hpp"
using namespace oriel;

void iir() {
  const Floats x = random_floats(200'000, 1);
  const Tensor signal = Tensor::borrow(x, {200'000});
  beside(
      "recursive filters",
      [&] {
        const Tensor once = linear_recurrence(0.9F, 0.1F * signal, 0);
        return linear_recurrence(0.9F, 0.1F * once, 0);
      },
      [&] {
        Floats out(x.size());
        float a = 0, b = 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
          a = 0.9F * a + 0.1F * x[k];
          b = 0.9F * b + 0.1F * a;
          out[k] = b;
        }
        return out;
      });
}
