// Numbers as decimal text, by NumPy's rules (numpy/_core/arrayprint.py and its dragon4).
#pragma once

#include <string>

#include "oriel/dtype.hpp"
#include "oriel/print.hpp"

namespace oriel::api {

/// Formats floats of one dtype with a common width: NumPy's FloatingFormat. Elements are passed as doubles, which hold
/// the value exactly.
class FloatFormat {
 public:
  FloatFormat(const std::vector<double>& elements, DType dtype, const PrintOptions& options);
  std::string operator()(double x) const;

 private:
  std::string positional(double x) const;
  std::string scientific(double x) const;

  DType dtype_;
  const PrintOptions& options_;
  bool scientific_ = false;
  bool unique_ = true;
  bool keep_zeros_ = false;
  int precision_;  // -1: no limit
  int least_ = 0;  // digits after the point
  std::size_t exponent_ = 2;
  std::size_t left_ = 0;
  std::size_t right_ = 0;
};

/// A single float, as Python's str() prints it.
std::string scalar_text(double x, DType dtype, const PrintOptions& options);

/// A single complex number, as Python's str() prints it: "(1+2j)", "2j".
std::string complex_text(double re, double im, DType dtype, const PrintOptions& options);

}  // namespace oriel::api
