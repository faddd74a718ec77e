// Shared ownership, as std::shared_ptr has it: <memory> has more lines than all other headers that this interface
// needs.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute
namespace detail {

/// How many share an object, and how it ends.
struct SharedCount {
  int owners;  // changed atomically
  void (*end)(SharedCount* self) noexcept;
};

/// One of the owners of an object, or of none. As std::shared_ptr: the last owner destroys the object; `T` may be
/// incomplete, or void, where an owner is copied and destroyed. Thread safety: as for std::shared_ptr.
template <class T>
class Shared {
 public:
  constexpr Shared() noexcept = default;
  constexpr Shared(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  Shared(const Shared& other) noexcept : count_(other.count_), object_(other.object_) { keep(); }
  Shared(Shared&& other) noexcept : count_(other.count_), object_(other.object_) { other.forget(); }
  template <class U>
  requires std::convertible_to<U*, T*> Shared(const Shared<U>& other)  // NOLINT(google-explicit-constructor)
  noexcept : Shared(other, other.get()) {}
  template <class U>
  requires std::convertible_to<U*, T*> Shared(Shared<U>&& other)  // NOLINT(google-explicit-constructor)
  noexcept : count_(other.count_), object_(other.object_) { other.forget(); }
  /// Keeps the object of `owner` alive, and refers to `part`.
  template <class U>
  Shared(const Shared<U>& owner, T* part) noexcept : count_(owner.count_), object_(part) {
    keep();
  }
  ~Shared() { release(); }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment,cert-oop54-cpp): the copy owns the object meanwhile
  Shared& operator=(const Shared& other) noexcept {
    Shared copy(other);
    swap(copy);
    return *this;
  }
  Shared& operator=(Shared&& other) noexcept {
    Shared moved(static_cast<Shared&&>(other));
    swap(moved);
    return *this;
  }

  /// The first owner of an object that is made of these arguments.
  template <class... Args>
  static Shared make(Args&&... args) {
    auto* const block = new Block(static_cast<Args&&>(args)...);
    Shared made;
    made.count_ = block;
    made.object_ = &block->object;
    return made;
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  std::add_lvalue_reference_t<T> operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Shared& a, const Shared& b) noexcept { return a.object_ == b.object_; }

  void swap(Shared& other) noexcept {
    // <utility>, for std::swap and std::forward, would add a hundred lines to every header.
    SharedCount* const count = count_;
    T* const object = object_;
    count_ = other.count_;
    object_ = other.object_;
    other.count_ = count;
    other.object_ = object;
  }

 private:
  template <class U>
  friend class Shared;

  using Object = std::remove_const_t<T>;
  struct Block : SharedCount {
    template <class... Args>
    explicit Block(Args&&... args)
        : SharedCount{1, [](SharedCount* self) noexcept { delete static_cast<Block*>(self); }},
          object(made(static_cast<Args&&>(args)...)) {}
    Object object;
  };
  template <class... Args>
  static Object made(Args&&... args) {
    if constexpr (std::is_constructible_v<Object, Args...>) {
      return Object(static_cast<Args&&>(args)...);
    } else {
      return Object{static_cast<Args&&>(args)...};  // of an aggregate
    }
  }

  void keep() noexcept {
    if (count_ != nullptr) __atomic_fetch_add(&count_->owners, 1, __ATOMIC_RELAXED);
  }
  void release() noexcept {
    if (count_ != nullptr && __atomic_sub_fetch(&count_->owners, 1, __ATOMIC_ACQ_REL) == 0) count_->end(count_);
  }
  void forget() noexcept {
    count_ = nullptr;
    object_ = nullptr;
  }

  SharedCount* count_ = nullptr;
  T* object_ = nullptr;
};

}  // namespace detail
}  // namespace oriel
