#include "backend/eigen/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "backend/eigen/tile/pattern.hpp"
#include "codegen/definitions.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::AccessAxis;
using codegen::AffineMap;
using codegen::Code;
using codegen::Instr;
using codegen::LoopProgram;
using codegen::Stage;

namespace {

// Nobody waits for kernels of less estimated time, in seconds.
constexpr double kWorthTelling = 10e-6;
constexpr std::int64_t kWholeLine = 64;
// Arguments of fewer bytes stay in the first-level cache, whatever is read of their lines.
constexpr std::int64_t kNearBytes = std::int64_t{32} * 1024;
// A line of so many points leaves half of the widest vectors of float32 empty.
constexpr std::int64_t kShortLine = 8;

std::int64_t bytes_of(const Access& access) { return static_cast<std::int64_t>(itemsize(access.dtype)); }

/// The contiguous runs that an access reads: `run` elements from each `stride` on; stride 0: one run.
struct Runs {
  std::int64_t run = 1;
  std::int64_t stride = 0;
};

Runs runs_of(const AffineMap& map) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (const AccessAxis& axis : map.axes)
    if (axis.extent > 1 && axis.coefficient != 0) axes.emplace_back(std::abs(axis.coefficient), axis.extent);
  std::sort(axes.begin(), axes.end());
  Runs out;
  for (const auto& [step, extent] : axes) {
    if (step > out.run) {
      out.stride = step;
      return out;
    }
    out.run = std::max(out.run, step * (extent - 1) + out.run);
  }
  return out;
}

class Notes {
 public:
  Notes(const LoopProgram& program, const Plan& plan) : program_(program), plan_(plan) {}

  std::vector<std::string> run() {
    for (const Gather& g : plan_.gathers) gather(g);
    for (const Stage& stage : program_.stages) {
      const bool loops = codegen::has_loops(stage);
      for (const std::vector<Instr>* list : {&stage.body, &stage.outer}) {
        if (loops && list == &stage.outer) continue;
        for (const Instr& in : *list) {
          if (in.code == Code::Load) load(program_.accesses[static_cast<std::size_t>(in.aux)]);
        }
      }
      if (loops) reduced_rows(stage);
    }
    read_parts();
    short_line();
    return std::move(out_);
  }

 private:
  const std::string& name(const Access& access) const {
    return program_.arguments[static_cast<std::size_t>(access.buffer)].name;
  }
  void tell(std::string text) {
    if (std::find(out_.begin(), out_.end(), text) == out_.end()) out_.push_back(std::move(text));
  }

  void gather(const Gather& g) {
    const MemoryAccess& r = plan_.accesses[static_cast<std::size_t>(g.access)];
    const std::string& from = program_.arguments[static_cast<std::size_t>(r.buffer)].name;
    if (!g.rows) return tell(fmt::format("gathers {} element by element: rows of {} bytes", from, r.bytes));
    const std::int64_t row = program_.outer.back().value() * r.bytes;
    if (row < kWholeLine) tell(fmt::format("gathers {} in rows of {} bytes", from, row));
  }

  void load(const Access& access) {
    if (access.buffer < 0 || !access.affine()) return;
    const codegen::Argument& argument = program_.arguments[static_cast<std::size_t>(access.buffer)];
    if (argument.local || argument.elements * bytes_of(access) <= kNearBytes) return;
    const AffineMap& map = access.maps().front();
    Runs runs = runs_of(map);
    if (runs.stride == 0) return;
    // Accesses that begin at other places of the same runs read the same lines.
    Parts& parts = parts_[{access.buffer, runs.stride}];
    parts.access = &access;
    for (std::int64_t k = 0; k < std::min(runs.run, runs.stride); ++k) {
      if (std::ssize(parts.places) * bytes_of(access) >= kWholeLine) break;
      // A masked access may begin before its memory.
      parts.places.insert(((map.offset + k) % runs.stride + runs.stride) % runs.stride);
    }
  }

  void read_parts() {
    for (const auto& [key, parts] : parts_) {
      const std::int64_t size = bytes_of(*parts.access), stride = key.second * size;
      std::int64_t read = std::ssize(parts.places) * size;
      if (stride < kWholeLine) read = read * kWholeLine / stride;
      if (2 * read <= kWholeLine)
        tell(fmt::format("reads {} of each {} bytes of {}", read, kWholeLine, name(*parts.access)));
    }
  }

  void reduced_rows(const Stage& stage) {
    if (stage.reductions.empty() || plan_.columns) return;
    std::int64_t points = 1;
    for (const SymInt e : stage.inner) points *= e.value();
    if (points >= 2 && points < isa::kLanes)
      tell(fmt::format("reduces rows of {} points, fewer than the {} lanes", points, isa::kLanes));
  }

  /// Lines of few points, if an operand begins anew in each of them.
  void short_line() {
    const std::size_t rank = program_.outer.size();
    if (rank < 2 || codegen::reduces(program_.form)) return;
    const std::int64_t line = program_.outer.back().value();
    if (line < 2 || line > kShortLine) return;
    const bool broken = std::any_of(program_.accesses.begin(), program_.accesses.end(), [&](const Access& access) {
      if (access.buffer < 0 || !access.affine() || access.loops() != rank) return false;
      const std::int64_t last = access.coefficient(rank - 1), before = access.coefficient(rank - 2);
      if (access.extent(rank - 2) <= 1 || before == last * line) return false;
      std::vector<std::size_t> loops(rank);
      std::iota(loops.begin(), loops.end(), std::size_t{0});
      return !Pattern::make(access, {}, loops);
    });
    if (broken) tell(fmt::format("the innermost loop has {} points: a vector spans several lines", line));
  }

  struct Parts {
    const Access* access = nullptr;
    std::set<std::int64_t> places;  // of the elements of a stride that are read, up to a cache line of them
  };

  const LoopProgram& program_;
  const Plan& plan_;
  std::vector<std::string> out_;
  std::map<std::pair<std::int32_t, std::int64_t>, Parts> parts_;  // by argument and stride
};

}  // namespace

std::vector<std::string> access_notes(const LoopProgram& program, const Plan& plan) {
  if (plan.path != KernelPath::Elementwise && plan.path != KernelPath::Reductions) return {};
  if (estimated_seconds(program, plan) < kWorthTelling) return {};
  return Notes(program, plan).run();
}

}  // namespace oriel::backend::eigen
