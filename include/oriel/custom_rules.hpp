// Derivatives that the program states, and those that compute values again.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/callback.hpp"
#include "oriel/linearize.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

namespace detail {

/// The results, whose derivatives by the operands are what `pull` says of cotangents.
std::vector<Tensor> with_rule(std::span<const Tensor> operands, std::span<const Tensor> results,
                              Callback<std::vector<Tensor>(std::vector<Tensor>)> pull);
/// Zeros of the dtype, shape and device of x.
Tensor zeros_like_part(const Tensor& x);
/// x, such that what is computed from it is computed again.
Tensor kept_apart(const Tensor& x);

}  // namespace detail

namespace detail {
template <class F, class Backward>
struct CustomVjpFunction {
  [[no_unique_address]] F f;
  [[no_unique_address]] Backward backward;

  template <class... Args>
  auto operator()(const Args&... arguments) const {
    // As they are before f, which may write them.
    const std::tuple<Args...> kept{with_parts(arguments, renamed(parts_of(arguments)))...};
    F own = f;
    auto result = own(arguments...);
    auto pull = [backward = backward, kept, result](std::vector<Tensor> cotangents) {
      Backward rule = backward;
      const auto shares =
          std::apply([&](const Args&... x) { return rule(x..., result, with_parts(result, cotangents)); }, kept);
      return std::apply([](const auto&... share) { return parts_of(share...); }, as_tuple(shares));
    };
    const std::vector<Tensor> marked =
        with_rule(std::apply([](const Args&... x) { return parts_of(x...); }, kept), parts_of(result), std::move(pull));
    return with_parts(result, marked);
  }
};
}  // namespace detail

/// A function whose derivative is stated: `backward(arguments..., result, cotangent)` returns the cotangent of the
/// argument, or a tuple of those of several. It is used in place of the derivative of `f`, forward too, for which it
/// must be linear in the cotangent.
///   auto f = custom_vjp([](Tensor x) { return round(x); }, [](Tensor x, Tensor y, Tensor g) { return g; });
template <class F, class Backward>
auto custom_vjp(F f, Backward backward) {
  return detail::CustomVjpFunction<F, Backward>{std::move(f), std::move(backward)};
}

namespace detail {
/// The rule that a derivative by tangents stands for.
template <class Forward>
struct ByTangents {
  [[no_unique_address]] Forward forward;

  template <class... All>
  auto operator()(const All&... all) const {
    constexpr std::size_t kArguments = sizeof...(all) - 2;
    const auto values = std::tie(all...);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      const auto in_tangents =
          [&](const std::tuple_element_t<K, std::tuple<std::remove_cvref_t<decltype(all)>...>>&... tangents) {
            auto rule = forward;
            return rule(std::get<K>(values)..., tangents...);
          };
      const auto zero = [](const auto& x) {
        std::vector<Tensor> parts = parts_of(x);
        for (Tensor& part : parts) part = zeros_like_part(part);
        return with_parts(x, parts);
      };
      return vjp(in_tangents, zero(std::get<K>(values))...).pull(std::get<kArguments + 1>(values));
    }
    (std::make_index_sequence<kArguments>());
  }
};
template <class Forward>
inline constexpr bool holds_nothing<ByTangents<Forward>> = holds_nothing<Forward>;
}  // namespace detail

/// The same by tangents: `forward(arguments..., tangents...)` returns the tangent of the result, which is linear in the
/// tangents.
template <class F, class Forward>
auto custom_jvp(F f, Forward forward) {
  return custom_vjp(std::move(f), detail::ByTangents<Forward>{std::move(forward)});
}

namespace detail {
/// The rule that computes the function again.
template <class F>
struct Recomputed {
  [[no_unique_address]] F f;

  template <class... All>
  auto operator()(const All&... all) const {
    constexpr std::size_t kArguments = sizeof...(all) - 2;
    const auto values = std::tie(all...);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      std::vector<Tensor> parts = parts_of(std::get<K>(values)...), by;
      for (Tensor& part : parts) {
        if (!is_floating(part.dtype())) continue;
        const Tensor again = kept_apart(part);
        by.push_back(variables({&again, 1}, "checkpoint", 0).front());
        part = renamed({&by.back(), 1}).front();
      }
      const Tensor* next = parts.data();
      auto copies = std::tuple{with_parts(std::get<K>(values), next)...};
      F own = f;
      const auto results = parts_of(std::apply([&](auto&... x) { return own(x...); }, copies));
      const auto shares = pull(*derivative(results, by, "checkpoint"), parts_of(std::get<kArguments + 1>(values)));
      std::size_t k = 0;
      for (Tensor& part : parts)
        if (is_floating(part.dtype())) part = shares[k++];
      next = parts.data();
      return std::tuple{with_parts(std::get<K>(values), next)...};
    }
    (std::make_index_sequence<kArguments>());
  }
};
template <class F>
inline constexpr bool holds_nothing<Recomputed<F>> = holds_nothing<F>;
}  // namespace detail

/// A function whose derivative computes the values inside it again, rather than keep them until then: memory for
/// time. `explain` shows both.
///   auto layer = checkpoint([](Tensor x, Tensor w) { return tanh(matmul(x, w)); });
template <class F>
auto checkpoint(F f) {
  return custom_vjp(f, detail::Recomputed<F>{f});
}

namespace detail {
template <class F, class Backward>
inline constexpr bool holds_nothing<CustomVjpFunction<F, Backward>> = holds_nothing<F>&& holds_nothing<Backward>;
}  // namespace detail

}  // namespace oriel
