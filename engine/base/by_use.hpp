// What a program that links the static library of the profile small has by use: the builder of a node, or the public
// function, calls the function here that puts the part into the engine, so a linker that collects garbage leaves out
// the parts that nothing calls. The shared library has all of them from the start (backend/eigen/whole.cpp), and so has
// every library of the profile full.
#pragma once

namespace oriel::by_use {

#ifdef ORIEL_BY_USE
/// Functions of floats such as exp, and reductions other than sums.
/// @{
void functions();
void reductions();
/// @}
void sorts();
void scans();
void scatters();
void host_calls();
/// Explanations, profiles, dumps, debug lines, checks of results, and the settings of the environment for these.
/// Without them such a setting is an error.
void inspection();
/// Products of many small matrices side by side. Without them these run tile by tile, with the same bits.
void small_products();
#else
inline void functions() {}
inline void reductions() {}
inline void sorts() {}
inline void scans() {}
inline void scatters() {}
inline void host_calls() {}
inline void inspection() {}
inline void small_products() {}
#endif

/// All that a graph which was loaded may need.
inline void operations() {
  functions();
  reductions();
  sorts();
  scans();
  scatters();
  host_calls();
  small_products();
}

}  // namespace oriel::by_use
