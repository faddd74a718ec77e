#!/usr/bin/env python3
"""Records derivatives that PyTorch computes for its own sample inputs: torch_gradients_FAMILY.json.

    python3 tests/data/torch_gradients.py tests/data

The samples are those of op_db (torch.testing._internal.common_methods_invocations), for the operations that
torch_derivatives.py leaves: the smallest ones in float64 for different arguments, with elements rounded to 3 digits. A case is
[op, inputs, arguments, vjp, jvp, hvp] in the form of torch_derivatives.py, but that a tensor among the arguments is {"t": its number
among the inputs}, that several results are one line of their elements, complex ones as pairs, and that the result itself is left out."""
import inspect
import json
import math
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
MOST_ELEMENTS, MOST_CASES = 36, 2

# An operation and the names of its arguments behind the first, in order.
FAMILIES = {
    "elementwise": """abs|angle|asin|asinh|atan|atanh|ceil|deg2rad|erf|erfinv|expm1|floor|frac|log1p|neg|positive|rad2deg|round|sgn|sign
sinh|sqrt|tan|tanh|trunc|special.entr|special.i0e|special.ndtr|special.ndtri|special.xlog1py|special.log_ndtr|nan_to_num nan posinf neginf
mvlgamma/mvlgamma_p_1 p|div/no_rounding_mode|div/floor_rounding|div/trunc_rounding
true_divide|float_power|rsub other|ldexp|lerp|logaddexp2|addcdiv|addcmul|clamp min max|clamp_min|clamp_max|max/binary|min/binary|fill
masked_fill mask value|clone|contiguous|__radd__ other|__rdiv__ other|__rmul__ other|__rsub__ other|__rpow__ other|__rmod__ other
__rmatmul__|heaviside|complex|polar|real|imag|view_as_complex|where|nn.functional.celu alpha|nn.functional.elu alpha|nn.functional.gelu
nn.functional.hardshrink lambd|nn.functional.hardsigmoid|nn.functional.hardtanh min_val max_val|nn.functional.leaky_relu negative_slope
nn.functional.prelu|nn.functional.relu|nn.functional.softplus beta threshold|nn.functional.softshrink lambd
nn.functional.threshold threshold value|nn.functional.glu dim|nn.functional.softmin dim|cumulative_trapezoid|trapezoid|trapz
nn.functional.normalize p dim eps|nn.functional.cosine_similarity dim eps|nn.functional.pairwise_distance p eps keepdim""",
    "losses": """nn.functional.binary_cross_entropy|nn.functional.binary_cross_entropy_with_logits|nn.functional.cross_entropy
nn.functional.nll_loss|nn.functional.kl_div|nn.functional.l1_loss|nn.functional.mse_loss|nn.functional.huber_loss
nn.functional.smooth_l1_loss|nn.functional.gaussian_nll_loss|nn.functional.hinge_embedding_loss|nn.functional.margin_ranking_loss
nn.functional.multilabel_soft_margin_loss|nn.functional.poisson_nll_loss|nn.functional.soft_margin_loss
nn.functional.triplet_margin_loss|nn.functional.cosine_embedding_loss|nn.functional.layer_norm normalized_shape weight bias eps
nn.functional.group_norm num_groups weight bias eps|nn.functional.instance_norm|nn.functional.batch_norm running_mean running_var
nn.functional.rms_norm normalized_shape|nn.functional.linear|nn.functional.bilinear|nn.functional.embedding
nn.functional.scaled_dot_product_attention|nn.functional.local_response_norm size|nn.functional.multi_margin_loss""",
    "statistics": """std dim unbiased keepdim|std/unbiased unbiased|var dim unbiased keepdim|var/unbiased unbiased|std_mean dim unbiased keepdim
var_mean dim unbiased keepdim|cov correction|corrcoef|nanmean dim keepdim|nansum dim keepdim|norm p dim keepdim|norm/fro p dim keepdim
norm/inf p dim keepdim|norm/nuc p dim keepdim|linalg.vector_norm ord dim keepdim|linalg.matrix_norm ord dim keepdim|linalg.norm ord dim keepdim
linalg.norm/subgradients_at_zero ord dim keepdim|dist p|aminmax dim keepdim|max/reduction_no_dim|min/reduction_no_dim
max/reduction_with_dim dim keepdim|min/reduction_with_dim dim keepdim|logcumsumexp dim|cummax dim|cummin dim|diff n dim prepend append
quantile q dim keepdim|nanquantile q dim keepdim|median dim keepdim|nanmedian dim keepdim|mode dim keepdim|kthvalue k dim keepdim
topk k dim largest|sort dim descending stable|msort|renorm p dim maxnorm|cdist p|masked.sum dim|masked.mean dim|masked.prod dim
masked.amax dim|masked.amin dim|masked.softmax dim|masked.log_softmax dim|masked.softmin dim|masked.logsumexp dim|masked.std dim unbiased
masked.var dim unbiased|masked.cumsum dim|masked.cumprod dim|masked.norm ord dim|masked.normalize ord dim|masked.logaddexp
mm|bmm|addmm|addmv|addbmm|baddbmm|addr|tensordot|einsum|kron|vdot|cross dim|linalg.cross dim|linalg.vecdot dim|linalg.multi_dot|gradient""",
    "windows": """nn.functional.conv1d|nn.functional.conv3d|nn.functional.conv_transpose1d|nn.functional.conv_transpose2d
nn.functional.conv_transpose3d|nn.functional.avg_pool1d kernel_size stride padding ceil_mode count_include_pad
nn.functional.avg_pool2d kernel_size stride padding ceil_mode count_include_pad
nn.functional.avg_pool3d kernel_size stride padding ceil_mode count_include_pad
nn.functional.max_pool1d kernel_size|nn.functional.max_pool2d kernel_size|nn.functional.max_pool3d kernel_size
nn.functional.adaptive_avg_pool1d output_size|nn.functional.adaptive_avg_pool2d output_size|nn.functional.adaptive_avg_pool3d output_size
nn.functional.adaptive_max_pool1d output_size|nn.functional.adaptive_max_pool2d output_size|nn.functional.adaptive_max_pool3d output_size
nn.functional.interpolate/nearest size scale_factor mode align_corners|nn.functional.interpolate/linear size scale_factor mode align_corners
nn.functional.interpolate/bilinear size scale_factor mode align_corners|nn.functional.interpolate/bicubic size scale_factor mode align_corners
nn.functional.interpolate/trilinear size scale_factor mode align_corners|nn.functional.interpolate/area size scale_factor mode align_corners
nn.functional.grid_sample|nn.functional.unfold kernel_size dilation padding stride|nn.functional.pad/constant pad mode value
nn.functional.pad/reflect pad mode value|nn.functional.pad/replicate pad mode value|nn.functional.pad/circular pad mode value
constant_pad_nd pad value|nn.functional.pixel_shuffle r|nn.functional.pixel_unshuffle r|nn.functional.channel_shuffle groups
fft.fft n dim norm|fft.ifft n dim norm|fft.rfft n dim norm|fft.irfft n dim norm|fft.hfft n dim norm|fft.ihfft n dim norm|fft.fft2 s dim norm
fft.ifft2 s dim norm|fft.rfft2 s dim norm|fft.irfft2 s dim norm|fft.fftn s dim norm|fft.ifftn s dim norm|fft.rfftn s dim norm
fft.irfftn s dim norm|fft.fftshift dim|fft.ifftshift dim""",
    "shaping": """T|H|mT|mH|t|as_strided size stride storage_offset|atleast_1d|atleast_2d|atleast_3d|block_diag|broadcast_tensors
broadcast_to size|cartesian_prod|cat|chunk chunks dim|column_stack|combinations r with_replacement|diag diagonal
diag_embed offset dim1 dim2|diagflat offset|diagonal_copy offset dim1 dim2|diagonal_scatter src offset dim1 dim2|dsplit n|dstack|hsplit n
hstack|vsplit n|vstack|expand size|expand_as|flatten start_dim end_dim|flip dims|fliplr|flipud|gather dim index|index_add dim index source
index_copy dim index source|index_fill dim index value|index_put indices values accumulate|index_select dim index
index_reduce/amax dim index source reduce|index_reduce/amin dim index source reduce|index_reduce/mean dim index source reduce
index_reduce/prod dim index source reduce|linalg.diagonal|masked_scatter mask source|masked_select mask|meshgrid/list_of_tensors
meshgrid/variadic_tensors|movedim from to|narrow dim start length|permute dims|put index source accumulate|ravel|repeat sizes
repeat_interleave repeats dim|reshape shape|reshape_as|rot90 k dims|scatter dim index src|scatter_add dim index src
scatter_reduce/sum dim index src reduce|scatter_reduce/mean dim index src reduce|scatter_reduce/prod dim index src reduce
scatter_reduce/amax dim index src reduce|scatter_reduce/amin dim index src reduce|select dim index|select_scatter src dim index
slice dim start end step|slice_scatter src dim start end step|split size dim|split/list_args sizes dim|split_with_sizes sizes dim
squeeze dim|squeeze/multiple dim|stack dim|sum_to_size size|take index|take_along_dim index dim|tensor_split n dim|tile dims
unbind dim|unflatten dim sizes|unsqueeze dim|view shape|view_as|__getitem__ index""",
}

# Arguments that PyTorch does not differentiate by.
FIXED = {"nn.functional.nll_loss": "weight", "nn.functional.cross_entropy": "weight", "nn.functional.binary_cross_entropy": "weight",
         "nn.functional.multi_margin_loss": "weight"}
# In the family "elementwise", but with results that depend on other elements too.
WHOLE = set("""trapz trapezoid cumulative_trapezoid nn.functional.normalize nn.functional.cosine_similarity nn.functional.pairwise_distance
nn.functional.glu nn.functional.softmin __rmatmul__ nn.functional.prelu view_as_complex polar complex""".split())
# Where each line along an axis has its own result, parts of a large sample are samples too.
LINES = set("aminmax max min logcumsumexp cummax cummin mode sort renorm".split())
# Sizes that broadcast along summed axes.
REFUSED = {"tensordot": lambda x: x.numel() == 1}
FIRST_ORDER = {"nn.functional.hardsigmoid", "nn.functional.rrelu"}  # PyTorch has no second derivative


def factor(i):
    return (i * 7 + 3) % 11 / 4 - 1.25


def factors(like):
    return torch.tensor([factor(i) for i in range(like.numel())], dtype=torch.float64).reshape(like.shape)


def number(x):
    if not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    x = float(f"{x:.10g}")
    return int(x) if x == int(x) else x


def tensor(t):
    return [list(t.shape), [number(x) for x in (torch.zeros_like(t) + t).detach().reshape(-1).tolist()]]


def strided(sample):
    """No sparse tensor among the arguments."""
    every = [sample.input, *sample.args, *sample.kwargs.values()]
    return all(x.layout == torch.strided for x in every if isinstance(x, torch.Tensor))


def joined(out):
    """One tensor of floats, or nothing: several as a line."""
    if isinstance(out, torch.Tensor):
        out = [out]
    parts = []
    for x in out:
        if isinstance(x, (tuple, list)):
            x = joined(x)
        if x.dtype == torch.complex128:
            x = torch.view_as_real(x)
        if x.dtype == torch.float64:
            parts.append(x)
        elif x.dtype not in (torch.int64, torch.int32, torch.bool):
            return None
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else torch.cat([x.reshape(-1) for x in parts])


class Inputs:
    """The tensors of a sample, and its arguments with numbers in their place."""

    def __init__(self, crops, positive):
        self.tensors, self.refused, self.crops, self.positive = [], False, crops, positive

    def take(self, x):
        if isinstance(x, torch.Tensor):
            if x.layout != torch.strided:
                self.refused = True
                return None
            x = x.detach().clone().contiguous()
            if self.crops:  # each result depends on the elements at its place alone
                x = x[tuple(slice(0, 3) for _ in x.shape)].contiguous()
            if self.positive:
                x = x.abs()
            if x.dtype == torch.float64:
                x = (x * 1000).round() / 1000
            self.tensors.append(x)
            return {"t": len(self.tensors) - 1}
        if isinstance(x, (tuple, list, torch.Size)):
            return [self.take(e) for e in x]
        if isinstance(x, slice):
            return {"slice": [x.start, x.stop, x.step]}
        if x is Ellipsis:
            return {"rest": 1}
        if x == math.inf or x == -math.inf:
            return "inf" if x > 0 else "-inf"
        if x is None or isinstance(x, (bool, int, float, str)):
            return x
        self.refused = True
        return None


def filled(x, by):
    if isinstance(x, torch.Tensor):
        return next(by)
    if isinstance(x, (tuple, list)):
        return type(x)(filled(e, by) for e in x) if type(x) in (tuple, list) else x
    return x


def cases_of(op, names, crops):
    found = []
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=False):
        if not strided(sample):
            continue
        if op.name in REFUSED and REFUSED[op.name](sample.input):
            continue
        inputs = Inputs((crops and op.name not in WHOLE) or op.name in LINES, op.name == "special.entr")
        arguments = {"x": inputs.take(sample.input)}
        if len(sample.args) > len(names):
            names = names + [f"a{k}" for k in range(len(names), len(sample.args))]
        for name, value in zip(names, sample.args):
            arguments[name] = inputs.take(value)
        for name, value in sample.kwargs.items():
            arguments[name] = inputs.take(value)
        if inputs.refused or arguments.get("dtype") is not None or arguments.get("sparse") or arguments.get("padding_idx") is not None or arguments.get("recompute_scale_factor") is False or (arguments.get("eps") or 0) < 0 or any("out" == k for k in arguments):
            continue
        size = sum(x.numel() for x in inputs.tensors)
        floats = [k for k, x in enumerate(inputs.tensors) if x.dtype == torch.float64]
        if op.name in FIXED and arguments.get(FIXED[op.name]) is not None:
            arguments["fixed"] = arguments[FIXED[op.name]]["t"]
            floats.remove(arguments["fixed"])
        if size == 0 or size > 4 * MOST_ELEMENTS or not floats or any(x.dtype.is_complex for x in inputs.tensors):
            continue

        def f(*by, sample=sample, inputs=inputs, floats=floats):
            tensors = list(inputs.tensors)
            for k, x in zip(floats, by):
                tensors[k] = x
            each = iter(tensors)
            x = filled(sample.input, each)
            args = filled(tuple(sample.args), each)
            kwargs = {k: filled(v, each) for k, v in sample.kwargs.items()}
            return joined(sample.output_process_fn_grad(op.op(x, *args, **kwargs)))

        by = tuple(inputs.tensors[k] for k in floats)
        try:
            out = f(*by)
            if out is None or out.numel() > 4 * MOST_ELEMENTS or out.numel() == 0:
                continue
            if not out.requires_grad and not any(x.requires_grad for x in by):
                if torch.func.vjp(f, *by)[0] is None:
                    continue
            g, tangents = factors(out), tuple(factors(x) for x in by)

            def product(*x):
                value, pulled = torch.func.vjp(f, *x)
                return sum((p * t).sum() for p, t in zip(pulled(g), tangents))

            pulled = torch.func.vjp(f, *by)[1](g)
            pushed = torch.func.jvp(f, by, tangents)[1]
            second = ()
            if op.name not in FIRST_ORDER:
                second = torch.func.grad(product, argnums=tuple(range(len(by))))(*by)
        except Exception as e:  # what PyTorch does not differentiate is not recorded
            if "-v" in sys.argv:
                print(op.name, str(e).splitlines()[0][:100], file=sys.stderr)
            continue
        if not all(torch.isfinite(x).all() for x in [*pulled, pushed, *second]):
            continue
        # PyTorch's forward and backward derivative contradict each other (scatter_reduce of products, logcumsumexp of large numbers).
        forward, backward = (g * pushed).sum(), sum((p * t).sum() for p, t in zip(pulled, tangents))
        if abs(forward - backward) > 1e-9 * (1 + abs(forward)):
            continue
        name = op.name + (f"/{op.variant_test_name}" if op.variant_test_name else "")
        arguments = {k: v for k, v in arguments.items() if k != "x" or v != {"t": 0}}
        case = [name, [[*tensor(x), str(x.dtype)[6:]] if x.dtype != torch.float64 else tensor(x) for x in inputs.tensors], arguments,
                [tensor(x) for x in pulled], tensor(pushed), [tensor(x) for x in second]]
        kind = json.dumps({k: v for k, v in arguments.items() if k not in ("x",)})
        found.append((len(json.dumps(case)), kind, case))
    # The smallest ones that have more than one element, one for each kind of arguments.
    found.sort(key=lambda each: (max(len(t[1]) for t in each[2][1]) < 3, each[0]))
    kinds, out = set(), []
    for _, kind, case in found:
        if kind not in kinds and len(out) < MOST_CASES:
            kinds.add(kind)
            out.append(case)
    return out


def main():
    torch.manual_seed(7)
    ops = {op.name + (f"/{op.variant_test_name}" if op.variant_test_name else ""): op for op in op_db}
    for family, text in FAMILIES.items():
        if len(sys.argv) > 2 and sys.argv[2] != "-v" and family not in sys.argv[2:]:
            continue
        cases, none = [], []
        for row in text.replace("\n", "|").split("|"):
            name, *names = row.split()
            own = cases_of(ops[name], names, family == "elementwise") if name in ops else []
            cases += own
            if not own:
                none.append(name)
        with open(f"{sys.argv[1]}/torch_gradients_{family}.json", "w", encoding="utf-8") as out:
            out.write(f'{{"producer": "PyTorch {torch.__version__}, CPU", "generator": "tests/data/torch_gradients.py", "cases": [\n')
            out.write(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]}\n")
        print(family, len(cases), "cases of", len({case[0] for case in cases}), "operations; without a sample:", *none)


main()
