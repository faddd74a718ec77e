#include "source/opencl/dialect.hpp"

namespace oriel::source::opencl {
namespace {

using graph::Op;

// What PoCL 3.1 gets wrong.
constexpr FunctionFault kFaults[] = {
    // float32: subnormal lanes beside an infinite one
    {.op = Op::Sin, .vectors_where = "!(fabs(x) <= ({0})(10000))"},
    {.op = Op::Cos, .vectors_where = "!(fabs(x) <= ({0})(10000))"},
    {.op = Op::Tan, .vectors_where = "!(fabs(x) <= ({0})(10000))"},
    // gives the number before 1 for all large ones
    {.op = Op::Tanh, .in_float64 = false, .where = "fabs(x) > ({0})(9.011f)", .value = "copysign(({0})(1), x)"},
    // gives 0 for the subnormal number before 0
    {.op = Op::Log1p, .where = "fabs(x) < ({0})(1e-30f)", .value = "x"},
    // float64: lanes beside 0/0
    {.op = Op::Fmod, .in_vectors = true},
    // infinities in some lanes (for example 0.141471 to the power 2.45513)
    {.op = Op::Pow, .in_float32 = false, .in_vectors = true},
};

constexpr Dialect kOpenCl{
    .name = "OpenCL",
    .ending = "cl",
    .types = {"uchar", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "float", "float", "float",
              "double"},
    .half_bits = "ushort",
    .opening = "#pragma OPENCL FP_CONTRACT OFF\n\n",
    .fp64_opening = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .kernel = "__kernel __attribute__((reqd_work_group_size({0}, {1}, {2})))\nvoid {3}({4}) {\n{5}}\n",
    .called_function_prefix = "__attribute__((noinline)) ",
    .restricted = "restrict",
    .pointers = {"{1}{0}*", "__global {1}{0}*", "{1}__local {0}*"},
    .local_array = "__local {0} {1}[{2}]",
    .global_id = "get_global_id({0})",
    .group_id = "get_group_id({0})",
    .local_id = "get_local_id({0})",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .global_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .increment = "atomic_inc({0})",
    .vector_arithmetic = true,
    .vector_type = "{0}{1}",
    .load_vector = "vload{0}(0, {1})",
    .store_vector = "vstore{0}({1}, 0, {2})",
    .lane = "{0}.s{1}",
    .halves = {"{0}.lo", "{0}.hi"},
    .every_second = "({0})({1}.{3}, {2}.{3})",
    .clamped = "(int)clamp((long)({0}), {1}L, {2}L)",
    .bits_as = "as_{0}({1})",
    .converted = "convert_{0}({1})",
    .saturated = "convert_{0}_sat({1})",
    .magnitude = "as_{0}(abs({1}))",
    .load_half = "vload_half({1}, (const __global half*){0})",
    .store_half = "vstore_half_rte({2}, {1}, (__global half*){0})",
    .half_functions = {R"(ushort {0}(float x) {
  ushort bits[1] __attribute__((aligned(2)));
  vstore_half_rte(x, 0, (half*)bits);
  return bits[0];
}
float {0}_widened(ushort x) {
  ushort bits[1] __attribute__((aligned(2)));
  bits[0] = x;
  return vload_half(0, (const half*)bits);
}
)",
                       R"(ushort{1} {0}(float{1} x) {
  ushort bits[{1}] __attribute__((aligned({2})));
  vstore_half{1}_rte(x, 0, (half*)bits);
  return vload{1}(0, bits);
}
float{1} {0}_widened(ushort{1} x) {
  ushort bits[{1}] __attribute__((aligned({2})));
  vstore{1}(x, 0, bits);
  return vload_half{1}(0, (const half*)bits);
}
)"},
    .faults = kFaults,
};

}  // namespace

const Dialect& dialect() { return kOpenCl; }

}  // namespace oriel::source::opencl
