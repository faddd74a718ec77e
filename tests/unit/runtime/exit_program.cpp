// Exit handlers and destructors of static objects may still ask for results while the process ends.
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "oriel/oriel.hpp"

namespace {

float work() { return oriel::sum(oriel::Tensor::of<float>({1, 2, 3}) * 3 + 1).item<float>(); }

void check(const char* when) {
  if (work() == 21) return;
  std::fprintf(stderr, "wrong %s\n", when);
  _exit(1);
}

struct Late {
  ~Late() { check("in a static object's destructor"); }
} late;

}  // namespace

int main() {
  // Registered before the engine has static objects, so it runs after these would be destroyed.
  std::atexit([] { check("in an exit handler"); });
  check("in main");
  return 0;
}
