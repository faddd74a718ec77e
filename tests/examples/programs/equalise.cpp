// Spreads the greys of a picture: each becomes its share of darker pixels.
#include <array>

#include "beside.hpp"
using namespace oriel;

void equalise() {
  const Tensor picture = (square(uniform(Key(2), {512, 512})) * 255).to(DType::uint8).realize();
  const auto bytes = picture.to_vector<std::uint8_t>();
  beside(
      "histogram equalisation",
      [&] {
        const Tensor share = cumsum(bincount(picture.reshape(-1), 256), 0) / float(picture.count());
        return (255 * share).to(DType::uint8).take(picture);
      },
      [&] {
        std::array<std::int64_t, 256> counts{};
        for (const std::uint8_t v : bytes) ++counts[v];
        std::array<float, 256> table{};
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < table.size(); ++k) {
          sum += counts[k];
          table[k] = static_cast<std::uint8_t>(255 * (static_cast<float>(sum) / static_cast<float>(bytes.size())));
        }
        Floats out;
        for (const std::uint8_t v : bytes) out.push_back(table[v]);
        return out;
      });
}
