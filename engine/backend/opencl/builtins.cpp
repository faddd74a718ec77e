#include "backend/opencl/builtins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>
#include <vector>

namespace oriel::backend::opencl {
namespace {

struct Type {
  const char *name, *as_signed, *as_unsigned;
};
constexpr Type kTypes[] = {{"char", "char", "uchar"},     {"uchar", "char", "uchar"}, {"short", "short", "ushort"},
                           {"ushort", "short", "ushort"}, {"int", "int", "uint"},     {"uint", "int", "uint"},
                           {"long", "long", "ulong"},     {"ulong", "long", "ulong"}, {"float", "int", "uint"},
                           {"double", "long", "ulong"}};
constexpr std::span<const Type> kAll(kTypes), kIntegers(kAll.first(8)), kFloats(kAll.last(2));
constexpr int kWidths[] = {1, 2, 4, 8, 16};
constexpr const char* kSpaces[] = {"__global", "__local", "__constant", "__private"};

/// The result and the arguments, a letter each: T is the type, S and U the signed and unsigned integers of its size, i
/// an int, and R what comparisons give: an int for a scalar, S for a vector.
struct Family {
  std::span<const Type> types;
  const char* signature;
  const char* names;
};
const Family kFamilies[] = {
    {kFloats, "TT",
     " acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc exp exp10 exp2 expm1 fabs floor lgamma "
     "log log10 log1p log2 rint round rsqrt sign sin sinh sinpi sqrt tan tanh tanpi tgamma trunc "},
    {kFloats, "TTT", " atan2 copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder "},
    {kFloats, "TTTT", " fma mad "},
    {kFloats, "TTi", " ldexp pown "},
    {kFloats, "RT", " isfinite isinf isnan isnormal signbit "},
    {kIntegers, "UT", " abs "},
    {kIntegers, "bT", " all any "},
    {kIntegers, "TT", " clz popcount "},
    {kIntegers, "TTT", " add_sat hadd mul_hi rotate sub_sat "},
    {kAll, "TTT", " max min "},
    {kAll, "TTTT", " bitselect clamp "},
    {kAll, "TTTS", " select "},
    {kAll, "TTTU", " select "},
};

class Declarations {
 public:
  void add(const std::string& name) {
    for (const Family& f : kFamilies)
      if (std::string_view(f.names).find(" " + name + " ") != std::string_view::npos) add_family(f, name);
    if (name.starts_with("convert_")) add_conversions(name);
    if (name.starts_with("vload") || name.starts_with("vstore")) add_memory(name);
    static const std::set<std::string> items = {"get_global_id", "get_global_size", "get_group_id",
                                                "get_local_id",  "get_local_size",  "get_num_groups"};
    if (items.count(name) != 0) plain_ += fmt::format("size_t ORIEL_PURE {}(uint);\n", name);
    if (name == "barrier") plain_ += "void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);\n";
    if (name == "atomic_inc" || name == "atomic_dec" || name == "atomic_add")
      for (const char* type : {"int", "uint"})
        for (const char* space : {"__global", "__local"})
          plain_ += fmt::format("{0} __attribute__((overloadable)) {1}(volatile {2} {0}*{3});\n", type, name, space,
                                name == "atomic_add" ? fmt::format(", {}", type) : "");
  }
  std::string text() const {
    return "#define ORIEL_PURE __attribute__((overloadable, const))\n" + plain_ + "#ifdef cl_khr_fp64\n" + doubles_ +
           "#endif\n";
  }

 private:
  static std::string typed(const char* type, int width) { return width == 1 ? type : fmt::format("{}{}", type, width); }
  std::string& place(std::string_view a, std::string_view b = {}) {
    return a == "double" || b == "double" ? doubles_ : plain_;
  }

  void add_family(const Family& f, const std::string& name) {
    for (const Type& t : f.types) {
      for (const int width : kWidths) {
        std::vector<std::string> of;
        for (const char* c = f.signature; *c != 0; ++c) {
          const bool is_int = *c == 'i' || *c == 'b' || (*c == 'R' && width == 1);
          const char* name_of = is_int ? "int" : *c == 'T' ? t.name : *c == 'U' ? t.as_unsigned : t.as_signed;
          of.push_back(typed(name_of, *c == 'b' ? 1 : width));
        }
        place(t.name) += fmt::format("{} ORIEL_PURE {}({});\n", of[0], name, fmt::join(of.begin() + 1, of.end(), ", "));
      }
    }
  }
  void add_conversions(const std::string& name) {
    const std::string rest = name.substr(8, name.find('_', 8) - 8);
    const std::size_t digits = std::min(rest.find_first_of("0123456789"), rest.size());
    const std::string to = rest.substr(0, digits);
    const bool known = std::any_of(kAll.begin(), kAll.end(), [&](const Type& t) { return t.name == to; });
    for (const Type& from : known ? kAll : kAll.first(0))
      place(to, from.name) += fmt::format("{} ORIEL_PURE {}({}{});\n", rest, name, from.name, rest.substr(digits));
  }
  /// vloadN, vload_halfN, vstoreN, vstore_halfN and vstore_halfN_rte.
  void add_memory(const std::string& name) {
    const bool load = name[1] == 'l', half = name.find("_half") != std::string::npos;
    const std::size_t digits = name.find_first_of("0123456789");
    const std::string width =
        digits == std::string::npos ? "" : name.substr(digits, name.find_first_not_of("0123456789", digits) - digits);
    for (const Type& t : half ? kFloats.first(1) : kAll) {
      for (const char* space : kSpaces) {
        const char* in_memory = half ? "half" : t.name;
        if (load)
          place(t.name) += fmt::format("{}{} __attribute__((overloadable, pure)) {}(size_t, const {} {}*);\n", t.name,
                                       width, name, space, in_memory);
        else if (space != kSpaces[2])
          place(t.name) += fmt::format("void __attribute__((overloadable)) {}({}{}, size_t, {} {}*);\n", name, t.name,
                                       width, space, in_memory);
      }
    }
  }

  std::string plain_, doubles_;
};

}  // namespace

std::string builtin_declarations(std::string_view source) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> called;
  for (std::size_t at = source.find('('); at != std::string_view::npos; at = source.find('(', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && in_name(source[begin - 1])) --begin;
    if (begin < at) called.emplace(source.substr(begin, at - begin));
  }
  Declarations all;
  for (const std::string& name : called) all.add(name);
  return all.text();
}

}  // namespace oriel::backend::opencl
