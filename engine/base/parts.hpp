// Parts of the library that a build may leave out, function by function: each begins with a line that says which part
// it needs, and without the part nothing behind that line is compiled into the library.
#pragma once

#include <string_view>

#include "base/absent.hpp"

// What this build leaves out, between spaces (engine/meson.build): " linalg random ".
#ifndef ORIEL_LEFT_OUT
#define ORIEL_LEFT_OUT ""
#endif

namespace oriel::base {

/// A part: its name among what is left out, between spaces, and its functions, in the plural.
struct Part {
  std::string_view name;
  std::string_view functions;
  constexpr bool built() const { return std::string_view(ORIEL_LEFT_OUT).find(name) == std::string_view::npos; }
};
inline constexpr Part kLinalg{" linalg ", "functions of linear algebra and Fourier transforms"};
inline constexpr Part kRandom{" random ", "random numbers"};
inline constexpr Part kComplex{" complex ", "functions of complex numbers"};
inline constexpr Part kDlpack{" dlpack ", "exchange by DLPack"};
inline constexpr Part kFilters{" filters ", "filters and resampling"};
inline constexpr Part kFurther{" further ", "further compositions"};
inline constexpr Part kHistograms{" histograms ", "counts and histograms"};
inline constexpr Part kLosses{" losses ", "losses"};
inline constexpr Part kSources{" sources ", "sources of kernels"};
inline constexpr Part kSpecial{" special ", "special functions"};
inline constexpr Part kText{" text ", "readers and writers of text"};

/// Throws the error of a missing part (absent.hpp) unless this build has it.
template <const Part& part>
[[gnu::always_inline]] inline void need([[maybe_unused]] std::string_view operation) {
  if constexpr (!part.built()) throw_absent(operation, part.functions);
}

}  // namespace oriel::base
