#include "source/cpp/export/names.hpp"

#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "base/escape.hpp"
#include "oriel/error.hpp"

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

// Macros of the headers that the files include, and what these declare at global scope: those that somebody may well
// name a tensor or an export. The compiler of the files refuses the others by their names.
constexpr std::string_view kMacros =
    " BIG_ENDIAN BUFSIZ CHAR_BIT EOF INFINITY INT_MAX LITTLE_ENDIAN LONG_MAX M_E M_PI NAN NULL RAND_MAX SIZE_MAX SNAN "
    "UINT_MAX alloca assert errno i386 linux major makedev minor offsetof stderr stdin stdout unix va_arg va_end ";
constexpr std::string_view kLibrary =
    " FILE abort abs acos acosh asin asinh atan atan2 atanh atof atoi basename bsearch calloc cbrt ceil clock clone "
    "copysign cos cosh ctime difftime div double_t drem erf erfc exit exp exp10 exp2 expm1 fabs fdim ffs finite "
    "float_t "
    "floor fma fmax fmin fmod free frexp gamma getc getenv getline gets hypot ilogb index j0 j1 jn labs ldexp lgamma "
    "log "
    "log10 log1p log2 logb lrint lround malloc memcpy memmove memset modf nan nearbyint nextafter obstack perror pow "
    "printf putc puts qsort rand random remainder remove rename rewind rindex rint round scalb scanf select setenv "
    "signgam significand sin sincos sinh size_t sprintf sqrt srand ssize_t strlen system tan tanh tgamma time timer_t "
    "timespec timeval timezone tm tmpfile trunc tzname uint ulong ushort y0 y1 yn ";

bool among(std::string_view words, const std::string& name) {
  return words.find(" " + name + " ") != std::string_view::npos;
}

}  // namespace

void check_export_name(const std::string& name, const std::string& what) {
  bool fits = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  for (const char c : name) fits = fits && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  fits = fits && name.find("__") == std::string::npos && !among(kKeywords, name);
  if (fits && (among(kMacros, name) || name.starts_with("EIGEN_"))) {
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
  if (!among(kLibrary, name)) return;
  throw ArgumentError("export_cpp",
                      fmt::format("\"{}\" cannot be the name of {}: the C library declares it; a prefix or "
                                  "a suffix would do",
                                  base::escaped(name), what));
}

}  // namespace oriel::source::cpp
