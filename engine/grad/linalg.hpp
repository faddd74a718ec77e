// Derivatives of linear algebra and of Fourier transforms.
#pragma once

#include <string_view>

#include "grad/step.hpp"

namespace oriel::derive {

/// Gives the shares of a function of the library, by the name under which files hold it. False: it is another function.
bool pull_linalg(Step& step, std::string_view function);

/// Of these: triangles and solutions (linalg.cpp), orthogonal factors and eigenvalues (factors.cpp), Fourier transforms
/// (fourier.cpp).
/// @{
bool pull_factors(Step& step, std::string_view function);
bool pull_fourier(Step& step, std::string_view function);
/// @}

}  // namespace oriel::derive
