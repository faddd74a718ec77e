// Sorts on OpenCL: every dtype, rows in local memory and rows in shares, by few items and, as on GPUs, by many.
#include <doctest/doctest.h>

#include "opencl_device.hpp"
#include "sort_case.hpp"

namespace opencl_sort_test {

using namespace oriel;
using namespace oriel::test;

namespace {

namespace opencl = backend::opencl;

void check(opencl::OpenClBackend& device, const SortCase& c, std::mt19937_64& random) {
  const Bytes x(c.dtype, c.rows * c.extent);
  fill(x, random, random() % 2 == 0);
  for (const bool positions : {false, true}) {
    INFO(name(c.dtype), " ", c.rows, "x", c.extent, c.descending ? " descending" : "", positions ? " positions" : "");
    const Bytes out(positions ? DType::int64 : c.dtype, c.rows * c.extent);
    run_there(device, sorting(c.dtype, c.rows, c.extent, c.descending, positions), {&x, &out});
    CHECK(is_sorted_from(c, positions, x, out));
  }
}

/// A device whose sources are those of a GPU; nullopt on a simulator, whose groups are too small for them.
std::optional<opencl::Options> gpu_options() {
  opencl::Options options = opencl_options();
  if (opencl::OpenClBackend(0, options).table().group_size < 256) return std::nullopt;
  options.adjust = [](opencl::DeviceTable& t) { t.cpu = false; };
  return options;
}

}  // namespace

TEST_CASE("every dtype is sorted, in one group and in shares") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  std::mt19937_64 random(3);
  for (const DType dtype : tested_dtypes()) {
    check(device, {dtype, 3, 33, random() % 2 == 0}, random);
    check(device, {dtype, 2, 5000, random() % 2 == 0}, random);
  }
  for (const std::int64_t extent : {1, 2, 31, 32, 256, 257, 2047, 2048, 2049, 4096, 4097, 70'001}) {
    check(device, {DType::float32, 1, extent, false}, random);
    check(device, {DType::int16, 3, extent, false}, random);
  }
  check(device, {DType::float32, 300, 20, false}, random);
}

TEST_CASE("a few elements, for a simulator") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  std::mt19937_64 random(5);
  check(device, {DType::float32, 3, 33, true}, random);
  check(device, {DType::int64, 2, 20, false}, random);
  check(device, {DType::int16, 2, 2100, false}, random);
}

TEST_CASE("as on GPUs, by groups of up to 256 items") {
  const std::optional<opencl::Options> options = has_opencl() ? gpu_options() : std::nullopt;
  if (!options) return;
  opencl::OpenClBackend device(0, *options);
  std::mt19937_64 random(4);
  for (const DType dtype : {DType::float32, DType::int64, DType::uint8, DType::float16})
    check(device, {dtype, 2, 5000, random() % 2 == 0}, random);
  for (const std::int64_t extent : {20, 33, 300, 2048}) check(device, {DType::float32, 3, extent, false}, random);
  check(device, {DType::float32, 1, 70'001, true}, random);
}

TEST_CASE("sizes share a source, and a device of little local memory has small tiles") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  const auto rendered = [&](std::int64_t extent, std::int64_t memory) {
    source::items::DeviceTraits table = device.table();
    table.cpu = true;
    table.group_size = 256;
    table.local_memory = memory;
    return source::items::render(sorting(DType::float32, 1, extent, false, true), source::opencl::dialect(), table, {});
  };
  CHECK(rendered(70'001, 32768).body == rendered(90'001, 32768).body);
  CHECK(rendered(70'001, 32768).method.find("tiles of 2048 elements") != std::string::npos);
  CHECK(rendered(70'001, 8192).method.find("tiles of 512 elements") != std::string::npos);
}

// doctest runs the cases in the order of the file, so this one comes last.
TEST_CASE("in a language near Metal the programs of this source pass a compiler's syntax check") {
  if (has_opencl()) MetalUnit::instance().check();
}

}  // namespace opencl_sort_test
