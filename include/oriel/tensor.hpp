// The tensor: a cheap value that names data, or work that will give it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/elements.hpp"
#include "oriel/layout.hpp"
#include "oriel/shape.hpp"
#include "oriel/site.hpp"

namespace oriel {

namespace detail {
struct Access;
class Cell;
}  // namespace detail
class Operand;
class ComprehensionResults;

/// Python's start:stop:step along one axis. Negative positions count from the end; positions beyond the axis are cut to
/// it; a negative step walks backwards. `Slice{}` is the whole axis, `Slice{.step = -1}` the axis reversed.
struct Slice {
  std::optional<std::int64_t> start = std::nullopt;
  std::optional<std::int64_t> stop = std::nullopt;
  std::int64_t step = 1;
};

/// Axes to work over: one, a list, or all of them (the default). Negative axes count from the last.
class Axes {
 public:
  Axes() = default;  ///< all
  template <std::integral T>
  requires(!std::same_as<T, bool>) Axes(T axis) : list_(Ints{SymInt(axis)}) {}  // NOLINT(google-explicit-constructor)
  Axes(std::initializer_list<SymInt> axes) : list_(Ints(axes.begin(), axes.end())) {}
  Axes(Ints axes) : list_(std::move(axes)) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  requires(!std::same_as<T, bool>) Axes(const std::vector<T>& axes)  // NOLINT(google-explicit-constructor)
      : list_(Ints(axes)) {}

  /// The list, or nothing for all. An empty list is no axis at all.
  const std::optional<Ints>& list() const noexcept { return list_; }

 private:
  std::optional<Ints> list_;
};

/// An array of one dtype and shape, on one device. Operations return at once; work runs when a result is asked for
/// (realize, to_vector, copy_to, item) or when the bounds of settings.hpp are passed. Each function names its errors;
/// those of the work itself (DeviceError, MemoryError) come from the calls that ask for a result.
///
///   auto x = oriel::Tensor::of<float>({{1, 2}, {3, 4}});
///   auto y = (x.transpose() * 2 + 1).to_vector<float>();  // {3, 7, 5, 9}
///
/// A tensor names a storage, or a place in one. Its elements change only where it is written: by assign, += and their
/// kin. Results are always those of a program that does each operation at once:
///   - A copy of a tensor names the same storage. So does a view, the result of reshape, permute, transpose, squeeze,
///     unsqueeze, expand, broadcast_to, shrink, slice, select, flip, diagonal or unfold: what is written through one is
///     seen through all of them.
///   - Any other result (x + 0, x.to(..), sum, pad, concat, roll, ...) has a storage of its own, with the elements as
///     they were when it was built: a later write to x does not change it, though it may not have run yet.
///
///   auto twice = x * 2;            // of x as it is here
///   x.select(0, 1).assign(0);      // x: {{1, 2}, {0, 0}}
///   twice.to_vector<float>();      // {2, 4, 6, 8}
///
/// Thread safety: as for an int, and tensors with one storage count as one while it is written; others may share
/// pending work and be used from different threads.
///
/// Forks: a fork waits until no other thread is computing results, so the child finds every tensor as it was before or
/// after some call, and computes with threads of its own. (So do not fork while another thread, inside a deleter or a
/// sink of debug lines, waits for the forking one.) Tensors on an OpenCL device are the parent's: no driver survives a
/// fork, and the child gets a DeviceError for them.
class Tensor {
 public:
  /// float32 of shape (0).
  Tensor();
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  // ---- From data. All throw ShapeError for a negative extent and OverflowError where the size passes 2^63-1.

  /// Uses the caller's memory, row-major, without a copy. It must stay alive and unchanged while any tensor made from
  /// it, directly or by operations not yet realised, exists. Throws ArgumentError for a null or misaligned pointer.
  ///   float data[6] = {...};  auto x = Tensor::borrow(data, {2, 3});
  template <class T>
  static Tensor borrow(const T* data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    return wrap(dtype_of<T>, const_cast<T*>(data), shape, {}, "borrow", site);
  }
  /// A view of the vector's elements; rvalues do not compile, since their memory would be gone.
  template <class T>
  static Tensor borrow(const std::vector<T>& data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    check_count(data.size(), shape, "borrow");
    return borrow(data.data(), shape, site);
  }
  template <class T>
  static Tensor borrow(std::vector<T>&&, const Shape&, Site = Site::here()) = delete;
  template <class T>
  static Tensor borrow(const std::vector<T>&&, const Shape&, Site = Site::here()) = delete;
  /// Takes the memory over without a copy; `deleter(data)` runs once, when nothing needs it any more, in whichever
  /// thread that happens (also when this call throws). It should not throw: what it throws is dropped, as memory is
  /// given back where nobody could catch it. Errors as borrow.
  ///   auto x = Tensor::adopt(new float[6]{}, {2, 3}, [](float* p) { delete[] p; });
  template <class T, std::invocable<T*> Deleter>
  static Tensor adopt(T* data, const Shape& shape, Deleter deleter, Site site = Site::here()) {
    const detail::CallSite call(site);
    return wrap(
        dtype_of<T>, data, shape, [deleter = std::move(deleter)](void* p) mutable { deleter(static_cast<T*>(p)); },
        "adopt", site);
  }
  /// A copy of the elements, row-major. Throws ArgumentError unless their number is the shape's.
  ///   auto x = Tensor::from(std::vector<std::int32_t>{1, 2, 3, 4}, {2, 2});
  template <class T>
  static Tensor from(std::span<const T> data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    check_count(data.size(), shape, "from");
    return copy(dtype_of<T>, data.data(), shape, site);
  }
  template <class T>
  static Tensor from(const std::vector<T>& data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    if constexpr (std::same_as<T, bool>) {
      const std::vector<unsigned char> bytes(data.begin(), data.end());
      check_count(data.size(), shape, "from");
      return copy(DType::bool_, bytes.data(), shape, site);
    } else {
      return from(std::span<const T>(data), shape, site);
    }
  }
  /// One axis.
  template <class T>
  static Tensor from(const std::vector<T>& data, Site site = Site::here()) {
    return from(data, Shape{data.size()}, site);
  }
  /// One axis, or two with rows of equal length (else ShapeError).
  ///   Tensor::of<float>({1, 2, 3});  Tensor::of<int>({{1, 2}, {3, 4}});  Tensor::of<oriel::float16_t>({1, 0.5});
  template <class T>
  static Tensor of(std::initializer_list<T> data, Site site = Site::here()) {
    return copy(dtype_of<T>, std::data(data), Shape{data.size()}, site);
  }
  template <class T>
  static Tensor of(std::initializer_list<std::initializer_list<T>> rows, Site site = Site::here()) {
    const detail::CallSite call(site);
    const std::size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
    std::vector<T> data;
    for (const auto& row : rows) {
      check_row(row.size(), width);
      data.insert(data.end(), row.begin(), row.end());
    }
    return from(data, Shape{rows.size(), width}, site);
  }
  /// Halves of numbers, which are rounded to float32 and then to T.
  template <Half T>
  static Tensor of(std::initializer_list<double> data, Site site = Site::here()) {
    return from(rounded<T>(data), Shape{data.size()}, site);
  }
  template <Half T>
  static Tensor of(std::initializer_list<std::initializer_list<double>> rows, Site site = Site::here()) {
    const std::size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
    std::vector<T> data;
    for (const auto& row : rows) {
      check_row(row.size(), width);
      const std::vector<T> halves = rounded<T>(row);
      data.insert(data.end(), halves.begin(), halves.end());
    }
    return from(data, Shape{rows.size(), width}, site);
  }
  /// Element i is f(i), where i is a span of one position an axis. Calls f once an element, in row-major order, now.
  ///   auto x = Tensor::generate({3, 3}, [](std::span<const std::int64_t> i) { return float(i[0] - i[1]); });
  template <class F>
  static Tensor generate(const Shape& shape, F&& f, Site site = Site::here()) {
    using T = std::remove_cvref_t<std::invoke_result_t<F&, std::span<const std::int64_t>>>;
    std::vector<T> data;
    {
      const detail::CallSite call(site);
      const std::size_t count = count_of(shape, "generate", sizeof(T));
      try {
        data.reserve(count);
      } catch (const std::bad_alloc&) {
        no_memory(count, sizeof(T), "generate");
      }
    }
    each_index(shape, [&](std::span<const std::int64_t> i) { data.push_back(f(i)); });
    return from(data, shape, site);
  }

  // ---- What it is.

  const Shape& shape() const noexcept;
  DType dtype() const noexcept;
  Device device() const noexcept;
  std::size_t rank() const noexcept { return shape().size(); }
  /// The number of elements.
  std::int64_t numel() const;
  /// Extent of an axis, counted from the last where negative. Throws ShapeError.
  std::int64_t size(std::int64_t axis) const;
  /// Shape and strides, in elements, as PyTorch has them: a property of what was computed, the same before and after
  /// the elements are in memory, and however the work is fused. A movement moves the strides of what it moves (a flip's
  /// are negative); an elementwise result follows all its operands together; reductions, results of reshapes that the
  /// strides cannot take, and anything made of data or numbers are row-major. In memory the elements lie so where these
  /// strides are dense, else densely in the same order.
  Layout layout() const;
  Ints strides() const { return layout().strides; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const { return layout().is_contiguous(format); }
  /// The format that results should have: channels_last or channels_last_3d where the strides are like it.
  MemoryFormat suggest_memory_format(bool exact = false) const { return layout().suggest_memory_format(exact); }
  /// True once the elements are in memory.
  bool realized() const noexcept;
  /// "float32 (2, 3) on eigen": no elements, no work.
  std::string str() const;

  // ---- Results. All run the pending work that they need, once; what has been computed is kept.
  // They throw DTypeError unless T stores the dtype, and DeviceError on the null device, which computes nothing.

  /// The elements, row-major.
  template <class T>
  std::vector<T> to_vector(Site site = Site::here()) const {
    const detail::CallSite call(site);
    if constexpr (std::same_as<T, bool>) {
      const std::size_t count = count_to_read(DType::bool_, "to_vector");
      auto bytes = room_for<std::vector<unsigned char>>(count, 1, "to_vector");
      auto out = room_for<std::vector<bool>>(count, 1, "to_vector");
      read(DType::bool_, bytes.data(), bytes.size(), "to_vector");
      std::copy(bytes.begin(), bytes.end(), out.begin());
      return out;
    } else {
      auto out = room_for<std::vector<T>>(count_to_read(dtype_of<T>, "to_vector"), sizeof(T), "to_vector");
      read(dtype_of<T>, out.data(), out.size(), "to_vector");
      return out;
    }
  }
  /// The elements, row-major, where they lie, to be read without a copy. They stay as they are while the result lives,
  /// even where this tensor is written or ends: see Elements. Only a tensor whose elements lie in another order in
  /// memory (channels-last, or computed from a transposed one) is copied, to row-major order; and a view is computed
  /// like any other result, once. Throws DeviceError where the elements are not in the host's memory.
  ///   const auto elements = y.data<float>();  std::accumulate(elements.begin(), elements.end(), 0.0f);
  template <class T>
  Elements<T> data() const {
    std::shared_ptr<const void> first = hold(dtype_of<T>, "data");
    const auto* elements = static_cast<const T*>(first.get());
    return {std::shared_ptr<const T>(std::move(first), elements), static_cast<std::size_t>(numel())};
  }
  /// Writes numel() elements to `out`. Throws ArgumentError for a null pointer.
  template <class T>
  void copy_to(T* out, Site site = Site::here()) const {
    const detail::CallSite call(site);
    read(dtype_of<T>, out, static_cast<std::size_t>(numel()), "copy_to");
  }
  /// Throws ArgumentError unless the span has numel() elements.
  template <class T>
  void copy_to(std::span<T> out, Site site = Site::here()) const {
    const detail::CallSite call(site);
    read(dtype_of<T>, out.data(), out.size(), "copy_to");
  }
  /// The one element. Throws ShapeError unless there is exactly one.
  ///   float s = sum(x).item<float>();
  template <class T>
  T item(Site site = Site::here()) const {
    const detail::CallSite call(site);
    T out{};
    check_one();
    read(dtype_of<T>, &out, 1, "item");
    return out;
  }
  /// Runs the pending work now and keeps the elements. Returns *this.
  const Tensor& realize(Site site = Site::here()) const;

  // ---- Writing.

  /// Puts the elements of `value` (a tensor or a number), converted as by to() and broadcast to this shape, into the
  /// storage that this tensor names. Returns *this. `value` is read as it is before the write, also where both share
  /// elements: x.assign(flip(x)). The work is pending like any other, and overwrites the memory in place where nothing
  /// can still read the old elements (explain() says so). Memory that was lent with borrow() is never written: the
  /// tensor then moves to memory of its own. Throws ShapeError where `value` does not broadcast to this shape, or where
  /// this is a view in which two indices stand for one element (expand, overlapping windows) or cannot be shown not to
  /// (stacks of views with more than 2^16 elements); DeviceError for operands of different devices.
  ///   x.shrink({{0, 2}, {1, 3}}).assign(y);
  Tensor& assign(const Operand& value);

  // ---- Dtypes.

  /// Each element converted: integers wrap, floats to integers saturate with NaN as 0, bool is x != 0, halves round.
  Tensor to(DType dtype, Site site = Site::here()) const;
  /// The same bits as another dtype of the same width. Throws DTypeError.
  Tensor bitcast(DType dtype, Site site = Site::here()) const;

  // ---- Devices.

  /// The elements on another device, in memory as those of a new tensor like this one; this tensor itself where it is
  /// there. Pending like any other work, which runs on the devices of its operands: a result may need several. What is
  /// copied is computed on its own device first; movements of the copy are free. Throws DeviceError where the device
  /// cannot be had, and for the null device's elements, of which there are none.
  ///   auto y = matmul(x.to(Device::opencl()), w).to(Device::eigen());
  Tensor to(Device device, Site site = Site::here()) const;

  // ---- Memory formats. Both throw ShapeError where the rank is not the format's.

  /// The elements in that order in memory. This tensor itself where suggest_memory_format() is `format` already, and
  /// for preserve; so what could be contiguous as well (one channel, or one pixel) is laid out anew.
  ///   auto y = relu(x.to(MemoryFormat::channels_last));  // channels-last as well
  Tensor to(MemoryFormat format, Site site = Site::here()) const;
  /// The same, but this tensor itself wherever is_contiguous(format) holds. Throws ArgumentError for preserve.
  Tensor contiguous(MemoryFormat format = MemoryFormat::contiguous, Site site = Site::here()) const;

  // ---- Movement; each is the free function of movement.hpp.

  /// Never copies: where the view of this tensor cannot take the shape, a second view goes on top.
  Tensor reshape(const Shape& shape, Site site = Site::here()) const;
  /// As reshape, but throws ShapeError where one view cannot say it, as PyTorch does where it would have to copy.
  Tensor view(const Shape& shape, Site site = Site::here()) const;
  Tensor permute(const Ints& order, Site site = Site::here()) const;
  Tensor transpose(std::int64_t a = -2, std::int64_t b = -1, Site site = Site::here()) const;
  Tensor expand(const Shape& shape, Site site = Site::here()) const;
  Tensor shrink(const Ranges& ranges, Site site = Site::here()) const;
  Tensor shrink(const Ranges& ranges, const Axes& axes, Site site = Site::here()) const;
  Tensor flip(const Axes& axes = {}, Site site = Site::here()) const;
  Tensor squeeze(const Axes& axes = {}, Site site = Site::here()) const;
  Tensor unsqueeze(std::int64_t axis, Site site = Site::here()) const;
  Tensor slice(std::initializer_list<Slice> slices, Site site = Site::here()) const;
  Tensor select(std::int64_t axis, std::int64_t position, Site site = Site::here()) const;

 private:
  friend struct detail::Access;
  explicit Tensor(detail::Cell* cell) noexcept : cell_(cell) {}  // takes over a reference

  static Tensor wrap(DType dtype, void* data, const Shape& shape, std::function<void(void*)> deleter,
                     const char* operation, Site site);
  static Tensor copy(DType dtype, const void* data, const Shape& shape, Site site);
  static void check_count(std::size_t count, const Shape& shape, const char* operation);
  static void check_row(std::size_t length, std::size_t first);
  /// The number of elements; throws where so many of these bytes each cannot be had.
  static std::size_t count_of(const Shape& shape, const char* operation, std::size_t bytes = 0);
  std::size_t count_to_read(DType dtype, const char* operation) const;
  [[noreturn]] static void no_memory(std::size_t count, std::size_t bytes, const char* operation);
  /// A container of `count`, or a MemoryError that says what was wanted.
  template <class Container>
  static Container room_for(std::size_t count, std::size_t bytes, const char* operation) {
    try {
      return Container(count);
    } catch (const std::bad_alloc&) {
      no_memory(count, bytes, operation);
    }
  }
  static void each_index(const Shape& shape, const std::function<void(std::span<const std::int64_t>)>& f);
  void check_one() const;
  template <class T>
  static std::vector<T> rounded(std::initializer_list<double> numbers) {
    std::vector<T> halves;
    halves.reserve(numbers.size());
    for (const double x : numbers) halves.emplace_back(static_cast<float>(x));
    return halves;
  }
  /// The first element, row-major, and what keeps it.
  std::shared_ptr<const void> hold(DType dtype, const char* operation) const;
  void read(DType dtype, void* out, std::size_t count, const char* operation) const;

  detail::Cell* cell_;  // never null but in a moved-from tensor, which only assignment and destruction may touch
};

/// Runs the pending work of several tensors together, on one device or several, so that what they share runs once.
///   oriel::realize({mean, deviation});
void realize(std::span<const Tensor> tensors, Site site = Site::here());
void realize(std::initializer_list<Tensor> tensors, Site site = Site::here());

/// A tensor or a C++ number, as an argument: made implicitly, and remembers the calling line. A number takes the dtype
/// of the tensor that it meets, unless its category (bool < integer < float) is higher: then int64 or float32. A tensor
/// without axes meets one with axes in the same way, with its own dtype where its category is higher. Numbers alone are
/// bool, int64 or float32. An integer that the tensor's integer dtype cannot hold is an ArgumentError. Lives
/// no longer than the call.
class Operand {
 public:
  Operand(const Tensor& tensor, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : tensor_(&tensor), site_(site) {}
  /// The one result. Throws ArgumentError where there are several.
  Operand(const ComprehensionResults& results, Site site = Site::here());  // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number, Site site = Site::here())
  noexcept : site_(site) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::Float;
      float_ = static_cast<double>(number);
    } else {
      kind_ = std::same_as<T, bool> ? Kind::Bool : std::is_unsigned_v<T> ? Kind::Unsigned : Kind::Signed;
      int_ = static_cast<std::int64_t>(number);
    }
  }

 private:
  friend struct detail::Access;
  enum class Kind : std::uint8_t { Tensor, Bool, Signed, Unsigned, Float };

  const Tensor* tensor_ = nullptr;
  Kind kind_ = Kind::Tensor;
  union {
    std::int64_t int_ = 0;
    double float_;
  };
  Site site_;
};

}  // namespace oriel
