// One trace serves many sizes: sizes are symbols, and a branch on them becomes a guard.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const auto f = oriel::function(
      [](Tensor x, Tensor y) {
        const Tensor z = concat({x, y}, 0);
        return z.size(0) > 7 ? z * 2 : z + 2;
      },
      {.dynamic = Dynamic::yes, .names = {"x", "y"}});
  std::cout << f(ones({2}), ones({3})) << '\n';  // traced
  std::cout << f(ones({2}), ones({5})) << '\n';  // other sizes that go the same way
  std::cout << f(ones({6}), ones({3})) << '\n';  // the other way: traced again
  const FunctionEntry entry = f.entries()[1];
  for (const std::string& guard : entry.guards)
    if (guard.find("size(") != std::string::npos) std::cout << guard << '\n';
  std::cout << f.explain();
}
