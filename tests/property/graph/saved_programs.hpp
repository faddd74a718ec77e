// Random captured functions in files: loaded in the same process and in another one, they give the same bits.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::testing {

/// The bits of the elements in row-major order.
inline std::vector<std::uint64_t> bits_of(const Tensor& x) {
  const auto wide = [](const auto& elements) { return std::vector<std::uint64_t>(elements.begin(), elements.end()); };
  switch (itemsize(x.dtype())) {
    case 1:
      return x.dtype() == DType::bool_ ? wide(x.to_vector<bool>())
                                       : wide(x.bitcast(DType::uint8).to_vector<std::uint8_t>());
    case 2:
      return wide(x.bitcast(DType::uint16).to_vector<std::uint16_t>());
    case 4:
      return wide(x.bitcast(DType::uint32).to_vector<std::uint32_t>());
    default:
      return wide(x.bitcast(DType::uint64).to_vector<std::uint64_t>());
  }
}

/// Programs that were saved, and what they gave. All of them are run again by one other process.
class SavedPrograms {
 public:
  using Leaves = std::vector<Tensor>;
  using Signature = std::pair<Tensor, Tensor>(Leaves);

  /// Saves `f`, which has served all of `calls`, and loads it again. Returns what differs, or nothing. `elsewhere`: the
  /// other process shall run it, too; the leaves are then row-major tensors of float32 that are no views.
  template <class F>
  std::string check(const F& f, const std::vector<Leaves>& calls, bool elsewhere) {
    const std::string path = folder_ / std::to_string(count_);
    f.save(path);
    ++count_;
    const auto loaded = load_function<Signature>(path);
    std::ofstream notes;
    if (elsewhere) notes.open(path + ".calls");
    if (elsewhere) notes << static_cast<int>(default_bounds()) << '\n';  // functions are traced for them
    for (const Leaves& leaves : calls) {
      const auto want = f(leaves);
      const auto got = loaded(leaves);
      for (const auto& [a, b] : {std::pair(want.first, got.first), std::pair(want.second, got.second)}) {
        if (described(a) == described(b)) continue;
        return "loaded: " + b.str() + " in place of " + a.str() + '\n' + loaded.explain();
      }
      if (!elsewhere) continue;
      notes << leaves.size() << ' ';
      for (const Tensor& x : leaves) {
        notes << x.rank() << ' ';
        for (const SymInt n : x.shape()) notes << n.value() << ' ';
        for (const float v : x.to_vector<float>()) notes << v << ' ';
      }
      notes << '\n' << described(want.first) << '\n' << described(want.second) << '\n';
    }
    return {};
  }

  /// Where the files are.
  std::string folder() const { return folder_.path(); }

  /// Runs everything in another process, which is this program with the argument --loaded.
  bool check_elsewhere() const {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", "loaded", "--loaded", folder_.path().c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
  }

  /// The other process. Returns its exit status.
  static int run_loaded(const std::string& folder) {
    int programs = 0;
    int calls = 0;
    for (int k = 0;; ++k) {
      const std::string path = folder + "/" + std::to_string(k);
      if (!std::ifstream(path)) break;
      std::ifstream notes(path + ".calls");
      if (!notes) continue;
      ++programs;
      int bounds = 0;
      notes >> bounds;
      set_default_bounds(static_cast<Bounds>(bounds));
      const auto loaded = load_function<Signature>(path);
      std::size_t count = 0;
      while (notes >> count) {
        ++calls;
        Leaves leaves;
        for (std::size_t n = 0; n < count; ++n) leaves.push_back(read_tensor(notes));
        const auto got = loaded(leaves);
        std::string line;
        std::getline(notes, line);
        for (const Tensor& x : {got.first, got.second}) {
          std::getline(notes, line);
          if (line == described(x)) continue;
          std::cerr << path << ": " << described(x) << " in place of " << line << '\n' << loaded.explain();
          return 1;
        }
      }
      if (loaded.counts().traces != 0) return 1;
    }
    std::cout << "another process loaded " << programs << " programs and made " << calls << " calls\n";
    return 0;
  }

 private:
  static std::string described(const Tensor& x) {
    std::string text = std::string(name(x.dtype())) + to_string(x.shape()) + to_string(x.strides());
    for (const std::uint64_t b : bits_of(x)) text += ' ' + std::to_string(b);
    return text;
  }
  static Tensor read_tensor(std::istream& in) {
    std::size_t rank = 0;
    in >> rank;
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d) {
      std::int64_t n = 0;
      in >> n;
      shape.push_back(n);
    }
    return Tensor::generate(shape, [&in](auto) {
      float value = 0;
      in >> value;
      return value;
    });
  }

  test::TemporaryFolder folder_;
  int count_ = 0;
};

}  // namespace oriel::testing
