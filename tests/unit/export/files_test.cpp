// The files of an export, and its errors.
#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <thread>

#include "../../support/temporary_folder.hpp"
#include "oriel/oriel.hpp"

namespace files_test {

using namespace oriel;
using namespace oriel::test;

namespace {

template <class E, class F>
void check_throws(F call, const std::string& part) {
  try {
    call();
    FAIL("nothing was thrown; expected: " << part);
  } catch (const E& e) {
    CAPTURE(std::string(e.what()));
    CHECK(std::string(e.what()).find("export_cpp: ") == 0);
    CHECK(std::string(e.what()).find(part) != std::string::npos);
  }
}

std::size_t entries(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("exporting realises nothing, and the same work gives the same bytes") {
  const TemporaryFolder folder;
  const auto work = [] {
    const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}});
    return sum(x * 3, 1) + max(x);
  };
  const Tensor y = work();
  const ExportedFiles one = export_cpp({y}, folder.path(), {.name = "one"});
  CHECK(explain(y).kernels.size() > 0);  // y is still pending
  CHECK(one.header == folder / "one.hpp");
  CHECK(one.source == folder / "one.cpp");
  const std::string header = file_text(one.header);
  const std::string source = file_text(one.source);
  export_cpp({work()}, folder.path(), {.name = "one"});
  CHECK(header == file_text(one.header));
  CHECK(source == file_text(one.source));
  CHECK(entries(folder.path()) == 2);
  CHECK(header.find("Status run(const Inputs& inputs, const Outputs& outputs, void* scratch = nullptr) noexcept;") !=
        std::string::npos);
  y.realize();
  const ExportedFiles copy = export_cpp({y}, folder.path(), {.name = "one"});
  CHECK(copy.kernels == 0);
  CHECK(copy.inputs.size() == 1);
}

TEST_CASE("leaves are inputs in the graph's order, or constants") {
  const TemporaryFolder folder;
  const Tensor a = Tensor::of<float>({1, 2, 3});
  const Tensor b = Tensor::of<float>({4, 5, 6});
  const Tensor c = Tensor::of<double>({7, 8, 9});
  const Tensor y = b * a + c.to(DType::float32);
  ExportedFiles files = export_cpp({y}, folder.path());
  REQUIRE(files.inputs.size() == 3);
  CHECK(files.inputs[0].name == "in0");
  CHECK(files.inputs[2].dtype == DType::float64);
  CHECK(files.inputs[2].bytes == 24);
  CHECK(files.outputs[0].name == "out0");
  files = export_cpp({y}, folder.path(), {.inputs = {{"a", a.reshape({3, 1})}}, .outputs = {"y"}, .embed_bytes = 12});
  REQUIRE(files.inputs.size() == 2);  // b is a constant; a has a name; c is too large
  CHECK(files.inputs[0].name == "a");
  CHECK(files.inputs[1].name == "in1");
  CHECK(files.embedded_bytes == 12);
  CHECK(file_text(files.source).find("{\n    4.0f, 5.0f, 6.0f,};") != std::string::npos);
}

TEST_CASE("numbers of a call are no inputs") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 5}, {8, 13}});
  std::vector<double> many(100), more(2500);
  for (std::vector<double>* list : {&many, &more})
    for (std::size_t k = 0; k < list->size(); ++k) (*list)[k] = static_cast<double>(k * 7 % list->size()) / 2500;
  const Tensor flat = x.reshape({6});
  for (const Tensor& y :
       {quantile(x, 0.3, 0), quantile(x, {0.1, 0.25, 0.9}, 1), nanquantile(x, {0.3, 0.7}, 0), quantile(x, many, 0),
        quantile(x, more, 0), take(flat, tril_indices(3, 3)), take(flat, triu_indices(2, 3, 1))}) {
    const ExportedFiles files = export_cpp({y}, folder.path());
    CHECK(files.inputs.size() == 1);
  }
}

TEST_CASE("a check of positions is where one is needed") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({1, 2, 3}), index = Tensor::of<int>({0, 2});
  const auto checks = [&](const Tensor& y) {
    const ExportedFiles files = export_cpp({y}, folder.path());
    CHECK(files.inputs.size() == 2);
    return file_text(files.source).find("return Status::position") != std::string::npos;
  };
  CHECK(checks(take(x, index - 1)));
  CHECK(checks(put_add(x, index - 1, 1.5)));
  CHECK(!checks(take(x, index - 1, 0, Bounds::zero)));
  CHECK(!checks(take(x, index % 3)));  // cannot be outside
  CHECK(!checks(take(x, index)));      // was checked by the call
}

TEST_CASE("bad names are refused") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor y = x + 1;
  for (const char* bad : {"", "2d", "a-b", "a b", "_a", "a__b", "class", "std", "../up", "kBytes"}) {
    check_throws<ArgumentError>([&] { export_cpp({y}, folder.path(), {.name = bad}); },
                                "\"" + std::string(bad) + "\" cannot be the name of the export");
  }
  check_throws<ArgumentError>([&] { export_cpp({y}, folder.path(), {.inputs = {{"float", x}}}); }, "of an input");
  check_throws<ArgumentError>([&] { export_cpp({y}, folder.path(), {.outputs = {"a.b"}}); }, "of an output");
  check_throws<ArgumentError>(
      [&] {
        export_cpp({y, x}, folder.path(), {.outputs = {"a", "a"}});
      },
      "two outputs are named a");
  check_throws<ArgumentError>(
      [&] {
        export_cpp({y}, folder.path(), {.outputs = {"a", "b"}});
      },
      "2 names for 1 results");
  check_throws<ArgumentError>(
      [&] {
        export_cpp({y}, folder.path(), {.inputs = {{"a", x}, {"b", x}}});
      },
      "inputs a and b are one tensor");
  const Tensor z = Tensor::of<float>({1, 2, 3});
  check_throws<ArgumentError>(
      [&] {
        export_cpp({y + z}, folder.path(), {.inputs = {{"in0", z}}});
      },
      "two inputs are named in0");
  CHECK(entries(folder.path()) == 0);
}

TEST_CASE("inputs must be in memory and be read") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor y = x + 1;
  check_throws<ArgumentError>(
      [&] {
        export_cpp({y * 2}, folder.path(), {.inputs = {{"y", y}}});
      },
      "input y (float32 (3)) is not in memory");
  const Tensor z = Tensor::of<float>({1, 2, 3, 4});
  check_throws<ArgumentError>(
      [&] {
        export_cpp({y}, folder.path(), {.inputs = {{"z", z}}});
      },
      "input z (float32 (4)) is not read by these tensors");
  check_throws<ArgumentError>([&] { export_cpp(std::span<const Tensor>(), folder.path()); }, "no tensors");
}

TEST_CASE("tiles of few sizes") {
  const TemporaryFolder folder;
  const Tensor y = Tensor::of<float>({1, 2, 3}) + 1;
  for (const int bad : {0, -16, 8, 24, 512}) {
    check_throws<ArgumentError>([&] { export_cpp({y}, folder.path(), {.longest_tile = bad}); },
                                "tiles of " + std::to_string(bad) + " elements; accepted are 16, 32, 64, 128 and 256");
  }
}

TEST_CASE("a directory that cannot be written is reported") {
  const TemporaryFolder folder;
  const Tensor y = Tensor::of<float>({1, 2, 3}) + 1;
  check_throws<IoError>([&] { export_cpp({y}, folder / "missing"); }, "cannot write into \"" + (folder / "missing"));
  std::ofstream(folder / "file") << "x";
  check_throws<IoError>([&] { export_cpp({y}, folder / "file"); }, "cannot write into");
  std::filesystem::create_directory(folder / "out.cpp");
  std::filesystem::create_directory(folder / "out.hpp");
  check_throws<IoError>([&] { export_cpp({y}, folder.path(), {.name = "out"}); }, "cannot write");
  CHECK(entries(folder.path()) == 3);  // no temporary file is left
  if (geteuid() != 0) {
    std::filesystem::permissions(folder / "out.cpp", std::filesystem::perms::owner_read);
    check_throws<IoError>([&] { export_cpp({y}, folder / "out.cpp"); }, "Permission denied");
    std::filesystem::permissions(folder / "out.cpp", std::filesystem::perms::owner_all);
  }
}

TEST_CASE("tensors of one device") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({1, 2, 3});
  Tensor other;
  {
    const Device before = default_device();
    set_default_device(Device::null());
    other = zeros({3}) + Tensor::of<float>({1, 2, 3});
    set_default_device(before);
  }
  check_throws<DeviceError>([&] { export_cpp({x + 1, other}, folder.path()); }, "work on eigen and null");
  const ExportedFiles files = export_cpp({other}, folder.path());  // exporting only plans, so any device will do
  CHECK(files.inputs.size() == 1);
  check_throws<DeviceError>([&] { export_cpp({other}, folder.path(), {.embed_bytes = 100}); }, "null");
}

TEST_CASE("threads that export the same name leave one whole export") {
  const TemporaryFolder folder;
  const Tensor y = sum(exp(Tensor::of<float>({1, 2})) * 2 + 1);
  for (const char* name : {"alone", "shared"}) std::filesystem::create_directory(folder / name);
  export_cpp({y}, folder / "alone", {.name = "same"});
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) {
        try {
          export_cpp({y}, folder / "shared", {.name = "same"});
        } catch (const std::exception&) {
          ++failed;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(failed == 0);
  CHECK(entries(folder / "shared") == entries(folder / "alone"));
  CHECK(file_text(folder / "shared/same.cpp") == file_text(folder / "alone/same.cpp"));
}

}  // namespace files_test
