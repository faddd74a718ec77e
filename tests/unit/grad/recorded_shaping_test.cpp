// Derivatives of movements, reads, writes and scatters beside PyTorch's (tests/data/torch_gradients.py).
#include "recorded_gradients.hpp"

namespace oriel::testing::recorded_shaping_test {
namespace {

/// A tensor without axes as a line of one.
Tensor line_of(const Tensor& x) { return x.rank() == 0 ? x.reshape({1}) : x; }
Combine combine_of(const Sample& s) {
  const std::string text = s.text("reduce");
  return text == "sum"    ? Combine::sum
         : text == "prod" ? Combine::prod
         : text == "mean" ? Combine::mean
         : text == "amax" ? Combine::amax
                          : Combine::amin;
}
/// Slices along an axis between these positions.
Tensor cut(const Tensor& x, std::int64_t axis, const std::vector<std::int64_t>& at) {
  std::vector<Tensor> parts;
  for (std::size_t k = 0; k + 1 < at.size(); ++k) parts.push_back(shrink(x, {{at[k], at[k + 1]}}, axis));
  return joined(parts);
}
/// The same by positions between the ends, or in so many parts, of which the first ones have one more.
Tensor cut_at(const Sample& s, std::int64_t axis) {
  const std::int64_t n = s.x().size(axis).value();
  std::vector<std::int64_t> at{0};
  if (s.named["n"].is_array()) {
    for (const SymInt k : s.ints("n")) at.push_back(k.value());
    at.push_back(n);
  } else {
    const std::int64_t parts = s.whole("n");
    for (std::int64_t k = 0; k < parts; ++k) at.push_back(at.back() + n / parts + (k < n % parts ? 1 : 0));
  }
  return cut(s.x(), axis, at);
}
Tensor cut_by(const Sample& s, const char* sizes) {
  const std::int64_t axis = s.whole("dim"), n = s.x().size(axis).value();
  std::vector<std::int64_t> at{0};
  if (s.named[sizes].is_array())
    for (const SymInt k : s.ints(sizes)) at.push_back(at.back() + k.value());
  else
    while (at.back() < n) at.push_back(std::min(n, at.back() + s.whole(sizes)));
  return cut(s.x(), axis, at);
}
/// The elements at lists of coordinates.
Tensor picked(const Sample& s) {
  std::vector<Tensor> coordinates;
  for (const json& one : s.named["index"]) coordinates.push_back(Tensor::from(one.get<std::vector<std::int64_t>>()));
  return take(s.x().reshape(-1), ravel_index(coordinates, s.x().shape()));
}
/// A copy of x, of which a view is written.
template <class F>
Tensor written(const Tensor& x, F view, const Tensor& value) {
  Tensor out = x * 1;
  view(out) = value;
  return out;
}

void add_movements(Programs& f) {
  f["T"] = f["H"] = f["mT"] = f["mH"] = [](const Sample& s) { return s.x().transpose(); };
  f["t"] = [](const Sample& s) { return s.x().rank() < 2 ? s.x() * 1 : s.x().transpose(); };
  f["as_strided"] = [](const Sample& s) {
    return as_strided(s.x(), View{s.shape("size"), s.ints("stride"), s.whole("storage_offset"), {}});
  };
  f["atleast_1d"] = [](const Sample& s) { return atleast_1d(s.x()); };
  f["atleast_2d"] = [](const Sample& s) { return atleast_2d(s.x()); };
  f["atleast_3d"] = [](const Sample& s) { return atleast_3d(s.x()); };
  f["broadcast_tensors"] = [](const Sample& s) { return joined(broadcast_tensors(s.inputs)); };
  f["broadcast_to"] = f["expand"] = [](const Sample& s) { return broadcast_to(s.x(), s.shape("size")); };
  f["expand_as"] = [](const Sample& s) { return broadcast_to(s.x(), s.y().shape()); };
  f["flatten"] = [](const Sample& s) { return flatten(s.x(), s.whole("start_dim"), s.whole("end_dim", -1)); };
  f["movedim"] = [](const Sample& s) { return movedim(s.x(), s.ints("from"), s.ints("to")); };
  f["narrow"] = [](const Sample& s) {
    return shrink(s.x(), {{s.whole("start"), s.whole("start") + s.whole("length")}}, s.whole("dim"));
  };
  f["permute"] = [](const Sample& s) { return permute(s.x(), s.ints("dims")); };
  f["ravel"] = [](const Sample& s) { return s.x().reshape(-1); };
  f["repeat"] = [](const Sample& s) { return tile(s.x(), s.ints("sizes")); };
  f["tile"] = [](const Sample& s) { return tile(s.x(), s.ints("dims")); };
  f["reshape"] = f["view"] = [](const Sample& s) { return reshape(s.x(), s.shape("shape")); };
  f["reshape_as"] = f["view_as"] = [](const Sample& s) { return reshape(s.x(), s.y().shape()); };
  f["rot90"] = [](const Sample& s) {
    const Ints axes = s.ints("dims", {0, 1});
    return rot90(s.x(), s.whole("k", 1), axes[0].value(), axes[1].value());
  };
  f["select"] = [](const Sample& s) { return select(s.x(), s.whole("dim"), s.whole("index")); };
  f["slice"] = [](const Sample& s) { return s.x() * 1; };
  f["squeeze"] = f["squeeze/multiple"] = [](const Sample& s) { return squeeze(s.x(), s.axes()); };
  f["unsqueeze"] = [](const Sample& s) { return unsqueeze(s.x(), s.whole("dim")); };
  f["unflatten"] = [](const Sample& s) { return unflatten(s.x(), s.whole("dim"), s.shape("sizes")); };
  f["sum_to_size"] = [](const Sample& s) { return sum(s.x(), {}, true); };
  f["__getitem__"] = picked;
  f["diag"] = [](const Sample& s) { return diag(s.x(), s.whole("diagonal")); };
  f["diag_embed"] = [](const Sample& s) {
    return diag_embed(s.x(), s.whole("offset"), s.whole("dim1", -2), s.whole("dim2", -1));
  };
  f["diagflat"] = [](const Sample& s) { return diag(s.x().reshape(-1), s.whole("offset")); };
  f["diagonal_copy"] = f["linalg.diagonal"] = [](const Sample& s) { return diagonal(s.x(), s.whole("offset")); };
}

void add_joins(Programs& f) {
  f["block_diag"] = [](const Sample& s) { return block_diag(s.inputs); };
  f["cartesian_prod"] = [](const Sample& s) { return s.inputs.size() == 1 ? s.x() * 1 : cartesian_product(s.inputs); };
  f["cat"] = [](const Sample& s) { return concat(s.inputs, s.whole("dim", s.whole("a0"))); };
  f["stack"] = [](const Sample& s) { return stack(s.inputs, s.whole("dim")); };
  f["column_stack"] = [](const Sample& s) {
    std::vector<Tensor> columns;
    for (const Tensor& x : s.inputs) columns.push_back(x.rank() < 2 ? x.reshape({x.numel(), 1}) : x);
    return concat(columns, 1);
  };
  f["combinations"] = [](const Sample& s) { return s.x().reshape({s.x().numel(), 1}) * 1; };
  f["hstack"] = [](const Sample& s) { return hstack(s.inputs); };
  f["vstack"] = [](const Sample& s) { return vstack(s.inputs); };
  f["dstack"] = [](const Sample& s) { return dstack(s.inputs); };
  f["meshgrid/list_of_tensors"] = f["meshgrid/variadic_tensors"] = [](const Sample& s) {
    return joined(meshgrid(s.inputs, s.text("indexing") == "xy" ? Indexing::xy : Indexing::ij));
  };
  f["chunk"] = [](const Sample& s) { return joined(chunk(s.x(), s.whole("chunks"), s.whole("dim"))); };
  f["hsplit"] = [](const Sample& s) { return cut_at(s, s.x().rank() == 1 ? 0 : 1); };
  f["vsplit"] = f["tensor_split"] = [](const Sample& s) { return cut_at(s, 0); };
  f["dsplit"] = [](const Sample& s) { return cut_at(s, 2); };
  f["split"] = [](const Sample& s) { return cut_by(s, "size"); };
  f["split/list_args"] = f["split_with_sizes"] = [](const Sample& s) { return cut_by(s, "sizes"); };
  f["unbind"] = [](const Sample& s) {
    std::vector<Tensor> parts;
    for (std::int64_t k = 0; k < s.x().size(s.whole("dim")).value(); ++k)
      parts.push_back(select(s.x(), s.whole("dim"), k));
    return joined(parts);
  };
}

void add_positions(Programs& f) {
  f["gather"] = [](const Sample& s) { return gather(s.x(), s.tensor("index"), s.whole("dim")); };
  f["take"] = [](const Sample& s) { return take(s.x().reshape(-1), s.tensor("index")); };
  f["take_along_dim"] = [](const Sample& s) {
    const Tensor& at = s.tensor("index");
    if (!s.has("dim")) return take_along_axis(s.x().reshape(-1), at.reshape(-1), 0);
    return take_along_axis(s.x(), at, s.whole("dim"));
  };
  f["index_select"] = [](const Sample& s) {
    const Tensor out = index_select(line_of(s.x()), s.whole("dim"), s.tensor("index"));
    return s.x().rank() == 0 ? out.reshape(Shape{}) : out;
  };
  f["index_add"] = [](const Sample& s) {
    return index_add(s.x(), s.tensor("index"), s.tensor("source") * s.number("alpha", 1), s.whole("dim"));
  };
  f["index_copy"] = [](const Sample& s) {
    return put(line_of(s.x()), s.tensor("index"), line_of(s.tensor("source")), s.whole("dim")).reshape(s.x().shape());
  };
  f["index_fill"] = [](const Sample& s) { return put(s.x(), s.tensor("index"), s.operand("value"), s.whole("dim")); };
  f["index_put"] = [](const Sample& s) {
    const Tensor at = nonzero(s.tensors("indices")[0]).reshape(-1);
    return s.flag("accumulate") ? put_add(s.x(), at, s.tensor("values")) : put(s.x(), at, s.tensor("values"));
  };
  f["masked_scatter"] = [](const Sample& s) {
    const Tensor& mask = s.tensor("mask");
    return masked_scatter(broadcast_to(s.x(), mask.shape()) * 1, mask, s.tensor("source"));
  };
  f["masked_select"] = [](const Sample& s) {
    const Tensor& mask = s.tensor("mask");
    return masked_select(broadcast_to(s.x(), mask.shape()), mask);
  };
  f["put"] = [](const Sample& s) {
    const Tensor flat = s.x().reshape(-1), at = s.tensor("index").reshape(-1), source = s.tensor("source").reshape(-1);
    return (s.flag("accumulate") ? put_add(flat, at, source) : put(flat, at, source)).reshape(s.x().shape());
  };
  f["repeat_interleave"] = [](const Sample& s) {
    return repeat_interleave(s.x(), s.tensor("repeats"), s.whole("dim"));
  };
  f["scatter"] = [](const Sample& s) { return scatter(s.x(), s.tensor("index"), s.tensor("src"), s.whole("dim")); };
  f["scatter_add"] = [](const Sample& s) {
    return scatter_add(s.x(), s.tensor("index"), s.tensor("src"), s.whole("dim"));
  };
  for (const char* name : {"sum", "mean", "prod", "amax", "amin"})
    f[std::string("scatter_reduce/") + name] = [](const Sample& s) {
      return scatter_reduce(s.x(), s.tensor("index"), s.tensor("src"), s.whole("dim"), combine_of(s),
                            s.flag("include_self", true) ? IncludeSelf::yes : IncludeSelf::no);
    };
  f["select_scatter"] = [](const Sample& s) {
    return written(
        s.x(), [&](Tensor& x) { return select(x, s.whole("dim"), s.whole("index")); }, s.tensor("src"));
  };
  f["diagonal_scatter"] = [](const Sample& s) {
    return written(
        s.x(), [&](Tensor& x) { return diagonal(x, s.whole("offset")); }, s.tensor("src"));
  };
}

Programs programs() {
  Programs f;
  add_movements(f), add_joins(f), add_positions(f);
  return f;
}

}  // namespace

TEST_CASE("derivatives of movements, reads and scatters are PyTorch's") {
  run_recorded_gradients("shaping", programs());
}

}  // namespace oriel::testing::recorded_shaping_test
