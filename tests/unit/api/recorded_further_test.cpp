// Patterns, pieces, sets, windows, scans in both directions, pools with positions, scatters and groups beside the
// answers of PyTorch, NumPy, SciPy and einops that tests/data/torch_further.py recorded.
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_further_test {

namespace {

using A = RecordedArguments;

std::vector<NamedSize> sizes_of(const A& a, std::vector<std::string>& names) {
  names.clear();
  for (const auto& [name, size] : a.named.at("sizes").items()) names.push_back(name);
  std::vector<NamedSize> sizes;
  for (const std::string& name : names) sizes.push_back({name, a.named.at("sizes")[name].get<std::int64_t>()});
  return sizes;
}

Combine combine_of(const A& a) {
  const std::string how = a.text("how");
  return how == "sum"                    ? Combine::sum
         : how == "mean"                 ? Combine::mean
         : how == "prod"                 ? Combine::prod
         : how == "max" || how == "amax" ? Combine::amax
                                         : Combine::amin;
}

Results both(const Ordered& o) { return {o.values, o.positions}; }

void add_patterns(RecordedFunctions& f) {
  f["rearrange"] = [](const A& a) {
    std::vector<std::string> names;
    return Results{rearrange(a[0], a.text("pattern"), sizes_of(a, names))};
  };
  f["repeat"] = [](const A& a) {
    std::vector<std::string> names;
    return Results{repeat(a[0], a.text("pattern"), sizes_of(a, names))};
  };
  f["reduce"] = [](const A& a) {
    std::vector<std::string> names;
    return Results{reduce(a[0], a.text("pattern"), combine_of(a), sizes_of(a, names))};
  };
}

void add_picking(RecordedFunctions& f) {
  f["max_with_indices"] = [](const A& a) { return both(max_with_indices(a[0], a.whole("axis"), a.flag("keepdim"))); };
  f["min_with_indices"] = [](const A& a) { return both(a[0].min_with_indices(a.whole("axis"), a.flag("keepdim"))); };
  f["unbind"] = [](const A& a) { return unbind(a[0], a.whole("axis")); };
  f["split_at"] = [](const A& a) { return split_at(a[0], a.ints("positions"), a.whole("axis")); };
  f["at_indices"] = [](const A& a) { return Results{a[0].at_indices(a[1], a[2])}; };
  f["intersect1d"] = [](const A& a) { return Results{intersect1d(a[0], a[1])}; };
  f["setdiff1d"] = [](const A& a) { return Results{setdiff1d(a[0], a[1])}; };
  f["percentile"] = [](const A& a) {
    return Results{percentile(a[0], a.named.at("q").get<std::vector<double>>(), a.whole("axis"))};
  };
  f["matrix_norm"] = [](const A& a) {
    return Results{matrix_norm(a[0], static_cast<MatrixNorm>(a.whole("how")), a.ints("axes"), a.flag("keepdim"))};
  };
  const auto window = [&](const char* name, Tensor (*make)(SymInt, DType, WindowEnd, Site)) {
    f[name] = [make](const A& a) {
      return Results{make(a.whole("n"), dtype_from_name(a.text("dtype")),
                          a.flag("periodic") ? WindowEnd::periodic : WindowEnd::symmetric, Site::here())};
    };
  };
  window("bartlett", &bartlett);
  window("hann", &hann);
  window("hamming", &hamming);
  window("blackman", &blackman);
  f["kaiser"] = [](const A& a) {
    return Results{kaiser(a.whole("n"), a.number("beta"), dtype_from_name(a.text("dtype")),
                          a.flag("periodic") ? WindowEnd::periodic : WindowEnd::symmetric)};
  };
}

void add_scans(RecordedFunctions& f) {
  const auto options = [](const A& a) { return ScanOptions{a.flag("reverse"), a.flag("exclusive")}; };
  f["cumsum"] = [=](const A& a) { return Results{cumsum(a[0], a.whole("axis"), options(a))}; };
  f["cumprod"] = [=](const A& a) { return Results{cumprod(a[0], a.whole("axis"), options(a))}; };
  f["logcumsumexp"] = [](const A& a) { return Results{logcumsumexp(a[0], a.whole("axis"), true)}; };
  f["cummax"] = [](const A& a) { return both(cummax(a[0], a.whole("axis"), true)); };
  f["cummin"] = [](const A& a) { return both(cummin(a[0], a.whole("axis"), true)); };
  f["scan_sum"] = [](const A& a) {
    return Results{associative_scan([](const Tensor& x, const Tensor& y) { return x + y; }, a[0], a.whole("axis"))};
  };
  f["scan_max"] = [](const A& a) {
    return Results{
        associative_scan([](const Tensor& x, const Tensor& y) { return maximum(x, y); }, a[0], a.whole("axis"))};
  };
  f["scan_products"] = [](const A& a) {
    return Results{associative_scan([](const Tensor& x, const Tensor& y) { return matmul(x, y); }, a[0])};
  };
}

void add_pools(RecordedFunctions& f) {
  f["max_pool_with_indices"] = [](const A& a) {
    return both(max_pool_with_indices(a[0], a.ints("window"),
                                      {.stride = a.ints("stride"),
                                       .padding = a.ints("padding"),
                                       .dilation = a.ints("dilation"),
                                       .ceil_mode = a.flag("ceil")}));
  };
  f["max_unpool"] = [](const A& a) { return Results{max_unpool(a[0], a[1], a.ints("sizes"))}; };
  f["avg_pool"] = [](const A& a) {
    const PoolOptions options{.stride = {1}, .padding = {1}, .divisor = a.number("divisor")};
    return Results{a[0].rank() == 4 ? avg_pool2d(a[0], 2, options) : avg_pool3d(a[0], 2, options)};
  };
  f["grid_sample"] = [](const A& a) {
    const std::string mode = a.text("mode"), outside = a.text("outside");
    const Interpolation how = mode == "nearest"    ? Interpolation::nearest
                              : mode == "bilinear" ? Interpolation::linear
                                                   : Interpolation::cubic;
    return Results{grid_sample(a[0], a[1], how, a.flag("align"),
                               outside == "zeros"    ? PadMode::constant
                               : outside == "border" ? PadMode::replicate
                                                     : PadMode::reflect)};
  };
  const auto overlap = [](const A& a) {
    const std::string mode = a.text("mode");
    return mode == "full" ? Overlap::full : mode == "same" ? Overlap::same : Overlap::valid;
  };
  f["convolve"] = [=](const A& a) { return Results{convolve(a[0], a[1], overlap(a))}; };
  f["correlate"] = [=](const A& a) { return Results{correlate(a[0], a[1], overlap(a))}; };
}

void add_positions(RecordedFunctions& f) {
  const auto self = [](const A& a) { return a.flag("keep") ? IncludeSelf::yes : IncludeSelf::no; };
  f["index_add"] = [](const A& a) { return Results{index_add(a[0], a[1], a[2])}; };
  f["index_reduce"] = [=](const A& a) { return Results{index_reduce(a[0], a[1], a[2], combine_of(a), 0, self(a))}; };
  f["scatter_reduce"] = [=](const A& a) {
    return Results{scatter_reduce(a[0], a[1], a[2], 0, combine_of(a), self(a))};
  };
  f["scatter_add"] = [](const A& a) { return Results{scatter_add(a[0], a[1], a[2], 0)}; };
  f["masked_scatter"] = [](const A& a) { return Results{masked_scatter(a[0], a[1], a[2])}; };
  f["segment_sum"] = [](const A& a) { return Results{segment_sum(a[0], a[1], 4)}; };
  f["segment_prod"] = [](const A& a) { return Results{segment_prod(a[0], a[1], 4)}; };
  f["segment_max"] = [](const A& a) { return Results{segment_max(a[0], a[1], 3)}; };
  f["segment_min"] = [](const A& a) { return Results{segment_min(a[0], a[1], 3)}; };
  f["bincount"] = [](const A& a) {
    const std::int64_t least = a.whole("least");
    return Results{a.tensors.size() == 1 ? bincount(a[0], least) : bincount(a[0], a[1], least)};
  };
}

}  // namespace

TEST_CASE("further functions give PyTorch's, NumPy's, SciPy's and einops' answers") {
  RecordedFunctions f;
  add_patterns(f);
  add_picking(f);
  add_scans(f);
  add_pools(f);
  add_positions(f);
  const bool few = default_device() != Device::eigen();
  run_recorded("further", f, 4e-6, few ? 31 : 1);
}

}  // namespace oriel::testing::recorded_further_test
