// Callables that Oriel keeps: deleters, and the sinks of debug lines and warnings.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "oriel/api.hpp"
#include "oriel/shared.hpp"

namespace ORIEL_API oriel {

template <class Signature>
class Callback;

/// Any callable with this signature: a lambda, a function, a std::function. As std::function, whose header is larger
/// than this whole interface, with one difference: copies share the callable, which therefore need not be copyable.
///   oriel::DebugSink sink = [](std::string_view line) { std::cerr << line << '\n'; };
template <class Result, class... Args>
class Callback<Result(Args...)> {
 public:
  /// Empty.
  /// @{
  constexpr Callback() noexcept = default;
  constexpr Callback(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  /// @}
  /// Keeps a copy of `f`. Empty if `f` is a null pointer or an empty std::function.
  template <class F>
  requires(!std::same_as<std::decay_t<F>, Callback> && std::is_invocable_r_v<Result, std::decay_t<F>&, Args...>)
      Callback(F&& f) {  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
    using Kept = std::decay_t<F>;
    if constexpr (std::is_pointer_v<std::remove_cvref_t<F>>) {
      if (f == nullptr) return;
    } else if constexpr (requires { f.operator bool(); }) {
      if (!f) return;
    }
    object_ = detail::Shared<Kept>::make(static_cast<F&&>(f));
    call_ = [](void* object, Args... args) -> Result {
      return static_cast<Result>((*static_cast<Kept*>(object))(static_cast<Args&&>(args)...));
    };
  }

  /// Is there a callable?
  explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Calls it. There must be one.
  Result operator()(Args... args) const { return call_(object_.get(), static_cast<Args&&>(args)...); }

 private:
  detail::Shared<void> object_;
  Result (*call_)(void* object, Args... args) = nullptr;
};

}  // namespace oriel
