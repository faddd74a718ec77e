#include "source/cpp/contraction_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codegen/join.hpp"
#include "source/cpp/contraction_blocks.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/product_order.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

using codegen::LoopProgram;
using codegen::Matrices;
using codegen::ProductForm;
using codegen::quotient_up;
using codegen::round_up;

class ContractionSource {
 public:
  ContractionSource(const LoopProgram& program, const ProductForm& plan, const LoopsForm& form, const PlainLoops* loops)
      : program_(program),
        plan_(plan),
        shape_(plan.shape),
        form_(form),
        keep_(form.keep),
        symbolic_(form.symbolic),
        loops_(loops),
        name_(identifier(program.name)),
        blocks_(symbolic_ != nullptr ? symbolic_blocks(plan, keep_, form.longest_tile)
                                     : choose_blocks(plan, keep_, form.longest_tile)) {
    const std::int64_t bytes = blocks_.size() * static_cast<std::int64_t>(itemsize(shape_.dtype));
    frames_at_ = round_up(bytes, 64);
    bytes_ = std::max(frames_at_, loops != nullptr ? loops->bytes : 0);
  }

  LoopsSource run() {
    if (blocks_.left != FactorLayout::InMemory && !blocks_.left_in_memory) add_packing(true);
    if (blocks_.right != FactorLayout::InMemory && !blocks_.right_in_memory) add_packing(false);
    const auto results = [&](const LoopProgram& from) { return results_program(from, shape_, blocks_.columns); };
    add_part("results", results);
    std::vector<std::string> buffers;
    for (const codegen::Argument& a : program_.arguments) buffers.push_back(a.name);
    const std::string open = fmt::format("namespace kernel_{} {{\n", name_);
    const std::string close = fmt::format("}}  // namespace kernel_{}\n", name_);
    std::string text = (symbolic_ != nullptr ? "// Kernel " + program_.name + ", in blocks of products\n"
                                             : heading(program_, buffers)) +
                       includes() + open;
    text += '\n';
    text += scalar_type();
    text += "namespace {\n\n";
    text += constants() + helpers({"registers", symbolic_ != nullptr ? "" : "tail"}) + memory_text();
    text += declarations() + multiply_text() + "\n}  // namespace\n" + entry() + "\n" + close;
    // The functions that the loops above call come after them: sums in registers, then the loop programs that pack
    // factors and take results, and the functions that call these programs.
    text += "\n" + open + "namespace {\n" +
            helpers({"sum_block", symbolic_ != nullptr ? "sum_symbolic_rows" : "sum_rows",
                     blocks_.right == FactorLayout::Transposed ? "turn" : ""});
    text += finish_text() + "\n}  // namespace\n" + close + "\n" + parts_;
    text += open + "namespace {\n" + calls_ + "\n}  // namespace\n" + close;
    return {std::move(text), keep_ == Keep::Frame ? bytes_ : 0, eigen_};
  }

 private:
  /// Adds a loop program as a function of this source, and a function that calls it for points [first, last). Both
  /// share the memory at `data` with this kernel; its first element counts as number `number`. `make` makes the loop
  /// program of the kernel.
  template <class Make>
  void add_part(const std::string& call, const Make& make) {
    const Keep keep = keep_ == Keep::Frame ? Keep::Frame : Keep::Stack;
    PackedProgram part = make(program_);
    LoopProgram symbolic;
    if (symbolic_ != nullptr) symbolic = make(*symbolic_->program).program;
    merge_loops(part.program, symbolic_ != nullptr ? &symbolic : nullptr);
    LoopsForm form{keep, form_.longest_tile, part.argument, form_.shared};
    SymbolicSizes sizes{};
    if (symbolic_ != nullptr) {
      sizes = {&symbolic, symbolic_->table, symbolic_->numbers};
      form.symbolic = &sizes;
    }
    LoopsSource source = render_loops(part.program, form);
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
    const std::string call = left ? "make_left" : "make_right";
    add_part(call, [&](const LoopProgram& from) { return packing_program(from, shape_, left, by_rows, pitch); });
    packing_declarations_ += fmt::format(
        "/// Elements [first, last) of a factor, to where element `number` would be at `data`.\n"
        "inline void {}(const Work& w, Element* data, Int number, Int first, Int last);\n",
        call);
  }

  std::string includes() const {
    std::string text = "#include <cstdint>\n#include <cstring>\n#include <type_traits>\n";
    if (is_floating(shape_.dtype))
      text +=
          "#if defined(__FMA__) || defined(__AVX512F__)\n#include <immintrin.h>\n#elif defined(__ARM_FEATURE_FMA)\n"
          "#include <arm_neon.h>\n#endif\n";
    if (keep_ == Keep::Heap) text += "#include <new>\n";
    if (blocks_.right == FactorLayout::Transposed) text += "#include <utility>\n";
    return text + "\n";
  }

  /// Integers wrap, so they are summed in the unsigned type.
  std::string element() const {
    const std::string type = value_type(shape_.dtype);
    return type.rfind("std::int", 0) == 0 ? "std::u" + type.substr(5) : type;
  }

  std::string constants() const {
    const Matrices* left = blocks_.left == FactorLayout::InMemory ? &*plan_.left.memory : nullptr;
    const Matrices* right = blocks_.right == FactorLayout::InMemory ? &*plan_.right.memory : nullptr;
    const bool by_rows = blocks_.left == FactorLayout::ByRows;
    std::string text = fmt::format("using Int = std::int64_t;\nusing Element = {};\n\n", element());
    const auto add = [&](const char* name, std::int64_t value, const char* comment) {
      text +=
          fmt::format("[[maybe_unused]] constexpr Int {} = {};{}{}\n", name, value, *comment ? "  // " : "", comment);
    };
    if (symbolic_ != nullptr) {
      Snippets order;
      order.need("ProductOrder");
      text += order.text();
    } else {
      add("kRows", shape_.rows, "");
      add("kColumns", shape_.columns, "");
      add("kDepth", shape_.depth, "points that are summed");
      add("kBatches", shape_.batches, "");
      add("kSegment", plan_.segment,
          "depth of a segment; each segment is summed by itself, and the sums are added in order");
      add("kDepthBlock", plan_.depth_block, "of these, depths that are summed in registers, and added in order");
      add("kDown", quotient_up(shape_.rows, blocks_.rows), "blocks");
      add("kAcross", quotient_up(shape_.columns, blocks_.columns), "");
      add("kPoints", points(), "");
    }
    add("kChunk", blocks_.chunk, "depths of a block whose elements are packed at a time");
    add("kRowBlock", blocks_.rows, "of a block of results");
    add("kColumnBlock", blocks_.columns, "");
    text += fmt::format("constexpr bool kRightInPlace = {};  // it is not packed\n", right != nullptr);
    add("kPitch", blocks_.columns, "from one row of sums to the next");
    add("kStrip", kStrip, "rows that are packed beside each other");
    if (blocks_.left == FactorLayout::ByDepths) add("kLeftStrip", blocks_.left_pitch, "from these to the next");
    add("kLeftRow", left ? left->row : by_rows ? blocks_.left_pitch : 1, "from one row to the next");
    add("kLeftStep", left ? left->step : by_rows ? 1 : kStrip, "from one depth to the next");
    add("kRightStep", right ? right->step : blocks_.right_pitch, "");
    if (blocks_.right == FactorLayout::Transposed)
      add("kTransposedRow", blocks_.right_in_memory ? plan_.right.memory->row : blocks_.transposed_pitch, "");
    return text;
  }

  std::int64_t points() const { return shape_.batches * shape_.rows * shape_.columns; }

  std::string memory_text() const {
    std::string text = R"(
/// The arguments of the kernel, and the memory that it keeps.
struct Work {
  void* const* arguments;
  const Scalar* parameters;
  unsigned char* work;
  Element* left;
  Element* line;
  Element* right;
  Element* transposed;
  Element* sums;
  Element* carry;
  Element* total;
  Int held;  // the block of columns that is packed, if all depths fit
)";
    if (symbolic_ != nullptr)
      text += "  const Int* sizes;\n  Int rows, columns, depth, batches;\n  ProductOrder order;\n";
    text += "};\n";
    if (blocks_.left == FactorLayout::InMemory || blocks_.left_in_memory)
      text += position("left_in_memory", *plan_.left.memory);
    if (blocks_.right == FactorLayout::InMemory || blocks_.right_in_memory)
      text += position("right_in_memory", *plan_.right.memory);
    return text;
  }

  /// The constants of a function that follow from symbolic sizes.
  std::string take_sizes() const {
    if (symbolic_ == nullptr) return {};
    return R"(  [[maybe_unused]] const Int kRows = w.rows, kColumns = w.columns, kDepth = w.depth, kBatches = w.batches;
  [[maybe_unused]] const Int kSegment = w.order.segment, kDepthBlock = w.order.block, kPoints = kBatches * kRows * kColumns;
  [[maybe_unused]] const Int kDown = (kRows + kRowBlock - 1) / kRowBlock, kAcross = (kColumns + kColumnBlock - 1) / kColumnBlock;
)";
  }

  static std::string position(const char* name, const Matrices& m) {
    std::string at = std::to_string(m.offset);
    std::int64_t below = 1;
    for (std::size_t d = m.extents.size(); d-- > 0;) {
      if (m.extents[d] > 1 && m.strides[d] != 0)
        at += fmt::format(" + batch / {} % {} * {}", below, m.extents[d], m.strides[d]);
      below *= m.extents[d];
    }
    return fmt::format(R"(
[[maybe_unused]] inline const Element* {}(const Work& w, [[maybe_unused]] Int batch, Int row, Int depth) {{
  return static_cast<const Element*>(w.arguments[{}]) + ({} + row * {} + depth * {});
}}
)",
                       name, m.buffer, at, m.row, m.step);
  }

  /// Statements after which register blocks can read `depth` depths, from p on, of the block's columns.
  std::string right_text() const {
    if (blocks_.right == FactorLayout::InMemory)
      return R"(        const Element* const b = right_in_memory(w, batch, column, p);
        if constexpr (kTail > 0) {
          if (column + columns == kColumns) {
            for (Int d = 0; d < depth; ++d)
              std::memcpy(w.right + d * kLanes, b + d * kRightStep + columns - kTail, sizeof(Element) * kTail);
          }
        }
)";
    std::string text = "        const Element* const b = w.right;\n";
    const bool whole = blocks_.strips;
    text += symbolic_ != nullptr
                ? "        if (kDepth > kChunk || w.held != batch * kAcross + column / kColumnBlock) {\n"
                  "          w.held = batch * kAcross + column / kColumnBlock;\n"
            : whole ? "        if (w.held != batch * kAcross + column / kColumnBlock) {\n"
                      "          w.held = batch * kAcross + column / kColumnBlock;\n"
                    : "        {\n";
    if (blocks_.right == FactorLayout::ByDepths) {
      text += R"(          if (columns == kColumns && kBatches == 1 && kRightStep == kColumns) {
            make_right(w, w.right, p * kRightStep, p * kColumns, (p + depth) * kColumns);
          } else {
            for (Int d = p; d < p + depth; ++d) {
              const Int first = (d * kBatches + batch) * kColumns + column;
              make_right(w, w.right + (d - p) * kRightStep, d * kRightStep + column, first, first + columns);
            }
          }
)";
    } else if (blocks_.right_in_memory) {
      text += "          turn(right_in_memory(w, batch, column, p), w.right, columns, depth);\n";
    } else {
      text += R"(          for (Int j = 0; j < columns; j += kLanes) {
            const Int some = least(kLanes, columns - j);
            for (Int c = 0; c < some; ++c) {
              const Int row_of = column + j + c;
              const Int first = (batch * kColumns + row_of) * kDepth + p;
              make_right(w, w.transposed + c * kTransposedRow, row_of * kTransposedRow + p, first, first + depth);
            }
            turn(w.transposed, w.right + j, some, depth);
          }
)";
    }
    return text + "        }\n";
  }

  std::string left_text(bool strip) const {
    if (strip) {
      if (blocks_.left == FactorLayout::InMemory)
        return "          const Element* const a = left_in_memory(w, batch, row + i, p);\n";
      if (blocks_.left == FactorLayout::ByDepths)
        return "          const Element* const a = w.left + i / kStrip * kLeftStrip + i % kStrip;\n";
      return R"(          const Element* const a = w.left;
          for (Int l = 0; l < some; ++l) {
            const Int first = (batch * kRows + row + i + l) * kDepth + p;
            make_left(w, w.left + l * kLeftRow, (row + i + l) * kLeftRow + p, first, first + depth);
          }
)";
    }
    if (blocks_.left != FactorLayout::ByDepths) return "";
    return fmt::format(R"(        for (Int d = 0; d < depth; ++d) {{
{}          Int i = 0;
          for (; i + kStrip <= rows; i += kStrip)
            std::memcpy(w.left + i / kStrip * kLeftStrip + d * kStrip, line + i, sizeof(Element) * kStrip);
          for (Int l = i; l < rows; ++l) w.left[i / kStrip * kLeftStrip + d * kStrip + (l - i)] = line[l];
        }}
)",
                       blocks_.left_in_memory
                           ? "          const Element* const line = left_in_memory(w, batch, row, p + d);\n"
                           : "          const Element* const line = w.line;\n"
                             "          const Int first = ((p + d) * kBatches + batch) * kRows + row;\n"
                             "          make_left(w, w.line, (p + d) * kRowBlock + row, first, first + rows);\n");
  }

  /// Declarations of the functions that come after the loops that call them.
  std::string declarations() const {
    std::string text = R"(
/// Sums `depth` products for up to kHeight rows and any number of columns. Starts from the numbers at `from` (from 0 if it
/// is null), adds the numbers at `add` unless it is null, and writes to `to`.
inline void sum_rows(const Element* a, const Element* b, const Element* tail, Int depth, const Element* from,
                     const Element* add, Element* to, Int rows, Int columns);
/// Computes and stores the results of some rows from their sums.
inline void finish(const Work& w, Element* sums, Int batch, Int row, Int rows, Int column, Int columns);
)";
    if (blocks_.right == FactorLayout::Transposed)
      text +=
          "/// Transposes rows that lie kTransposedRow apart into rows that lie kRightStep apart.\n"
          "inline void turn(const Element* from, Element* to, Int columns, Int depth);\n";
    return text + packing_declarations_;
  }

  std::string finish_text() const {
    return R"(
inline void results(const Work& w, Element* data, Int number, Int first, Int last);

inline void finish(const Work& w, Element* sums, Int batch, Int row, Int rows, Int column, Int columns) {
)" + take_sizes() +
           R"(  if (columns == kColumns && kPitch == kColumns) {
    const Int first = (batch * kRows + row) * kColumns;
    return results(w, sums, row * kPitch, first, first + rows * kColumns);
  }
  for (Int i = row; i < row + rows; ++i) {
    const Int first = (batch * kRows + i) * kColumns + column;
    results(w, sums + (i - row) * kPitch, i * kPitch + column, first, first + columns);
  }
}
)";
  }

  std::string multiply_text() const {
    const bool segments = plan_.segment < shape_.depth && symbolic_ == nullptr;
    std::string text = R"(
/// Computes a block of results.
void multiply(Work& w, Int batch, Int row, Int rows, Int column, Int columns) {
)" + take_sizes() +
                       R"(  for (Int segment = 0; segment < kDepth; segment += kSegment) {
    const Int segment_end = least(segment + kSegment, kDepth);
    for (Int block = segment; block < segment_end; block += kDepthBlock) {
      const Int block_end = least(block + kDepthBlock, segment_end);
      for (Int p = block; p < block_end; p += kChunk) {
        const Int depth = least(kChunk, block_end - p);
        const bool last = p + depth == block_end;
)";
    text += right_text() + left_text(false);
    text += R"(        for (Int i = 0; i < rows; i += kHeight) {
          const Int some = least(kHeight, rows - i);
)";
    text += left_text(true);
    text += fmt::format("          Element* const sums = w.sums{};\n", blocks_.strips ? "" : " + i * kPitch");
    if (blocks_.carry_size > 0) {
      text += R"(          Element* const carry = w.carry + i * kPitch;
          sum_rows(a, b, w.right, depth, p > block ? carry : nullptr, last && block > segment ? sums : nullptr,
                   last ? sums : carry, some, columns);
)";
    } else {
      text +=
          "          sum_rows(a, b, w.right, depth, nullptr, block > segment ? sums : nullptr, sums, some, columns);\n";
    }
    text += segments ? "          static_cast<void>(last);\n"
            : symbolic_ != nullptr
                ? "          if (last && block_end == kDepth && kSegment >= kDepth)\n"
                  "            finish(w, sums, batch, row + i, some, column, columns);\n"
                : "          if (last && block_end == kDepth) finish(w, sums, batch, row + i, some, column, "
                  "columns);\n";
    text += "        }\n      }\n    }\n";
    if (symbolic_ != nullptr) text += "    if (kSegment >= kDepth) continue;\n";
    if (segments || symbolic_ != nullptr) {
      text +=
          R"(    for (Int k = 0; k < rows * kPitch; ++k) w.total[k] = segment > 0 ? w.total[k] + w.sums[k] : w.sums[k];
    if (segment_end == kDepth) finish(w, w.total, batch, row, rows, column, columns);
)";
    }
    return text + "  }\n}\n";
  }

  std::string entry() {
    std::string text = "\n" + entry_head(keep_ == Keep::Heap ? kLoadedLinkage : kEmbeddedLinkage, name_,
                                         symbolic_ != nullptr, keep_ == Keep::Frame);
    if (symbolic_ != nullptr) text += choose_order();
    if (keep_ == Keep::Heap) {
      text += fmt::format(
          "  auto* const work = static_cast<unsigned char*>(::operator new({}, std::align_val_t(64)));\n", frames_at_);
    } else if (keep_ == Keep::Stack) {
      text += fmt::format("  alignas(64) unsigned char work[{}];\n", frames_at_);
    } else {
      text += "  auto* const work = static_cast<unsigned char*>(frame);\n";
    }
    text += "  Work w{};\n  w.arguments = arguments;\n  w.parameters = parameters;\n  w.work = work;\n  w.held = -1;\n";
    if (symbolic_ != nullptr) text += sizes_set_;
    text += take_sizes();
    std::int64_t at = 0;
    const auto place = [&](const char* member, std::int64_t size) {
      if (size > 0) text += fmt::format("  w.{} = reinterpret_cast<Element*>(work + {});\n", member, at);
      at += size * static_cast<std::int64_t>(itemsize(shape_.dtype));
    };
    place("left", blocks_.left_size);
    place("line", blocks_.line_size);
    place("right", blocks_.right_size);
    place("transposed", blocks_.transposed_size);
    place("sums", blocks_.sums_size);
    place("carry", blocks_.carry_size);
    place("total", blocks_.total_size);
    if (blocks_.right == FactorLayout::InMemory) {
      text += "  if constexpr (kTail > 0) std::memset(w.right, 0, kChunk * sizeof(Packet));\n";
    } else {
      text += "  // Behind the last column a register reads on.\n";
      text += symbolic_ != nullptr ? "  if (kColumns % kLanes != 0) {\n    const Int kLast"
                                   : "  if constexpr (kColumns % kLanes != 0) {\n    constexpr Int kLast";
      text += R"( = kColumns % kColumnBlock;
    for (Int d = 0; d < kChunk; ++d) {
      for (Int l = kLast; l % kLanes != 0; ++l) w.right[d * kRightStep + l] = 0;
    }
  }
)";
    }
    if (keep_ != Keep::Heap) return text + kWholeRows;
    const char* const constant = symbolic_ != nullptr ? "const" : "constexpr";
    text += fmt::format("  {0} Int kBlocks = kBatches * kAcross * kDown;\n  {0} Int kEach = kPoints / kBlocks;\n",
                        constant);
    text += R"(  const Int end = least((last + kEach - 1) / kEach, kBlocks);
  for (Int block = (first + kEach - 1) / kEach; block < end; ++block) {
    const Int row = block % kDown * kRowBlock;
    const Int column = block / kDown % kAcross * kColumnBlock;
    multiply(w, block / kDown / kAcross, row, least(kRowBlock, kRows - row), column,
             least(kColumnBlock, kColumns - column));
  }
)";
    return text + "  ::operator delete(work, std::align_val_t(64));\n}\n";
  }

  /// Computes exactly the rows of the range, which consists of whole ones.
  static constexpr const char* kWholeRows = R"(  for (Int at = first / kColumns; at < last / kColumns;) {
    const Int batch = at / kRows, begin = at % kRows, end = least(kRows, begin + last / kColumns - at);
    for (Int column = 0; column < kColumns; column += kColumnBlock) {
      for (Int row = begin; row < end; row += kRowBlock)
        multiply(w, batch, row, least(kRowBlock, end - row), column, least(kColumnBlock, kColumns - column));
    }
    at += end - begin;
  }
}
)";

  /// Statements that choose the order of the sum, and leave where it is that of all other sums.
  std::string choose_order() {
    const OrderText chosen = product_order(shape_, *symbolic_, program_);
    sizes_set_ = fmt::format(
        "  w.sizes = sizes;\n  w.order = order;\n  w.rows = {};\n  w.columns = {};\n  w.depth = {};\n  w.batches = "
        "{};\n",
        chosen.rows, chosen.columns, chosen.depth, chosen.batches);
    return fmt::format(
        "  const ProductOrder order = {};\n  if (order.block == 0) return kernel_{}::{}(arguments, "
        "reinterpret_cast<const kernel_{}::Scalar*>(parameters), first, last, sizes{});\n",
        chosen.order, loops_->name, loops_->name, loops_->name, keep_ == Keep::Frame ? ", frame" : "");
  }

  const LoopProgram& program_;
  const ProductForm& plan_;
  const codegen::Contraction& shape_;
  const LoopsForm form_;
  const Keep keep_;
  const SymbolicSizes* const symbolic_;  // null if all sizes are numbers
  const PlainLoops* const loops_;
  std::string sizes_set_;  // statements that set the sizes of the work
  const std::string name_;
  const ContractionBlocks blocks_;
  std::int64_t frames_at_ = 0;  // bytes before the parts' frame
  std::int64_t bytes_ = 0;
  bool eigen_ = false;  // does a part include Eigen?
  std::string parts_;   // the loop programs' sources
  std::string calls_;
  std::string packing_declarations_;
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

bool takes_whole_rows(const LoopProgram& program, const LoopProgram* symbolic, std::size_t columns) {
  const auto form = symbolic != nullptr ? codegen::symbolic_form(*symbolic, program) : rendered_contraction(program);
  if (!form) return symbolic != nullptr || same_program(with_long_last_loop(program), program);
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

std::int64_t rendered_blocks(const ProductForm& plan) {
  const ContractionBlocks b = choose_blocks(plan, Keep::Heap, 256);
  return plan.shape.batches * quotient_up(plan.shape.rows, b.rows) * quotient_up(plan.shape.columns, b.columns);
}

}  // namespace oriel::source::cpp
