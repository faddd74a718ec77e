// Runs a target once on each of the given files and folders, to replay a corpus without libFuzzer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/target.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int k = 1; k < argc; ++k) {
    if (!fs::is_directory(argv[k])) {
      files.emplace_back(argv[k]);
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(argv[k])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 2;
    }
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);  // flushed, so that the last name printed is the input that aborted
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs, nothing broken\n", files.size());
  return files.empty() ? 2 : 0;
}
