// The derivative of a definition as text in the notation.
#pragma once

#include <span>
#include <string>

#include "lang/syntax/program.hpp"

namespace oriel::lang {

/// A definition NAME_grad. It takes the definition's parameters and d_R for each of its results R that holds floats,
/// and gives d_X, the sum of the derivatives of all results by X, each times its d_R, for each parameter X that `by`
/// names; for all parameters of floats if it names none. A statement gives its ranges where inference would find
/// others. Throws ArgumentError for a name that is no parameter of floats, and ComprehensionError (not_differentiable;
/// open_sizes if the ranges have no formula).
std::string derivative(const Program& program, std::span<const std::string> by);

}  // namespace oriel::lang
