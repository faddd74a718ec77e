// Generators whose ranges do not depend on RapidCheck's size.
#pragma once

#include <rapidcheck.h>

namespace oriel::test {

/// A number from [least, end), all of them equally likely from the first case on. gen::inRange scales its range by the
/// size, which grows from 0 to 100 over a run: the last kinds of a table would only be drawn near its end.
template <class T>
rc::Gen<T> any_of(T least, T end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, end));
}

}  // namespace oriel::test
