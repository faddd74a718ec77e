// Every function that reduces, orders, normalises, moves or decomposes, over axes and matrices without elements. The
// answers are those of NumPy 2.4 where it has the function, else PyTorch's; where both refuse, so does Oriel.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "oriel/oriel.hpp"

namespace empty_test {

using namespace oriel;

namespace {

/// The dtype, the shape and the elements; of an error its message.
template <class F>
std::string text(const F& f) {
  try {
    const Tensor x = f();
    std::string out = std::string(name(x.dtype())) + " " + to_string(x.shape());
    if (x.realize().numel() == 0) return out;
    out += ":";
    for (const double v : x.to(DType::float64).template to_vector<double>()) {
      char number[32];
      std::snprintf(number, sizeof number, " %.5g", std::isnan(v) ? std::fabs(v) : v);
      out += number;
    }
    return out;
  } catch (const Error& error) {
    const std::string message = error.what();
    return "! " + message.substr(0, message.find(" (at "));
  }
}

}  // namespace

#define SAYS(expression, want) CHECK_MESSAGE(text([&] { return expression; }) == (want), #expression)

TEST_CASE("functions over nothing") {
  const Tensor row = zeros({0}), none = zeros({3, 0}), flat = zeros({0, 3}), square = zeros({0, 0});
  const Tensor at = zeros({0}, DType::int64), whole = zeros({0, 2}, DType::int8);
  SAYS((sum(row)), "float32 (): 0");
  SAYS((sum(none, 0)), "float32 (0)");
  SAYS((sum(none, 1)), "float32 (3): 0 0 0");
  SAYS((sum(flat, 0)), "float32 (3): 0 0 0");
  SAYS((prod(none, 0)), "float32 (0)");
  SAYS((prod(none, 1)), "float32 (3): 1 1 1");
  SAYS((asum(none, 1)), "float32 (3): 0 0 0");
  SAYS((max(none, 0)), "float32 (0)");
  SAYS((max(none, 1)), "float32 (3): -inf -inf -inf");
  SAYS((max(row)), "float32 (): -inf");
  SAYS((min(none, 1)), "float32 (3): inf inf inf");
  SAYS((max(whole, 0)), "int8 (2): -128 -128");
  SAYS((min(whole, 0)), "int8 (2): 127 127");
  SAYS((any(none, 1)), "bool (3): 0 0 0");
  SAYS((all(none, 1)), "bool (3): 1 1 1");
  SAYS((any(row)), "bool (): 0");
  SAYS((all(row)), "bool (): 1");
  SAYS((mean(none, 0)), "float32 (0)");
  SAYS((mean(none, 1)), "float32 (3): nan nan nan");
  SAYS((mean(row)), "float32 (): nan");
  SAYS((var(none, 0)), "float32 (0)");
  SAYS((var(none, 1)), "float32 (3): nan nan nan");
  SAYS((stddev(none, 1)), "float32 (3): nan nan nan");
  SAYS((var(row, {}, false, 0)), "float32 (): nan");
  SAYS((count_nonzero(none, 1)), "int64 (3): 0 0 0");
  SAYS((norm(row)), "float32 (): 0");
  SAYS((norm(none, 1, 1)), "float32 (3): 0 0 0");
  SAYS((norm(none, 3, 1)), "float32 (3): 0 0 0");
  SAYS((norm(none, 0, 1)), "float32 (3): 0 0 0");
  SAYS((norm(row, HUGE_VAL)), "! norm: p is inf and axes (0) of (0) hold no element; give a p >= 0 that is finite");
  SAYS((norm(row, -1)), "! norm: p is -1 and axes (0) of (0) hold no element; give a p >= 0 that is finite");
  SAYS((norm(flat, HUGE_VAL, 1)), "float32 (0)");
  SAYS((argmax(row)), "! argmax: axes (0) of (0) have no elements, so there is no position to return");
  SAYS((argmax(none, 1)), "! argmax: axes (1) of (3, 0) have no elements, so there is no position to return");
  SAYS((argmax(none, 0)), "int64 (0)");
  SAYS((argmin(none, 1)), "! argmin: axes (1) of (3, 0) have no elements, so there is no position to return");
  SAYS((logsumexp(row)), "float32 (): -inf");
  SAYS((logsumexp(none, 1)), "float32 (3): -inf -inf -inf");
  SAYS((logsumexp(none, 0)), "float32 (0)");
  SAYS((softmax(none)), "float32 (3, 0)");
  SAYS((softmax(flat)), "float32 (0, 3)");
  SAYS((log_softmax(none)), "float32 (3, 0)");
  SAYS((log_softmax(flat)), "float32 (0, 3)");
  SAYS((layer_norm(none)), "float32 (3, 0)");
  SAYS((layer_norm(flat)), "float32 (0, 3)");
  SAYS((cumsum(none, 1)), "float32 (3, 0)");
  SAYS((cumsum(none, 0)), "float32 (3, 0)");
  SAYS((cumprod(none, 1)), "float32 (3, 0)");
  SAYS((sort(none)), "float32 (3, 0)");
  SAYS((argsort(none)), "int64 (3, 0)");
  SAYS((sort(flat, 0)), "float32 (0, 3)");
  SAYS((matmul(none, flat)), "float32 (3, 3): 0 0 0 0 0 0 0 0 0");
  SAYS((matmul(flat, none)), "float32 (0, 0)");
  SAYS((matmul(row, row)), "float32 (): 0");
  SAYS((matmul(row, flat)), "float32 (3): 0 0 0");
  SAYS((matmul(none, row)), "float32 (3): 0 0 0");
  SAYS((nansum(none, 1)), "float32 (3): 0 0 0");
  SAYS((nanprod(none, 1)), "float32 (3): 1 1 1");
  SAYS((nanmean(none, 1)), "float32 (3): nan nan nan");
  SAYS((nanmax(none, 1)), "float32 (3): -inf -inf -inf");
  SAYS((nanmin(none, 1)), "float32 (3): inf inf inf");
  SAYS((nanmax(none, 0)), "float32 (0)");
  SAYS((cov(none)), "float32 (3, 3): nan nan nan nan nan nan nan nan nan");
  SAYS((cov(flat)), "float32 (0, 0)");
  SAYS((corrcoef(none)), "float32 (3, 3): nan nan nan nan nan nan nan nan nan");
  SAYS((corrcoef(flat)), "float32 (0, 0)");
  SAYS((batch_norm(flat, zeros({3}), ones({3}))), "float32 (0, 3)");
  SAYS((batch_norm(none, row, row)), "float32 (3, 0)");
  SAYS((instance_norm(zeros({2, 3, 0}))), "float32 (2, 3, 0)");
  SAYS((instance_norm(zeros({2, 0, 4}))), "float32 (2, 0, 4)");
  SAYS((group_norm(zeros({2, 4, 0}), 2)), "float32 (2, 4, 0)");
  SAYS((group_norm(zeros({2, 0, 4}), 2)), "float32 (2, 0, 4)");
  SAYS((rms_norm(none)), "float32 (3, 0)");
  SAYS((rms_norm(flat)), "float32 (0, 3)");
  SAYS((scaled_dot_product_attention(zeros({2, 4}), zeros({0, 4}), zeros({0, 5}))),
       "float32 (2, 5): 0 0 0 0 0 0 0 0 0 0");
  SAYS((scaled_dot_product_attention(zeros({0, 4}), zeros({2, 4}), zeros({2, 5}))), "float32 (0, 5)");
  SAYS((scaled_dot_product_attention(zeros({2, 0}), ones({3, 0}), ones({3, 5}))),
       "float32 (2, 5): 1 1 1 1 1 1 1 1 1 1");
  SAYS((topk(none, 0).values), "float32 (3, 0)");
  SAYS((topk(none, 1).values), "! topk: k is 1 of the 0 elements of axis 1 of (3, 0)");
  SAYS((kthvalue(none, 1).values), "! kthvalue: k is 1; axis 1 of (3, 0) has no places");
  SAYS((median(row)), "float32 (): nan");
  SAYS((median(none, 1).values), "! median: axis 1 of (3, 0) has no elements");
  SAYS((median(none, 0).values), "float32 (0)");
  SAYS((nanmedian(row)), "float32 (): nan");
  SAYS((nanmedian(none, 1).values), "! nanmedian: axis 1 of (3, 0) has no elements");
  SAYS((mode(none, 1)), "! mode: axis 1 of (3, 0) has no elements");
  SAYS((mode(none, 0)), "float32 (0)");
  SAYS((quantile(row, 0.5, 0)), "! quantile: axis 0 of (0) has no elements");
  SAYS((quantile(none, 0.5, 1)), "! quantile: axis 1 of (3, 0) has no elements");
  SAYS((quantile(none, 0.5, 0)), "float32 (0)");
  SAYS((nanquantile(none, 0.5, 1)), "! nanquantile: axis 1 of (3, 0) has no elements");
  SAYS((quantile(none, std::vector<double>{}, 0)), "float32 (0, 0)");
  SAYS((quantile(ones({3}), std::vector<double>{}, 0)), "float32 (0)");
  SAYS((partition(row, 0)), "! partition: k is 0; axis 0 of (0) has no places");
  SAYS((argpartition(row, 0)), "! argpartition: k is 0; axis 0 of (0) has no places");
  SAYS((partition(flat, 1)), "float32 (0, 3)");
  SAYS((lexsort({row, row})), "int64 (0)");
  SAYS((lexsort({none, none})), "int64 (3, 0)");
  SAYS((searchsorted(row, ones({2}))), "int64 (2): 0 0");
  SAYS((searchsorted(ones({2}), row)), "int64 (0)");
  SAYS((searchsorted(row, row)), "int64 (0)");
  SAYS((bucketize(row, row)), "int64 (0)");
  SAYS((searchsorted(none, none)), "int64 (3, 0)");
  SAYS((isin(row, ones({2}))), "bool (0)");
  SAYS((isin(ones({2}), row)), "bool (2): 0 0");
  SAYS((isin(row, row)), "bool (0)");
  SAYS((interp(row, ones({2}), ones({2}))), "float32 (0)");
  SAYS((interp(ones({2}), row, row)), "! interp: points (0) and (0); give two vectors as long, with elements");
  SAYS((cummax(none, 1).values), "float32 (3, 0)");
  SAYS((cummax(none, 0).positions), "int64 (3, 0)");
  SAYS((cummin(none, 1).values), "float32 (3, 0)");
  SAYS((logcumsumexp(none, 1)), "float32 (3, 0)");
  SAYS((logcumsumexp(none, 0)), "float32 (3, 0)");
  SAYS((linear_recurrence(none, none, 1)), "float32 (3, 0)");
  SAYS((linear_recurrence(0.5, none, 0)), "float32 (3, 0)");
  SAYS((associative_scan([](const Tensor& a, const Tensor& b) { return a + b; }, row)), "float32 (0)");
  SAYS((put(ones({3}), at, row)), "float32 (3): 1 1 1");
  SAYS((put(row, at, row)), "float32 (0)");
  SAYS((put_add(ones({3}), at, row)), "float32 (3): 1 1 1");
  SAYS((index_add(flat, at, none.reshape({0, 3}))), "float32 (0, 3)");
  SAYS((index_select(ones({3, 2}), 0, at)), "float32 (0, 2)");
  SAYS((index_select(none, 1, at)), "float32 (3, 0)");
  SAYS((index_put(ones({2}), {at}, 1)), "float32 (2): 1 1");
  SAYS((embedding(at, ones({3, 2}))), "float32 (0, 2)");
  SAYS((scatter(ones({3}), at, row, 0)), "float32 (3): 1 1 1");
  SAYS((scatter_add(ones({3}), at, row, 0)), "float32 (3): 1 1 1");
  SAYS((scatter_reduce(ones({3}), at, row, 0, Combine::amax)), "float32 (3): 1 1 1");
  SAYS((take_along_axis(none, at.reshape({1, 0}), 1)), "float32 (3, 0)");
  SAYS((put_along_axis(ones({3, 1}), at.reshape({0, 1}), 2, 0)), "float32 (3, 1): 1 1 1");
  SAYS((masked_scatter(row, at.to(DType::bool_), row)), "float32 (0)");
  SAYS((segment_sum(row, at, 3)), "float32 (3): 0 0 0");
  SAYS((segment_prod(row, at, 2)), "float32 (2): 1 1");
  SAYS((segment_max(row, at, 2)), "float32 (2): -inf -inf");
  SAYS((segment_min(row, at, 2)), "float32 (2): inf inf");
  SAYS((segment_mean(row, at, 2)), "float32 (2): 0 0");
  SAYS((segment_sum(row, at, 0)), "float32 (0)");
  SAYS((bincount(at)), "int64 (0)");
  SAYS((bincount(at, 3)), "int64 (3): 0 0 0");
  SAYS((bincount(at, row, 2)), "float32 (2): 0 0");
  SAYS((histogram(row).counts), "int64 (10): 0 0 0 0 0 0 0 0 0 0");
  SAYS((histogram(row, 2).edges), "float32 (3): 0 0.5 1");
  SAYS((histogram(row, ones({2})).counts), "int64 (1): 0");
  SAYS((histogram(row, 2, {.density = true}).counts), "float64 (2): nan nan");
  SAYS((histogramdd(zeros({0, 2}), {2, 1}, {{0, 1}, {0, 1}})), "int64 (2, 1): 0 0");
  SAYS((einsum("ij,jk->ik", {none, flat})), "float32 (3, 3): 0 0 0 0 0 0 0 0 0");
  SAYS((einsum("ij->j", {flat})), "float32 (3): 0 0 0");
  SAYS((einsum("ij->", {none})), "float32 (): 0");
  SAYS((einsum("i,i->", {row, row})), "float32 (): 0");
  SAYS((tensordot(none, flat, 1)), "float32 (3, 3): 0 0 0 0 0 0 0 0 0");
  SAYS((bmm(zeros({0, 2, 3}), zeros({0, 3, 4}))), "float32 (0, 2, 4)");
  SAYS((bmm(zeros({2, 2, 0}), zeros({2, 0, 2}))), "float32 (2, 2, 2): 0 0 0 0 0 0 0 0");
  SAYS((mv(none, row)), "float32 (3): 0 0 0");
  SAYS((dot(row, row)), "float32 (): 0");
  SAYS((outer(row, ones({2}))), "float32 (0, 2)");
  SAYS((inner(none, none)), "float32 (3, 3): 0 0 0 0 0 0 0 0 0");
  SAYS((kron(row, ones({2}))), "float32 (0)");
  SAYS((kron(none, ones({2, 2}))), "float32 (6, 0)");
  SAYS((cross(zeros({0, 3}), zeros({0, 3}))), "float32 (0, 3)");
  SAYS((addmm(ones({3, 3}), none, flat)), "float32 (3, 3): 1 1 1 1 1 1 1 1 1");
  SAYS((linear(none, zeros({2, 0}))), "float32 (3, 2): 0 0 0 0 0 0");
  SAYS((linear(none, zeros({2, 0}), ones({2}))), "float32 (3, 2): 1 1 1 1 1 1");
  SAYS((conv1d(zeros({0, 2, 5}), ones({3, 2, 2}))), "float32 (0, 3, 4)");
  SAYS((conv1d(zeros({1, 0, 5}), zeros({3, 0, 2}))), "float32 (1, 3, 4): 0 0 0 0 0 0 0 0 0 0 0 0");
  SAYS((conv1d(ones({1, 2, 5}), zeros({0, 2, 2}))), "float32 (1, 0, 4)");
  SAYS((conv1d(ones({1, 2, 0}), zeros({3, 2, 2}))),
       "! conv1d: a window of 2 elements, padding included, is wanted of 0 on spatial axis 0");
  SAYS((max_pool1d(zeros({0, 2, 5}), {2})), "float32 (0, 2, 2)");
  SAYS((max_pool1d(zeros({1, 2, 0}), {2})), "! max_pool1d: a window of 2 elements is wanted of 0 with padding 0");
  SAYS((avg_pool2d(zeros({0, 2, 4, 4}), {2, 2})), "float32 (0, 2, 2, 2)");
  SAYS((adaptive_avg_pool1d(zeros({0, 2, 4}), {2})), "float32 (0, 2, 2)");
  SAYS((adaptive_avg_pool1d(zeros({1, 2, 0}), {2})),
       "! adaptive_avg_pool1d: axis 2 of (1, 2, 0) has no elements to pool");
  SAYS((adaptive_max_pool1d(zeros({1, 2, 0}), {2})),
       "! adaptive_max_pool1d: axis 2 of (1, 2, 0) has no elements to pool");
  SAYS((adaptive_avg_pool1d(ones({1, 2, 4}), {0})),
       "! adaptive_avg_pool1d: sizes (0) hold 0; give numbers >= 1, or -1");
  SAYS((im2col(zeros({0, 2, 4, 4}), {2, 2})), "float32 (0, 8, 9)");
  SAYS((pad(row, {{1, 1}}, PadMode::reflect)),
       "! pad: axis 0 of (0) is too short to be padded by 1 and 1 in mode reflect");
  SAYS((pad(row, {{1, 1}}, PadMode::replicate)),
       "! pad: axis 0 of (0) is too short to be padded by 1 and 1 in mode replicate");
  SAYS((pad(row, {{1, 1}})), "float32 (2): 0 0");
  SAYS((pad(row, {{0, 0}}, PadMode::circular)), "float32 (0)");
  SAYS((median_filter(row, {3})), "float32 (0)");
  SAYS((interpolate(zeros({0, 2, 4}), {2}, Interpolation::linear)), "float32 (0, 2, 2)");
  SAYS((interpolate(zeros({1, 2, 0}), {2})), "! interpolate: (1, 2, 0) to (2); extents must be >= 1");
  SAYS((interpolate(zeros({1, 0, 2}), {4}, Interpolation::linear)), "float32 (1, 0, 4)");
  SAYS((grid_sample(zeros({0, 1, 2, 2}), zeros({0, 1, 1, 2}))), "float32 (0, 1, 1, 1)");
  SAYS((grid_sample(zeros({1, 0, 2, 2}), zeros({1, 1, 1, 2}))), "float32 (1, 0, 1, 1)");
  SAYS((grid_sample(ones({1, 1, 2, 2}), zeros({1, 0, 1, 2}))), "float32 (1, 1, 0, 1)");
  SAYS((grid_sample(zeros({1, 1, 0, 2}), zeros({1, 1, 1, 2}))),
       "! grid_sample: images (1, 1, 0, 2) and a grid (1, 1, 1, 2); give (N, C, H, W) with pixels and (N, H', W', 2)");
  SAYS((convolve(row, row)), "! convolve: (0) and (0): both must have elements and as many axes, at least one");
  SAYS((correlate(row, ones({2}))), "! correlate: (0) and (2): both must have elements and as many axes, at least one");
  SAYS((mse_loss(row, row)), "float32 (): nan");
  SAYS((mse_loss(row, row, Reduction::sum)), "float32 (): 0");
  SAYS((mse_loss(row, row, Reduction::none)), "float32 (0)");
  SAYS((l1_loss(row, row)), "float32 (): nan");
  SAYS((huber_loss(row, row, 1, Reduction::sum)), "float32 (): 0");
  SAYS((kl_div(row, row, false, Reduction::sum)), "float32 (): 0");
  SAYS((binary_cross_entropy(row, row, Reduction::sum)), "float32 (): 0");
  SAYS((cross_entropy(zeros({0, 3}), at)), "float32 (): nan");
  SAYS((cross_entropy(zeros({0, 3}), at, {.reduction = Reduction::sum})), "float32 (): 0");
  SAYS((cross_entropy(zeros({0, 3}), at, {.reduction = Reduction::none})), "float32 (0)");
  SAYS((nll_loss(zeros({0, 3}), at, {.reduction = Reduction::sum})), "float32 (): 0");
  SAYS((relu6(row)), "float32 (0)");
  SAYS((softplus(row)), "float32 (0)");
  SAYS((glu(zeros({0, 4}))), "float32 (0, 2)");
  SAYS((glu(none)), "float32 (3, 0)");
  SAYS((lgamma(row)), "float32 (0)");
  SAYS((gcd(at, at)), "int64 (0)");
  SAYS((frexp(row).mantissa), "float32 (0)");
  SAYS((cholesky(square)), "float32 (0, 0)");
  SAYS((qr(none).q), "float32 (3, 0)");
  SAYS((qr(none).r), "float32 (0, 0)");
  SAYS((qr(flat).q), "float32 (0, 0)");
  SAYS((qr(flat).r), "float32 (0, 3)");
  SAYS((qr(none, true).q), "float32 (3, 3): 1 0 0 0 1 0 0 0 1");
  SAYS((qr(flat, true).r), "float32 (0, 3)");
  SAYS((qr(square).q), "float32 (0, 0)");
  SAYS((lu(none).p), "float32 (3, 3): 1 0 0 0 1 0 0 0 1");
  SAYS((lu(none).l), "float32 (3, 0)");
  SAYS((lu(none).u), "float32 (0, 0)");
  SAYS((lu(flat).l), "float32 (0, 0)");
  SAYS((lu(flat).u), "float32 (0, 3)");
  SAYS((lu(square).p), "float32 (0, 0)");
  SAYS((solve(square, none.reshape({0, 3}))), "float32 (0, 3)");
  SAYS((solve(square, row)), "float32 (0)");
  SAYS((solve(ones({1, 1}), zeros({1, 0}))), "float32 (1, 0)");
  SAYS((triangular_solve(square, row)), "float32 (0)");
  SAYS((triangular_solve(ones({2, 2}), zeros({2, 0}))), "float32 (2, 0)");
  SAYS((inverse(square)), "float32 (0, 0)");
  SAYS((inverse(zeros({0, 2, 2}))), "float32 (0, 2, 2)");
  SAYS((det(square)), "float32 (): 1");
  SAYS((det(zeros({2, 0, 0}))), "float32 (2): 1 1");
  SAYS((det(zeros({0, 2, 2}))), "float32 (0)");
  SAYS((slogdet(square).sign), "float32 (): 1");
  SAYS((slogdet(square).logabsdet), "float32 (): 0");
  SAYS((svd(none).u), "float32 (3, 0)");
  SAYS((svd(none).s), "float32 (0)");
  SAYS((svd(none).vh), "float32 (0, 0)");
  SAYS((svd(flat).u), "float32 (0, 0)");
  SAYS((svdvals(none)), "float32 (0)");
  SAYS((svdvals(square)), "float32 (0)");
  SAYS((svd(square).u), "float32 (0, 0)");
  SAYS((eigh(square).values), "float32 (0)");
  SAYS((eigh(square).vectors), "float32 (0, 0)");
  SAYS((eigvalsh(square)), "float32 (0)");
  SAYS((eig(square).values_real), "float32 (0)");
  SAYS((eig(square).vectors_imag), "float32 (0, 0)");
  SAYS((eigvalsh(zeros({0, 2, 2}))), "float32 (0, 2)");
  SAYS((pinv(none)), "float32 (0, 3)");
  SAYS((pinv(flat)), "float32 (3, 0)");
  SAYS((pinv(square)), "float32 (0, 0)");
  SAYS((pinv(zeros({2, 3, 0}))), "float32 (2, 0, 3)");
  SAYS((lstsq(none, ones({3, 2}))), "float32 (0, 2)");
  SAYS((lstsq(flat, zeros({0, 2}))), "float32 (3, 2): 0 0 0 0 0 0");
  SAYS((lstsq(square, row)), "float32 (0)");
  SAYS((lstsq(ones({2, 1}), zeros({2, 0}))), "float32 (1, 0)");
  SAYS((matrix_rank(none)), "int64 (): 0");
  SAYS((matrix_rank(flat)), "int64 (): 0");
  SAYS((matrix_rank(square)), "int64 (): 0");
  SAYS((matrix_rank(zeros({2, 3, 0}))), "int64 (2): 0 0");
  SAYS((matrix_rank(none, 0.5)), "int64 (): 0");
  SAYS((matrix_power(square, 0)), "float32 (0, 0)");
  SAYS((matrix_power(square, 3)), "float32 (0, 0)");
  SAYS((matrix_power(square, -1)), "float32 (0, 0)");
  SAYS((matrix_power(zeros({0, 2, 2}), 0)), "float32 (0, 2, 2)");
  SAYS((matrix_power(full({2, 2}, NAN), 0)), "float32 (2, 2): 1 0 0 1");
  SAYS((matrix_norm(none)), "float32 (): 0");
  SAYS((matrix_norm(flat, MatrixNorm::nuclear)), "float32 (): 0");
  SAYS((matrix_norm(none, MatrixNorm::two)), "float32 (): 0");
  SAYS((matrix_norm(none, MatrixNorm::one)), "float32 (): 0");
  SAYS((matrix_norm(flat, MatrixNorm::one)), "float32 (): 0");
  SAYS((matrix_norm(none, MatrixNorm::infinity)), "float32 (): 0");
  SAYS((matrix_norm(flat, MatrixNorm::infinity)), "float32 (): 0");
  SAYS((matrix_norm(none, MatrixNorm::minus_one)),
       "! matrix_norm: matrices of 3 rows and 0 columns have no least number");
  SAYS((matrix_norm(flat, MatrixNorm::minus_one)), "float32 (): 0");
  SAYS((matrix_norm(none, MatrixNorm::minus_infinity)), "float32 (): 0");
  SAYS((matrix_norm(flat, MatrixNorm::minus_infinity)),
       "! matrix_norm: matrices of 0 rows and 3 columns have no least number");
  SAYS((matrix_norm(none, MatrixNorm::minus_two)),
       "! matrix_norm: matrices of 3 rows and 0 columns have no least number");
  SAYS((matrix_norm(zeros({0, 3, 0}), MatrixNorm::minus_one)), "float32 (0)");
  SAYS((matrix_norm(zeros({2, 3, 0}), MatrixNorm::one)), "float32 (2): 0 0");
  SAYS((cond(square)), "! cond: matrices of 0 rows and 0 columns have no least number");
  SAYS((cond(none)), "! cond: matrices of 3 rows and 0 columns have no least number");
  SAYS((cond(square, MatrixNorm::one)), "! cond: matrices of 0 rows and 0 columns have no least number");
  SAYS((cond(zeros({0, 2, 2}))), "float32 (0)");
  SAYS((fft(row).real()), "! fft: a transform of 0 elements; give at least one");
  SAYS((fft(none).real()), "! fft: a transform of 0 elements; give at least one");
  SAYS((fft(flat).real()), "float32 (0, 3)");
  SAYS((rfft(flat).real()), "float32 (0, 2)");
  SAYS((irfft(flat)), "float32 (0, 4)");
  SAYS((irfft(none)), "! irfft: a transform of -2 elements; give at least one");
  SAYS((fftshift(none)), "float32 (3, 0)");
  SAYS((fftfreq(0)), "! fftfreq: 0 frequencies; give at least one");
  SAYS((dct(flat)), "float32 (0, 3)");
  SAYS((dct(none)), "! dct: 0 elements along the axis; type 2 takes at least 1");
  SAYS((nonzero(none)), "int64 (0, 2)");
  SAYS((masked_select(row, row != 0)), "float32 (0)");
  SAYS((unique(none)), "float32 (0)");
  SAYS((unique(none, 0)), "float32 (1, 0)");
  SAYS((unique(none, 1)), "float32 (3, 0)");
  SAYS((unique(flat, 0)), "float32 (0, 3)");
  SAYS((unique_all(row).counts), "int64 (0)");
  SAYS((split(row, 2).at(0)), "float32 (0)");
  SAYS((chunk(row, 2).at(0)), "float32 (0)");
  SAYS((tile(none, {2, 2})), "float32 (6, 0)");
  SAYS((repeat_interleave(row, 2)), "float32 (0)");
  SAYS((repeat_interleave(none, 2, 1)), "float32 (3, 0)");
  SAYS((repeat_interleave(ones({2}), 0, 0)), "float32 (0)");
  SAYS((flatten(none)), "float32 (0)");
  SAYS((unflatten(none, 1, {0, 2})), "float32 (3, 0, 2)");
  SAYS((unflatten(none, 1, {-1, 2})), "float32 (3, 0, 2)");
  SAYS((unflatten(none, 1, {-1, 0})), "! unflatten: axis 1 of (3, 0) has extent 0, which (-1, 0) does not split");
  SAYS((unflatten(ones({1}), 0, {})),
       "! unflatten: no extents to split an axis in; give one at least, or drop the axis with squeeze");
  SAYS((fliplr(none)), "float32 (3, 0)");
  SAYS((flipud(flat)), "float32 (0, 3)");
  SAYS((rot90(none)), "float32 (0, 3)");
  SAYS((hstack({row, ones({1})})), "float32 (1): 1");
  SAYS((vstack({none, ones({1, 0})})), "float32 (4, 0)");
  SAYS((dstack({row, row})), "float32 (1, 0, 2)");
  SAYS((diag(row)), "float32 (0, 0)");
  SAYS((diag(row, 1)), "float32 (1, 1): 0");
  SAYS((diag(none)), "float32 (0)");
  SAYS((diag(square, 1)), "float32 (0)");
  SAYS((diag_embed(row)), "float32 (0, 0)");
  SAYS((block_diag({none, ones({1, 1})})), "float32 (4, 1): 0 0 0 1");
  SAYS((trace(none)), "float32 (): 0");
  SAYS((trace(square)), "float32 (): 0");
  SAYS((one_hot(at, 3)), "int64 (0, 3)");
  SAYS((one_hot(at, 0)), "int64 (0, 0)");
  SAYS((meshgrid({row, ones({2})}).at(0)), "float32 (0, 2)");
  SAYS((cartesian_product({row, ones({2})})), "float32 (0, 2)");
  SAYS((indices({0, 2})), "int64 (2, 0, 2)");
  SAYS((unravel_index(at, {2, 2}).at(0)), "int64 (0)");
  SAYS((ravel_index({at, at}, {2, 2})), "int64 (0)");
  SAYS((tril_indices(0, 3)), "int64 (2, 0)");
  SAYS((triu_indices(3, 0)), "int64 (2, 0)");
  SAYS((logspace(0, 1, 0)), "float32 (0)");
  SAYS((geomspace(1, 2, 0)), "float32 (0)");
  SAYS((linspace(0, 1, 0)), "float32 (0)");
  SAYS((arange(0)), "int64 (0)");
  SAYS((eye(0)), "float32 (0, 0)");
  SAYS((eye(0, 3)), "float32 (0, 3)");
  SAYS((eye(3, 0)), "float32 (3, 0)");
  SAYS((reshape(none, {0, -1})), "! reshape: -1 in (0, -1) is ambiguous beside an extent of 0; name every extent");
  SAYS((reshape(none, {-1})), "float32 (0)");
  SAYS((reshape(none, {5, 0})), "float32 (5, 0)");
  SAYS((squeeze(zeros({1, 0}))), "float32 (0)");
  SAYS((expand(zeros({1, 0}), {3, 0})), "float32 (3, 0)");
  SAYS((shrink(none, {{0, 0}, {0, 0}})), "float32 (0, 0)");
  SAYS((flip(none)), "float32 (3, 0)");
  SAYS((every(none, {2, 2})), "float32 (2, 0)");
  SAYS((roll(none, 1, 1)), "float32 (3, 0)");
  SAYS((roll(row, 1)), "float32 (0)");
  SAYS((repeat(row, {3})), "float32 (0)");
  SAYS((repeat(ones({2}), {0})), "float32 (0)");
  SAYS((concat({row, row})), "float32 (0)");
  SAYS((stack({row, row})), "float32 (2, 0)");
  SAYS((diagonal(none)), "float32 (0)");
  SAYS((unfold(zeros({0}), 0, 0, 1)),
       "! unfold: size 0 and step 1 on axis 0 of (0); give a size in [1, 0] and a step >= 1");
  SAYS((take(ones({3}), at)), "float32 (0)");
  SAYS((take(none, at, 1)), "float32 (3, 0)");
  SAYS((gather(none, at.reshape({1, 0}), 1)), "float32 (1, 0)");
  SAYS((isclose(row, row)), "bool (0)");
  SAYS((diff(row)), "float32 (0)");
  SAYS((diff(none)), "float32 (3, 0)");
  SAYS((diff(none, 1, 0)), "float32 (2, 0)");
  SAYS((trapezoid(row)), "float32 (): 0");
  SAYS((trapezoid(none)), "float32 (3): 0 0 0");
  SAYS((trapezoid(row, row)), "float32 (): 0");
  SAYS((lerp(row, row, 0.5)), "float32 (0)");
}

}  // namespace empty_test
