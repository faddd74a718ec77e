// Prints the highest instruction-set level above the lowest that this machine runs, if there is one. The build runs it
// for the option isa=native.
#include <cstdio>

int main() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto has = [](bool more) { return more && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); };
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  std::puts(has(wide) ? "avx512" : has(true) ? "avx2" : "");
#else
  std::puts("");
#endif
  return 0;
}
