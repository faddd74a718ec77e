// Ten programs as their authors would write them, each beside a plain loop: results compared, times printed.
//
//   programs          all
//   programs NAME     one of them
#include <cstdio>
#include <cstring>

void bilateral();
void conjugate();
void equalise();
void gru();
void iir();
void kalman();
void kmeans();
void monte_carlo();
void pagerank();
void pyramid();

int main(int count, char** words) {
  const struct {
    const char* name;
    void (*run)();
  } programs[] = {{"gru", gru},
                  {"bilateral", bilateral},
                  {"monte_carlo", monte_carlo},
                  {"kalman", kalman},
                  {"kmeans", kmeans},
                  {"equalise", equalise},
                  {"pagerank", pagerank},
                  {"iir", iir},
                  {"conjugate", conjugate},
                  {"pyramid", pyramid}};
  bool any = false;
  for (const auto& program : programs) {
    if (count > 1 && std::strcmp(words[1], program.name) != 0) continue;
    program.run();
    any = true;
  }
  if (!any) std::printf("there is no program \"%s\"\n", words[1]);
  return any ? 0 : 2;
}
