// Ten rounds of k-means: 20,000 points in 3 dimensions, 8 centres.
#include "beside.hpp"
using namespace oriel;

void kmeans() {
  constexpr std::int64_t n = 20'000, dims = 3, k = 8;
  const Floats x = random_floats(n * dims, 5);
  const Tensor points = Tensor::borrow(x, {n, dims});
  beside(
      "k-means",
      [&] {
        Tensor centres = points.slice({{0, k}});
        for (int round = 0; round < 10; ++round) {
          const Tensor nearest = argmin(sum(square(points.unsqueeze(1) - centres), 2), 1);
          const Tensor counts = bincount(nearest, k).to(DType::float32);
          centres = segment_sum(points, nearest, k) / maximum(counts, 1).unsqueeze(1);
          centres.realize();
        }
        return centres;
      },
      [&] {
        Floats centres(x.begin(), x.begin() + k * dims);
        for (int round = 0; round < 10; ++round) {
          Floats sums(k * dims);
          std::vector<int> counts(k);
          for (std::int64_t i = 0; i < n; ++i) {
            int best = 0;
            float least = 1e30F;
            for (int c = 0; c < k; ++c) {
              float distance = 0;
              for (int d = 0; d < dims; ++d) {
                const float apart = x[i * dims + d] - centres[c * dims + d];
                distance += apart * apart;
              }
              if (distance < least) {
                least = distance;
                best = c;
              }
            }
            for (int d = 0; d < dims; ++d) sums[best * dims + d] += x[i * dims + d];
            ++counts[best];
          }
          for (int c = 0; c < k; ++c)
            for (int d = 0; d < dims; ++d) centres[c * dims + d] = sums[c * dims + d] / std::max(counts[c], 1);
        }
        return centres;
      },
      1e-2);
}
