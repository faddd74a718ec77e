// What all transforms of functions share: stand-ins for arguments, derivatives of results by them, parts of structures.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/captured_parts.hpp"
#include "oriel/shared.hpp"
#include "oriel/tensor.hpp"

namespace oriel::runtime {
class Tape;
}

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute
namespace detail {

/// While it lives, this thread keeps what each value that it realises was computed from. So a function that asks for
/// elements can be differentiated.
class Deriving {
 public:
  Deriving();
  ~Deriving();
  Deriving(const Deriving&) = delete;
  Deriving& operator=(const Deriving&) = delete;

 private:
  runtime::Tape* tape_;
};

class Derivative;

/// Stand-ins for the tensors of argument `argument`. Throws DTypeError, which names it, unless all are floats.
std::vector<Tensor> variables(std::span<const Tensor> of, const char* operation, std::size_t argument);
/// Tensors with the same elements and storages of their own, so that writes to them do not show in `of`.
std::vector<Tensor> renamed(std::span<const Tensor> of);
/// The derivatives of results by variables.
Shared<const Derivative> derivative(std::span<const Tensor> results, std::span<const Tensor> by, const char* operation);
/// Cotangents of the variables for those of the results, and tangents of the results for those of the variables. Throws
/// ShapeError or DTypeError for one that does not fit.
/// @{
std::vector<Tensor> pull(const Derivative& of, std::span<const Tensor> cotangents);
std::vector<Tensor> push(const Derivative& of, std::span<const Tensor> tangents);
/// @}

struct PartsOf : PartVisitor {
  explicit PartsOf(std::vector<Tensor>& of) : out(of) {}
  std::vector<Tensor>& out;
  void tensor(const Tensor& x) { out.push_back(x); }
};

/// The tensors of a structure, in order.
template <class... T>
std::vector<Tensor> parts_of(const T&... x) {
  std::vector<Tensor> out;
  PartsOf collector{out};
  (visit_parts(collector, x), ...);
  return out;
}

/// A copy of the structure that holds the tensors from `next` on. Moves `next` behind the last one.
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

/// The only element of a tuple of one; a longer tuple as it is.
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
}  // namespace oriel
