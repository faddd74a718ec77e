// Names the namespace of the instruction set that a translation unit is compiled for, and renames Eigen with it, so
// that no inline function of one instruction set can be linked into another. Include first.
#pragma once

#if defined(ORIEL_ISA_AVX512)
#define ORIEL_ISA_LEVEL avx512
#define Eigen EigenAvx512
#elif defined(ORIEL_ISA_AVX2)
#define ORIEL_ISA_LEVEL avx2
#define Eigen EigenAvx2
#elif defined(ORIEL_ISA_NEON)
#define ORIEL_ISA_LEVEL neon
#define Eigen EigenNeon
#else
#define ORIEL_ISA_LEVEL baseline
#define Eigen EigenBaseline
#endif
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
