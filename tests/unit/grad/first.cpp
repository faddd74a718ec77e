#include "oriel/oriel.hpp"
#include "oriel/grad.hpp"
#include <cstdio>
using namespace oriel;
int bad = 0;
void show(const char* n, const GradientCheck& c) { if (!c.ok) { ++bad; std::printf("%-24s %s\n", n, c.str().c_str()); } }
Tensor rnd(const Shape& s, double lo=-1, double hi=1, unsigned seed=1) { return uniform(Key(seed), s, lo, hi, DType::float64).realize(); }
#define T1(name, expr, lo, hi) try { show(#name, check_gradient([](Tensor x) { return expr; }, rnd({3, 4}, lo, hi))); } catch (std::exception& e) { ++bad; std::printf("%-20s %s\n", #name, e.what()); }
int main() {
  T1(neg, -x, -1, 1) T1(abs, abs(x), -1, 1) T1(exp, exp(x), -1, 1) T1(exp2, exp2(x), -1, 1) T1(log, log(x), 0.5, 2)
  T1(log2, log2(x), 0.5, 2) T1(log10, log10(x), 0.5, 2) T1(log1p, log1p(x), -0.5, 2) T1(expm1, expm1(x), -0.5, 2)
  T1(sqrt, sqrt(x), 0.5, 2) T1(rsqrt, rsqrt(x), 0.5, 2) T1(sin, sin(x), -2, 2) T1(cos, cos(x), -2, 2) T1(tan, tan(x), -1, 1)
  T1(tanh, tanh(x), -2, 2) T1(erf, erf(x), -2, 2) T1(erfc, erfc(x), -2, 2) T1(asin, asin(x), -.9, .9) T1(acos, acos(x), -.9, .9)
  T1(atan, atan(x), -2, 2) T1(sinh, sinh(x), -2, 2) T1(cosh, cosh(x), -2, 2) T1(asinh, asinh(x), -2, 2) T1(acosh, acosh(x), 1.5, 3)
  T1(atanh, atanh(x), -.9, .9) T1(relu, relu(x), -1, 1) T1(sigmoid, sigmoid(x), -1, 1) T1(gelu, gelu(x), -1, 1) T1(softmax, softmax(x, -1), -1, 1)
  T1(log_softmax, log_softmax(x, -1), -1, 1) T1(sum, sum(x, 0), -1, 1) T1(mean, mean(x, 1), -1, 1) T1(prod, prod(x, 1), -1, 1) T1(prod0, prod(x * (x > 0).to(DType::float64), 1), -1, 1)
  T1(max, max(x, 1), -1, 1) T1(min, min(x), -1, 1) T1(cumsum, cumsum(x, 1), -1, 1) T1(cumprod, cumprod(x, 0), -1, 1) T1(cummax, cummax(x, 1).values, -1, 1)
  T1(sort, sort(x, 1), -1, 1) T1(topk, topk(x, 2, 1).values, -1, 1) T1(var, var(x, 1), -1, 1) T1(reshape, x.reshape({2, 6}) * 2, -1, 1)
  T1(transpose, x.transpose(0, 1), -1, 1) T1(slice, x.slice({{0, 3, 2}, {1, 4}}), -1, 1) T1(flip, flip(x, {1}), -1, 1) T1(pad, pad(x, {{1, 2}, {0, 1}}), -1, 1)
  T1(expand, x.unsqueeze(1).expand({3, 5, 4}), -1, 1) T1(unfold, unfold(x, 1, 2, 1), -1, 1) T1(unfold3, unfold(x.reshape({12}), 0, 3, 2), -1, 1)
  T1(unfold33, unfold(x.reshape({12}), 0, 3, 3), -1, 1) T1(unfold52, unfold(x.reshape({12}), 0, 5, 2), -1, 1) T1(diagonal, diagonal(x), -1, 1) T1(roll, roll(x, 1, 1), -1, 1)
  T1(matmul, matmul(x, x.transpose(0, 1)), -1, 1) T1(concat, concat({x, x * 2}, 1), -1, 1) T1(take, take(x, Tensor::of<int>({2, 0, 2}), 0), -1, 1)
  T1(take1, take(x * x, Tensor::of<int>({2, 0, 2, 3}), 1), -1, 1) T1(tril, tril(x), -1, 1) T1(trace, trace(x), -1, 1) T1(clamp, clamp(x, -.5, .5), -1, 1)
  T1(maxpool, max_pool2d(x.reshape({1, 1, 3, 4}), {2, 2}), -1, 1) T1(avgpool, avg_pool2d(x.reshape({1, 1, 3, 4}), {2, 2}), -1, 1) T1(lse, logsumexp(x, 1), -1, 1)
  T1(norm, norm(x), -1, 1) T1(stdd, sqrt(var(x)), -1, 1) T1(layer_norm, layer_norm(x), -1, 1) T1(quantile, quantile(x, 0.3, 1), -1, 1) T1(median, median(x, 1).values, -1, 1)
  T1(pow, pow(x, 3), .5, 1) T1(powx, pow(2.0, x), .5, 1) T1(powxx, pow(x, x), .5, 1) T1(div, 1.0 / x, .5, 1) T1(atan2, atan2(x, x + 1), .5, 1) T1(hypot, hypot(x, x + 1), .5, 1)
  T1(where, where(x > 0, x * 2, exp(x)), -1, 1) T1(maximum, maximum(x, -x + .1), -1, 1) T1(minimum, minimum(x, x * x), -1, 1) T1(fmod, fmod(x, 0.3), .5, 1) T1(remainder, remainder(x, 0.3), -1, 1)
  show("conv2d", check_gradient([](Tensor x, Tensor w) { return conv2d(x, w, {.stride = {2, 1}, .padding = {1, 1}}); }, rnd({2, 3, 7, 6}), rnd({4, 3, 3, 2}, -1, 1, 2)));
  show("conv2dg", check_gradient([](Tensor x, Tensor w) { return conv2d(x, w, {.dilation = {2, 1}, .groups = 2}); }, rnd({2, 4, 7, 6}), rnd({4, 2, 3, 2}, -1, 1, 2)));
  show("convt", check_gradient([](Tensor x, Tensor w) { return conv_transpose2d(x, w, {.stride = {2, 1}}); }, rnd({1, 2, 3, 4}), rnd({2, 3, 3, 2}, -1, 1, 2)));
  show("attention", check_gradient([](Tensor q, Tensor k, Tensor v) { return scaled_dot_product_attention(q, k, v); }, rnd({2, 3, 4}), rnd({2, 5, 4}, -1, 1, 2), rnd({2, 5, 4}, -1, 1, 3)));
  show("scatter", check_gradient([](Tensor x, Tensor v) { return put_add(x, Tensor::of<int>({1, 1, 0}), v, 0); }, rnd({3, 2}), rnd({3, 2})));
  show("put", check_gradient([](Tensor x, Tensor v) { return put(x, Tensor::of<int>({1, 1, 0}), v, 0); }, rnd({3, 2}), rnd({3, 2})));
  show("assign", check_gradient([](Tensor x, Tensor v) { Tensor y = x * 1; y.slice({{0, 3, 2}, {1, 3}}) = v; return y * x; }, rnd({3, 4}), rnd({2, 2})));
  show("recurrence", check_gradient([](Tensor a, Tensor b) { return linear_recurrence(a, b, 0); }, rnd({5, 2}), rnd({5, 2}, -1, 1, 2)));
  // higher order
  auto f = [](Tensor x) { return sum(x * x * x * sin(x)); };
  show("grad2", check_gradient([f](Tensor x) { return grad(f)(x); }, rnd({4})));
  show("grad3", check_gradient([f](Tensor x) { return grad([f](Tensor y) { return sum(grad(f)(y) * y); })(x); }, rnd({4})));
  auto [y, dy] = jvp([](Tensor x) { return exp(x) * x; }, rnd({3}), ones({3}, DType::float64));
  Tensor want = exp(rnd({3})) * (rnd({3}) + 1);
  std::printf("jvp %g\n", max(abs(dy - want)).item<double>());
  auto ste = custom_vjp([](Tensor x) { return round(x); }, [](Tensor, Tensor, Tensor g) { return g * 3; });
  std::printf("custom %s\n", to_string(grad([ste](Tensor x) { return sum(ste(x * 2)); })(rnd({3}))).c_str());
  auto cj = custom_jvp([](Tensor x) { return round(x); }, [](Tensor x, Tensor t) { return t * x; });
  std::printf("customj %s\n", to_string(grad([cj](Tensor x) { return sum(cj(x)); })(Tensor::of<double>({1, 2, 3}))).c_str());
  Tensor a = rnd({3}), b = rnd({3}, 0, 1, 5);
  auto gs = gradients(sum(a * b * b), {a, b});
  std::printf("gradients %s %s\n", to_string(gs[0] - b * b).c_str(), to_string(gs[1] - 2 * a * b).c_str());
  // reading inside
  auto loop = [](Tensor x) { Tensor y = x; while (max(abs(y)).item<double>() < 100) y = y * 2; return sum(y); };
  std::printf("loop %s\n", to_string(grad(loop)(Tensor::of<double>({1, 3}))).c_str());
  std::printf("bad %d\n", bad);
}
