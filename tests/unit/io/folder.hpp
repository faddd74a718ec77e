// A temporary folder for one test's files, removed with its contents.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace oriel::testing {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "oriel-io-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string put(std::string_view name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return *this / name;
  }
  std::string get(std::string_view name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t count() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

 private:
  std::filesystem::path path_;
};

/// The text of the call's IoError after "operation: ", with its path replaced by "<path>"; "" if nothing is thrown.
template <class E, class F>
std::string message_of(const std::string& path, F&& f) {
  try {
    f();
  } catch (const E& error) {
    std::string text(error.message());
    if (const std::size_t at = text.find(path); at != std::string::npos) text.replace(at, path.size(), "<path>");
    return text;
  }
  return "";
}

}  // namespace oriel::testing
