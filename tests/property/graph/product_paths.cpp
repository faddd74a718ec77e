#include "product_paths.hpp"

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/online_softmax.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/products/windows_plan.hpp"

namespace oriel::testing {

using backend::eigen::ContractionPlan;
using backend::eigen::FactorPlan;
using backend::eigen::Path;
using backend::eigen::Plan;

namespace {

std::string sign(std::int64_t n) { return n > 0 ? "+" : n < 0 ? "-" : "0"; }

std::string read_as(const FactorPlan& f) {
  if (f.direct && f.memory) return "as it lies, row " + sign(f.memory->row) + ", step " + sign(f.memory->step);
  if (f.memory) return "packed from memory";
  const std::string order = f.order == codegen::PackOrder::Points ? ", point by point" : "";
  return (f.load != nullptr ? "packed, one load" : "packed, computed") + order;
}

void add_product(const std::string& where, const ContractionPlan& plan, std::vector<std::string>& list) {
  const char* const path = plan.path == Path::Blocked ? "blocked" : plan.path == Path::Streamed ? "streamed" : "dots";
  const std::string name = where + path;
  list.push_back(name + ", left " + read_as(plan.left));
  list.push_back(name + ", right " + read_as(plan.right));
  list.push_back(name + (plan.results ? ", results stored at once" : ", results worked on"));
  if (plan.shape.depth > plan.depth_block) list.push_back(name + ", several blocks of depths");
  if (plan.segment < plan.shape.depth) list.push_back(name + ", segments");
}

}  // namespace

std::vector<std::string> paths_of(const backend::eigen::TieredKernel& kernel) {
  const Plan& plan = *kernel.plan;
  std::vector<std::string> list;
  if (plan.parts != nullptr && plan.parts->online != nullptr) {
    add_product("online softmax, scores ", *plan.parts->online->scores, list);
    add_product("online softmax, products ", *plan.parts->online->products, list);
  } else if (plan.parts != nullptr) {
    for (const backend::eigen::PartPlan& part : plan.parts->parts) {
      if (part.product != nullptr)
        add_product("fused rows, ", *part.product, list);
      else
        list.push_back("fused rows, tiles");
    }
  } else if (plan.windows != nullptr) {
    list.push_back(std::string("windows, ") + (plan.windows->memory ? "as they lie" : "computed") +
                   (plan.windows->weights ? ", weighed" : ""));
  } else if (plan.contraction != nullptr) {
    add_product("", *plan.contraction, list);
  } else if (const backend::eigen::SmallPlan* small = small_plan(plan)) {
    list.push_back(std::string("side by side, ") + (small->results ? "results stored at once" : "results worked on"));
  } else {
    list.push_back("tiles");
  }
  if (kernel.native.load() != nullptr) list.push_back("compiled");
  return list;
}

std::vector<std::string> known_paths() {
  std::vector<std::string> list{"tiles", "fused rows, tiles", "kept panels", "side by side, results stored at once",
                                "side by side, results worked on"};
  for (const char* windows : {"as they lie", "as they lie, weighed", "computed", "computed, weighed"})
    list.push_back(std::string("windows, ") + windows);
  for (const char* where : {"", "fused rows, ", "online softmax, scores ", "online softmax, products "}) {
    const std::string blocked = std::string(where) + "blocked, ";
    const bool weights = where == std::string("online softmax, products ");  // weights lie in memory of the thread
    for (const char* step : {"+", "0", "-"}) {
      list.push_back(blocked + "right as it lies, row +, step " + step);
      if (!weights) list.push_back(blocked + "left as it lies, row +, step " + step);
    }
    for (const char* packed : {"from memory", "computed", "one load"}) {
      list.push_back(blocked + "right packed" + (packed == std::string("from memory") ? " " : ", ") + packed);
      if (!weights)
        list.push_back(blocked + "left packed" + (packed == std::string("from memory") ? " " : ", ") + packed);
    }
    if (!weights) list.push_back(blocked + "left as it lies, row -, step +");
    list.push_back(blocked + "results stored at once");
    // An online softmax stores rows of scores and of weighted values while they are summed.
    if (std::string(where).find("online") == std::string::npos) list.push_back(blocked + "results worked on");
    list.push_back(blocked + "several blocks of depths");
  }
  for (const char* side : {"left", "right"})
    for (const char* packed : {"one load", "computed"})
      list.push_back(std::string("blocked, ") + side + " packed, " + packed + ", point by point");
  list.push_back("blocked, segments");
  for (const char* step : {"+", "0", "-"})
    list.push_back(std::string("streamed, right as it lies, row +, step ") + step);
  for (const char* left : {"as it lies, row +, step +", "as it lies, row -, step +", "packed from memory",
                           "packed, computed", "packed, one load"})
    list.push_back(std::string("streamed, left ") + left);
  list.push_back("streamed, right packed, computed");
  list.push_back("streamed, segments");
  for (const char* row : {"+", "-"}) list.push_back(std::string("dots, right as it lies, row ") + row + ", step +");
  for (const char* left : {"as it lies, row 0, step +", "packed from memory", "packed, computed", "packed, one load"})
    list.push_back(std::string("dots, left ") + left);
  list.push_back("dots, segments");
  return list;
}

}  // namespace oriel::testing
