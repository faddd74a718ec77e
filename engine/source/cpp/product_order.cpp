#include "source/cpp/product_order.hpp"

#include <fmt/format.h>

#include <vector>

#include "codegen/definitions.hpp"
#include "codegen/product_form.hpp"

namespace oriel::source::cpp {

using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

namespace {

/// The loops of one factor, and the loads that make it.
class SymbolicFactor {
 public:
  SymbolicFactor(const LoopProgram& program, const Contraction& c, bool left, SizeTable* table)
      : program_(program), dtype_(c.dtype), table_(table) {
    const Ints& outer = program.outer;
    const Ints& inner = program.stages[c.stage].inner;
    for (std::size_t d = 0; d < inner.size(); ++d) loops_.push_back({outer.size() + d, inner[d]});
    summed_ = loops_.size();
    for (const std::size_t d : left ? c.row_loops : c.column_loops) loops_.push_back({d, outer[d]});
    own_ = loops_.size() - summed_;
    for (const std::size_t d : c.batch_loops) loops_.push_back({d, outer[d]});
    codegen::Definitions(program, c.stage).gather(left ? c.left : c.right, made_);
  }

  std::string walks() const {
    std::string text;
    const Access* const load = is_load() ? &access_of(made_[0]) : nullptr;
    for (const Loop& loop : loops_) {
      codegen::SymbolicAxis axis{loop.extent, 0, 0, loop.extent};
      if (load != nullptr && loop.number < load->loops()) axis = load->axis(loop.number);
      text +=
          fmt::format("{}{{{}, {}, {}, {}}}", text.empty() ? "" : ", ", size_text(loop.extent, table_),
                      size_text(axis.coefficient, table_), size_text(axis.begin, table_), size_text(axis.end, table_));
    }
    return text.empty() ? "{1, 0, 0, 1}" : text;
  }

  std::string factor(const char* name) const {
    return fmt::format("{{{}, {}, {}, {}, {}}}", name, summed_, own_, loops_.size(), is_load() ? "true" : "false");
  }

  /// Is a load contiguous along the depth, and strided along the last axis?
  std::string transposed() const {
    std::string any;
    if (loops_.size() == summed_) return "false";
    const Loop& last = loops_[own_ > 0 ? summed_ + own_ - 1 : loops_.size() - 1];
    for (const Instr& in : made_) {
      if (!codegen::reads(in)) continue;
      if (access_of(in).buffer < 0) continue;
      std::string along;
      for (std::size_t k = 0; k < summed_; ++k) {
        const std::string one = reaches(in, loops_[k], "{0} == 1 || {0} == -1");
        if (!one.empty()) along += (along.empty() ? "" : " || ") + one;
      }
      const std::string across = reaches(in, last, "{0} >= 2 || {0} <= -2");
      if (!along.empty() && !across.empty())
        any += fmt::format("{}(({}) && {})", any.empty() ? "" : " || ", along, across);
    }
    return any.empty() ? "false" : any;
  }

 private:
  struct Loop {
    std::size_t number;
    SymInt extent;
  };

  const Access& access_of(const Instr& in) const { return program_.accesses[static_cast<std::size_t>(in.aux)]; }
  bool is_load() const {
    if (made_.size() != 1 || made_[0].code != Code::Load) return false;
    const Access& access = access_of(made_[0]);
    return access.affine() && access.dtype == dtype_;
  }
  std::string reaches(const Instr& in, const Loop& loop, const char* test) const {
    if (loop.number >= access_of(in).loops()) return {};
    const SymInt stride = access_of(in).axis(loop.number).coefficient;
    if (identical(stride, 0)) return {};
    return fmt::format("({} > 1 && ({}))", size_text(loop.extent, table_),
                       fmt::format(fmt::runtime(test), size_text(stride, table_)));
  }

  const LoopProgram& program_;
  DType dtype_;
  SizeTable* table_;
  std::vector<Loop> loops_;
  std::size_t summed_ = 0;
  std::size_t own_ = 0;
  std::vector<Instr> made_;
};

}  // namespace

OrderText product_order(const LoopProgram& program, const Contraction& c, SizeTable* table) {
  const auto points = [&](const std::vector<std::size_t>& loops) {
    SymInt n = 1;
    for (const std::size_t d : loops) n *= program.outer[d];
    return size_text(n, table);
  };
  const SymbolicFactor left(program, c, true, table);
  const SymbolicFactor right(program, c, false, table);
  OrderText text{points(c.batch_loops), points(c.row_loops), points(c.column_loops),
                 size_text(numel(program.stages[c.stage].inner), table), ""};
  text.order = fmt::format(
      "[&] {{\n    const Walk left[] = {{{}}};\n    const Walk right[] = {{{}}};\n    return product_order({}, {}, {}, "
      "{}, "
      "{}, {}, {}, {}, {}, {});\n  }}()",
      left.walks(), right.walks(), text.batches, text.rows, text.columns, text.depth, left.factor("left"),
      right.factor("right"), left.transposed(), right.transposed(), codegen::window_form(program) ? "true" : "false",
      itemsize(c.dtype));
  return text;
}

}  // namespace oriel::source::cpp
