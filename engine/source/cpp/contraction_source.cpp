#include "source/cpp/contraction_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codegen/join.hpp"
#include "source/cpp/contraction_blocks.hpp"
#include "source/cpp/contraction_text.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

using codegen::LoopProgram;
using codegen::ProductForm;
using codegen::quotient_up;
using codegen::round_up;

class ContractionSource {
 public:
  ContractionSource(const LoopProgram& program, const ProductForm& plan, const LoopsForm& form, const PlainLoops* loops)
      : program_(program),
        shape_(plan.shape),
        form_(form),
        keep_(form.keep),
        symbolic_(form.symbolic),
        loops_(loops),
        name_(identifier(program.name)),
        blocks_(choose_blocks(program, plan, keep_, form.longest_tile, symbolic_ != nullptr)),
        text_(program, plan, blocks_, form) {
    const std::int64_t bytes = blocks_.size() * static_cast<std::int64_t>(itemsize(shape_.dtype));
    frames_at_ = round_up(bytes, 64);
    bytes_ = std::max(frames_at_, loops != nullptr ? loops->bytes : 0);
  }

  LoopsSource run() {
    for (const bool left : {true, false})
      if (blocks_.packs(left)) add_packing(left);
    add_part("results", results_program(program_, shape_, blocks_.columns));
    std::vector<std::string> buffers;
    for (const codegen::Argument& a : program_.arguments) buffers.push_back(a.name);
    const std::string open = fmt::format("namespace kernel_{} {{\n", name_);
    const std::string close = fmt::format("}}  // namespace kernel_{}\n", name_);
    std::string text = (symbolic_ != nullptr ? "// Kernel " + program_.name + ", in blocks of products\n"
                                             : heading(program_, buffers)) +
                       text_.includes() + open;
    text += '\n';
    text += scalar_type();
    text += "namespace {\n\n";
    text += text_.constants() + helpers({"registers", symbolic_ != nullptr ? "" : "tail"}) + text_.memory_text();
    text += text_.declarations() + text_.multiply_text() + "\n}  // namespace\n" +
            text_.entry(name_, frames_at_, loops_) + "\n" + close;
    // The functions that the loops above call come after them: sums in registers, then the loop programs that pack
    // factors and take results, and the functions that call these programs.
    text += "\n" + open + "namespace {\n" +
            helpers({"sum_block", symbolic_ != nullptr ? "sum_symbolic_rows" : "sum_rows",
                     blocks_.right == FactorLayout::Transposed ? "turn" : ""});
    text += text_.finish_text() + "\n}  // namespace\n" + close + "\n" + parts_;
    text += open + "namespace {\n" + calls_ + "\n}  // namespace\n" + close;
    return {std::move(text), keep_ == Keep::Frame ? bytes_ : 0, eigen_};
  }

 private:
  /// Adds a loop program as a function of this source, and a function that calls it for points [first, last). Both
  /// share the memory at `data` with this kernel; its first element counts as number `number`.
  void add_part(const std::string& call, PackedProgram part) {
    const Keep keep = keep_ == Keep::Frame ? Keep::Frame : Keep::Stack;
    merge_loops(part.program);
    LoopsSource source = render_loops(part.program, {keep, form_.longest_tile, part.argument, form_.shared, symbolic_});
    parts_ += source.source + "\n";
    eigen_ = eigen_ || source.eigen;
    const std::string name = identifier(part.program.name);
    std::string arguments;
    for (int a = 0; a < part.argument; ++a) arguments += fmt::format("w.arguments[{}], ", a);
    std::string frame = symbolic_ != nullptr ? ", w.sizes" : "";
    if (keep == Keep::Frame) {
      frame += fmt::format(", w.work + {}", frames_at_);
      bytes_ = std::max(bytes_, frames_at_ + round_up(source.bytes, 64));
    }
    const std::string memory =
        (part.program.arguments[static_cast<std::size_t>(part.argument)].output ? "" : "const ") +
        memory_type(shape_.dtype);
    calls_ += fmt::format(R"(
[[maybe_unused]] inline void {0}(const Work& w, Element* data, Int number, Int first, Int last) {{
  kernel_{2}::Shifted<{4}> shifted{{reinterpret_cast<{4}*>(data), number}};
  void* const list[] = {{{1}&shifted}};
  kernel_{2}::{2}(list, reinterpret_cast<const kernel_{2}::Scalar*>(w.parameters), first, last{3});
}}
)",
                          call, arguments, name, frame, memory);
  }

  /// Register blocks come in two parts of the source, so each helper is named. Those without a name are left out.
  static std::string helpers(std::initializer_list<std::string_view> names) {
    Snippets snippets;
    for (const std::string_view name : names)
      if (!name.empty()) snippets.need(name);
    return snippets.text();
  }

  void add_packing(bool left) {
    const FactorLayout layout = left ? blocks_.left : blocks_.right;
    const bool by_rows = layout != FactorLayout::ByDepths;
    // The left factor's rows of one depth are packed into the same line again and again.
    const std::int64_t pitch = left                                 ? by_rows ? blocks_.left_pitch : blocks_.rows
                               : layout == FactorLayout::Transposed ? blocks_.transposed_pitch
                                                                    : blocks_.right_pitch;
    add_part(left ? "make_left" : "make_right", packing_program(program_, shape_, left, by_rows, pitch));
  }

  const LoopProgram& program_;
  const codegen::Contraction& shape_;
  const LoopsForm form_;
  const Keep keep_;
  const SymbolicSizes* const symbolic_;  // null if all sizes are numbers
  const PlainLoops* const loops_;
  const std::string name_;
  const ContractionBlocks blocks_;
  const ContractionText text_;
  std::int64_t frames_at_ = 0;  // bytes before the parts' frame
  std::int64_t bytes_ = 0;
  bool eigen_ = false;  // does a part include Eigen?
  std::string parts_;   // the loop programs' sources
  std::string calls_;
};

}  // namespace

std::optional<ProductForm> rendered_contraction(const LoopProgram& program) {
  if (codegen::parts_of(program) > 1) return std::nullopt;
  if (const auto windows = codegen::window_form(program)) {
    // Windows have at most as many taps as one block of depths, so both forms add in the same order.
    if (windows->weight == codegen::kNoValue || !windows->product) return std::nullopt;
    return codegen::part_form(program, *windows->product);
  }
  std::optional<ProductForm> form = codegen::product_form(program);
  if (form && form->path == codegen::ProductPath::Dots) return std::nullopt;
  return form;
}

bool takes_whole_rows(const LoopProgram& program, bool symbolic, std::size_t columns) {
  const auto form = symbolic ? codegen::symbolic_form(program) : rendered_contraction(program);
  if (!form) return symbolic || same_program(with_long_last_loop(program), program);
  std::size_t next = 0;
  for (const auto* loops : {&form->shape.batch_loops, &form->shape.row_loops, &form->shape.column_loops})
    for (const std::size_t d : *loops)
      if (d != next++) return false;
  return form->shape.column_loops.empty() || form->shape.column_loops.front() >= columns;
}

LoopsSource render_contraction(const LoopProgram& program, const ProductForm& plan, const LoopsForm& form,
                               const PlainLoops* loops) {
  return ContractionSource(program, plan, form, loops).run();
}

std::int64_t rendered_blocks(const LoopProgram& program, const ProductForm& plan) {
  const ContractionBlocks b = choose_blocks(program, plan, Keep::Heap, 256, false);
  return plan.shape.batches * quotient_up(plan.shape.rows, b.rows) * quotient_up(plan.shape.columns, b.columns);
}

}  // namespace oriel::source::cpp
