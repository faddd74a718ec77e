#include "source/cpp/unit.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "source/cpp/spelling.hpp"
#include "source/heading.hpp"

namespace oriel::source::cpp {

// A compiler spends most of its time on headers, so Eigen is included only if its functions are used.
std::vector<std::string> includes(const Snippets& snippets, bool placement) {
  std::set<std::string_view> wanted = snippets.headers();
  wanted.insert({"<cstdint>", "<cstring>", "<limits>", "<type_traits>"});
  if (placement) wanted.insert("<new>");
  std::vector<std::string> list;
  for (const std::string_view header : wanted) {
    if (header == "<Eigen/Core>") {
      // Newlib's int32_t is long on 32-bit Arm, which Eigen 3.4's packets do not take.
      list.emplace_back(
          "#ifndef EIGEN_NO_DEBUG\n#define EIGEN_NO_DEBUG\n#endif\n"
          "#if defined(__arm__) && !defined(__linux__) && !defined(EIGEN_DONT_VECTORIZE)\n#define "
          "EIGEN_DONT_VECTORIZE\n"
          "#endif\n#include <Eigen/Core>\n\n");
    } else if (header == "<immintrin.h>") {
      list.emplace_back("#if defined(__F16C__)\n#include <immintrin.h>\n#endif\n");
    } else {
      list.push_back(fmt::format("#include {}\n", header));
    }
  }
  return list;
}

std::string helper_types(std::optional<DType> main, const Snippets& snippets) {
  std::string text = "using Int = std::int64_t;\n";
  text += "#ifndef ORIEL_INLINE\n#define ORIEL_INLINE __attribute__((always_inline))\n#endif\n";
  text += "[[maybe_unused]] inline Int least(Int a, Int b) { return a < b ? a : b; }\n";
  if (!main) return text;
  text += fmt::format("using Main = {};\n", value_type(*main));
  if (!snippets.needs("packets")) {
    return text +
           "#if defined(__AVX512F__)\ntypedef Main Vector __attribute__((vector_size(64)));\n#elif "
           "defined(__AVX2__)\ntypedef Main Vector __attribute__((vector_size(32)));\n#else\ntypedef Main Vector "
           "__attribute__((vector_size(16)));\n#endif\n";
  }
  // Some targets have no packets; 32-bit ARM has none of float64.
  return text + fmt::format(
                    "#if defined(EIGEN_VECTORIZE){}\nusing Vector = "
                    "Eigen::internal::packet_traits<Main>::type;\n#else\ntypedef "
                    "Main Vector __attribute__((vector_size(16)));\n#endif\n",
                    *main == DType::float64 ? " && !defined(__arm__)" : "");
}

std::string_view scalar_type() {
  return "/// A number given at launch.\nunion Scalar {\n  std::int64_t i;\n  double f;\n};\n\n";
}

std::string entry_head(std::string_view linkage, std::string_view name, bool sizes, bool frame) {
  return fmt::format("{} void {}(void* const* arguments, const Scalar* parameters, Int first, Int last{}{}) {{\n",
                     linkage, name, sizes ? ", const Int* sizes" : "", frame ? ", void* frame" : "");
}

std::string share_helpers(SharedHelpers& shared, std::optional<DType> main, const Snippets& snippets) {
  const std::string kind = main ? value_type(*main) + (snippets.needs("packets") ? "_eigen" : "") : "elements";
  const std::string section = shared.prefix() + "_" + kind;
  for (const std::string& line : includes(snippets, false)) shared.add_lines(line);
  shared.open(section, fmt::format("namespace {} {{\nnamespace {{\n\n{}", section, helper_types(main, snippets)),
              fmt::format("\n}}  // namespace\n}}  // namespace {}\n", section));
  snippets.each([&](std::size_t number, std::string_view name, std::string_view text) {
    shared.add(section, number, name, text);
  });
  return fmt::format("using namespace {};\n", section);
}

std::string include_of(const SharedHelpers& shared) { return fmt::format("#include \"{}\"\n\n", shared.file()); }

std::string heading(const codegen::LoopProgram& program, const std::vector<std::string>& buffers) {
  Heading out;
  out.add("Kernel {}", program.name);
  out.add(
      "Build with -std=c++17 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-strict-aliasing; and Eigen "
      "3.4 where it is included.");
  out.add_blank();
  out.add_loops(program);
  for (std::size_t a = 0; a < program.arguments.size(); ++a)
    out.add("arguments[{}] {}: {}", a, buffers[a], Heading::argument(program.arguments[a]));
  for (std::size_t c = 0; c < program.constants.size(); ++c) {
    const codegen::Constant& constant = program.constants[c];
    if (constant.parameter >= 0) out.add("parameters[{}] c{}: {}", constant.parameter, c, name(constant.value.dtype));
  }
  out.add_accesses(program, buffers);
  return out.text();
}

}  // namespace oriel::source::cpp
