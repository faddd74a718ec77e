#include "source/cpp/loops_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/keep.hpp"
#include "source/cpp/frame.hpp"
#include "source/cpp/loop_statements.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {

namespace {

using codegen::LoopProgram;

class Renderer : private LoopStatements {
 public:
  Renderer(const LoopProgram& program, const LoopsForm& form)
      : LoopStatements(program, form),
        name_(identifier(program.name)),
        embedded_(form.keep != Keep::Heap),
        outside_(form.keep == Keep::Frame),
        shifted_(form.shifted),
        shared_(form.shared) {}

  std::string run() {
    if (shifted_ >= 0) snippets_.need("Shifted");
    set_indent(1);
    const std::string kept = declare_kept();
    const std::string loops = capture([&] { write_loops(); });
    return assemble(kept + loops);
  }
  std::int64_t frame() const { return frame_; }
  using LoopStatements::kept_bytes;
  bool uses_eigen() const { return snippets_.needs("packets"); }

 private:
  std::optional<DType> packet_type() const { return form_.packets ? std::optional(form_.main) : std::nullopt; }

  /// The types and constants of this kernel.
  std::string types() const {
    std::string text;
    if (snippets_.needs("Values")) {
      text += fmt::format(
          "\n/// Values that belong to neighbouring points.\nconstexpr int kTile = {};\ntemplate <class T>\nusing Tile "
          "= "
          "Values<T, kTile>;\n",
          tiling_.tile);
      if (tiling_.rows) text += fmt::format("template <class T>\nusing Rows = Values<T, {}>;\n", tiling_.rows_length());
    }
    if (tiling_.rows && !program_.outer.empty() && !sizes_.unit())
      text += fmt::format("[[maybe_unused]] constexpr Int kRowStep = {};\n", tiling_.row_step);
    if (!unit_.numbers.empty()) text += "\n" + unit_.numbers;
    return text;
  }

  std::string assemble(const std::string& loops) {
    std::string text = sizes_.symbolic() ? sizes_.heading() : heading(program_, buffers_);
    std::string helpers;
    if (shared_ != nullptr) {
      helpers = share_helpers(*shared_, packet_type(), snippets_);
      text += include_of(*shared_);
    } else {
      helpers = helper_types(packet_type(), snippets_) + snippets_.text();
      for (const std::string& include : includes(snippets_, outside_)) text += include;
      text += '\n';
    }
    text += fmt::format("namespace kernel_{} {{\n\n", name_);
    text += scalar_type();
    text += "namespace {\n\n";
    text += helpers + types();
    const std::string sizes = sizes_.symbolic() ? sizes_.read() : "";
    if (variables_.framed()) {
      for (std::size_t a = 0; a < buffers_.size(); ++a) variables_.member(argument_type(a), buffers_[a]);
      text += "\n/// What the kernel's functions share.\nstruct Frame {\n" + variables_.members().text() + "};\n";
      const std::string run = "\nvoid run(Frame& f, Int first, Int last) {\n" + loops + "}\n";
      // In a source for people the loops come first.
      text += shared_ != nullptr ? "\n" + unit_.declarations + run + unit_.functions : unit_.functions + run;
    }
    text += "\n}  // namespace\n\n";
    text += entry_head(embedded_ ? kEmbeddedLinkage : kLoadedLinkage, name_, sizes_.symbolic(), outside_);
    if (outside_) {
      frame_ = variables_.members().bytes();
      text += fmt::format(
          "  static_assert(sizeof(Frame) <= {} && alignof(Frame) <= 64, \"\");\n  Frame& f = *new (frame) Frame;\n",
          frame_);
    }
    if (variables_.framed() && !outside_)
      text += embedded_ ? "  Frame f;\n" : "  Frame* const frame = new Frame;\n  Frame& f = *frame;\n";
    for (std::size_t a = 0; a < buffers_.size(); ++a) {
      const std::string pointer = argument_type(a).text;
      text += variables_.framed() ? fmt::format("  f.{} = ", buffers_[a])
                                  : fmt::format("  [[maybe_unused]] {} const {} = ", pointer, buffers_[a]);
      text += fmt::format(
          fmt::runtime(shifted(a) ? "*static_cast<const {}*>(arguments[{}]);\n" : "static_cast<{}>(arguments[{}]);\n"),
          pointer, a);
    }
    if (unit_.set_up.empty()) text += "  static_cast<void>(parameters);\n";
    text += unit_.set_up + sizes + from_sizes_;
    text += variables_.framed() ? "  run(f, first, last);\n" : loops;
    if (variables_.framed() && !embedded_) text += "  delete frame;\n";
    if (streams()) text += "  stream_end();\n";
    return text + fmt::format("}}\n\n}}  // namespace kernel_{}\n", name_);
  }

  Type argument_type(std::size_t a) const {
    const std::string element =
        (program_.arguments[a].output ? "" : "const ") + memory_type(program_.arguments[a].dtype);
    return shifted(a) ? shifted_type(element) : pointer_type(element);
  }
  bool shifted(std::size_t a) const { return static_cast<int>(a) == shifted_; }

  std::string name_;
  bool embedded_;
  bool outside_;  // the caller provides the frame
  std::int64_t frame_ = 0;
  int shifted_;
  SharedHelpers* shared_;
};

}  // namespace

LoopsSource render_loops(const LoopProgram& program, const LoopsForm& form) {
  Renderer renderer(program, form);
  std::string source = renderer.run();
  return {std::move(source), renderer.frame(), renderer.uses_eigen(), renderer.kept_bytes()};
}

using codegen::Orientation;
using codegen::Stage;

namespace {

// Shorter last loops leave lanes of a packet empty. A loop that takes their place has this many points at least.
constexpr std::int64_t kShortestLast = 16;
constexpr std::int64_t kLongEnough = 64;
// Rows of at most this many points are reduced beside each other, as the tile machine does.
constexpr std::int64_t kRowBeside = 8;

bool has_work(const Stage& stage) { return !stage.body.empty() || !stage.reductions.empty(); }

}  // namespace

LoopProgram with_long_last_loop(LoopProgram program) {
  if (program.outer.empty()) return program;
  const bool rows = program.orientation == Orientation::Inner && std::ranges::any_of(program.stages, has_work);
  const auto is_short = [](const Stage& s) { return !has_work(s) || numel(s.inner, "render").value() <= kRowBeside; };
  if (rows && !std::ranges::all_of(program.stages, is_short)) return program;
  if (rows && !codegen::kept_values(program).empty()) return program;  // they are kept row by row
  program.orientation = Orientation::Outer;
  if (program.outer.back().value() >= kShortestLast) return program;
  const auto longest = std::ranges::max_element(program.outer, {}, [](const SymInt& extent) { return extent.value(); });
  if (longest->value() < kLongEnough) return program;
  const std::size_t outer = program.outer.size();
  const auto at = static_cast<std::size_t>(longest - program.outer.begin());
  Ints order;
  for (std::size_t d = 0; d < outer; ++d)
    if (d != at) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(static_cast<std::int64_t>(at));
  Ints extents;
  for (const SymInt d : order) extents.push_back(program.outer[static_cast<std::size_t>(d.value())]);
  program.outer = extents;
  for (codegen::Access& access : program.accesses) {
    Ints all = order;
    for (std::size_t d = outer; d < access.loops(); ++d) all.push_back(static_cast<std::int64_t>(d));
    access.permute(all);
  }
  return program;
}

}  // namespace oriel::source::cpp
