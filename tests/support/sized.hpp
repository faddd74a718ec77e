// Generators whose ranges do not depend on RapidCheck's size.
#pragma once

#include <rapidcheck.h>

namespace oriel::test {

/// A number from [least, end) with uniform distribution in every case. gen::inRange scales its range by the size, which
/// grows from 0 to 100 over a run, so it would draw the last entries of a table only near the end of the run.
template <class T>
rc::Gen<T> any_of(T least, T end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, end));
}

}  // namespace oriel::test
