// How function.hpp takes arguments and results apart, and puts them together again.
#pragma once

#include <concepts>
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
#include "oriel/captured.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute
namespace detail {

template <class F>
inline int captures_of = 0;  // traces of all captured functions of this callable type, counted atomically

template <class... Args>
const void* signature() noexcept {
  static char place;  // not const, or equal ones might share an address
  return &place;
}

/// What the callable gets for an argument.
template <class T>
using Traced = std::conditional_t<std::is_floating_point_v<std::decay_t<T>>, Tensor, std::decay_t<T>>;

/// Does a callable hold nothing that could go stale in a captured function? Specialised for transforms, which hold such
/// a callable and options that never change.
template <class F>
inline constexpr bool holds_nothing = std::is_empty_v<F>;

template <class T>
concept HasMembers = requires(T& x) {
  oriel_members(x);
};
template <class T>
concept TupleLike = requires {
  std::tuple_size<std::remove_const_t<T>>::value;
};
template <class T>
concept OptionalLike = requires(T& x) {
  x.has_value();
  *x;
};
template <class T>
concept SizedRange = requires(T& x) {
  x.size();
  x.begin();
  x.end();
};

/// Calls visitor.tensor(Tensor&), visitor.size(SymInt or SymBool&), visitor.integer(int64) or visitor.number(double)
/// for each part of x, and visitor.part(k) before and visitor.end() behind each part of a structure.
template <class Visitor, class T>
void visit_parts(Visitor& visitor, T& x) {
  using U = std::remove_const_t<T>;
  const auto parts = [&](auto&... part) {
    std::size_t k = 0;
    ((visitor.part(k++), visit_parts(visitor, part), visitor.end()), ...);
  };
  if constexpr (std::same_as<U, Tensor>) {
    visitor.tensor(x);
  } else if constexpr (std::is_floating_point_v<U>) {
    visitor.number(static_cast<double>(x));
  } else if constexpr (std::is_integral_v<U> || std::is_enum_v<U>) {
    visitor.integer(static_cast<std::int64_t>(x));
  } else if constexpr (std::same_as<U, SymInt> || std::same_as<U, SymBool>) {
    visitor.size(x);
  } else if constexpr (std::same_as<U, Device>) {
    visitor.integer(packed(x));
  } else if constexpr (HasMembers<T>) {
    std::apply(parts, oriel_members(x));
  } else if constexpr (TupleLike<T>) {
    std::apply(parts, x);
  } else if constexpr (OptionalLike<T>) {
    visitor.integer(x.has_value() ? 1 : 0);
    if (x.has_value()) visit_parts(visitor, *x);
  } else if constexpr (SizedRange<T>) {
    visitor.integer(static_cast<std::int64_t>(x.size()));
    std::size_t k = 0;
    for (auto& element : x) {
      visitor.part(k++);
      visit_parts(visitor, element);
      visitor.end();
    }
  } else {
    static_assert(kNever<U>,
                  "this type does not go into or out of a captured function. Accepted are tensors, numbers, "
                  "enumerations, std::tuple, pair, array, vector and optional of them, and structs for which "
                  "oriel_members(x) returns std::tie of the members");
  }
}

/// The number of a size or a condition. A symbol is fixed to it.
inline std::int64_t number_of(SymInt x) { return x.value(); }
inline std::int64_t number_of(SymBool x) { return x ? 1 : 0; }

/// Looks at parts and does nothing. Others hide the members for the parts that they are about.
struct PartVisitor {
  void tensor(const Tensor& /*x*/) {}
  template <class Size>
  void size(const Size& /*x*/) {}
  void integer(std::int64_t /*x*/) {}
  void number(double /*x*/) {}
  void part(std::size_t /*k*/) {}
  void end() {}
};

/// The bits of a number. (Not std::bit_cast: <bit> has 250 lines.)
inline std::int64_t bits_of(double x) { return __builtin_bit_cast(std::int64_t, x); }

struct Flattener : PartVisitor {
  explicit Flattener(CapturedArguments& arguments) : flat(arguments) {}
  CapturedArguments& flat;
  void tensor(const Tensor& x) { flat.tensors.push_back(&x); }
  template <class Size>
  void size(const Size& x) {
    flat.values.push_back(number_of(x));
  }
  void integer(std::int64_t x) { flat.values.push_back(x); }
  void number(double x) { flat.values.push_back(bits_of(x)); }
};

template <class T>
void flatten(CapturedArguments& flat, const T& x) {
  if constexpr (std::same_as<T, Tensor>) {
    flat.tensors.push_back(&x);
  } else if constexpr (std::is_floating_point_v<T>) {
    flat.numbers.push_back({static_cast<double>(x), std::same_as<T, float> ? DType::float32 : DType::float64});
  } else {
    Flattener flattener{flat};
    visit_parts(flattener, x);
  }
}

/// The same with names in place of values.
struct Namer {
  CapturedNames& names;
  std::string name;
  std::vector<std::size_t> lengths = {};
  void tensor(const Tensor& /*x*/) { names.tensors.push_back(name); }
  template <class Size>
  void size(const Size& /*x*/) {
    names.values.push_back({name, false});
  }
  void integer(std::int64_t /*x*/) { names.values.push_back({name, false}); }
  void number(double /*x*/) { names.values.push_back({name, true}); }
  void part(std::size_t k) {
    lengths.push_back(name.size());
    name += '[' + std::to_string(k) + ']';
  }
  void end() {
    name.resize(lengths.back());
    lengths.pop_back();
  }
};

/// Puts other tensors and sizes in the place of those of a structure. Without sizes each one becomes its number.
struct Replacer : PartVisitor {
  explicit Replacer(const Tensor* tensors, const SymInt* sizes = nullptr) : next(tensors), next_size(sizes) {}
  const Tensor* next;
  const SymInt* next_size;
  void tensor(Tensor& x) { x = *next++; }
  void size(SymInt& x) { x = next_size != nullptr ? *next_size++ : SymInt(number_of(x)); }
  void size(SymBool& x) { x = next_size != nullptr ? *next_size++ != 0 : SymBool(number_of(x) != 0); }
};

/// The tensors and sizes of a result.
struct Collector : PartVisitor {
  explicit Collector(CapturedResults& of) : results(of) {}
  CapturedResults& results;
  void tensor(const Tensor& x) { results.tensors.push_back(x); }
  void size(const SymInt& x) { results.sizes.push_back(x); }
  void size(const SymBool& x) { results.sizes.push_back(sym_select(x, 1, 0)); }
};

struct FirstDevice : PartVisitor {
  std::optional<Device> device = {};
  void tensor(const Tensor& x) {
    if (!device) device = x.device();
  }
};

/// Where the tensors of numbers live: on the device of the first tensor.
template <class... Args>
Device number_device(const Args&... arguments) {
  FirstDevice first;
  (visit_parts(first, arguments), ...);
  return first.device.value_or(default_device());
}

template <class T>
Traced<T> traced_copy(const T& x, Device device) {
  if constexpr (std::is_floating_point_v<T>)
    return number_tensor(static_cast<double>(x), std::same_as<T, float> ? DType::float32 : DType::float64, device);
  else
    return x;
}

/// The structure of a type, as a file states it: "(Tensor, list<int>)" for a struct or a tuple of these.
template <class T>
std::string type_text() {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_void_v<T>) {
    return "void";
  } else if constexpr (std::same_as<U, Tensor>) {
    return "Tensor";
  } else if constexpr (std::is_floating_point_v<U>) {
    return std::same_as<U, float> ? "float" : "double";
  } else if constexpr (std::same_as<U, bool> || std::same_as<U, SymBool>) {
    return "bool";
  } else if constexpr (std::is_integral_v<U> || std::is_enum_v<U> || std::same_as<U, SymInt>) {
    return "int";
  } else if constexpr (std::same_as<U, Device>) {
    return "Device";
  } else if constexpr (HasMembers<U>) {
    return type_text<decltype(oriel_members(std::declval<U&>()))>();
  } else if constexpr (TupleLike<U>) {
    return []<std::size_t... K>(std::index_sequence<K...>) {
      std::string text = "(";
      ((text += (K == 0 ? "" : ", ") + type_text<std::tuple_element_t<K, U>>()), ...);
      return text + ")";
    }
    (std::make_index_sequence<std::tuple_size_v<U>>());
  } else if constexpr (OptionalLike<U>) {
    return "optional<" + type_text<decltype(*std::declval<U&>())>() + ">";
  } else {
    static_assert(SizedRange<U>, "no captured function takes this type");
    return "list<" + type_text<decltype(*std::declval<U&>().begin())>() + ">";
  }
}

/// The parts of a result that are no tensors. Sizes differ from call to call.
struct ValueCollector : PartVisitor {
  explicit ValueCollector(std::vector<std::int64_t>& of) : values(of) {}
  std::vector<std::int64_t>& values;
  template <class Size>
  void size(const Size& /*x*/) {
    values.push_back(0);
  }
  void integer(std::int64_t x) { values.push_back(x); }
  void number(double x) { values.push_back(bits_of(x)); }
};

// The destructor of the base is protected: tracers live on the stack.
template <class F, class Result, class... Args>
class Tracer final : public TracerBase {  // NOLINT(cppcoreguidelines-virtual-class-destructor)
 public:
  explicit Tracer(const F& f, const Args&... arguments) : f_(f), arguments_(arguments...) {}

  Shared<void> run(std::span<const Tensor> tensors, std::span<const Tensor> numbers,
                   CapturedResults& results) const override {
    Replacer next{tensors.data()};
    const Tensor* number = numbers.data();
    const auto traced = [&](const auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (std::is_floating_point_v<T>) {
        return *number++;
      } else {
        Traced<T> copy = x;
        visit_parts(next, copy);
        return copy;
      }
    };
    // In braces: from left to right.
    auto copies = std::apply([&](const auto&... x) { return std::tuple<Traced<Args>...>{traced(x)...}; }, arguments_);
    F f = f_;
    if constexpr (std::is_void_v<Result>) {
      std::apply([&](auto&... own) { f(own...); }, copies);
      return nullptr;
    } else {
      Result result = std::apply([&](auto&... own) -> Result { return f(own...); }, copies);
      Collector collector{results};
      visit_parts(collector, std::as_const(result));
      if constexpr (std::same_as<Result, Tensor>) return nullptr;
      const std::vector<Tensor> none(results.tensors.size());
      const std::vector<SymInt> zeros(results.sizes.size() + 1);
      Replacer replacer{none.data(), zeros.data()};
      visit_parts(replacer, result);
      return Shared<Result>::make(std::move(result));
    }
  }

  CapturedNames names(const FunctionOptions& options) const override {
    CapturedNames names;
    std::size_t k = 0;
    const auto name = [&](const auto& x) {
      const std::string own = k < options.names.size() ? options.names[k] : "arg" + std::to_string(k);
      ++k;
      if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(x)>>) {
        names.numbers.push_back(own);
      } else {
        Namer namer{names, own};
        visit_parts(namer, x);
      }
    };
    std::apply([&](const auto&... x) { (name(x), ...); }, arguments_);
    return names;
  }

  CapturedForm form(const void* like) const override {
    CapturedForm form{type_text<std::tuple<Args...>>(), type_text<Result>(), {}};
    if constexpr (!std::is_void_v<Result> && !std::same_as<Result, Tensor>) {
      ValueCollector collector{form.values};
      visit_parts(collector, *static_cast<const Result*>(like));
    }
    return form;
  }

 private:
  const F& f_;
  std::tuple<const Args&...> arguments_;
};

template <class Result>
Result take_results(CapturedResults& results) {
  if constexpr (std::is_void_v<Result>) {
    return;
  } else if constexpr (std::same_as<Result, Tensor>) {
    return std::move(results.tensors[0]);
  } else {
    Result result = *static_cast<const Result*>(results.like.get());
    Replacer replacer{results.tensors.data(), results.sizes.data()};
    visit_parts(replacer, result);
    return result;
  }
}

/// Realises what a call that ran the callable directly has made, as a captured call does.
template <class Result>
struct RealizeAfter {
  void arguments(const CapturedArguments& flat) const {
    std::vector<Tensor> all;
    for (const Tensor* tensor : flat.tensors) all.push_back(*tensor);
    realize(all);
  }
  template <class R>
  R operator()(R result, const CapturedArguments& flat) const {
    CapturedResults results;
    Collector collector{results};
    visit_parts(collector, std::as_const(result));
    for (const Tensor* tensor : flat.tensors) results.tensors.push_back(*tensor);
    realize(std::span<const Tensor>(results.tensors.data(), results.tensors.size()));
    return result;
  }
};

}  // namespace detail
}  // namespace oriel
