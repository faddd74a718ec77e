// Parts that a build leaves out (meson's options profile, compiled and opencl): headers are the same, and each call
// that needs such a part names what has it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::parts_test {

namespace {

using test::refusal;
/// The message of the ArgumentError that `call` throws.
[[maybe_unused]] std::string absent(const std::string& operation, const std::string& parts) {
  return operation + ": this build of Oriel has no " + parts +
         ": they are left out of the profile small, and where an option says so; the profile full (meson setup "
         "-Dprofile=full, which is the "
         "default) "
         "has them";
}

}  // namespace

#ifdef ORIEL_NO_COMPILED
TEST_CASE("without the compiled tier every kernel stays on the tile machine") {
  set_eigen_tier(EigenTier::automatic);
  CHECK(eigen_tier() == EigenTier::tile);
  const Tensor x = Tensor::of<float>({1, 2, 3}).realize();
  CHECK(explain(x + 1).kernels[0].tier == "tile machine, as set");
  for (int i = 0; i < 100; ++i) CHECK((x * 2).to_vector<float>() == std::vector<float>{2, 4, 6});
}

TEST_CASE("the compiled tier is refused by the call that asks for it") {
  const std::string why =
      ": EigenTier::compile (\"compile\") needs the compiled tier, which this build lacks; use tile or auto, or build "
      "Oriel with -Dcompiled=enabled (the profile full has it)";
  CHECK(refusal([] { set_eigen_tier(EigenTier::compile); }) == "set_eigen_tier" + why);
  CHECK(refusal([] { const Context context({.tier = EigenTier::compile}); }) == "Context" + why);
  CHECK(eigen_tier() == EigenTier::tile);
  setenv("ORIEL_EIGEN", "compile", 1);
  CHECK(refusal([] { const Context context; }) == "ORIEL_EIGEN" + why);
  setenv("ORIEL_EIGEN", "auto", 1);
  const Context context;
  const ContextScope scope(context);
  CHECK(eigen_tier() == EigenTier::tile);
}
#endif

#ifdef ORIEL_NO_OPENCL
TEST_CASE("a device of OpenCL is refused with what has it") {
  const Tensor x = Tensor::of<float>({1, 2});
  CHECK_THROWS_WITH_AS(x.to(Device::opencl(0)).realize(),
                       doctest::Contains("this build has no OpenCL: build Oriel with -Dopencl=enabled, in the profile "
                                         "full"),
                       DeviceError);
}
#endif

#ifdef ORIEL_NO_SOURCES
TEST_CASE("the profile small has no exports and no sources of kernels") {
  const std::string folder = (std::filesystem::temp_directory_path() / "oriel_parts").string();
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Explanation explained = explain(x + 1);
  CHECK(explained.kernels[0].source == explained.kernels[0].program);
  CHECK(explained.str().find("1 kernel on eigen") != std::string::npos);
  CHECK(refusal([&] { static_cast<void>(export_cpp({x + 1}, folder)); }) == absent("export_cpp", "exports"));
  const auto f = function([](Tensor t) { return t + 1; });
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 3, 4});
  CHECK(refusal([&] { static_cast<void>(f.export_cpp(folder)); }) == absent("export_cpp", "exports"));
  set_dump_directory(folder);
  CHECK(refusal([&] { (x * 3 - 1).realize(); }) == absent("ORIEL_DUMP", "sources of kernels"));
  set_dump_directory(std::nullopt);
  CHECK((x * 3 - 1).to_vector<float>() == std::vector<float>{2, 5, 8});
}
#endif

#ifdef ORIEL_SMALL
TEST_CASE("the profile small has no comprehensions") {
  CHECK(refusal([] { static_cast<void>(comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i) }")); }) ==
        absent("comprehension", "comprehensions"));
  CHECK(refusal([] { static_cast<void>(comprehensions("")); }) == absent("comprehensions", "comprehensions"));
  CHECK(refusal([] { set_comprehension_warning_sink({}); }) ==
        absent("set_comprehension_warning_sink", "comprehensions"));
}

TEST_CASE("the profile small has no linear algebra, but host functions") {
  const std::string parts = "functions of linear algebra and Fourier transforms";
  CHECK(refusal([] { static_cast<void>(inverse(ones({2, 2}))); }) == absent("inverse", parts));
  CHECK(refusal([] { static_cast<void>(rfft(ones({2, 2}))); }) == absent("rfft", parts));
  const auto twice = [](const HostCall& c) { c.result.elements<float>()[0] = 2 * c.operands[0].elements<float>()[0]; };
  CHECK(host_call("twice", twice, {ones({1})}, {1}, DType::float32).to_vector<float>() == std::vector<float>{2});
}

TEST_CASE("the profile small has other parts where they are asked for") {
#ifdef ORIEL_NO_RANDOM
  CHECK(refusal([] { static_cast<void>(uniform(Key(1), {2})); }) == absent("uniform", "random numbers"));
  CHECK(refusal([] { static_cast<void>(permutation(Key(1), 3)); }) == absent("permutation", "random numbers"));
  CHECK(refusal([] { static_cast<void>(poisson(Key(1), {2}, 1)); }) == absent("poisson", "random numbers"));
#endif
#ifdef ORIEL_NO_COMPLEX
  const Complex z(Tensor::of<float>({1, 2}), Tensor::of<float>({3, 4}));
  CHECK(refusal([&] { static_cast<void>(z * z); }) == absent("mul", "functions of complex numbers"));
  CHECK(refusal([&] { static_cast<void>(exp(z)); }) == absent("exp", "functions of complex numbers"));
  CHECK(refusal([&] { static_cast<void>(sum(z)); }) == absent("sum", "functions of complex numbers"));
  CHECK(z.real().to_vector<float>() == std::vector<float>{1, 2});
#endif
#ifdef ORIEL_NO_FILTERS
  CHECK(refusal([] { pad(ones({3}), {{1, 1}}, PadMode::reflect); }) == absent("pad", "filters and resampling"));
  CHECK(refusal([] { interpolate(ones({3}), {6}); }) == absent("interpolate", "filters and resampling"));
  CHECK(refusal([] { convolve(ones({3}), ones({2})); }) == absent("convolve", "filters and resampling"));
  CHECK(pad(ones({1}), {{1, 0}}).to_vector<float>() == std::vector<float>{0, 1});
#endif
#ifdef ORIEL_NO_FURTHER
  CHECK(refusal([] { static_cast<void>(unbind(ones({3}))); }) == absent("unbind", "further compositions"));
  CHECK(refusal([] { static_cast<void>(rearrange(ones({3}), "a -> a")); }) ==
        absent("rearrange", "further compositions"));
#endif
#ifdef ORIEL_NO_HISTOGRAMS
  CHECK(refusal([] { bincount(arange(3)); }) == absent("bincount", "counts and histograms"));
  CHECK(refusal([] { histogram(ones({3}), 2); }) == absent("histogram", "counts and histograms"));
#endif
#ifdef ORIEL_NO_LOSSES
  CHECK(refusal([] { mse_loss(ones({3}), ones({3})); }) == absent("mse_loss", "losses"));
  CHECK(refusal([] { cross_entropy(ones({2, 3}), arange(2)); }) == absent("cross_entropy", "losses"));
#endif
#ifdef ORIEL_NO_NOTATIONS
  CHECK(refusal([] { static_cast<void>(layouts::Map::read("(2,2):(1,2)")); }) ==
        absent("read", "notations of layouts"));
  CHECK(refusal([] { static_cast<void>(layouts::Map::of(ShapeTracker(Shape{2}))); }) ==
        absent("of", "notations of layouts"));
  CHECK(layouts::Swizzle{1, 0, 1}(2) == 3);
#endif
#ifdef ORIEL_NO_REPORTS
  CHECK(refusal([] { report({ones({2})}, "page.html"); }) == absent("report", "reports"));
  CHECK(refusal([] { set_report_file("page.html"); }) == absent("set_report_file", "reports"));
  set_report_file(std::nullopt);
#endif
#ifdef ORIEL_NO_TEXT
  CHECK(refusal([] { static_cast<void>(load_text("a.csv")); }) == absent("load_text", "readers and writers of text"));
  CHECK(refusal([] { save_text("a.csv", ones({2})); }) == absent("save_text", "readers and writers of text"));
#endif
}

TEST_CASE("the profile small has no images") {
  CHECK(refusal([] { static_cast<void>(read_image("photo.png")); }) == absent("read_image", "images"));
  CHECK(refusal([] { write_image("photo.png", full({2, 2}, 0)); }) == absent("write_image", "images"));
  CHECK(refusal([] { static_cast<void>(read_safetensors("x.safetensors")); }) ==
        absent("read_safetensors", "safetensors"));
  CHECK(refusal([] { write_safetensors("x.safetensors", {}); }) == absent("write_safetensors", "safetensors"));
}
#else
TEST_CASE("the profile full has comprehensions and reads images") {
  const Comprehension twice = comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i) * 2 }");
  CHECK(Tensor(twice(Tensor::of<float>({1, 2}))).to_vector<float>() == std::vector<float>{2, 4});
  CHECK_THROWS_AS(static_cast<void>(read_image("no such folder/photo.png")), IoError);
}
#endif

}  // namespace oriel::parts_test
