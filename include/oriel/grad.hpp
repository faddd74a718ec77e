// Derivatives of functions of tensors: reverse, forward, and of any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/callback.hpp"
#include "oriel/captured_parts.hpp"
#include "oriel/list.hpp"
#include "oriel/shared.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

namespace detail {

/// While one lives, work of this thread keeps what derivatives need, so that a function may ask for elements.
class Deriving {
 public:
  Deriving();
  ~Deriving();
  Deriving(const Deriving&) = delete;
  Deriving& operator=(const Deriving&) = delete;

 private:
  void* tape_;
};

class Derivative;

/// Stand-ins for the tensors of argument `argument`. Throws DTypeError, which names it, unless all are floats.
std::vector<Tensor> variables(std::span<const Tensor> of, const char* operation, std::size_t argument);
/// The same elements under other names: a write to one shows in none of the others.
std::vector<Tensor> renamed(std::span<const Tensor> of);
/// The derivatives of results by variables.
Shared<const Derivative> derivative(std::span<const Tensor> results, std::span<const Tensor> by, const char* operation);
/// Cotangents of the variables for those of the results, and tangents of the results for those of the variables. Throws
/// ShapeError or DTypeError for one that does not fit.
/// @{
std::vector<Tensor> pull(const Derivative& of, std::span<const Tensor> cotangents);
std::vector<Tensor> push(const Derivative& of, std::span<const Tensor> tangents);
/// @}
/// The cotangents of a loss, 1. Throws ShapeError unless it is one float.
std::vector<Tensor> pull_loss(const Derivative& of, const Tensor& loss, const char* operation);
Tensor stopped(const Tensor& x);
/// The results, whose derivatives by the operands are what `pull` says of cotangents.
std::vector<Tensor> with_rule(std::span<const Tensor> operands, std::span<const Tensor> results,
                              Callback<std::vector<Tensor>(std::vector<Tensor>)> pull);
/// Throws ArgumentError unless these are numbers of `count` arguments, in ascending order.
void check_numbers(const std::vector<std::size_t>& arguments, std::size_t count);
Tensor zeros_like_part(const Tensor& x);
/// x, such that what is computed from it is computed again.
Tensor kept_apart(const Tensor& x);

/// Functions of one, called on many at once.
class Mapping {
 public:
  explicit Mapping(const char* operation);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  /// Stand-ins for one entry along the axis. Throws ShapeError for a tensor without it, or of another extent.
  std::vector<Tensor> stand_ins(std::span<const Tensor> parts, std::int64_t axis, std::size_t argument);
  /// The results for all entries, along the axis.
  std::vector<Tensor> results(std::span<const Tensor> of_one, std::int64_t axis) const;

 private:
  struct State;
  State* state_;
};
Tensor basis_of(const Tensor& x);
/// (n, rows.., columns..) or, transposed, (columns.., rows..) with n the first axes flat.
Tensor jacobian_of(const Tensor& found, const Tensor& result, const Tensor& argument, bool transposed);
bool is_larger(const Tensor& a, const Tensor& b);

struct PartsOf {
  std::vector<Tensor>& out;
  void tensor(const Tensor& x) { out.push_back(x); }
  template <class Size>
  void size(const Size& /*x*/) {}
  void integer(std::int64_t /*x*/) {}
  void number(double /*x*/) {}
  void part(std::size_t /*k*/) {}
  void end() {}
};

/// The tensors of a structure, in order.
template <class... T>
std::vector<Tensor> parts_of(const T&... x) {
  std::vector<Tensor> out;
  PartsOf collector{out};
  (visit_parts(collector, x), ...);
  return out;
}

/// The structure with other tensors. `next` moves on.
template <class T>
T with_parts(const T& like, const Tensor*& next) {
  T out = like;
  Replacer replacer{next};
  visit_parts(replacer, out);
  next = replacer.next;
  return out;
}
template <class T>
T with_parts(const T& like, const std::vector<Tensor>& parts) {
  const Tensor* next = parts.data();
  return with_parts(like, next);
}

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

/// One alone is itself, more are a tuple.
template <class First, class... Rest>
auto alone_or_tuple(std::tuple<First, Rest...>&& all) {
  if constexpr (sizeof...(Rest) == 0)
    return std::get<0>(std::move(all));
  else
    return std::move(all);
}

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};

/// Arguments as a tuple: a tuple is taken as it is.
template <class T>
auto as_tuple(const T& x) {
  if constexpr (IsTuple<T>::value)
    return x;
  else
    return std::tuple<T>(x);
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

/// The element at which a derivative is furthest from a difference: see check_gradient.
struct GradientCheck {
  bool ok = true;             ///< all elements are within the tolerance
  double error = 0;           ///< |derivative - difference| / (1 + |difference|) of the worst element
  std::size_t argument = 0;   ///< the number of its tensor among those of the arguments
  std::int64_t position = 0;  ///< its row-major position there
  double derivative = 0;      ///< what the reverse pass gives
  double difference = 0;      ///< the central difference
  /// "argument 0, element 3: derivative 1.5, difference 2, error 0.17".
  std::string str() const;
};
/// How check_gradient compares.
struct GradientCheckOptions {
  double step = 1e-5;       ///< of the differences, times 1 + |x|
  double tolerance = 1e-6;  ///< of the error
};

namespace detail {
using PlainFunction = Callback<std::vector<Tensor>(const std::vector<Tensor>&)>;
GradientCheck check_gradient(const PlainFunction& f, const std::vector<Tensor>& arguments,
                             const GradientCheckOptions& options);
}  // namespace detail

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

/// The derivative of a function at some arguments. Made by vjp, jvp and linearize. Copies share it.
template <class R, class... Args>
class Linearized {
 public:
  R value;  ///< what the function returned

  /// The cotangent of the argument, or a tuple of those of several, for a cotangent of the result.
  auto pull(const R& cotangent) const {
    const std::vector<Tensor> found = detail::pull(*derivative_, detail::parts_of(cotangent));
    const Tensor* next = found.data();
    return detail::alone_or_tuple(
        std::apply([&](const Args&... x) { return std::tuple<Args...>{detail::with_parts(x, next)...}; }, arguments_));
  }
  /// The tangent of the result for tangents of the arguments.
  R push(const Args&... tangents) const {
    return detail::with_parts(value, detail::push(*derivative_, detail::parts_of(tangents...)));
  }

  /// Use vjp or linearize.
  Linearized(R result, std::tuple<Args...> arguments, detail::Shared<const detail::Derivative> derivative)
      : value(std::move(result)), arguments_(std::move(arguments)), derivative_(std::move(derivative)) {}

 private:
  std::tuple<Args...> arguments_;
  detail::Shared<const detail::Derivative> derivative_;
};

namespace detail {
template <class F, class... Args>
auto linearized(const char* operation, F f, const Args&... arguments) {
  const Deriving deriving;
  std::vector<Tensor> by;
  std::size_t k = 0;
  const auto stand_in = [&](const auto& argument) {
    const std::vector<Tensor> own = variables(parts_of(argument), operation, k++);
    by.insert(by.end(), own.begin(), own.end());
    return with_parts(argument, renamed(own));
  };
  std::tuple<Args...> copies{stand_in(arguments)...};
  auto result = std::apply([&](auto&... own) { return f(own...); }, copies);
  using R = decltype(result);
  Shared<const Derivative> of = derivative(parts_of(result), by, operation);
  return Linearized<R, Args...>(std::move(result), std::tuple<Args...>(arguments...), std::move(of));
}
}  // namespace detail

/// The value of a function and its derivative as a linear function of a cotangent: `auto y = vjp(f, x); y.value;
/// y.pull(v)`. Arguments may be structures, all of floats; integers in the result have no derivative, and tangents 0.
/// The result may have any shape.
template <class F, class... Args>
auto vjp(F f, const Args&... arguments) {
  return detail::linearized("vjp", std::move(f), arguments...);
}
/// The same: the derivative as a linear function of tangents, y.push(t). (Source: linearize of JAX.)
template <class F, class... Args>
auto linearize(F f, const Args&... arguments) {
  return detail::linearized("linearize", std::move(f), arguments...);
}

/// What jvp returns.
template <class R>
struct ValueAndTangent {
  R value;    ///< what the function returned
  R tangent;  ///< its derivative in the direction of the tangents
};
/// The value of a function and its derivative in a direction: `auto [y, dy] = jvp(f, x, t)`; for several arguments
/// jvp(f, std::tuple(x, w), std::tuple(tx, tw)).
template <class F, class Arguments>
auto jvp(F f, const Arguments& arguments, const Arguments& tangents) {
  const auto at = std::apply([&](const auto&... x) { return detail::linearized("jvp", std::move(f), x...); },
                             detail::as_tuple(arguments));
  auto tangent = std::apply([&](const auto&... t) { return at.push(t...); }, detail::as_tuple(tangents));
  return ValueAndTangent<decltype(tangent)>{at.value, std::move(tangent)};
}

/// Compares the derivatives of a function with central differences, by each element of its arguments, which should be
/// float64. The result may have any shape: what is compared is the derivative of its product with fixed numbers.
///   CHECK(check_gradient([](Tensor x) { return tanh(x); }, x).ok);
template <class F, class... Args>
GradientCheck check_gradient_with(const GradientCheckOptions& options, F f, const Args&... arguments) {
  const auto plain = [&](const std::vector<Tensor>& parts) {
    const Tensor* next = parts.data();
    const std::tuple<Args...> copies{detail::with_parts(arguments, next)...};
    F own = f;
    return detail::parts_of(std::apply([&](const auto&... x) { return own(x...); }, copies));
  };
  return detail::check_gradient(plain, detail::parts_of(arguments...), options);
}
/// The same with the usual step and tolerance.
template <class F, class... Args>
GradientCheck check_gradient(F f, const Args&... arguments) {
  return check_gradient_with({}, std::move(f), arguments...);
}

/// What vmap maps.
struct VmapOptions {
  /// For each argument the axis that counts its entries, of all tensors in it; nothing: the argument is the same for
  /// all entries. Arguments that are not listed have axis 0.
  std::vector<std::optional<std::int64_t>> in = {};
  std::int64_t out = 0;  ///< the axis of the results that counts them
};

/// See vmap.
template <class F>
class VmapFunction {
 public:
  /// Use vmap.
  VmapFunction(F f, VmapOptions options) : f_(std::move(f)), options_(std::move(options)) {}

  /// The results for all entries of these arguments.
  template <class... Args>
  auto operator()(const Args&... arguments) const {
    detail::Mapping mapping("vmap");
    std::size_t k = 0;
    const auto one_of = [&](const auto& argument) {
      const std::size_t number = k++;
      const std::optional<std::int64_t> axis = number < options_.in.size() ? options_.in[number] : 0;
      if (!axis) return argument;
      return detail::with_parts(argument, mapping.stand_ins(detail::parts_of(argument), *axis, number));
    };
    std::tuple<Args...> copies{one_of(arguments)...};
    F f = f_;
    const auto result = std::apply([&](auto&... own) { return f(own...); }, copies);
    return detail::with_parts(result, mapping.results(detail::parts_of(result), options_.out));
  }

 private:
  F f_;
  VmapOptions options_;
};

/// A function of single entries as one of many: `vmap(f)(x)` is f of each x[i], stacked. The function runs once, on
/// stand-ins for one entry, and each of its operations gets one more axis; so asking for elements is an ArgumentError,
/// and captured functions run as plain ones. Arguments and results may be structures. Derivatives compose with it in
/// any order: vmap(grad(f)) gives the gradient of each entry. Throws ShapeError for entries of different counts,
/// ArgumentError where no argument is mapped and for a host function without HostOptions::batched.
///   auto rows = vmap([](Tensor x, Tensor w) { return sum(x * w); }, {.in = {0, {}}})(x, w);
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return VmapFunction<F>(std::move(f), std::move(options));
}

/// How a Jacobian is computed: row by row, or column by column.
enum class JacobianMode : std::uint8_t {
  automatic,  ///< reverse unless there are more results than arguments
  reverse,
  forward,
};

namespace detail {
template <class F>
struct JacobianFunction {
  [[no_unique_address]] F f;
  JacobianMode mode;

  template <class... Rest>
  Tensor operator()(const Tensor& x, const Rest&... rest) const {
    const auto at = vjp(
        [&](const Tensor& first) {
          F own = f;
          return own(first, rest...);
        },
        x);
    const bool forward = mode == JacobianMode::forward || (mode == JacobianMode::automatic && is_larger(at.value, x));
    if (forward) return jacobian_of(vmap([&](const Tensor& t) { return at.push(t); })(basis_of(x)), at.value, x, true);
    return jacobian_of(vmap([&](const Tensor& g) { return at.pull(g); })(basis_of(at.value)), at.value, x, false);
  }
};
}  // namespace detail
/// The derivative of each element of a function's result by each element of its first argument: a tensor whose axes are
/// those of the result and then those of the argument. Result and argument are tensors.
///   Tensor j = jacobian([](Tensor x) { return x * x; })(x);  // diagonal
template <class F>
auto jacobian(F f, JacobianMode mode = JacobianMode::automatic) {
  return detail::JacobianFunction<F>{std::move(f), mode};
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
template <class F, std::size_t... Which>
inline constexpr bool holds_nothing<ValueAndGradFunction<F, Which...>> = holds_nothing<F>;
template <class F, std::size_t... Which>
inline constexpr bool holds_nothing<GradFunction<F, Which...>> = holds_nothing<F>;
template <class F>
inline constexpr bool holds_nothing<ChosenGradFunction<F>> = holds_nothing<F>;
template <class F>
inline constexpr bool holds_nothing<VmapFunction<F>> = holds_nothing<F>;
template <class F>
inline constexpr bool holds_nothing<JacobianFunction<F>> = holds_nothing<F>;
template <class F, class Backward>
inline constexpr bool holds_nothing<CustomVjpFunction<F, Backward>> = holds_nothing<F>&& holds_nothing<Backward>;
}  // namespace detail

}  // namespace oriel
