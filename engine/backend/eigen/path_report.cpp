#include "backend/eigen/path_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backend/eigen/products/online_plan.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/path_functions.hpp"
#include "backend/tile_cost.hpp"
#include "codegen/definitions.hpp"
#include "codegen/join.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;
using codegen::Stage;
using graph::Op;
using schedule::kRates;
using schedule::kRatesInOrder;

namespace {

// A slow read is reported if it takes at least this part of a kernel's time.
constexpr double kSlowShare = 0.3;

double real(std::int64_t n) { return static_cast<double>(n); }

/// The estimated time as the program is, and if all reads were in order.
struct Cost {
  double now = 0;
  double limit = 0;
  Cost& operator+=(const Cost& other) {
    now += other.now;
    limit += other.limit;
    return *this;
  }
};

Cost tiles(const LoopProgram& program) { return {tile_cost(program, kRates), tile_cost(program, kRatesInOrder)}; }

struct SlowRead {
  std::int32_t buffer = -1;
  std::int64_t views = 1;
  double nanoseconds = 0;
};

class PathReporter {
 public:
  PathReporter(const LoopProgram& program, const Plan& plan, const isa::Table& table)
      : program_(program), plan_(plan), table_(table) {}

  PathReport run() {
    out_.path = plan_.path;
    if (plan_.path == KernelPath::Nothing) return out_;
    Cost cost = {kRates.launch + kRates.byte * real(program_.bytes), 0};
    cost.limit = cost.now;
    if (plan_.alone != nullptr) {
      const double alone = plan_.alone->nanoseconds(plan_);
      cost += add(plan_.path, {alone, alone});
    } else if (plan_.parts != nullptr) {
      cost += plan_.parts->online != nullptr ? online(*plan_.parts->online) : parts(*plan_.parts);
    } else {
      cost += one_part(program_, plan_);
    }
    const std::vector<SlowRead> slow_packs = slow_packs_;
    if (plan_.path == KernelPath::Reductions) cost.limit += find_missed();
    out_.nanoseconds = cost.now;
    out_.limit = std::min(cost.limit, cost.now);
    slow_packs_ = slow_packs;  // drops those of programs that were only considered
    find_slow();
    return std::move(out_);
  }

 private:
  Cost add(KernelPath path, const Cost& cost) {
    out_.parts.push_back({path, cost.now});
    return cost;
  }

  // --- what each path costs -----------------------------------------------------------------------------------------

  Cost one_part(const LoopProgram& program, const Plan& plan) {
    if (plan.windows != nullptr) return add(plan.path, windows(program, *plan.windows));
    if (plan.contraction != nullptr) return add(plan.path, product(program, *plan.contraction));
    if (plan.small != nullptr) return add(plan.path, small_products(program, *plan.small));
    return add(plan.path, tiles(program));
  }

  Cost parts(const PartsPlan& plan) {
    Cost cost;
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
      const LoopProgram part = codegen::part_program(program_, static_cast<int>(p), false);
      const PartPlan& planned = plan.parts[p];
      cost += planned.product != nullptr ? add(path_of(*planned.product), product(part, *planned.product))
                                         : add(KernelPath::Reductions, tiles(part));
    }
    return cost;
  }

  Cost online(const OnlinePlan& plan) {
    const codegen::OnlineParts& softmax = plan.parts;
    Cost cost = add(KernelPath::Blocked, product(softmax.scores, *plan.scores));
    cost += add(KernelPath::Reductions, tiles(softmax.weights));
    cost += add(KernelPath::Blocked, product(softmax.products, *plan.products));
    return cost;
  }

  Cost product(const LoopProgram& program, const ContractionPlan& plan) {
    const Contraction& c = plan.shape;
    const double size = real(std::int64_t{1} << plan.log_bytes) / 4;
    double rate = plan.product->loose ? kRates.blocked : kRates.blocked_integer;
    std::int64_t rows = c.rows, columns = c.columns;
    if (plan.path == Path::Streamed) rate = kRates.streamed;
    if (plan.path == Path::Dots) rate = kRates.dots;
    if (plan.path == Path::Blocked) {
      // Counts the idle lanes and rows of register blocks, with the widths of the widest instruction set, so that
      // estimates are the same on every machine.
      const std::int64_t lanes = 64 >> plan.log_bytes;
      columns = (columns + lanes - 1) / lanes * lanes;
      rows = (rows + 3) / 4 * 4;
    }
    const double multiplied = real(c.batches) * real(rows) * real(columns) * real(c.depth) * rate * size;
    Cost cost{multiplied, multiplied};
    cost += factor(program, plan, true);
    cost += factor(program, plan, false);
    cost += tiles(codegen::epilogue_program(program, c));
    return cost;
  }

  Cost factor(const LoopProgram& program, const ContractionPlan& plan, bool left) {
    const FactorPlan& f = left ? plan.left : plan.right;
    if (f.direct) return {};
    const LoopProgram made = codegen::factor_program(program, plan.shape, left);
    double elements = 1;
    for (const SymInt e : made.outer) elements *= real(e.value());
    Cost cost = tiles(made);
    const double packed = elements * (plan.path != Path::Blocked ? kRates.pack_for_vector
                                      : f.load != nullptr        ? kRates.pack
                                                                 : kRates.pack_computed);
    cost.now += packed;
    if (const Access* access = stacked(made)) {
      const std::int64_t views = std::ssize(access->maps());
      const double each = views > 2 ? kRates.pack_stacked : kRates.pack_boxes;
      cost.now += elements * each;
      slow_packs_.push_back({access->buffer, views, elements * each});
    }
    cost.limit += packed;
    return cost;
  }

  static Cost small_products(const LoopProgram& program, const SmallPlan& plan) {
    const Contraction& c = plan.shape;
    const double size = real(std::int64_t{1} << plan.log_bytes) / 4;
    const double moved = real((c.rows + c.columns) * c.depth + c.rows * c.columns);
    const double each = kRates.side_by_side * real(c.rows * c.columns * c.depth) + kRates.lane * moved;
    const double all = size * real(c.batches) * each;
    Cost cost{all, all};
    if (!plan.results) cost += tiles(codegen::epilogue_program(program, c));
    return cost;
  }

  static Cost windows(const LoopProgram& program, const WindowsPlan& plan) {
    const codegen::Windows& w = plan.shape;
    const double size = real(std::int64_t{1} << plan.log_bytes) / 4;
    const double taps = real(w.slow_points) * real(w.y_points) * real(w.x_points) * real(std::ssize(w.taps));
    Cost cost{taps * kRates.window * size, taps * kRates.window * size};
    if (!plan.memory) cost += tiles(codegen::source_program(program, w));
    cost += tiles(codegen::epilogue_program(program, w));
    return cost;
  }

  // --- what was missed ----------------------------------------------------------------------------------------------

  static const Access* stacked(const LoopProgram& program) {
    const auto found = std::find_if(program.accesses.begin(), program.accesses.end(),
                                    [](const Access& a) { return a.buffer >= 0 && !a.affine(); });
    return found == program.accesses.end() ? nullptr : &*found;
  }

  /// Each reduction that would be on a better path by itself. Returns what the limit gains: a number <= 0.
  double find_missed() {
    double gain = 0;
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      const Stage& stage = program_.stages[s];
      std::vector<LoopProgram> each;
      Cost apart;
      for (std::size_t r = 0; r < stage.reductions.size(); ++r) {
        if (std::optional<LoopProgram> one = alone(program_, s, r)) {
          apart += tiles(*one);
          each.push_back(std::move(*one));
        }
      }
      // Reductions of a stage may share their reads.
      share_ = {std::min(1.0, stage_cost(program_, stage, kRates) / apart.now),
                std::min(1.0, stage_cost(program_, stage, kRatesInOrder) / apart.limit)};
      for (const LoopProgram& one : each) gain += find_missed(one);
    }
    return gain;
  }

  double find_missed(const LoopProgram& one) {
    if (const std::optional<double> gain = on_path(one, one, PathObstacle::SharedKernel)) return *gain;
    if (const std::optional<LoopProgram> box = without_padding(one))
      if (const std::optional<double> gain = on_path(one, *box, PathObstacle::Padded)) return *gain;
    return find_other_form(one);
  }

  /// The gain of `other`; nullopt if it runs on loops too.
  std::optional<double> on_path(const LoopProgram& now, const LoopProgram& other, PathObstacle obstacle) {
    const auto plan = make_plan(other, table_, 0);
    if (plan->windows != nullptr)
      return miss(now, plan->path, windows(other, *plan->windows), codegen::to_string(plan->windows->shape), obstacle);
    if (plan->contraction != nullptr) return miss(now, other, *plan->contraction, obstacle);
    return std::nullopt;
  }

  /// `now` is the cost of the reduction as it is, `best` the cost on the better path.
  double miss(const LoopProgram& now, KernelPath path, Cost best, std::string what, PathObstacle obstacle) {
    Cost loops = tiles(now);
    loops = {loops.now * share_.now, loops.limit * share_.limit};
    // A kernel of its own stores its results, and other kernels read them.
    double results = 1;
    for (const SymInt e : now.outer) results *= real(e.value());
    const double apart = kRates.launch + 2 * kRates.byte * 4 * results;
    best += {apart, apart};
    const double factor = loops.now / best.now;
    if (factor < kWorthTelling) return 0;
    const auto known = std::find_if(out_.missed.begin(), out_.missed.end(), [&](const PathMiss& m) {
      return m.path == path && m.obstacle == obstacle && m.what == what;
    });
    if (known != out_.missed.end()) {
      ++known->times;
    } else {
      out_.missed.push_back({path, obstacle, std::move(what), 1, factor});
    }
    return std::min(0.0, best.limit - loops.limit);
  }
  double miss(const LoopProgram& now, const LoopProgram& other, const ContractionPlan& plan, PathObstacle obstacle) {
    return miss(now, path_of(plan), product(other, plan), codegen::to_string(plan.shape), obstacle);
  }

  /// Reports a sum that would be a product of matrices without a conversion, or with another dtype.
  double find_other_form(const LoopProgram& program) {
    const codegen::Reduction& r = program.stages[0].reductions[0];
    if (r.op != Op::Sum) return 0;
    if (const codegen::Contraction* found = codegen::contraction_in(program.form)) {
      if (table_.product[static_cast<int>(found->dtype)].block != nullptr) return 0;
      const double products = real(found->batches) * real(found->rows) * real(found->columns) * real(found->depth);
      const double best = kRates.blocked_integer * products;
      return std::min(found->rows, found->columns) < 2 ? 0
                                                       : miss(program, KernelPath::Blocked, {best, best},
                                                              codegen::to_string(*found), PathObstacle::DTypeWithout);
    }
    const codegen::Definitions definitions(program, 0);
    const Instr* product = definitions.of(r.input);
    const bool converts = product != nullptr && (product->code == Code::Round ||
                                                 (product->code == Code::Elementwise && product->op == Op::Cast));
    const Instr* inner = converts ? definitions.of(product->a) : nullptr;
    if (inner == nullptr || inner->code != Code::Elementwise || inner->op != Op::Mul) return 0;
    LoopProgram other = program;
    other.stages[0].reductions[0].input = inner->result;
    other.stages[0].reductions[0].dtype = inner->dtype;
    other.form = codegen::form_of(other);
    const auto plan = plan_contraction(other, table_);
    if (plan == nullptr || std::min(plan->shape.rows, plan->shape.columns) < 2) return 0;
    return miss(program, other, *plan, PathObstacle::Converted);
  }

  /// Reports reads through several views that take much of the time.
  void find_slow() {
    std::vector<SlowRead> slow = slow_packs_;
    if (plan_.path == KernelPath::Reductions || plan_.path == KernelPath::Elementwise) {
      for (const Stage& stage : program_.stages) {
        double points = 1;
        for (const Ints* extents : {&program_.outer, &stage.columns, &stage.inner})
          for (const SymInt e : *extents) points *= real(e.value());
        for (const Instr& in : stage.inner.empty() ? stage.outer : stage.body) {
          if (in.code != Code::Load) continue;
          const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
          if (!access.affine())
            slow.push_back({access.buffer, std::ssize(access.maps()),
                            points * kRates.load_view * real(std::ssize(access.maps()) - 1)});
        }
      }
    }
    double all = 0;
    std::int64_t views = 0;
    std::string names;
    for (const SlowRead& read : slow) {
      const std::string& name = program_.arguments[static_cast<std::size_t>(read.buffer)].name;
      if (names.find(name) == std::string::npos) names += (names.empty() ? "" : " and ") + name;
      views = std::max(views, read.views);
      all += read.nanoseconds;
    }
    if (all > kSlowShare * out_.nanoseconds)
      out_.slow.push_back(fmt::format("it reads {} through up to {} views, element by element", names, views));
  }

  const LoopProgram& program_;
  const Plan& plan_;
  const isa::Table& table_;
  PathReport out_;
  std::vector<SlowRead> slow_packs_;
  Cost share_{1, 1};  // the part of a reduction's cost alone that it adds to its stage
};

}  // namespace

PathReport path_report(const LoopProgram& program, const Plan& plan, const isa::Table& table) {
  return PathReporter(program, plan, table).run();
}

}  // namespace oriel::backend::eigen
