// Chooses the instruction-set level at run time.
#include "backend/eigen/isa/table.hpp"

// The build says which levels above the lowest it contains: ORIEL_HAS_AVX2, ORIEL_HAS_AVX512 (meson's option isa).
#if defined(ORIEL_HAS_AVX2) || defined(ORIEL_HAS_AVX512)
#define ORIEL_HIGHER_LEVELS
#include <cpuid.h>
#endif

#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "backend/eigen/isa/by_use.hpp"
#include "backend/eigen/isa/lane_table.hpp"
#include "backend/eigen/isa/levels.hpp"
#include "base/escape.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::isa {

// What the sources of a level define.
#define ORIEL_DECLARE_LEVEL(level)   \
  namespace level {                  \
  void fill_table(Table& table);     \
  void fill_lanes(LaneTable& table); \
  void add_math_ops(Table& table);   \
  void add_reduce_ops(Table& table); \
  void add_scan_ops(Table& table);   \
  void add_sort_ops(Table& table);   \
  }
ORIEL_DECLARE_LEVEL(baseline)
ORIEL_DECLARE_LEVEL(avx2)
ORIEL_DECLARE_LEVEL(avx512)
ORIEL_DECLARE_LEVEL(neon)
#undef ORIEL_DECLARE_LEVEL

// The lowest level of the build. The amalgamation has one level, which the flags of its source choose
// (scripts/amalgamate); every 64-bit Arm processor has NEON.
#if defined(ORIEL_ISA_AVX512)
namespace lowest = avx512;
constexpr const char* kLowest = "avx512";
#elif defined(ORIEL_ISA_AVX2)
namespace lowest = avx2;
constexpr const char* kLowest = "avx2";
#elif defined(__aarch64__)
namespace lowest = neon;
constexpr const char* kLowest = "neon";
#else
namespace lowest = baseline;
constexpr const char* kLowest = "baseline";
#endif

namespace {

#ifdef ORIEL_HIGHER_LEVELS
bool has_avx2() {
  // clang 14 does not know the name f16c. Its flag is CPUID leaf 1, ecx bit 29.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 29)) != 0;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c;
}
#endif
#ifdef ORIEL_HAS_AVX512
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/// A level of this build. `runs` is false on machines without its instructions.
struct Level {
  std::string_view name;
  void (*fill)(Table&);
  bool runs;
};

/// The levels of this build, lowest first.
std::span<const Level> levels() {
#ifdef ORIEL_HIGHER_LEVELS
  __builtin_cpu_init();
#endif
  static const Level all[] = {
      {kLowest, lowest::fill_table, true},
#ifdef ORIEL_HAS_AVX2
      {"avx2", avx2::fill_table, has_avx2()},
#endif
#ifdef ORIEL_HAS_AVX512
      {"avx512", avx512::fill_table, has_avx512()},
#endif
  };
  return all;
}

/// By the numbers of levels. What is not filled has all bits 0, so that no file holds it.
constinit Table tables[3];

}  // namespace

#ifdef ORIEL_BY_USE
namespace {

/// Adds the loops of the lowest level to each table, then those of higher levels to theirs, once.
template <auto lowest_of, auto... higher>
void add_to_levels() {
  static std::once_flag added;
  std::call_once(added, [] {
    for (Table& t : tables) lowest_of(t);
    [[maybe_unused]] std::size_t level = 1;
    (higher(tables[level++]), ...);
  });
}

}  // namespace

#ifdef ORIEL_HAS_AVX2
void use_functions() { add_to_levels<lowest::add_math_ops, avx2::add_math_ops>(); }
void use_reductions() { add_to_levels<lowest::add_reduce_ops, avx2::add_reduce_ops>(); }
#else
void use_functions() { add_to_levels<lowest::add_math_ops>(); }
void use_reductions() { add_to_levels<lowest::add_reduce_ops>(); }
#endif
void use_scans() { add_to_levels<lowest::add_scan_ops>(); }
void use_sorts() { add_to_levels<lowest::add_sort_ops>(); }
#endif

const Table& table(const char* level) {
  const std::string_view name = level;
  if (!name.empty() && name != "baseline" && name != "avx2" && name != "avx512" && name != "neon") {
    throw ArgumentError("ORIEL_ISA",
                        "got \"" + base::escaped(name) + "\"; accepted are baseline, avx2, avx512 and neon");
  }
  const std::span<const Level> all = levels();
  // "baseline" names the lowest level everywhere, NEON too.
  const std::string_view wanted = name == "baseline" ? all[0].name : name;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].runs && (wanted.empty() || wanted == all[i].name)) chosen = i;
  }
  if (!wanted.empty() && all[chosen].name != wanted) {
    throw DeviceError("ORIEL_ISA",
                      "this build or machine has no " + std::string(name) + "; " + kLowest + " always works");
  }
  static std::once_flag filled[3];
  std::call_once(filled[chosen], [&] {
#ifdef ORIEL_BY_USE  // what a higher level leaves out is that of the lowest
    all[0].fill(tables[chosen]);
#endif
    all[chosen].fill(tables[chosen]);
  });
  return tables[chosen];
}

const Table& table() { return table(base::env_text("ORIEL_ISA").value_or("").c_str()); }

const LaneTable& lane_table(const Table& table) {
  constexpr void (*kFill[])(LaneTable&) = {
#ifdef ORIEL_ISA_FEW
      [](LaneTable&) {},  // processors without AVX2 have none in the profile small
#else
      lowest::fill_lanes,
#endif
#ifdef ORIEL_HAS_AVX2
      avx2::fill_lanes,
#endif
#ifdef ORIEL_HAS_AVX512
      avx512::fill_lanes,
#endif
  };
  const auto level = static_cast<std::size_t>(&table - tables);
  static LaneTable lanes[3];
  static std::once_flag filled[3];
  std::call_once(filled[level], [&] { kFill[level](lanes[level]); });
  return lanes[level];
}

std::string levels_text() {
  const std::span<const Level> all = levels();
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 == all.size() ? " and " : ", ";
    text += std::string(all[i].name) + (all[i].runs ? "" : " (not on this machine)");
  }
  return text;
}

}  // namespace oriel::backend::isa
