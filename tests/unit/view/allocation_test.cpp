// A usual merge allocates no memory: views of rank up to 8 are stored in place.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "oriel/view.hpp"

namespace {

std::atomic<long> allocations{0};

}  // namespace

// A program's operator new replaces the library's, so the library's calls end here too.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using oriel::MergeVerdict;
using oriel::View;

namespace {

void check_merge(const View& outer, const View& inner, MergeVerdict verdict) {
  const long before = allocations;
  const oriel::MergeResult result = merge(outer, inner);
  const long taken = allocations - before;
  CHECK(result.verdict == verdict);
  CHECK(taken == 0);
}

}  // namespace

TEST_CASE("the counter counts") {
  const long before = allocations;
  const View many = View::contiguous({1, 2, 1, 2, 1, 2, 1, 2, 1, 2});  // rank 10 is too large to be stored in place
  CHECK(allocations - before > 0);
}

TEST_CASE("reshapes of rank 8 merge without memory") {
  const View inner = View::contiguous({2, 3, 2, 3, 2, 3, 2, 3}).flip({0, 3, 7});
  check_merge(View::contiguous({2, 3, 2, 3, 2, 3, 2, 3}).permute({7, 6, 5, 4, 3, 2, 1, 0}), inner,
              MergeVerdict::Merged);
  check_merge(View::contiguous({6, 6, 6, 6}), inner, MergeVerdict::No);
}

TEST_CASE("masked views of rank 4 merge without memory") {
  const View inner = View::contiguous({4, 6, 5, 8}).pad({{1, 1}, {0, 0}, {2, 1}, {0, 0}});
  const View outer = View::contiguous({6, 6, 8, 8}).permute({2, 0, 3, 1}).flip({1});
  check_merge(outer, inner, MergeVerdict::Merged);
  check_merge(outer.shrink({{1, 8}, {0, 5}, {0, 8}, {2, 6}}), inner, MergeVerdict::Merged);
  check_merge(View::contiguous({288, 8}), inner, MergeVerdict::No);
}
