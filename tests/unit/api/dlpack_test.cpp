// DLPack both ways: shapes, strides and offsets without a copy, lifetimes by deleters that count, and what is refused.
#include "oriel/dlpack.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "api/dlpack_abi.hpp"
#include "oriel/oriel.hpp"

namespace dlpack_test {

using namespace oriel;

namespace {

/// Another library's tensor of float32. Counts how often its deleter runs.
struct Other {
  std::vector<float> data;
  std::vector<std::int64_t> shape, strides;
  std::atomic<int> deleted{0};
  DLManagedTensor plain{};
  DLManagedTensorVersioned versioned{};

  Other(std::size_t count, std::vector<std::int64_t> extents, std::vector<std::int64_t> steps = {})
      : data(count), shape(std::move(extents)), strides(std::move(steps)) {
    std::iota(data.begin(), data.end(), 0.0F);
    plain.dl_tensor = {data.data(),
                       {1, 0},
                       static_cast<std::int32_t>(shape.size()),
                       {2, 32, 1},
                       shape.data(),
                       strides.empty() ? nullptr : strides.data(),
                       0};
    plain.manager_ctx = this;
    plain.deleter = [](DLManagedTensor* self) { ++static_cast<Other*>(self->manager_ctx)->deleted; };
    versioned.version = {1, 1};
    versioned.manager_ctx = this;
    versioned.deleter = [](DLManagedTensorVersioned* self) { ++static_cast<Other*>(self->manager_ctx)->deleted; };
    versioned.dl_tensor = plain.dl_tensor;
  }
};

template <class Error>
std::string refusal(Other& other) {
  try {
    (void)from_dlpack(&other.plain);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::vector<float> elements_of(const DLTensor& t) {
  std::vector<float> out;
  std::vector<std::int64_t> index(static_cast<std::size_t>(t.ndim), 0);
  std::int64_t count = 1;
  for (std::int32_t d = 0; d < t.ndim; ++d) count *= t.shape[d];
  const auto* first = reinterpret_cast<const float*>(static_cast<const char*>(t.data) + t.byte_offset);
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t at = 0, rest = n;
    for (std::int32_t d = t.ndim; d-- > 0;) {
      at += rest % t.shape[d] * t.strides[d];
      rest /= t.shape[d];
    }
    out.push_back(first[at]);
  }
  return out;
}

}  // namespace

TEST_CASE("memory comes in without a copy, and is given back once") {
  Other other(6, {2, 3});
  {
    const Tensor x = from_dlpack(&other.plain);
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.to_vector<float>() == other.data);
    if (default_device() == Device::eigen()) CHECK(x.data<float>().data() == other.data.data());
    const Tensor row = x.select(0, 1);
    const Tensor pending = row * 2;
    if (default_device() == Device::eigen()) CHECK(other.deleted == 0);  // other devices copy it
    CHECK(pending.to_vector<float>() == std::vector<float>{6, 8, 10});
  }
  synchronize();
  CHECK(other.deleted == 1);
}

TEST_CASE("strides, offsets and axes of one element") {
  Other turned(6, {3, 2}, {1, 3});
  CHECK(from_dlpack(&turned.plain).to_vector<float>() == std::vector<float>{0, 3, 1, 4, 2, 5});
  Other backwards(6, {3}, {-2});
  backwards.plain.dl_tensor.data = &backwards.data[5];
  CHECK(from_dlpack(&backwards.plain).to_vector<float>() == std::vector<float>{5, 3, 1});
  Other same(2, {3, 2}, {0, 1});
  CHECK(from_dlpack(&same.plain).to_vector<float>() == std::vector<float>{0, 1, 0, 1, 0, 1});
  Other later(6, {2, 2}, {3, 1});
  later.plain.dl_tensor.byte_offset = 4;
  CHECK(from_dlpack(&later.plain).to_vector<float>() == std::vector<float>{1, 2, 4, 5});
  Other single(1, {1, 1, 1}, {77, -5, 0});
  CHECK(from_dlpack(&single.plain).to_vector<float>() == std::vector<float>{0});
  Other number(1, {});
  CHECK(from_dlpack(&number.plain).shape() == Shape{});
  Other none(1, {0, 3});
  none.plain.dl_tensor.data = nullptr;
  CHECK(from_dlpack(&none.plain).shape() == Shape{0, 3});
  for (const Other* other : {&turned, &backwards, &same, &later, &single, &number, &none}) CHECK(other->deleted == 1);
}

TEST_CASE("what cannot come in is refused, and given back") {
  const auto with = [](auto change) {
    auto other = std::make_unique<Other>(6, std::vector<std::int64_t>{2, 3});
    change(other->plain.dl_tensor);
    return other;
  };
  const auto device = with([](DLTensor& t) { t.device = {2, 0}; });
  CHECK(refusal<DeviceError>(*device).find("type 2") != std::string::npos);
  const auto complex = with([](DLTensor& t) { t.dtype = {5, 64, 1}; });
  CHECK(refusal<DTypeError>(*complex).find("code 5, 64 bits") != std::string::npos);
  const auto lanes = with([](DLTensor& t) { t.dtype.lanes = 4; });
  CHECK(refusal<DTypeError>(*lanes).find("4 lanes") != std::string::npos);
  const auto axes = with([](DLTensor& t) { t.ndim = 1000; });
  CHECK(refusal<ArgumentError>(*axes).find("1000 axes") != std::string::npos);
  const auto negative = with([](DLTensor& t) { t.shape[1] = -1; });
  CHECK(refusal<ArgumentError>(*negative).find("axis 1 has -1") != std::string::npos);
  const auto huge = with([](DLTensor& t) { t.shape[0] = t.shape[1] = std::int64_t{1} << 40; });
  CHECK(refusal<ArgumentError>(*huge).find("2^63-1") != std::string::npos);
  const auto null = with([](DLTensor& t) { t.data = nullptr; });
  CHECK(refusal<ArgumentError>(*null).find("null") != std::string::npos);
  const auto crooked = with([](DLTensor& t) { t.byte_offset = 2; });
  CHECK(refusal<ArgumentError>(*crooked).find("aligned") != std::string::npos);
  for (const auto* other : {&device, &complex, &lanes, &axes, &negative, &huge, &null, &crooked})
    CHECK((*other)->deleted == 1);
  CHECK_THROWS_AS((void)from_dlpack(static_cast<DLManagedTensor*>(nullptr)), ArgumentError);
  Other old(6, {6});
  old.versioned.version = {2, 0};
  CHECK_THROWS_AS((void)from_dlpack(&old.versioned), ArgumentError);
  CHECK(old.deleted == 1);
}

TEST_CASE("memory that is read-only is copied, and given back at once") {
  Other other(6, {3, 2}, {1, 3});
  other.versioned.flags = 1;
  Tensor x = from_dlpack(&other.versioned);
  CHECK(other.deleted == 1);
  x += 1;
  CHECK(x.to_vector<float>() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(other.data[0] == 0);
}

TEST_CASE("tensors and their views go out without a copy; what strides cannot say is computed") {
  if (default_device() != Device::eigen()) return;
  const Tensor x = Tensor::of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).reshape({3, 4}).realize();
  const float* const first = x.data<float>().data();
  const auto check = [&](const Tensor& view, bool in_place) {
    DLManagedTensor* const managed = to_dlpack(view);
    CHECK(elements_of(managed->dl_tensor) == view.to_vector<float>());
    const auto* data = static_cast<const float*>(managed->dl_tensor.data);
    CHECK((data == first) == in_place);
    managed->deleter(managed);
  };
  check(x, true);
  check(x.transpose(), true);
  check(x.select(1, 2), true);
  check(x.slice({{1, 3}, {1, 3}}), true);
  check(pad(x, {{1, 0}, {0, 0}}), false);
  check(x + 1, false);
  check(x.transpose().reshape({12}), false);
}

TEST_CASE("an exported tensor keeps its elements, whatever becomes of the tensor, and says that it is read-only") {
  DLManagedTensorVersioned* managed = nullptr;
  {
    Tensor x = Tensor::of<float>({1, 2, 3});
    if (x.device() != Device::eigen()) return;
    managed = to_dlpack_versioned(x);
    x += 10;
    CHECK(x.to_vector<float>() == std::vector<float>{11, 12, 13});
  }
  CHECK(managed->version.major == 1);
  CHECK((managed->flags & 1) == 1);
  CHECK(elements_of(managed->dl_tensor) == std::vector<float>{1, 2, 3});
  std::thread([&] { managed->deleter(managed); }).join();
}

TEST_CASE("there and back for every dtype") {
  if (default_device() != Device::eigen()) return;
  for (const DType dtype :
       {DType::bool_, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
        DType::uint64, DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const Tensor x = arange(24).to(dtype).reshape({2, 3, 4}).realize();
    const Tensor back = from_dlpack(to_dlpack(x.permute({2, 0, 1})));
    CHECK(back.dtype() == dtype);
    CHECK(back.shape() == Shape{4, 2, 3});
    CHECK(back.to(DType::float64).to_vector<double>() == x.permute({2, 0, 1}).to(DType::float64).to_vector<double>());
  }
}

}  // namespace dlpack_test
