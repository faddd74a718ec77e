// Declarations of OpenCL C's built-in functions.
#pragma once

#include <string>
#include <string_view>

namespace oriel::backend::opencl {

/// The option with which a driver over Clang skips its header of all built-in functions: it is the header's own guard.
/// PoCL 3.1 reads 18,000 lines for each program, in more time than it needs for the rest of a kernel.
inline constexpr const char* kSkipsBuiltins = " -D_OPENCL_H_";

/// What stands in place of that header before `source`: the functions that it calls, for scalars and vectors of 2, 4, 8
/// and 16 (OpenCL C 1.2, section 6.12). Some functions are not known here, and a program that calls one of them does
/// not build.
std::string builtin_declarations(std::string_view source);

}  // namespace oriel::backend::opencl
