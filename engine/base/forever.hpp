// An object of the process that is there before main and is never destroyed.
#pragma once

namespace oriel::base {

/// For namespace scope, as constinit. Its constructor is constant, and its destructor does nothing: static tensors use
/// the library before main and while the process ends. Unlike a static of a function it has no lock that a thread holds
/// while it makes the object, and that a forked child would find held for ever.
template <class T>
union Forever {
  constexpr Forever() noexcept : object() {}
  Forever(const Forever&) = delete;
  ~Forever() {}  // NOLINT(modernize-use-equals-default): the object is not destroyed
  T object;
};

}  // namespace oriel::base
