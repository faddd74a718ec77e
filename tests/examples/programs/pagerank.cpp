// Twenty rounds of PageRank on 10,000 pages with 100,000 links.
#include "beside.hpp"
using namespace oriel;

void pagerank() {
  constexpr std::int64_t pages = 10'000, links = 100'000;
  const Tensor from = randint(Key(6), {links}, 0, pages).realize(), to = randint(Key(7), {links}, 0, pages).realize();
  const auto source = from.to_vector<std::int64_t>(), target = to.to_vector<std::int64_t>();
  beside(
      "PageRank",
      [&] {
        const Tensor degree = maximum(bincount(from, pages), 1).to(DType::float32);
        Tensor rank = full({pages}, 1.0F / pages);
        for (int round = 0; round < 20; ++round)
          rank = 0.15F / pages + 0.85F * segment_sum(take(rank / degree, from), to, pages);
        return rank * pages;
      },
      [&] {
        Floats degree(pages), rank(pages, 1.0F / pages);
        for (const std::int64_t p : source) ++degree[p];
        for (float& d : degree) d = std::max(d, 1.0F);
        for (int round = 0; round < 20; ++round) {
          Floats next(pages);
          for (std::size_t k = 0; k < source.size(); ++k) next[target[k]] += rank[source[k]] / degree[source[k]];
          for (std::size_t p = 0; p < next.size(); ++p) rank[p] = 0.15F / pages + 0.85F * next[p];
        }
        for (float& r : rank) r *= pages;
        return rank;
      });
}
