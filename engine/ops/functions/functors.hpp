// The functor of an op as a type.
#pragma once

#include "ops/functions/division.hpp"
#include "ops/functions/philox.hpp"
#include "ops/functions/reduce.hpp"
#include "ops/op.hpp"

namespace oriel::ops {
namespace {

// Conversions are named by two dtypes, not by the op.
struct Cast;
struct Bitcast;

/// The functor of an op on a kind of dtype: the one with the op's name, `Named`, unless the table has another.
template <Op kOp, Kind kKind, class Named>
struct FunctorOf {
  using type = Named;
};
#define ORIEL_OTHER_FUNCTOR(op, kind, functor)  \
  template <class Named>                        \
  struct FunctorOf<Op::op, Kind::kind, Named> { \
    using type = functor;                       \
  };
ORIEL_OTHER_FUNCTORS(ORIEL_OTHER_FUNCTOR)
#undef ORIEL_OTHER_FUNCTOR

template <Identity kIdentity>
struct IdentityOf;
#define ORIEL_IDENTITY(name)          \
  template <>                         \
  struct IdentityOf<Identity::name> { \
    using type = name;                \
  };
ORIEL_IDENTITY(Zero)
ORIEL_IDENTITY(One)
ORIEL_IDENTITY(Ones)
ORIEL_IDENTITY(Lowest)
ORIEL_IDENTITY(Highest)
#undef ORIEL_IDENTITY

}  // namespace
}  // namespace oriel::ops
