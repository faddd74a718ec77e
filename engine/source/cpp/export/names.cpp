#include "source/cpp/export/names.hpp"

#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "base/escape.hpp"
#include "oriel/error.hpp"
#include "source/cpp/export/reserved_names.hpp"

namespace oriel::source::cpp {

namespace {

// Keywords of C++ up to 23, and names that the files use themselves.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast std struct switch template "
    "this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while "
    "xor xor_eq Eigen Inputs Outputs Numbers Sizes Status Element kDType kShape kStrides kElements kBytes ";

}  // namespace

void check_export_name(const std::string& name, const std::string& what) {
  bool fits = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  for (const char c : name) fits = fits && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  fits = fits && name.find("__") == std::string::npos && kKeywords.find(" " + name + " ") == std::string_view::npos;
  if (fits && is_macro_name(name)) {
    throw ArgumentError("export_cpp", fmt::format("\"{}\" cannot be the name of {}: it is a macro of a header that the "
                                                  "files include; another case or a suffix would do",
                                                  base::escaped(name), what));
  }
  if (fits) return;
  throw ArgumentError("export_cpp",
                      fmt::format("\"{}\" cannot be the name of {}; accepted are a letter and then letters, "
                                  "digits and single underscores, but no keyword",
                                  base::escaped(name), what));
}

void check_export_namespace(const std::string& name, const std::string& what) {
  check_export_name(name, what);
  if (!is_library_name(name)) return;
  throw ArgumentError("export_cpp",
                      fmt::format("\"{}\" cannot be the name of {}: the C library declares it; a prefix or "
                                  "a suffix would do",
                                  base::escaped(name), what));
}

}  // namespace oriel::source::cpp
