// The tensor: a value type that refers to data, or to pending work that will compute it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/axes.hpp"
#include "oriel/callback.hpp"
#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/elements.hpp"
#include "oriel/layout.hpp"
#include "oriel/list.hpp"
#include "oriel/methods.hpp"
#include "oriel/operand.hpp"
#include "oriel/realize.hpp"
#include "oriel/shape.hpp"
#include "oriel/shared.hpp"
#include "oriel/site.hpp"
#include "oriel/slice.hpp"

namespace oriel::detail {
struct Access;
class Cell;
}  // namespace oriel::detail

namespace ORIEL_API oriel {

namespace detail {
/// What a range-for goes over.
template <class R>
concept ElementRange = requires(R& range) {
  *range.begin() != *range.end();
  ++range.begin();
};
// clang-format off
template <class T> struct ThreeAxes { ThreeAxes(std::initializer_list<std::initializer_list<std::initializer_list<T>>>) {} };
// clang-format on
}  // namespace detail

/// An array of one dtype and shape, on one device. Operations return at once. Work runs when a result is asked for
/// (realize, to_vector, data, copy_to, item) or when pending work exceeds the limits of settings.hpp. Each function
/// documents its errors. Errors of running work (DeviceError, MemoryError) come from the calls that ask for a result.
///
///   auto x = oriel::Tensor::of<float>({{1, 2}, {3, 4}});
///   auto y = (x.transpose() * 2 + 1).to_vector<float>();  // {3, 7, 5, 9}
///
/// A tensor names a storage, or a part of one. Its elements change only by writes: assign, += and the other in-place
/// operators. Results are always those of a program that executes each operation at once:
///   - A copy of a tensor names the same storage. So does a view: the result of reshape, permute, transpose, squeeze,
///     unsqueeze, expand, broadcast_to, shrink, slice, select, flip, diagonal or unfold. A write through one of them
///     changes what all of them show.
///   - Any other result (x + 0, x.to(..), sum, pad, concat, roll, ...) has a storage of its own. It is computed from
///     the elements that x had when the result was built: a later write to x does not change it, even if it has not
///     run yet.
///
///   auto twice = x * 2;            // of x before the write below
///   x[1] = 0;                      // x: {{1, 2}, {0, 0}}
///   twice.to_vector<float>();      // {2, 4, 6, 8}
///
/// What = means depends on its left side. `y = x` of a variable makes the variable name what x names; no element
/// changes. On an expression that is a view, such as x[1] = 0 and x.slice({{0, 2}}) = y, it writes the elements, as
/// assign does. A write to a value that nothing else names, such as roll(x, 1, 0) += 1 or masked_select(x, m) = 0,
/// would be lost: it is an ArgumentError that says what to write instead.
///
/// `const` concerns the name, as with std::span: a const tensor cannot be made to name something else, and its own
/// writing members do not compile. Its copies and views name the same storage and write it. Pass +x, which has a
/// storage of its own, to whom may not write.
///
/// Thread safety: as for an int. While a storage is written, all tensors that name it count as one object. Tensors of
/// different storages may be used from different threads, even if they share pending work.
///
/// Forks: fork() waits until no other thread computes results. So the child finds every tensor in the state before or
/// after a call, and computes with threads of its own. (Do not fork while another thread, inside a deleter or a debug
/// sink, waits for the forking thread: that is a deadlock.) Tensors on an OpenCL device belong to the parent: drivers
/// do not survive a fork, and the child gets a DeviceError for them.
class Tensor : public TensorMethods {
 public:
  /// float32 of shape (0).
  Tensor();
  /// A copy names the same storage. A moved-from tensor is as one made by Tensor().
  /// @{
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other) & noexcept;
  Tensor& operator=(Tensor&& other) & noexcept;
  /// @}
  /// Writes the elements: x[1] = 0. As assign.
  Tensor operator=(const Operand& value) &&;  // NOLINT(misc-unconventional-assign-operator)
  /// Does not compile: a variable is not a view.
  template <class T>
  requires std::is_arithmetic_v<T> Tensor& operator=(T) & {  // NOLINT(misc-unconventional-assign-operator)
    static_assert(detail::kNever<T>,
                  "x.assign(number) writes the number to all elements; x = full(shape, number) names a new tensor");
    return *this;
  }
  ~Tensor();

  // ---- From data. All throw ShapeError for a negative extent and OverflowError if the size exceeds 2^63-1.

  /// Uses the caller's memory, in row-major order, without a copy. The memory must stay alive and unchanged while any
  /// tensor exists that was made from it, directly or by pending operations. Throws ArgumentError for a null or
  /// misaligned pointer.
  ///   float data[6] = {...};  auto x = Tensor::borrow(data, {2, 3});
  template <class T>
  [[nodiscard]] static Tensor borrow(const T* data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    return wrap(dtype_of<T>, const_cast<T*>(data), shape, {}, "borrow", site);
  }
  /// The same with strides in elements, each >= 0, such as those of a column-major matrix of Eigen.
  ///   auto x = Tensor::borrow(m.data(), Layout{{m.rows(), m.cols()}, {1, m.outerStride()}});
  template <class T>
  [[nodiscard]] static Tensor borrow(const T* data, const Layout& layout, Site site = Site::here()) {
    const detail::CallSite call(site);
    return in_layout(borrow(data, reach(layout), site), layout);
  }
  /// Uses the vector's elements without a copy. Rvalues do not compile, because their memory would be freed.
  template <class T>
  [[nodiscard]] static Tensor borrow(const std::vector<T>& data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    check_count(data.size(), shape, "borrow");
    return borrow(data.data(), shape, site);
  }
  template <class T>
  static Tensor borrow(std::vector<T>&&, const Shape&, Site = Site::here()) = delete;
  template <class T>
  static Tensor borrow(const std::vector<T>&&, const Shape&, Site = Site::here()) = delete;
  /// Takes ownership of the memory without a copy. `deleter(data)` runs once, when nothing needs the memory any more,
  /// in any thread, and also if this call throws. The deleter should not throw: its exceptions are dropped, because
  /// nobody could catch them. Errors as borrow.
  ///   auto x = Tensor::adopt(new float[6]{}, {2, 3}, [](float* p) { delete[] p; });
  template <class T, std::invocable<T*> Deleter>
  [[nodiscard]] static Tensor adopt(T* data, const Shape& shape, Deleter deleter, Site site = Site::here()) {
    const detail::CallSite call(site);
    return wrap(
        dtype_of<T>, data, shape, [deleter = std::move(deleter)](void* p) mutable { deleter(static_cast<T*>(p)); },
        "adopt", site);
  }
  /// A copy of the elements, row-major: of a std::vector, a std::array, a std::span, or what else has data() and
  /// size(). Throws ArgumentError unless their number is the shape's.
  ///   auto x = Tensor::from(std::vector<std::int32_t>{1, 2, 3, 4}, {2, 2});
  /// @{
  template <class T>
  requires requires(const T& data) { data.data() + data.size(); }
  [[nodiscard]] static Tensor from(const T& data, const Shape& shape, Site site = Site::here()) {
    const detail::CallSite call(site);
    check_count(data.size(), shape, "from");
    return copy(dtype_of<typename T::value_type>, data.data(), shape, site);
  }
  [[nodiscard]] static Tensor from(const std::vector<bool>& data, const Shape& shape, Site site = Site::here());
  /// @}
  /// The same along one axis.
  template <class T>
  requires requires(const T& data) { data[data.size()]; }
  [[nodiscard]] static Tensor from(const T& data, Site site = Site::here()) {
    return from(data, Shape{data.size()}, site);
  }
  /// The same from a pointer to as many elements as the shape has, which nothing checks.
  ///   auto x = Tensor::from(v.data(), {3, 4});
  template <class T>
  [[nodiscard]] static Tensor from(const T* data, const Shape& shape, Site site = Site::here()) {
    return copy(dtype_of<T>, data, shape, site);
  }
  /// A tensor of one axis, or of two. Throws ShapeError if the rows differ in length.
  ///   Tensor::of<float>({1, 2, 3});  Tensor::of<int>({{1, 2}, {3, 4}});  Tensor::of<oriel::float16_t>({1, 0.5});
  template <class T>
  [[nodiscard]] static Tensor of(std::initializer_list<T> data, Site site = Site::here()) {
    return copy(dtype_of<T>, std::data(data), Shape{data.size()}, site);
  }
  /// Two axes, row by row.
  template <class T>
  [[nodiscard]] static Tensor of(std::initializer_list<std::initializer_list<T>> rows, Site site = Site::here()) {
    return of_rows<T>(rows, site);
  }
  /// The same for float16_t and bfloat16_t, from numbers. They are rounded to float32 and then to T.
  /// @{
  template <Half T>
  [[nodiscard]] static Tensor of(std::initializer_list<double> data, Site site = Site::here()) {
    return of_rows<T>({data}, site).reshape(Shape{data.size()}, site);
  }
  template <Half T>
  [[nodiscard]] static Tensor of(std::initializer_list<std::initializer_list<double>> rows, Site site = Site::here()) {
    return of_rows<T>(rows, site);
  }
  /// @}
  /// Element i is f(i), where i is a span of one position per axis. Calls f once per element, in row-major order, at
  /// once.
  ///   auto x = Tensor::generate({3, 3}, [](std::span<const std::int64_t> i) { return float(i[0] - i[1]); });
  template <class F>
  [[nodiscard]] static Tensor generate(const Shape& shape, F&& f, Site site = Site::here()) {
    using T = std::remove_cvref_t<std::invoke_result_t<F&, std::span<const std::int64_t>>>;
    std::vector<T> data;
    {
      const detail::CallSite call(site);
      data = room_for<std::vector<T>>(count_of(shape, "generate", sizeof(T)), sizeof(T), "generate");
    }
    auto append = [&, k = std::size_t(0)](std::span<const std::int64_t> i) mutable { data[k++] = f(i); };
    using Append = decltype(append);
    each_index(shape, &append, [](void* state, std::span<const std::int64_t> i) { (*static_cast<Append*>(state))(i); });
    return from(data, shape, site);
  }
  /// The elements of a range of C++ along one axis, in its order: of a container, or a view of std::ranges.
  ///   auto squares = Tensor::generate(std::views::iota(0, 6) | std::views::transform([](int i) { return i * i; }));
  template <detail::ElementRange R>
  [[nodiscard]] static Tensor generate(R&& range, Site site = Site::here()) {
    std::vector<std::iter_value_t<decltype(range.begin())>> data;
    for (auto&& element : range) data.push_back(element);
    return from(data, site);
  }

  // ---- What is written in another way here: these do not compile, and say how. No macro makes them, and each is one
  // line, because errors show where a macro was expanded, and headers have few lines.

  // clang-format off
  /// Do not compile.
  /// @{
  template <detail::PlainNumber T, class... More> explicit Tensor(T, T, More...) { static_assert(detail::kNever<T>, "zeros({2, 3}) has the shape (2, 3), Tensor::of<float>({2, 3}) these elements"); }
  template <class T> void operator=(std::initializer_list<T>) { static_assert(detail::kNever<T>, "elements in braces are Tensor::of<float>({2, 3})"); }  // NOLINT
  template <class T, detail::PlainNumber... More> static detail::Nothing of(T, More...) { static_assert(detail::kNever<T>, "elements are one list: Tensor::of<float>({1, 2, 3})"); return {}; }
  template <class T> static detail::Nothing of(const detail::ThreeAxes<T>&) { static_assert(detail::kNever<T>, "lists of one or two axes; more by reshape: Tensor::of<float>({1, 2, 3, 4}).reshape({2, 1, 2})"); return {}; }
  template <class T, detail::Size U, class... More> static detail::Nothing from(const T&, U, const More&...) { static_assert(detail::kNever<T>, "the shape is one list: Tensor::from(data, {3, 4})"); return {}; }
  template <class T> static detail::Nothing from(std::initializer_list<T>, const Shape& = {}) { static_assert(detail::kNever<T>, "elements in braces are Tensor::of<float>({1, 2, 3})"); return {}; }
  template <class T = Tensor> detail::Nothing size() const { static_assert(detail::kNever<T>, "x.numel() is the number of elements, x.size(axis) an extent, x.rank() the number of axes"); return {}; }
  template <class... T> requires(sizeof...(T) == 0) detail::Nothing to_vector() const { static_assert(sizeof...(T) != 0, "name the type of the elements: x.to_vector<float>()"); return {}; }
  template <class... T> requires(sizeof...(T) == 0) detail::Nothing data() const { static_assert(sizeof...(T) != 0, "name the type of the elements: x.data<float>()"); return {}; }
  template <class... T> requires(sizeof...(T) == 0) detail::Nothing item() const { static_assert(sizeof...(T) != 0, "name the type of the element: x.item<float>()"); return {}; }
  template <class T = Tensor> detail::Nothing begin() const { static_assert(detail::kNever<T>, "for (float e : x.data<float>()) goes over the elements, for (Tensor row : x.unbind()) over x[0], x[1], ..."); return {}; }
  template <class T, class... More> detail::Nothing operator()(const T&, const More&...) const { static_assert(detail::kNever<T>, "x.at(1, 2) is an element, x[1] an entry, x.slice({{1, 3}}) a part"); return {}; }
  template <class T, class... More> detail::Nothing transpose(std::initializer_list<T>, const More&...) const { static_assert(detail::kNever<T>, "x.permute({1, 0}) names all axes, x.transpose(a, b) exchanges two"); return {}; }
  template <detail::Size T, class... More> detail::Nothing slice(T, T, const More&...) const { static_assert(detail::kNever<T>, "x.slice({{1, 3}}) cuts axis 0, x.slice({{}, {1, 3}}) axis 1"); return {}; }
  template <class T> detail::Nothing operator[](std::initializer_list<T>) const { static_assert(detail::kNever<T>, "an element is x.at(1, 2), a part x.slice({{1, 3}})"); return {}; }
  template <std::same_as<Slice> T> detail::Nothing operator[](const T&) const { static_assert(detail::kNever<T>, "a part of axis 0 is x.slice({{1, 3}})"); return {}; }
  template <class T = Tensor> detail::Nothing end() const { return {}; }
  /// @}
  // clang-format on

  // ---- Properties.

  /// The extents of the axes.
  const Shape& shape() const noexcept;
  /// The dtype of the elements.
  DType dtype() const noexcept;
  /// The device on which the tensor lives.
  Device device() const noexcept;
  /// The number of axes.
  std::size_t rank() const noexcept { return shape().size(); }
  /// The number of elements.
  SymInt numel() const;
  /// numel() as a plain number. In a captured function it fixes a symbolic size, with a guard.
  ///   std::vector<float> elements(x.count());
  std::size_t count() const { return static_cast<std::size_t>(numel()); }
  /// Extent of an axis. A negative axis counts from the last. Throws ShapeError if it is out of range.
  /// @{
  SymInt size(std::int64_t axis) const;
  SymInt shape(std::int64_t axis) const { return size(axis); }
  /// @}
  /// size(axis) as a plain number. In a captured function it fixes a symbolic size, with a guard.
  ///   int rows = x.extent(0);
  std::int64_t extent(std::int64_t axis) const { return size(axis).value(); }
  /// Shape and strides, in elements, as PyTorch has them. They depend on the operations alone: they are the same before
  /// and after the elements are in memory, and however the work is fused. A movement changes the strides of its operand
  /// as it changes its indices (a flip makes them negative). An elementwise result follows all its operands together,
  /// by the rules of TensorIterator. Row-major are: reductions, results of reshapes that the strides cannot take, and
  /// tensors made from data or numbers. If these strides are dense, the elements have them in memory; else they are
  /// stored densely in the same order.
  Layout layout() const;
  /// The strides of layout(), in elements.
  Ints strides() const { return layout().strides; }
  /// True if the strides of layout() are dense in this format: see Layout::is_contiguous.
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const { return layout().is_contiguous(format); }
  /// The format that results computed from this tensor should have: see Layout::suggest_memory_format.
  MemoryFormat suggest_memory_format(bool exact = false) const { return layout().suggest_memory_format(exact); }
  /// True once the elements are in memory.
  bool realized() const noexcept;
  /// "float32 (2, 3) on eigen". Prints no elements and runs no work.
  std::string str() const;

  // ---- Results. All run the pending work that they need. What was asked for is kept, so it runs once. Of the other
  // values that a variable names, or that a named value needs, none is computed more than twice (PERFORMANCE.md: what
  // is kept), within the limit on bytes that settings.hpp states. They throw DTypeError unless T stores the dtype, and
  // DeviceError on the null device, which computes nothing.

  /// A copy of the elements, row-major.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector(Site site = Site::here()) const {
    const detail::CallSite call(site);
    if constexpr (std::same_as<T, bool>) {
      const std::size_t count = count_to_read(DType::bool_, "to_vector");
      auto bytes = room_for<std::vector<unsigned char>>(count, 1, "to_vector");
      auto out = room_for<std::vector<bool>>(count, 1, "to_vector");
      read(DType::bool_, bytes.data(), bytes.size(), "to_vector");
      for (std::size_t i = 0; i < count; ++i) out[i] = bytes[i] != 0;
      return out;
    } else {
      auto out = room_for<std::vector<T>>(count_to_read(dtype_of<T>, "to_vector"), sizeof(T), "to_vector");
      read(dtype_of<T>, out.data(), out.size(), "to_vector");
      return out;
    }
  }
  /// Read access to the elements, row-major, without a copy. They do not change while the result lives, even if this
  /// tensor is written or destroyed: see Elements. There are two exceptions. If the elements are stored in another
  /// order (channels-last, or computed from a transposed tensor), they are copied to row-major order. A view is
  /// computed once like any other result. Throws DeviceError if the elements are not in host memory.
  ///   const auto elements = y.data<float>();  std::accumulate(elements.begin(), elements.end(), 0.0f);
  template <class T>
  [[nodiscard]] Elements<T> data(Site site = Site::here()) const {
    const detail::CallSite call(site);
    const detail::Shared<const void> first = hold(dtype_of<T>, "data");
    return {detail::Shared<const T>(first, static_cast<const T*>(first.get())), static_cast<std::size_t>(numel())};
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
  /// Writes the elements into memory of the caller's with strides, in elements, each >= 0: element i to out[sum of i
  /// times strides]. What lies between is not written. Throws ShapeError unless the shape is this one.
  ///   y.copy_to(m.data(), Layout{{m.rows(), m.cols()}, {1, m.outerStride()}});  // a column-major matrix of Eigen
  template <class T>
  void copy_to(T* out, const Layout& layout, Site site = Site::here()) const {
    const detail::CallSite call(site);
    read_into(dtype_of<T>, out, layout);
  }
  /// The only element. Throws ShapeError unless there is exactly one.
  ///   float s = sum(x).item<float>();
  template <class T>
  T item(Site site = Site::here()) const {
    const detail::CallSite call(site);
    T out{};
    check_one();
    read(dtype_of<T>, &out, 1, "item");
    return out;
  }
  /// The only element, converted as by to(); of bool, whether it is not 0. Throws ShapeError unless there is exactly
  /// one.
  ///   if (all(a == b)) ...;  double mean = double(x.mean());
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] explicit operator T() const { return converted(dtype_of<T>).template item<T>(Site::unknown()); }
  /// Runs the pending work now and keeps the elements. Returns *this. On OpenCL the work has been sent by then, and may
  /// not have ended: synchronize waits for it.
  const Tensor& realize(Site site = Site::here()) const;

  // ---- Writing.

  /// Writes the elements of `value` (a tensor or a number) into the storage that this tensor names. They are broadcast
  /// to this shape and converted as by to(), within the rule of the in-place operators: no float goes into integers and
  /// nothing but bool into bool, unless it is a C++ number that the dtype holds exactly. (PyTorch's copy_ converts
  /// those as well.) Convert others first: z.assign((z * 0.5).to(z.dtype())). Returns *this. All of `value` is read
  /// before the write, even if the two share elements: x.assign(flip(x)). The write is pending like other work. It
  /// overwrites the memory in place if nothing can still read the old elements; explain() shows whether. Memory lent
  /// with borrow() is never written: the tensor then moves to memory of its own. Throws DTypeError for a tensor of such
  /// a dtype and ArgumentError for such a number; ShapeError if `value` does not broadcast to this shape, and if two
  /// indices of this view stand for one element (expand, overlapping windows) or the engine cannot show that none do
  /// (stacks of views with more than 2^16 elements). Throws DeviceError for operands of different devices, and
  /// ArgumentError if nothing else names the storage of an expression, such as x * 2.
  ///   x.shrink({{0, 2}, {1, 3}}).assign(y);
  /// @{
  Tensor& assign(const Operand& value) &;
  Tensor assign(const Operand& value) &&;
  /// @}
  /// Writes `value` where `mask` is true: NumPy's x[mask] = value. As x.assign(masked_fill(x, mask, value)).
  ///   x.assign_where(x < 0, 0);
  /// @{
  Tensor& assign_where(const Operand& mask, const Operand& value) &;
  Tensor assign_where(const Operand& mask, const Operand& value) &&;
  /// @}
  /// Writes the entries at the positions in `index`: NumPy's x[index] = values. As x.assign(put(x, index, values, axis,
  /// bounds)); see put (scatter.hpp) for shapes, equal positions, positions outside and cost.
  ///   x.assign_at(Tensor::of<int>({0, 2}), 7);
  /// @{
  Tensor& assign_at(const Tensor& index, const Operand& values, std::int64_t axis = 0,
                    Bounds bounds = default_bounds()) &;
  Tensor assign_at(const Tensor& index, const Operand& values, std::int64_t axis = 0,
                   Bounds bounds = default_bounds()) &&;
  /// @}
  /// Adds to the entries at the positions in `index`, for equal positions each time: np.add.at(x, index, values). As
  /// x.assign(put_add(x, index, values, axis, bounds)).
  ///   x.add_at(index, 1);
  /// @{
  Tensor& add_at(const Tensor& index, const Operand& values, std::int64_t axis = 0, Bounds bounds = default_bounds()) &;
  Tensor add_at(const Tensor& index, const Operand& values, std::int64_t axis = 0, Bounds bounds = default_bounds()) &&;
  /// @}

  // ---- Dtypes.

  /// Converts each element. Integers wrap. Floats become integers by truncation and saturation, NaN becomes 0. bool is
  /// x != 0. Narrower floats are rounded to nearest even.
  [[nodiscard]] Tensor to(DType dtype, Site site = Site::here()) const;
  /// x.to<double>() is x.to(DType::float64).
  template <class T>
  [[nodiscard]] Tensor to(Site site = Site::here()) const {
    return to(dtype_of<T>, site);
  }
  /// The same bits as another dtype. Throws DTypeError if the dtypes differ in width.
  [[nodiscard]] Tensor bitcast(DType dtype, Site site = Site::here()) const;

  // ---- Devices.

  /// A copy on another device, with the strides of empty_like; this tensor itself if it is there already. The copy is
  /// pending like other work. Work runs on the device of its operands, so a result may need several devices. Movements
  /// of the copy are free: they happen after it. Throws DeviceError if the device is not available, and for a copy from
  /// the null device, which has no elements.
  ///   auto y = matmul(x.to(Device::opencl()), w).to(Device::eigen());
  [[nodiscard]] Tensor to(Device device, Site site = Site::here()) const;

  // ---- Memory formats. Both throw ShapeError if the rank is not the format's.

  /// A tensor with the elements in that order in memory. Returns this tensor itself if suggest_memory_format() is
  /// `format` already, and for preserve. A tensor whose strides fit both formats (one channel, or one pixel) is
  /// therefore copied.
  ///   auto y = relu(x.to(MemoryFormat::channels_last));  // channels-last as well
  [[nodiscard]] Tensor to(MemoryFormat format, Site site = Site::here()) const;
  /// The same, but returns this tensor itself if is_contiguous(format) holds. Throws ArgumentError for preserve.
  [[nodiscard]] Tensor contiguous(MemoryFormat format = MemoryFormat::contiguous, Site site = Site::here()) const;

  // ---- Views: the functions of movement.hpp as members. Each has two forms, so that a view of a value that nothing
  // else names (&&) is known to be one.

  // clang-format off
#define ORIEL_OR(value) = value
  /// As the functions of these names, whose shapes and errors hold here. reshape never copies: if the view of this
  /// tensor cannot take the shape, a second view is put on top. view throws ShapeError then, as PyTorch's does.
  /// @{
  ORIEL_VIEW_METHODS(ORIEL_DECLARED_VIEW)
  /// @}
#undef ORIEL_OR
  /// Entry `position` of axis 0, a view: x[i][j], x[2] = 1. As select(0, position).
  /// @{
  ORIEL_DECLARED_VIEW(Tensor, operator[], (const detail::Position& position))
  /// @}
  /// One element, a view without axes, by one position for each axis; negative ones count from the end. Throws
  /// ShapeError for a position out of range and for another number of positions.
  ///   x.at({1, 2}) = 5;  float v = float(x.at(1, 2));
  /// @{
  ORIEL_DECLARED_VIEW(Tensor, at, (const Ints& index, Site site = Site::here()))
  /// @}
  /// All axes in reverse order: the transpose of a matrix.
  /// @{
  ORIEL_DECLARED_VIEW(Tensor, T, (Site site = Site::here()))
  /// @}
#define ORIEL_WITHOUT_BRACES(name) \
  template <detail::Size... More> [[nodiscard]] Tensor name(const detail::Position& first, More... more) const& { \
    return name(Ints{first.value, SymInt(more)...}, first.site); \
  } \
  template <detail::Size... More> [[nodiscard]] Tensor name(const detail::Position& first, More... more)&& { \
    return std::move(*this).name(Ints{first.value, SymInt(more)...}, first.site); \
  }
  /// The list without braces: x.reshape(-1), x.reshape(4, 3), x.at(1, 2).
  /// @{
  ORIEL_WITHOUT_BRACES(reshape) ORIEL_WITHOUT_BRACES(view) ORIEL_WITHOUT_BRACES(permute) ORIEL_WITHOUT_BRACES(expand) ORIEL_WITHOUT_BRACES(at)
  /// @}
#undef ORIEL_WITHOUT_BRACES
      // clang-format on
      /// Does not compile: positions and masks that are tensors have functions of their own.
      template <std::same_as<Tensor> T>
      Tensor operator[](const T&) const {
    static_assert(detail::kNever<T>,
                  "x[tensor] is read by masked_select(x, mask) or take(x, index), and written by x.assign_where(mask, "
                  "value), x.assign_at(index, values) or x.add_at(index, values)");
    return {};
  }

 private:
  friend struct detail::Access;
  explicit Tensor(detail::Cell* cell) noexcept : cell_(cell) {}  // takes over a reference to the cell

  static Tensor wrap(DType dtype, void* data, const Shape& shape, Callback<void(void*)> deleter, const char* operation,
                     Site site);
  /// The axis of all elements that a layout with strides reaches, and a view of it.
  static Shape reach(const Layout& layout);
  static Tensor in_layout(const Tensor& elements, const Layout& layout);
  static Tensor copy(DType dtype, const void* data, const Shape& shape, Site site);
  static void check_count(std::size_t count, const Shape& shape, const char* operation);
  static void check_row(std::size_t length, std::size_t first);
  /// The number of elements. Throws if that many elements of `bytes` each cannot be allocated.
  static std::size_t count_of(const Shape& shape, const char* operation, std::size_t bytes = 0);
  std::size_t count_to_read(DType dtype, const char* operation) const;
  [[noreturn]] static void no_memory(std::size_t count, std::size_t bytes, const char* operation);
  /// A container of `count` elements. Throws MemoryError, which states the size, if there is no memory for it.
  template <class Container>
  static Container room_for(std::size_t count, std::size_t bytes, const char* operation) {
    try {
      return Container(count);
    } catch (const std::bad_alloc&) {
      no_memory(count, bytes, operation);
    }
  }
  /// Calls f(state, i) for each index i, in row-major order.
  static void each_index(const Shape& shape, void* state, void (*f)(void* state, std::span<const std::int64_t> i));
  void check_one() const;
  template <class T, class U>
  static Tensor of_rows(std::initializer_list<std::initializer_list<U>> rows, Site site) {
    const detail::CallSite call(site);
    const std::size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
    std::vector<T> data;
    for (const auto& row : rows) {
      check_row(row.size(), width);
      for (const U x : row) data.push_back(T(std::conditional_t<Half<T>, float, T>(x)));
    }
    return from(data, Shape{rows.size(), width}, site);
  }
  /// A pointer to the first element of the row-major elements, which keeps their memory alive.
  detail::Shared<const void> hold(DType dtype, const char* operation) const;
  /// The only element, in this dtype. Throws as item does.
  Tensor converted(DType dtype) const;
  void read(DType dtype, void* out, std::size_t count, const char* operation) const;
  void read_into(DType dtype, void* out, const Layout& layout) const;

  detail::Cell* cell_;  // never null; a moved-from tensor has the cell of an empty tensor or the target's old one
};

}  // namespace oriel
