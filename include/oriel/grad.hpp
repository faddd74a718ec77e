// Derivatives of functions of tensors: reverse, forward, and of any order.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/check_gradient.hpp"
#include "oriel/custom_rules.hpp"
#include "oriel/grad_parts.hpp"
#include "oriel/jacobian.hpp"
#include "oriel/linearize.hpp"
#include "oriel/list.hpp"
#include "oriel/vmap.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

namespace detail {

/// The cotangents of a loss, 1. Throws ShapeError unless it is one float.
std::vector<Tensor> pull_loss(const Derivative& of, const Tensor& loss, const char* operation);
/// x behind a mark that no derivative passes.
Tensor stopped(const Tensor& x);
/// Throws ArgumentError unless these are numbers of `count` arguments, in ascending order.
void check_numbers(const std::vector<std::size_t>& arguments, std::size_t count);

/// The tensor that is differentiated: the result, or the first part of it; the others are auxiliary.
template <class R>
Tensor loss_of(const R& result) {
  if constexpr (std::same_as<R, Tensor>) {
    return result;
  } else {
    static_assert(TupleLike<R>,
                  "a function whose gradient is taken returns a loss, or a pair or tuple that begins with it");
    return std::get<0>(result);
  }
}

}  // namespace detail

/// What value_and_grad returns: `auto [loss, g] = value_and_grad(f)(x)`.
template <class R, class G>
struct ValueAndGrad {
  R value;     ///< what the function returned
  G gradient;  ///< of the loss by the chosen argument, or a tuple of them
};

template <class R, class G>
auto oriel_members(ValueAndGrad<R, G>& x) {
  return std::tie(x.value, x.gradient);
}
template <class R, class G>
auto oriel_members(const ValueAndGrad<R, G>& x) {
  return std::tie(x.value, x.gradient);
}

/// See value_and_grad.
template <class F, std::size_t... Which>
class ValueAndGradFunction {
 public:
  /// Use value_and_grad.
  explicit ValueAndGradFunction(F f) : f_(std::move(f)) {}

  /// What the function returns for these arguments, and its gradient.
  template <class... Args>
  auto operator()(const Args&... arguments) const {
    static_assert(((Which < sizeof...(Args)) && ...), "grad: there is no such argument");
    const detail::Deriving deriving;
    std::tuple<Args...> copies(arguments...);
    std::vector<Tensor> by;
    (stand_in<Which>(copies, by), ...);
    F f = f_;
    auto result = std::apply([&](auto&... own) { return f(own...); }, copies);
    const Tensor loss = detail::loss_of(result);
    const std::vector<Tensor> found = detail::pull_loss(*detail::derivative({&loss, 1}, by, "grad"), loss, "grad");
    const Tensor* next = found.data();
    // In braces: from left to right.
    auto gradients = std::tuple<std::tuple_element_t<Which, std::tuple<Args...>>...>{
        detail::with_parts(std::get<Which>(copies), next)...};
    using Gradient = decltype(detail::alone_or_tuple(std::move(gradients)));
    return ValueAndGrad<decltype(result), Gradient>{std::move(result), detail::alone_or_tuple(std::move(gradients))};
  }

 private:
  template <std::size_t K, class Copies>
  static void stand_in(Copies& copies, std::vector<Tensor>& by) {
    auto& argument = std::get<K>(copies);
    const std::vector<Tensor> own = detail::variables(detail::parts_of(argument), "grad", K);
    argument = detail::with_parts(argument, detail::renamed(own));
    by.insert(by.end(), own.begin(), own.end());
  }

  [[no_unique_address]] F f_;
};

/// See grad.
template <class F, std::size_t... Which>
class GradFunction {
 public:
  /// Use grad.
  explicit GradFunction(F f) : f_(std::move(f)) {}
  /// The gradient at these arguments.
  template <class... Args>
  auto operator()(const Args&... arguments) const {
    return f_(arguments...).gradient;
  }

 private:
  [[no_unique_address]] ValueAndGradFunction<F, Which...> f_;
};

/// The gradient of a function by its first argument, or by those that are named: grad<0, 2>(f). The function returns a
/// loss, a float tensor of one element, or a pair or tuple that begins with one. Its arguments are tensors, Complex,
/// tuples, vectors and structs of these, as those of oriel::function; numbers pass through. The gradient has the
/// structure of the argument; several are a tuple. Of a Complex it is that by the real part plus i times that by the
/// imaginary part, as in PyTorch.
///   Tensor g = grad([](Tensor w) { return sum(square(matmul(x, w) - y)); })(w);
/// The result is a function, so gradients of gradients are grad(grad(f)). It may be captured, and called in captured
/// functions. A function that asks for elements (item, a loop until convergence) is differentiated along the way that
/// it took. Writes are differentiated; those to arguments stay inside. Captured functions inside run as plain ones, and
/// what another thread realised counts as a constant. Where a function has a kink: relu, abs, sign and norm have 0 at
/// 0, clamp has 1 at its bounds, equal elements share a maximum evenly, a root of a sum of squares has 0 at 0. Calls
/// throw ShapeError or DTypeError for a loss that is no single float, and DTypeError for an argument that holds
/// integers.
template <std::size_t... Which, class F>
auto grad(F f) {
  if constexpr (sizeof...(Which) == 0)
    return GradFunction<F, 0>(std::move(f));
  else
    return GradFunction<F, Which...>(std::move(f));
}
/// Which arguments a gradient is taken by, where they are known only when the program runs.
struct GradOptions {
  std::vector<std::size_t> arguments = {0};  ///< their numbers, ascending
};
namespace detail {
template <class F>
struct ChosenGradFunction {
  [[no_unique_address]] F f;
  GradOptions options;

  template <class... Args>
  std::vector<Tensor> operator()(const Args&... arguments) const {
    check_numbers(options.arguments, sizeof...(Args));
    const Deriving deriving;
    std::vector<Tensor> by;
    std::size_t k = 0;
    const auto stand_in = [&](const auto& argument) {
      const std::size_t number = k++;
      bool chosen = false;
      for (const std::size_t one : options.arguments) chosen = chosen || one == number;
      if (!chosen) return argument;
      const std::vector<Tensor> own = variables(parts_of(argument), "grad", number);
      by.insert(by.end(), own.begin(), own.end());
      return with_parts(argument, renamed(own));
    };
    std::tuple<Args...> copies{stand_in(arguments)...};
    F own = f;
    const Tensor loss = loss_of(std::apply([&](auto&... x) { return own(x...); }, copies));
    return pull_loss(*derivative({&loss, 1}, by, "grad"), loss, "grad");
  }
};
}  // namespace detail
/// The same by arguments that are chosen when the program runs: the gradients of all tensors in them, in order.
///   std::vector<Tensor> g = grad(f, {.arguments = {0, 2}})(a, b, c);
template <class F>
auto grad(F f, GradOptions options) {
  return detail::ChosenGradFunction<F>{std::move(f), std::move(options)};
}
/// The same with what the function returned: `auto [loss, g] = value_and_grad(f)(x)`.
template <std::size_t... Which, class F>
auto value_and_grad(F f) {
  if constexpr (sizeof...(Which) == 0)
    return ValueAndGradFunction<F, 0>(std::move(f));
  else
    return ValueAndGradFunction<F, Which...>(std::move(f));
}

/// The second derivatives of a loss by its first argument, a tensor: the Jacobian of the gradient.
template <class F>
auto hessian(F f) {
  return jacobian(grad(std::move(f)));
}

/// x, through which no derivative goes: tensors and structures of them.
template <class T>
T stop_gradient(const T& x) {
  std::vector<Tensor> parts = detail::parts_of(x);
  for (Tensor& part : parts) part = detail::stopped(part);
  return detail::with_parts(x, parts);
}

/// The gradients of a pending loss by some tensors that it was computed from: `gradients(loss, {a, b})`. A tensor that
/// it does not depend on has zeros. A value that was realised before counts as a constant, so that what it was computed
/// from has no share by it: value_and_grad keeps the whole way. Throws ArgumentError, which names the line, if one is
/// not reached and a value below the loss was realised and has let go of what it was computed from; ShapeError and
/// DTypeError as grad does.
std::vector<Tensor> gradients(const Tensor& loss, ListOf<Tensor> by, Site site = Site::here());

namespace detail {
template <class F, std::size_t... Which>
inline constexpr bool holds_nothing<ValueAndGradFunction<F, Which...>> = holds_nothing<F>;
template <class F, std::size_t... Which>
inline constexpr bool holds_nothing<GradFunction<F, Which...>> = holds_nothing<F>;
template <class F>
inline constexpr bool holds_nothing<ChosenGradFunction<F>> = holds_nothing<F>;
}  // namespace detail

}  // namespace oriel
