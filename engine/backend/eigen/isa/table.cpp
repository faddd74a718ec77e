// Chooses the instruction-set level at run time.
#include "backend/eigen/isa/table.hpp"

// Only x86-64 has levels above the lowest, and only if the build includes them (meson's option isa).
#if defined(__x86_64__) && !defined(ORIEL_ISA_LOWEST)
#define ORIEL_HIGHER_LEVELS
#include <cpuid.h>
#endif

#include <string>
#include <string_view>

#include "backend/eigen/isa/levels.hpp"
#include "base/escape.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::isa {

#if defined(__aarch64__)
// Every 64-bit Arm processor has NEON, so it is the lowest level.
namespace neon {
void fill_table(Table& table);
}
namespace lowest = neon;
constexpr const char* kLowest = "neon";
#else
namespace baseline {
void fill_table(Table& table);
}
namespace lowest = baseline;
constexpr const char* kLowest = "baseline";
#endif
#ifdef ORIEL_HIGHER_LEVELS
namespace avx2 {
void fill_table(Table& table);
}
namespace avx512 {
void fill_table(Table& table);
}
#endif

namespace {

bool machine_has([[maybe_unused]] std::string_view level) {
#ifdef ORIEL_HIGHER_LEVELS
  __builtin_cpu_init();
  // clang 14 does not know the name f16c. Its flag is CPUID leaf 1, ecx bit 29.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 29)) != 0;
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c;
  if (level == "avx2") return has_avx2;
  if (level == "avx512") {
    return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#endif
#if defined(__aarch64__)
  if (level == "neon") return true;
#endif
  return level == "baseline";
}

Table make(void (*fill)(Table&)) {
  Table t;
  fill(t);
  return t;
}

}  // namespace

const Table& table(const char* level) {
  const std::string_view name = level;
  if (!name.empty() && name != "baseline" && name != "avx2" && name != "avx512" && name != "neon") {
    throw ArgumentError("ORIEL_ISA",
                        "got \"" + base::escaped(name) + "\"; accepted are baseline, avx2, avx512 and neon");
  }
  if (!name.empty() && !machine_has(name)) {
    throw DeviceError("ORIEL_ISA", "this build or machine has no " + std::string(name) + "; baseline always works");
  }
#ifdef ORIEL_HIGHER_LEVELS
  if (name == "avx512" || (name.empty() && machine_has("avx512"))) {
    static const Table t = make(avx512::fill_table);
    return t;
  }
  if (name == "avx2" || (name.empty() && machine_has("avx2"))) {
    static const Table t = make(avx2::fill_table);
    return t;
  }
#endif
  static const Table t = make(lowest::fill_table);
  return t;
}

const Table& table() { return table(base::env_text("ORIEL_ISA").value_or("").c_str()); }

std::string levels_text() {
  std::string text = kLowest;
#ifdef ORIEL_HIGHER_LEVELS
  for (const char* level : {"avx2", "avx512"})
    text += std::string(level == std::string_view("avx2") ? ", " : " and ") + level +
            (machine_has(level) ? "" : " (not on this machine)");
#endif
  return text;
}

}  // namespace oriel::backend::isa
