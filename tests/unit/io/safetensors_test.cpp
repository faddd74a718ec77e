// Files of tensors: a round trip of every dtype and of structures, mapped; all errors; a run that goes on to equal
// bits.
#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "oriel/optim.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::safetensors_test {
namespace {

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
/// The length of a header, the header, and bytes of data.
std::string file_of(const std::string& header, std::size_t bytes) {
  std::string out;
  for (std::size_t k = 0; k < 8; ++k) out += static_cast<char>(header.size() >> (8 * k));
  return out + header + std::string(bytes, '\0');
}
std::string entry(const std::string& dtype, const std::string& shape, const std::string& places) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + places + "}";
}

struct Layer {
  Tensor w, b;
  bool rectified = true;
};
auto oriel_members(Layer& l) { return std::tie(l.w, l.b, l.rectified); }
auto oriel_members(const Layer& l) { return std::tie(l.w, l.b, l.rectified); }

}  // namespace

TEST_CASE("every dtype goes there and back, to the bit, with texts") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  NamedTensors all;
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    all.set(std::string(name(dtype)), (arange(24) * 5 % 7).to(dtype).reshape({2, 3, 4}));
  }
  all.set("scalar \"s\" é", scalar(2.5F));
  all.set("empty", zeros({0, 3}));
  write_safetensors(path, all, {{"epoch", "12"}, {"", "nothing"}});
  const Safetensors file = read_safetensors(path);
  CHECK(file.metadata.size() == 2);
  CHECK(file.metadata.at("epoch") == "12");
  CHECK(file.metadata.at("") == "nothing");
  CHECK(file.metadata.find("other") == nullptr);
  CHECK_THROWS_WITH_AS((void)file.tensors.at("other"), "at: there is no entry \"other\"", ArgumentError);
  REQUIRE(file.tensors.size() == all.size());
  for (const auto& entry_of_all : all) {
    const std::string& key = entry_of_all.first;
    const Tensor& x = entry_of_all.second;
    CAPTURE(key);
    const Tensor& y = file.tensors.at(key);
    CHECK(y.dtype() == x.dtype());
    CHECK(y.shape() == x.shape());
    CHECK(y.realized());
    CHECK(oriel::all(y == x).item<bool>());
  }
  // The header is padded, and elements are aligned.
  const std::string bytes = test::file_text(path);
  CHECK(bytes[0] % 8 == 0);
}

TEST_CASE("a file of the format's own writer") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  // safetensors.numpy.save({"b": arange(3, dtype=uint8), "a": array([1.5], float32)}), unaligned on purpose.
  const std::string header = R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                             R"("a":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}})";
  std::string bytes = file_of(header, 0);
  bytes += std::string("\0\1\2", 3);
  const float value = 1.5F;
  bytes.append(reinterpret_cast<const char*>(&value), 4);
  write(path, bytes);
  const Safetensors file = read_safetensors(path);
  CHECK(file.tensors.at("b").to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 1, 2});
  CHECK(file.tensors.at("a").to_vector<float>() == std::vector<float>{1.5F});
}

TEST_CASE("tensors are mapped: writes to them, and another file of the name, change nothing") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  write_safetensors(path, {{"x", arange(6).to(DType::float32)}});
  const std::string before = test::file_text(path);
  Tensor x = read_safetensors(path).tensors.at("x");
  const Tensor other = read_safetensors(path).tensors.at("x");
  x[0] = 7;
  x.realize();
  CHECK(x.to_vector<float>() == std::vector<float>{7, 1, 2, 3, 4, 5});
  CHECK(other.to_vector<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(test::file_text(path) == before);
  write_safetensors(path, {{"x", zeros({1})}});
  CHECK(other.to_vector<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("what is no such file is refused, and why") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  const auto of = [&](const std::string& bytes) {
    write(path, bytes);
    try {
      (void)read_safetensors(path);
      return std::string("nothing");
    } catch (const IoError& error) {
      const std::string text(error.message());
      CHECK(text.find(path) != std::string::npos);
      return text.substr(text.find("\": ") + 3);
    }
  };
  const auto one = [&](const std::string& value, std::size_t bytes = 0) {
    return of(file_of("{\"w\":" + value + "}", bytes));
  };
  CHECK(of("").starts_with("0 bytes are no file of tensors"));
  CHECK(of("1234567").starts_with("7 bytes are no file of tensors"));
  CHECK(of(std::string(7, '\xff') + "\x7f{}") == "no header has 9223372036854775807 bytes; at most 100000000 are read");
  CHECK(of(file_of("{}", 0).substr(0, 9)) == "the file ends inside its header: after 1 of 2 bytes");
  CHECK(of(file_of("[]", 0)).starts_with("the header does not begin with {"));
  CHECK(of(file_of("{\"w\":", 0)).starts_with("the header is no JSON: "));
  CHECK(of(file_of("{\"\xff\":1}", 0)).starts_with("the header is no JSON: "));
  CHECK(one("1") == "entry \"w\": it is no object");
  CHECK(one("[[[[[[[[1]]]]]]]]") == "the header is nested too deeply");
  CHECK(one("{}") == "entry \"w\": it has no \"dtype\"");
  CHECK(one(R"({"dtype":"F32","shape":[],"data_offsets":[0,4],"more":1})") == "entry \"w\": \"more\" is unknown");
  CHECK(one(entry("F4", "[1]", "[0,4]")).starts_with("entry \"w\": its dtype is \"F4\"; BOOL, "));
  CHECK(one(entry("F32", "3", "[0,4]")) == "entry \"w\": \"shape\" is no array");
  CHECK(one(entry("F32", "[-1]", "[0,4]")) == "entry \"w\": -1 in \"shape\" is no whole number from 0 to 2^62");
  CHECK(one(entry("F32", "[1.5]", "[0,4]")) == "entry \"w\": 1.5 in \"shape\" is no whole number from 0 to 2^62");
  CHECK(one(entry("F32", "[1]", "[4,0]")) == "entry \"w\": \"data_offsets\" are no two places in order");
  CHECK(one(entry("F32", "[1]", "[0,4,8]")) == "entry \"w\": \"data_offsets\" are no two places in order");
  CHECK(one(entry("F32", "[3]", "[0,8]"), 8) == "entry \"w\": (3) of float32 needs 12 bytes; the file gives it 8");
  CHECK(
      one(entry("F32", "[4611686018427387904,4611686018427387904]", "[0,4]"), 4).ends_with("is more than 2^64 bytes"));
  CHECK(one(entry("F32", "[2]", "[0,8]"), 4) ==
        "entry \"w\": its bytes end at 8; the file has 4 behind the header: it is truncated");
  CHECK(one(entry("F32", "[1]", "[4,8]"), 8) == "entry \"w\": it begins at 4; the bytes from 0 on belong to no tensor");
  CHECK(one(entry("F32", "[1]", "[0,4]"), 6) == "2 bytes behind the last tensor belong to none");
  const std::string w = "\"w\":" + entry("F32", "[1]", "[0,4]");
  CHECK(of(file_of("{" + w + "," + w + "}", 4)) == "entry \"w\": it comes twice");
  CHECK(of(file_of("{" + w + R"(,"v":)" + entry("F32", "[1]", "[2,6]") + "}", 6)) ==
        "entry \"v\": it overlaps with \"w\"");
  CHECK(of(file_of(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)) ==
        "entry \"dtype\": it comes twice");
  CHECK(of(file_of(R"({"__metadata__":{"a":1}})", 0)) == "entry \"__metadata__\": \"a\" is no text");
  std::string bools = file_of("{\"w\":" + entry("BOOL", "[1]", "[0,1]") + "}", 1);
  bools.back() = 2;
  CHECK(of(bools) == "entry \"w\": a bool is 2, neither 0 nor 1");
  CHECK(of(file_of("{\"\\u001b[31m\":1}", 0)) == "entry \"\\x1b[31m\": it is no object");
  CHECK(of(file_of("{}", 0)) == "nothing");
  CHECK_THROWS_AS((void)read_safetensors(folder / "none"), IoError);
  CHECK_THROWS_WITH_AS(write_safetensors(path, {{"\xff", ones({1})}}),
                       "write_safetensors: a name or a text of the metadata is no UTF-8; give others", ArgumentError);
  CHECK_THROWS_AS(write_safetensors(path, {{"__metadata__", ones({1})}}), ArgumentError);
}

TEST_CASE("altered files are read or refused, whatever was altered") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  write_safetensors(path, {{"a", ones({2, 3})}, {"b", zeros({4}, DType::bool_)}}, {{"m", "n"}});
  const std::string whole = test::file_text(path);
  std::uint64_t word = 88172645463325252U;  // xorshift of Marsaglia
  const auto random = [&](std::size_t below) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return static_cast<std::size_t>(word % below);
  };
  int read = 0;
  for (int k = 0; k < 1000; ++k) {
    std::string bytes = whole;
    constexpr std::string_view kWords = "{}[]\",:0129-eE.\\";
    for (std::size_t n = random(3) + 1; n > 0; --n) {
      const std::size_t at = random(bytes.size());
      if (random(4) == 0)
        bytes.erase(at, random(4) + 1);
      else
        bytes[at] = random(2) == 0 ? kWords[random(kWords.size())] : static_cast<char>(random(256));
    }
    write(path, bytes);
    try {
      for (const auto& [name, x] : read_safetensors(path).tensors) (void)sum(x.to(DType::float32)).item<float>();
      ++read;
    } catch (const IoError&) {
    }
  }
  CHECK(read > 50);
}

TEST_CASE("structures by name") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  const std::vector<Layer> layers{{ones({2, 3}), zeros({3})}, {full({3, 1}, 2.0F), ones({1}), false}};
  write_safetensors(path, named("layers", layers, "rate", scalar(0.5F)));
  const NamedTensors tensors = read_safetensors(path).tensors;
  std::vector<std::string> names;
  for (const auto& [key, x] : tensors) names.push_back(key);
  CHECK(names == std::vector<std::string>{"layers.0.0", "layers.0.1", "layers.1.0", "layers.1.1", "rate"});
  const std::vector<Layer> like{{zeros({2, 3}), zeros({3})}, {zeros({3, 1}), zeros({1})}};
  const std::vector<Layer> got = restored(tensors, "layers", like);
  CHECK(all(got[1].w == layers[1].w).item<bool>());
  CHECK(got[1].rectified);  // flags have no entry
  CHECK(restored(tensors, "rate", scalar(0.0F)).item<float>() == 0.5F);
  CHECK_THROWS_WITH_AS((void)restored(tensors, "other", like),
                       "restored: there is no entry \"other.0.0\"; it would be float32 (2, 3) on eigen", ArgumentError);
  CHECK_THROWS_WITH_AS((void)restored(tensors, "rate", zeros({2})),
                       "restored: entry \"rate\" is float32 () on eigen; it should be float32 (2) on eigen",
                       ShapeError);
  CHECK_THROWS_AS((void)restored(tensors, "rate", zeros({}, DType::float64)), DTypeError);
}

TEST_CASE("a run that is resumed goes on to equal bits") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "step.safetensors";
  const auto train = oriel::function([](Layer layer, OptimizerState state, Tensor x, Tensor y) {
    const auto loss_of = [&](const Layer& l) { return mse_loss(tanh(matmul(x, l.w) + l.b), y); };
    const auto [next, after] = step(AdamW{.rate = 0.02}, layer, grad(loss_of)(layer), state);
    return std::tuple(next, after);
  });
  const Batches data(std::pair(normal(Key(1), {50, 4}).realize(), uniform(Key(2), {50, 3}).realize()), Key(3),
                     {.size = 8});
  const auto first = [] { return packed(Layer{normal(Key(4), {4, 3}), zeros({3})}); };
  const auto go_on = [&](Layer& layer, OptimizerState& state, std::int64_t from, std::int64_t to) {
    for (std::int64_t epoch = from; epoch < to; ++epoch)
      for (const auto& [x, y] : data.epoch(epoch)) std::tie(layer, state) = train(layer, state, x, y);
  };
  Layer whole = first();
  OptimizerState state = start(AdamW{}, whole);
  go_on(whole, state, 0, 6);

  Layer half = first();
  OptimizerState before = start(AdamW{}, half);
  go_on(half, before, 0, 3);
  write_safetensors(path, named("layer", half, "state", before));
  const NamedTensors tensors = read_safetensors(path).tensors;
  const auto like = first();
  for (const bool in_one_storage : {true, false}) {
    Layer again = restored(tensors, "layer", like);
    if (in_one_storage) again = packed(again);
    OptimizerState after = restored(tensors, "state", start(AdamW{}, like));
    go_on(again, after, 3, 6);
    CHECK(all(again.w.bitcast(DType::int32) == whole.w.bitcast(DType::int32)).item<bool>());
    CHECK(all(again.b.bitcast(DType::int32) == whole.b.bitcast(DType::int32)).item<bool>());
    CHECK(after.step.item<std::int64_t>() == state.step.item<std::int64_t>());
  }
}

}  // namespace oriel::safetensors_test
