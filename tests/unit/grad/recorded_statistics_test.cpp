// Derivatives of reductions, orders, scans and products beside PyTorch's (tests/data/torch_gradients.py).
#include "recorded_gradients.hpp"

namespace oriel::testing::recorded_statistics_test {
namespace {

double correction(const Sample& s) { return s.flag("unbiased", true) ? 1 : 0; }
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The function of each line along an axis, or of all elements; what `of` says where it is masked.
Tensor masked(const Sample& s, const Tensor& x, double otherwise) {
  return s.has("mask") ? where(s.tensor("mask"), x, otherwise) : x;
}
Tensor seen(const Sample& s) { return s.has("mask") ? where(s.tensor("mask"), ones_like(s.x()), 0) : ones_like(s.x()); }
/// Of masked elements nothing.
Tensor covered(const Sample& s, const Tensor& x) { return s.has("mask") ? where(s.tensor("mask"), x, 0) : x; }

Tensor masked_variance(const Sample& s) {
  const Tensor n = sum(seen(s), s.axes(), true);
  const Tensor mean = sum(masked(s, s.x(), 0), s.axes(), true) / n;
  const Tensor out = sum(covered(s, square(s.x() - mean)), s.axes(), true) / (n - correction(s));
  return s.keep() ? out : out.squeeze(s.axes());
}
Tensor norm_of(const Sample& s, const char* order) {
  if (s.text(order) == "nuc") {
    if (!s.has("dim")) return matrix_norm(s.x(), MatrixNorm::nuclear);
    const Ints axes = s.ints("dim");
    return matrix_norm(movedim(s.x(), axes, {-2, -1}), MatrixNorm::nuclear);
  }
  return norm(s.x(), s.text(order) == "fro" ? 2 : s.number(order, 2), s.axes(), s.keep());
}
Tensor matrix_norm_of(const Sample& s) {
  const Tensor x = movedim(s.x(), s.ints("dim"), {-2, -1});
  const double order = s.number("ord");
  const MatrixNorm norm = order == 1    ? MatrixNorm::one
                          : order == -1 ? MatrixNorm::minus_one
                          : order == 2  ? MatrixNorm::two
                          : order == -2 ? MatrixNorm::minus_two
                          : order > 2   ? MatrixNorm::infinity
                                        : MatrixNorm::minus_infinity;
  return matrix_norm(x, norm);
}
/// The middle by differences to both sides, the ends to one.
Tensor gradient_of(const Tensor& x, double spacing) {
  const std::int64_t n = x.size(0).value();
  const Tensor inside = (shrink(x, {{2, n}}) - shrink(x, {{0, n - 2}})) / (2 * spacing);
  const Tensor steps = diff(x) / spacing;
  return concat({shrink(steps, {{0, 1}}), inside, shrink(steps, {{n - 2, n - 1}})});
}
Tensor renormed(const Sample& s) {
  const std::int64_t rank = s.x().rank(), axis = s.whole("dim");
  Ints others;
  for (std::int64_t k = 0; k < rank; ++k)
    if (k != axis) others.push_back(k);
  const Tensor length = norm(s.x(), s.number("p"), others, true);
  return s.x() * where(length > s.number("maxnorm"), s.number("maxnorm") / (length + 1e-7), 1);
}

void add_reductions(Programs& f) {
  f["std"] = f["std/unbiased"] = [](const Sample& s) { return stddev(s.x(), s.axes(), s.keep(), correction(s)); };
  f["var"] = f["var/unbiased"] = [](const Sample& s) { return var(s.x(), s.axes(), s.keep(), correction(s)); };
  f["std_mean"] = [](const Sample& s) {
    return joined({stddev(s.x(), s.axes(), s.keep(), correction(s)), mean(s.x(), s.axes(), s.keep())});
  };
  f["var_mean"] = [](const Sample& s) {
    return joined({var(s.x(), s.axes(), s.keep(), correction(s)), mean(s.x(), s.axes(), s.keep())});
  };
  f["cov"] = [](const Sample& s) { return cov(s.x(), s.whole("correction", 1)); };
  f["corrcoef"] = [](const Sample& s) { return corrcoef(s.x()); };
  f["nanmean"] = [](const Sample& s) { return nanmean(s.x(), s.axes(), s.keep()); };
  f["nansum"] = [](const Sample& s) { return nansum(s.x(), s.axes(), s.keep()); };
  f["norm"] = f["norm/fro"] = f["norm/inf"] = f["norm/nuc"] = [](const Sample& s) { return norm_of(s, "p"); };
  f["linalg.vector_norm"] = f["linalg.norm"] =
      f["linalg.norm/subgradients_at_zero"] = [](const Sample& s) { return norm_of(s, "ord"); };
  f["linalg.matrix_norm"] = matrix_norm_of;
  f["dist"] = [](const Sample& s) { return norm(s.x() - s.y(), s.number("a1", 2)); };
  f["aminmax"] = [](const Sample& s) {
    return joined({min(s.x(), s.axes(), s.keep()), max(s.x(), s.axes(), s.keep())});
  };
  f["max/reduction_no_dim"] =
      f["max/reduction_with_dim"] = [](const Sample& s) { return max(s.x(), s.axes(), s.keep()); };
  f["min/reduction_no_dim"] =
      f["min/reduction_with_dim"] = [](const Sample& s) { return min(s.x(), s.axes(), s.keep()); };
  f["renorm"] = renormed;
  f["cdist"] = [](const Sample& s) { return norm(s.x().unsqueeze(-2) - s.y().unsqueeze(-3), s.number("p", 2), -1); };
  f["masked.sum"] = [](const Sample& s) { return sum(masked(s, s.x(), 0), s.axes(), s.keep()); };
  f["masked.prod"] = [](const Sample& s) { return prod(masked(s, s.x(), 1), s.axes(), s.keep()); };
  f["masked.mean"] = [](const Sample& s) {
    return sum(masked(s, s.x(), 0), s.axes(), s.keep()) / sum(seen(s), s.axes(), s.keep());
  };
  f["masked.amax"] = [](const Sample& s) { return max(masked(s, s.x(), -kInfinity), s.axes(), s.keep()); };
  f["masked.amin"] = [](const Sample& s) { return min(masked(s, s.x(), kInfinity), s.axes(), s.keep()); };
  f["masked.logsumexp"] = [](const Sample& s) { return logsumexp(masked(s, s.x(), -kInfinity), s.axes(), s.keep()); };
  f["masked.var"] = masked_variance;
  f["masked.std"] = [](const Sample& s) { return sqrt(masked_variance(s)); };
  f["masked.norm"] = [](const Sample& s) { return norm(masked(s, s.x(), 0), s.number("ord", 2), s.axes(), s.keep()); };
}

void add_lines(Programs& f) {
  f["masked.softmax"] = [](const Sample& s) { return softmax(masked(s, s.x(), -kInfinity), s.axes()); };
  f["masked.softmin"] = [](const Sample& s) { return softmax(masked(s, -s.x(), -kInfinity), s.axes()); };
  f["masked.log_softmax"] = [](const Sample& s) { return log_softmax(masked(s, s.x(), -kInfinity), s.axes()); };
  f["masked.cumsum"] = [](const Sample& s) { return cumsum(masked(s, s.x(), 0), s.whole("dim")); };
  f["masked.cumprod"] = [](const Sample& s) { return cumprod(masked(s, s.x(), 1), s.whole("dim")); };
  f["masked.normalize"] = [](const Sample& s) {
    return s.x() / maximum(norm(s.x(), s.number("ord", 2), s.axes(), true), s.number("eps", 1e-12));
  };
  f["masked.logaddexp"] = [](const Sample& s) { return logaddexp(s.x(), s.y()); };
  f["logcumsumexp"] = [](const Sample& s) { return logcumsumexp(s.x(), s.whole("dim")); };
  f["cummax"] = [](const Sample& s) { return cummax(s.x(), s.whole("dim")).values; };
  f["cummin"] = [](const Sample& s) { return cummin(s.x(), s.whole("dim")).values; };
  f["diff"] = [](const Sample& s) { return diff(s.x(), s.whole("n", 1), s.whole("dim", -1)); };
  f["gradient"] = [](const Sample& s) { return gradient_of(s.x(), s.number("spacing", 1)); };
  f["quantile"] = [](const Sample& s) {
    if (!s.has("dim")) return quantile(s.x().reshape(-1), s.number("q"), 0);
    return quantile(s.x(), s.number("q"), s.whole("dim"), s.keep());
  };
  f["nanquantile"] = [](const Sample& s) {
    if (!s.has("dim")) return nanquantile(s.x().reshape(-1), s.number("q"), 0);
    return nanquantile(s.x(), s.number("q"), s.whole("dim"), s.keep());
  };
  f["median"] = [](const Sample& s) {
    return s.has("dim") ? median(s.x(), s.whole("dim"), s.keep()).values : median(s.x());
  };
  f["nanmedian"] = [](const Sample& s) {
    return s.has("dim") ? nanmedian(s.x(), s.whole("dim"), s.keep()).values : nanmedian(s.x());
  };
  f["mode"] = [](const Sample& s) { return mode(s.x(), s.whole("dim", -1), s.keep()); };
  f["kthvalue"] = [](const Sample& s) { return kthvalue(s.x(), s.whole("k"), s.whole("dim", -1), s.keep()).values; };
  f["topk"] = [](const Sample& s) {
    return topk(s.x(), s.whole("k"), s.whole("dim", -1), s.flag("largest", true)).values;
  };
  f["sort"] = [](const Sample& s) { return sort(s.x(), s.whole("dim", -1), s.flag("descending")); };
}

void add_products(Programs& f) {
  const auto sum_of = [](const Sample& s, const Tensor& product) {
    return s.x() * s.number("beta", 1) + product * s.number("alpha", 1);
  };
  f["mm"] = [](const Sample& s) { return matmul(s.x(), s.y()); };
  f["bmm"] = [](const Sample& s) { return bmm(s.x(), s.y()); };
  f["addmm"] = [](const Sample& s) {
    return addmm(s.x(), s.y(), s.tensor("a1"), s.number("beta", 1), s.number("alpha", 1));
  };
  f["addmv"] = [=](const Sample& s) { return sum_of(s, mv(s.y(), s.tensor("a1"))); };
  f["addbmm"] = [=](const Sample& s) { return sum_of(s, sum(bmm(s.y(), s.tensor("a1")), 0)); };
  f["baddbmm"] = [=](const Sample& s) { return sum_of(s, bmm(s.y(), s.tensor("a1"))); };
  f["addr"] = [=](const Sample& s) { return sum_of(s, outer(s.y(), s.tensor("a1"))); };
  f["tensordot"] = [](const Sample& s) {
    if (s.named["dims"].is_number()) return tensordot(s.x(), s.y(), s.whole("dims"));
    return tensordot(s.x(), s.y(), Ints(s.named["dims"][0].get<std::vector<std::int64_t>>()),
                     Ints(s.named["dims"][1].get<std::vector<std::int64_t>>()));
  };
  f["einsum"] = [](const Sample& s) { return einsum(s.text("a0"), s.tensors("x")); };
  f["kron"] = [](const Sample& s) { return kron(s.x(), s.y()); };
  f["vdot"] = [](const Sample& s) { return vdot(s.x(), s.y()); };
  f["cross"] = f["linalg.cross"] = [](const Sample& s) { return cross(s.x(), s.y(), s.whole("dim", -1)); };
  f["linalg.vecdot"] = [](const Sample& s) { return sum(s.x() * s.y(), s.whole("dim", -1)); };
  f["linalg.multi_dot"] = [](const Sample& s) {
    Tensor out = s.inputs[0];
    for (std::size_t k = 1; k < s.inputs.size(); ++k) out = matmul(out, s.inputs[k]);
    return out;
  };
}

Programs programs() {
  Programs f;
  add_reductions(f), add_lines(f), add_products(f);
  return f;
}

}  // namespace

TEST_CASE("derivatives of reductions, scans and products are PyTorch's") {
  run_recorded_gradients("statistics", programs());
}

}  // namespace oriel::testing::recorded_statistics_test
