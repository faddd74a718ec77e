#include "source/cpp/contraction_text.hpp"

#include <fmt/format.h>

#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/product_order.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"

namespace oriel::source::cpp {

using codegen::quotient_up;

namespace {

/// Computes exactly the rows of the range, which consists of whole ones.
constexpr const char* kWholeRows = R"(  for (Int at = first / kColumns; at < last / kColumns;) {
    const Int batch = at / kRows, begin = at % kRows, end = least(kRows, begin + last / kColumns - at);
    for (Int column = 0; column < kColumns; column += kColumnBlock) {
      for (Int row = begin; row < end; row += kRowBlock)
        multiply(w, batch, row, least(kRowBlock, end - row), column, least(kColumnBlock, kColumns - column));
    }
    at += end - begin;
  }
}
)";

}  // namespace

ContractionText::ContractionText(const codegen::LoopProgram& program, const codegen::ProductForm& plan,
                                 const ContractionBlocks& blocks, const LoopsForm& form)
    : program_(program), plan_(plan), shape_(plan.shape), blocks_(blocks), keep_(form.keep), symbolic_(form.symbolic) {}

/// A literal, or a size that the kernel's work holds.
std::string ContractionText::number(SymInt n) const {
  return (n.is_symbolic() ? "w." : "") + size_text(n, symbolic_ != nullptr ? symbolic_->table : nullptr);
}

std::string ContractionText::includes() const {
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
std::string ContractionText::element() const {
  const std::string type = value_type(shape_.dtype);
  return type.rfind("std::int", 0) == 0 ? "std::u" + type.substr(5) : type;
}

std::string ContractionText::constants() const {
  const FactorMemory* left = blocks_.left == FactorLayout::InMemory ? &*blocks_.left_factor : nullptr;
  const FactorMemory* right = blocks_.right == FactorLayout::InMemory ? &*blocks_.right_factor : nullptr;
  const bool by_rows = blocks_.left == FactorLayout::ByRows;
  std::string text = fmt::format("using Int = std::int64_t;\nusing Element = {};\n\n", element());
  const auto add = [&](const char* name, std::int64_t value, const char* comment) {
    text += fmt::format("[[maybe_unused]] constexpr Int {} = {};{}{}\n", name, value, *comment ? "  // " : "", comment);
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
    add("kPoints", shape_.batches * shape_.rows * shape_.columns, "");
  }
  add("kChunk", blocks_.chunk, "depths of a block whose elements are packed at a time");
  add("kRowBlock", blocks_.rows, "of a block of results");
  add("kColumnBlock", blocks_.columns, "");
  text += fmt::format("constexpr bool kRightInPlace = {};  // it is not packed\n", right != nullptr);
  add("kPitch", blocks_.columns, "from one row of sums to the next");
  add("kStrip", kStrip, "rows that are packed beside each other");
  if (blocks_.left == FactorLayout::ByDepths) add("kLeftStrip", blocks_.left_pitch, "from these to the next");
  if (!left || !left->row.is_symbolic())
    text += fmt::format(
        "[[maybe_unused]] constexpr std::integral_constant<Int, {}> kLeftRow{{}};  // from one row to the next\n",
        left      ? left->row.value()
        : by_rows ? blocks_.left_pitch
                  : 1);
  add("kLeftStep", left ? left->step.value() : by_rows ? 1 : kStrip, "from one depth to the next");
  add("kRightStep", right ? right->step.value() : blocks_.right_pitch, "");
  if (blocks_.right == FactorLayout::Transposed)
    add("kTransposedRow", blocks_.right_in_memory ? blocks_.right_factor->row.value() : blocks_.transposed_pitch, "");
  return text;
}

std::string ContractionText::memory_text() const {
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
    text += position("left_in_memory", *blocks_.left_factor);
  if (blocks_.right == FactorLayout::InMemory || blocks_.right_in_memory)
    text += position("right_in_memory", *blocks_.right_factor);
  return text;
}

/// The constants of a function that follow from symbolic sizes.
std::string ContractionText::take_sizes() const {
  if (symbolic_ == nullptr) return {};
  std::string text =
      R"(  [[maybe_unused]] const Int kRows = w.rows, kColumns = w.columns, kDepth = w.depth, kBatches = w.batches;
  [[maybe_unused]] const Int kSegment = w.order.segment, kDepthBlock = w.order.block, kPoints = kBatches * kRows * kColumns;
  [[maybe_unused]] const Int kDown = (kRows + kRowBlock - 1) / kRowBlock, kAcross = (kColumns + kColumnBlock - 1) / kColumnBlock;
)";
  if (blocks_.left == FactorLayout::InMemory && blocks_.left_factor->row.is_symbolic())
    text += "  [[maybe_unused]] const Int kLeftRow = " + number(blocks_.left_factor->row) + ";\n";
  return text;
}

std::string ContractionText::position(const char* name, const FactorMemory& m) const {
  std::string at = number(m.offset);
  SymInt below = 1;
  for (std::size_t d = m.extents.size(); d-- > 0;) {
    if (!identical(m.extents[d], 1) && !identical(m.strides[d], 0))
      at += fmt::format(" + batch / {} % {} * {}", number(below), number(m.extents[d]), number(m.strides[d]));
    below *= m.extents[d];
  }
  return fmt::format(R"(
[[maybe_unused]] inline const Element* {}(const Work& w, [[maybe_unused]] Int batch, Int row, Int depth) {{
  return static_cast<const Element*>(w.arguments[{}]) + ({} + row * {} + depth * {});
}}
)",
                     name, m.buffer, at, number(m.row), number(m.step));
}

/// Statements after which register blocks can read `depth` depths, from p on, of the block's columns.
std::string ContractionText::right_text() const {
  if (blocks_.right == FactorLayout::InMemory)
    return std::string(R"(        const Element* const b = right_in_memory(w, batch, column, p);
)") + (symbolic_ != nullptr ? R"(        if (const Int tail = columns % kLanes; tail > 0) {
          for (Int d = 0; d < depth; ++d)
            std::memcpy(w.right + d * kLanes, b + d * kRightStep + columns - tail,
                        sizeof(Element) * static_cast<std::size_t>(tail));
        }
)"
                            : R"(        if constexpr (kTail > 0) {
          if (column + columns == kColumns) {
            for (Int d = 0; d < depth; ++d)
              std::memcpy(w.right + d * kLanes, b + d * kRightStep + columns - kTail, sizeof(Element) * kTail);
          }
        }
)");
  std::string text = "        const Element* const b = w.right;\n";
  const bool whole = blocks_.strips;
  text += symbolic_ != nullptr ? "        if (kDepth > kChunk || w.held != batch * kAcross + column / kColumnBlock) {\n"
                                 "          w.held = batch * kAcross + column / kColumnBlock;\n"
          : whole              ? "        if (w.held != batch * kAcross + column / kColumnBlock) {\n"
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

std::string ContractionText::left_text(bool strip) const {
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
std::string ContractionText::declarations() const {
  std::string text = R"(
/// Sums `depth` products for up to kHeight rows and any number of columns. Starts from the numbers at `from` (from 0 if it
/// is null), adds the numbers at `add` unless it is null, and writes to `to`.
)";
  text += symbolic_ != nullptr ? "template <class LeftRow>\nvoid sum_rows(const Element* a, LeftRow left_row, "
                               : "inline void sum_rows(const Element* a, ";
  text += R"(const Element* b, const Element* tail, Int depth, const Element* from,
                     const Element* add, Element* to, Int rows, Int columns);
/// Computes and stores the results of some rows from their sums.
inline void finish(const Work& w, Element* sums, Int batch, Int row, Int rows, Int column, Int columns);
)";
  if (blocks_.right == FactorLayout::Transposed)
    text +=
        "/// Transposes rows that lie kTransposedRow apart into rows that lie kRightStep apart.\n"
        "inline void turn(const Element* from, Element* to, Int columns, Int depth);\n";
  for (const bool left : {true, false})
    if (blocks_.packs(left))
      text += fmt::format(
          "/// Elements [first, last) of a factor, to where element `number` would be at `data`.\n"
          "inline void {}(const Work& w, Element* data, Int number, Int first, Int last);\n",
          left ? "make_left" : "make_right");
  return text;
}

std::string ContractionText::finish_text() const {
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

std::string ContractionText::multiply_text() const {
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
  std::string sum;
  if (blocks_.carry_size > 0) {
    sum = R"(          Element* const carry = w.carry + i * kPitch;
          sum_rows(LEFT b, w.right, depth, p > block ? carry : nullptr, last && block > segment ? sums : nullptr,
                   last ? sums : carry, some, columns);
)";
  } else {
    sum =
        "          sum_rows(LEFT b, w.right, depth, nullptr, block > segment ? sums : nullptr, sums, some, columns);\n";
  }
  text += sum.replace(sum.find("LEFT"), 4, symbolic_ != nullptr ? "a, kLeftRow," : "a,");
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

std::string ContractionText::entry(const std::string& name, std::int64_t frames_at, const PlainLoops* loops) const {
  std::string text = "\n" + entry_head(keep_ == Keep::Heap ? kLoadedLinkage : kEmbeddedLinkage, name,
                                       symbolic_ != nullptr, keep_ == Keep::Frame);
  std::string sizes_set;
  if (symbolic_ != nullptr) text += choose_order(*loops, sizes_set);
  if (keep_ == Keep::Heap) {
    text += fmt::format("  auto* const work = static_cast<unsigned char*>(::operator new({}, std::align_val_t(64)));\n",
                        frames_at);
  } else if (keep_ == Keep::Stack) {
    text += fmt::format("  alignas(64) unsigned char work[{}];\n", frames_at);
  } else {
    text += "  auto* const work = static_cast<unsigned char*>(frame);\n";
  }
  text += "  Work w{};\n  w.arguments = arguments;\n  w.parameters = parameters;\n  w.work = work;\n  w.held = -1;\n";
  if (symbolic_ != nullptr) text += sizes_set;
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
    text += symbolic_ != nullptr ? "  if (kColumns % kLanes != 0)" : "  if constexpr (kTail > 0)";
    text += " std::memset(w.right, 0, kChunk * sizeof(Packet));\n";
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
  text +=
      fmt::format("  {0} Int kBlocks = kBatches * kAcross * kDown;\n  {0} Int kEach = kPoints / kBlocks;\n", constant);
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

/// Statements that choose the order of the sum, and leave where it is that of all other sums.
std::string ContractionText::choose_order(const PlainLoops& loops, std::string& sizes_set) const {
  const OrderText chosen = product_order(program_, shape_, symbolic_->table);
  sizes_set = fmt::format(
      "  w.sizes = sizes;\n  w.order = order;\n  w.rows = {};\n  w.columns = {};\n  w.depth = {};\n  w.batches = "
      "{};\n",
      chosen.rows, chosen.columns, chosen.depth, chosen.batches);
  return fmt::format(
      "  const ProductOrder order = {};\n  if (order.block == 0) return kernel_{}::{}(arguments, "
      "reinterpret_cast<const kernel_{}::Scalar*>(parameters), first, last, sizes{});\n",
      chosen.order, loops.name, loops.name, loops.name, keep_ == Keep::Frame ? ", frame" : "");
}

}  // namespace oriel::source::cpp
