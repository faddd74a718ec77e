#!/usr/bin/env python3
"""Records what PyTorch and NumPy answer for the functions that Oriel composes: torch_functions_FAMILY.json, one file a family.

    python3 tests/data/torch_functions.py tests/data [FAMILY...]

A case is [op, inputs, arguments, results]. A tensor is [dtype, shape, elements in row-major order]; nan, inf and -inf are texts."""
import json
import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
np.seterr(all="ignore")
NAN, INF = math.nan, math.inf
FLOATS = [torch.float32, torch.float64]
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 0.25, -0.25, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 3.0, -3.0, 6.0, 7.5, -20.0, 25.0, 100.0, -100.0]


def element(x, dtype):
    if dtype in ("bool", "int64", "int32", "uint8"):
        return int(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return float(str(np.float32(x))) if dtype == "float32" else float(x)


def tensor(t):
    a = t.numpy() if isinstance(t, torch.Tensor) else np.asarray(t)
    dtype = str(a.dtype)
    return [dtype, list(a.shape), [element(x, dtype) for x in a.reshape(-1).tolist()]]


class Recorder:
    def __init__(self):
        self.cases = []

    def __call__(self, op, compute, *inputs, **args):
        """compute(*inputs, **args) is PyTorch's; what it refuses is not recorded."""
        try:
            out = compute(*inputs, **args)
        except (RuntimeError, TypeError, IndexError, NotImplementedError):
            return False
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        self.cases.append([op, [tensor(x) for x in inputs], args, [tensor(x) for x in out]])
        return True


def data(shape, dtype=torch.float32, seed=0, step=0.25):
    """Small multiples of `step` in no order."""
    n = math.prod(shape)
    k = (torch.arange(n, dtype=torch.int64) * 37 + seed * 11 + 5) % 23 - 11
    if dtype == torch.bool:
        return (k > 0).reshape(shape)
    if dtype in FLOATS:
        return (k.to(dtype) * step).reshape(shape)
    return k.to(dtype).reshape(shape)


def special(dtype=torch.float32):
    return torch.tensor(SPECIAL, dtype=dtype)


def elementwise(rec):
    numbers = torch.tensor([0, 1, 2, 3, 7, -1, -5], dtype=torch.int64)
    for dtype in FLOATS:
        x = special(dtype)
        y = x if dtype == torch.float32 else x[::3]
        a, b = y.repeat_interleave(len(y)), y.repeat(len(y))
        for op in [torch.logaddexp, torch.logaddexp2, torch.xlogy, torch.fmax, torch.fmin]:
            rec(op.__name__, op, a, b)
        keep = ~torch.isnan(a)
        rec("heaviside", torch.heaviside, a[keep], b[keep])
        for op in [torch.frac, torch.sinc, torch.deg2rad, torch.rad2deg, torch.signbit, torch.isposinf, torch.isneginf, torch.nan_to_num]:
            rec(op.__name__, op, x)
        rec("nan_to_num", lambda t, nan, up, down: torch.nan_to_num(t, nan, up, down), x, nan=2.5, up=9.0, down=-8.0)
        unit = torch.tensor([NAN, 0, 1, 0.5, 0.25, -0.5, 1.5, 0.001], dtype=dtype)
        rec("logit", torch.logit, unit)
        rec("logit", lambda t, eps: torch.logit(t, eps), unit, eps=0.125)
        for decimals in [0, 1, 2, 3, -1, -2]:
            y = torch.tensor([1.234567, -2.345678, 155.0, 25.0, 35.0, 0.5, 1.5, 2.5, NAN, INF, -INF, 0.0], dtype=dtype)
            rec("round", lambda t, decimals: torch.round(t, decimals=decimals), y, decimals=decimals)
        for w in [0.0, 0.25, 0.5, 0.75, 1.0, 2.0]:
            rec("lerp", torch.lerp, data([3, 4], dtype), data([3, 4], dtype, 1), torch.full([1, 4], w, dtype=dtype))
        rec("addcmul", lambda x, a, b, value: torch.addcmul(x, a, b, value=value), data([3, 1], dtype), data([3, 4], dtype, 1), data([4], dtype, 2), value=0.5)
        rec("addcdiv", lambda x, a, b, value: torch.addcdiv(x, a, b, value=value), data([3, 1], dtype), data([3, 4], dtype, 1), data([4], dtype, 2), value=-2.0)
        for name in ["relu6", "hardsigmoid", "hardswish", "selu", "mish", "logsigmoid", "softsign", "tanhshrink"]:
            rec(name, getattr(F, name), x)
        rec("hardtanh", lambda t, low, high: F.hardtanh(t, low, high), x, low=-2.0, high=0.5)
        rec("hardtanh", lambda t: F.hardtanh(t), x)
        rec("leaky_relu", lambda t, slope: F.leaky_relu(t, slope), x, slope=0.2)
        rec("elu", lambda t, alpha: F.elu(t, alpha), x, alpha=1.5)
        rec("celu", lambda t, alpha: F.celu(t, alpha), x, alpha=0.5)
        rec("softplus", lambda t, beta, threshold: F.softplus(t, beta, threshold), x, beta=0.5, threshold=2.0)
        rec("softplus", lambda t, beta, threshold: F.softplus(t, beta, threshold), x, beta=1.0, threshold=20.0)
        rec("softshrink", lambda t, k: F.softshrink(t, k), x[1:], k=0.5)  # 1.13 gives 0 for NaN, later versions NaN
        rec("hardshrink", lambda t, k: F.hardshrink(t, k), x, k=0.5)
        rec("threshold", lambda t, threshold, value: F.threshold(t, threshold, value), x, threshold=0.5, value=-7.0)
        rec("gelu_tanh", lambda t: F.gelu(t, approximate="tanh"), x[~torch.isinf(x)])
        for shape, axis in [([4, 3], 0), ([3, 4], -1), ([2, 4, 3], 1), ([0, 4], 1), ([4, 0], 0)]:
            rec("glu", lambda t, axis: F.glu(t, axis), data(shape, dtype), axis=axis)
    for op in [torch.fmax, torch.fmin, torch.heaviside]:
        rec(op.__name__, op, numbers, numbers.flip(0))
    for op in [torch.signbit, torch.isposinf, torch.isneginf, torch.nan_to_num, torch.sinc, torch.deg2rad, torch.rad2deg]:
        for t in [numbers, torch.tensor([True, False])]:
            rec(op.__name__, op, t)
    for op in [torch.logaddexp, torch.logaddexp2, torch.xlogy]:
        rec(op.__name__, op, numbers, numbers.flip(0))
    rec("addcmul", lambda x, a, b, value: torch.addcmul(x, a, b, value=value), numbers, numbers.flip(0), numbers, value=3)
    for dtype in [*FLOATS, torch.int64, torch.bool]:
        for shape in [[5], [1], [0], [3, 4], [2, 0, 3], [2, 3, 1]]:
            for axis in range(-len(shape), len(shape)):
                for n in [0, 1, 2, 6]:
                    rec("diff", lambda t, n, axis: torch.diff(t, n, axis), data(shape, dtype), n=n, axis=axis)
                if dtype in FLOATS or dtype == torch.int64 and shape[axis] > 0:  # PyTorch gives int64 for no integers, else float32
                    rec("trapezoid", lambda t, dx, axis: torch.trapezoid(t, dx=dx, dim=axis), data(shape, dtype), dx=0.5, axis=axis)
                    if dtype in FLOATS:
                        rec("trapezoid_at", lambda t, x, axis: torch.trapezoid(t, x, dim=axis), data(shape, dtype), data([shape[axis]], dtype, 3), axis=axis)
                        rec("trapezoid_at", lambda t, x, axis: torch.trapezoid(t, x, dim=axis), data(shape, dtype), data(shape, dtype, 3), axis=axis)


def shaping(rec):
    shapes = [[], [1], [0], [5], [3, 4], [1, 3], [2, 0], [2, 3, 4], [1, 1, 2]]
    for dtype in [torch.float32, torch.int64, torch.bool]:
        for shape in shapes:
            x = data(shape, dtype)
            rank = len(shape)
            for name in ["fliplr", "flipud", "atleast_1d", "atleast_2d", "atleast_3d"]:
                rec(name, getattr(torch, name), x)
            for counts in [[2, 1], [1, 2, 1, 2], [0], []]:
                rec("tile", lambda t, counts: torch.tile(t, counts), x, counts=counts)
            rec("repeat_interleave", lambda t, count: torch.repeat_interleave(t, count), x, count=2)
            for axis in range(-rank, rank):
                rec("repeat_interleave", lambda t, count, axis: torch.repeat_interleave(t, count, axis), x, count=3, axis=axis)
                if dtype != torch.float32:
                    continue
                for size in [2, 7]:
                    rec("split", lambda t, size, axis: torch.split(t, size, axis), x, size=size, axis=axis)
                    rec("chunk", lambda t, count, axis: torch.chunk(t, count, axis), x, count=size, axis=axis)
                n = x.shape[axis]
                for sizes in [[n], [0, n], [1, n - 1], [n - 2, 1, 0, 1]]:
                    if min(sizes) >= 0:
                        rec("split_with_sizes", lambda t, sizes, axis: torch.split(t, sizes, axis), x, sizes=sizes, axis=axis)
                for other in range(-rank, rank) if axis < 0 else range(0, rank, 2):
                    rec("swapaxes", lambda t, a, b: torch.swapaxes(t, a, b), x, a=axis, b=other)
                    rec("flatten", lambda t, first, last: torch.flatten(t, first, last), x, first=axis, last=other)
                    rec("movedim", lambda t, origin, to: torch.movedim(t, origin, to), x, origin=[axis], to=[other])
                    for k in [-1, 1, 2] if axis == 0 or other == -1 else []:
                        rec("rot90", lambda t, k, a, b: torch.rot90(t, k, [a, b]), x, k=k, a=axis, b=other)
        if dtype == torch.float32:
            rec("movedim", lambda t, origin, to: torch.movedim(t, origin, to), data([2, 3, 4, 5]), origin=[0, -1], to=[2, 0])
            rec("movedim", lambda t, origin, to: torch.movedim(t, origin, to), data([2, 3, 4, 5]), origin=[3, 1, 0], to=[0, 3, -2])
            for axis, shape in [(0, [2, 6]), (1, [2, 3]), (-1, [-1, 2]), (0, [12, 1]), (0, [3, -1, 2]), (1, [6])]:
                rec("unflatten", lambda t, axis, shape: t.unflatten(axis, shape), data([12, 6]), axis=axis, shape=shape)
        for shape in [[], [0], [1], [3], [2, 3], [3, 3], [4, 2], [0, 2]]:
            for offset in [0, 1, -2] if dtype == torch.float32 else [-1]:
                x = data(shape, dtype)
                rec("diag", lambda t, offset: torch.diag(t, offset), x, offset=offset)
                for a, b in [(-2, -1), (0, 1), (-1, 0), (0, -1)]:
                    rec("diag_embed", lambda t, offset, a, b: torch.diag_embed(t, offset, a, b), x, offset=offset, a=a, b=b)
                if len(shape) == 2 and dtype != torch.bool:
                    rec("trace", lambda t, offset: np.trace(t.numpy(), offset), x, offset=offset)
    x, y, z = data([2, 3]), data([4, 1], torch.int64, 1), data([3], torch.float64, 2)
    for name, lists in [("hstack", [[data([2]), data([3])], [data([2, 3]), data([2, 1])], [data([]), data([])], [data([2, 1, 3]), data([2, 2, 3])]]),
                        ("vstack", [[data([3]), data([2, 3])], [data([3]), data([3])], [data([]), data([])], [data([1, 2, 2]), data([3, 2, 2], torch.int64)]]),
                        ("dstack", [[data([3]), data([3])], [data([2, 3]), data([2, 3])], [data([]), data([])], [data([2, 1, 3]), data([2, 1, 1])]]),
                        ("block_diag", [[x, y, z], [data([]), data([2, 0]), data([3])], [data([0, 2]), data([2, 2])], [x]]),
                        ("meshgrid", [[data([2]), data([3], seed=1)], [data([3])], [data([]), data([2]), data([4])], [data([0]), data([2])]]),
                        ("meshgrid_xy", [[data([2]), data([3], seed=1)], [data([3])], [data([]), data([2]), data([4])]]),
                        ("cartesian_product", [[data([2]), data([3], seed=1)], [data([3])], [data([2]), data([1]), data([3])], [data([0]), data([2])]]),
                        ("broadcast_tensors", [[data([2, 1]), data([3])], [data([]), data([0, 2])], [data([1, 3]), data([2, 1, 1]), data([])]])]:
        compute = {"meshgrid": lambda *t: torch.meshgrid(*t, indexing="ij"), "meshgrid_xy": lambda *t: torch.meshgrid(*t, indexing="xy"),
                   "cartesian_product": torch.cartesian_prod, "block_diag": torch.block_diag, "broadcast_tensors": torch.broadcast_tensors}
        for tensors in lists:
            rec(name, compute.get(name, lambda *t: getattr(torch, name)(t)), *tensors)
    for shape in [[], [3], [2, 2], [0]]:
        t = (data(shape, torch.int64) % 4)
        rec("one_hot", lambda t, classes: F.one_hot(t, classes), t, classes=5)
    for rows, columns in [(3, 3), (2, 4), (4, 2), (0, 3), (3, 0)]:
        for offset in [0, 1, -1, 5, -5]:
            rec("tril_indices", lambda rows, columns, offset: torch.tril_indices(rows, columns, offset), rows=rows, columns=columns, offset=offset)
            rec("triu_indices", lambda rows, columns, offset: torch.triu_indices(rows, columns, offset), rows=rows, columns=columns, offset=offset)
    for shape in [[2, 3], [4], [2, 0], [2, 1, 3], []]:
        rec("indices", lambda shape: np.indices(shape), shape=shape)
    positions = torch.tensor([[0, 5, 11], [23, 7, 12]])
    for shape in [[24], [2, 12], [2, 3, 4], [4, 1, 6]]:
        rec("unravel_index", lambda t, shape: [np.asarray(a) for a in np.unravel_index(t.numpy(), shape)], positions, shape=shape)
        at = [torch.from_numpy(np.asarray(a)) for a in np.unravel_index(positions.numpy(), shape)]
        rec("ravel_index", lambda *t, shape: np.ravel_multi_index([a.numpy() for a in t], shape), *at, shape=shape)
    for start, stop, count in [(0, 2, 3), (-1, 1, 5), (2, 2, 1), (3, 0, 4), (0, 1, 0)]:
        for base in [10.0, 2.0]:
            rec("logspace", lambda start, stop, count, base: torch.logspace(start, stop, count, base), start=start, stop=stop, count=count, base=base)
    for start, stop, count in [(1.0, 1000.0, 4), (8.0, 0.5, 5), (-1.0, -16.0, 3), (3.0, 5.0, 1), (2.0, 3.0, 0)]:
        rec("geomspace", lambda start, stop, count: np.geomspace(start, stop, count), start=start, stop=stop, count=count)


def windows(rec):
    def conv(name, x, w, bias=None, **args):
        f = getattr(F, name)
        own = {"padding" if k == "same" else k: "same" if k == "same" else v for k, v in args.items()}
        inputs = [x, w] + ([bias] if bias is not None else [])
        rec(name, lambda *t, **_: f(*t, **own), *inputs, **args)

    for dtype in FLOATS:
        x1, x2 = data([2, 4, 7], dtype), data([1, 4, 6, 5], dtype)
        w1, w2 = data([6, 4, 3], dtype, 1, 0.5), data([2, 4, 3, 2], dtype, 1, 0.5)
        conv("conv1d", x1, w1)
        conv("conv1d", x1, w1, data([6], dtype, 2), stride=[2], padding=[1], dilation=[2])
        conv("conv1d", x1, data([6, 2, 3], dtype, 1), groups=2, padding=[2])
        conv("conv1d", x1[0], w1, same=True)
        conv("conv1d", x1, data([4, 1, 2], dtype, 1), groups=4, same=True, dilation=[3])
        conv("conv2d", x2, w2)
        conv("conv2d", x2, w2, data([2], dtype, 2), stride=[2, 1], padding=[0, 1], dilation=[1, 2])
        conv("conv2d", x2, w2, same=True)
        conv("conv2d", x2[0], w2, stride=[3])
        conv("conv2d", x2, data([3, 4, 1, 1], dtype, 1))
        conv("conv2d", x2, data([3, 4, 1, 1], dtype, 1), stride=[2], padding=[1])
        conv("conv2d", x2, data([8, 1, 3, 3], dtype, 1), groups=4, padding=[1])
        conv("conv2d", x2, data([4, 2, 2, 3], dtype, 1), groups=2)
        conv("conv2d", x2[:0], w2)
        conv("conv3d", data([1, 2, 3, 4, 3], dtype), data([3, 2, 2, 2, 3], dtype, 1), padding=[1, 0, 1], stride=[1, 2, 1])
        for args in [{}, {"stride": [2]}, {"stride": [3], "padding": [1], "output_padding": [2]}, {"padding": [2]}, {"dilation": [2], "stride": [2], "output_padding": [1]}]:
            conv("conv_transpose1d", x1[:, :, :4], data([4, 3, 3], dtype, 1), **args)
            conv("conv_transpose2d", x2[:, :, :3, :2], data([4, 2, 3, 2], dtype, 1), **args)
        conv("conv_transpose1d", x1[:, :, :4], data([4, 2, 3], dtype, 1), groups=2, stride=[2])
        conv("conv_transpose3d", data([1, 2, 2, 2, 3], dtype), data([2, 2, 2, 1, 2], dtype, 1), stride=[1, 2, 2], padding=[0, 0, 1])
        rec("im2col", lambda t, window, dilation, padding, stride: F.unfold(t, window, dilation, padding, stride), x2[:, :2], window=[2, 3], dilation=[1, 2], padding=[1, 0], stride=[2, 1])
    spiked = data([2, 7, 6])
    spiked[0, 3, 2], spiked[1, 0, 0], spiked[1, 5, 5] = NAN, INF, -INF
    shapes = {1: [2, 7], 2: [1, 7, 6], 3: [1, 4, 5, 3]}
    pools = [dict(window=[2]), dict(window=[3], stride=[1]), dict(window=[3], stride=[2], padding=[1]), dict(window=[2], ceil_mode=True),
             dict(window=[3], stride=[2], padding=[1], ceil_mode=True), dict(window=[2], stride=[3], ceil_mode=True), dict(window=[1], stride=[2])]
    for n in [1, 2, 3]:
        for x in [data(shapes[n])] + ([data(shapes[n], torch.float64)] if n == 1 else [spiked] if n == 2 else []):
            for p in pools:
                own = {k: v for k, v in p.items() if k != "window"}
                rec(f"max_pool{n}d", lambda t, window, **_: getattr(F, f"max_pool{n}d")(t, window * n, **{k: v * n if isinstance(v, list) else v for k, v in own.items()}), x, **p)
                for count in [True, False]:
                    rec(f"avg_pool{n}d", lambda t, window, count_include_pad, **_: getattr(F, f"avg_pool{n}d")(
                        t, window * n, count_include_pad=count_include_pad, **{k: v * n if isinstance(v, list) else v for k, v in own.items()}), x, count_include_pad=count, **p)
            rec(f"max_pool{n}d", lambda t, window, dilation, **_: getattr(F, f"max_pool{n}d")(t, 2, 1, 0, dilation=2), x, window=[2], stride=[1], dilation=[2])
            for sizes in [[1], [2], [3], [5], [9]]:
                for kind in ["avg", "max"]:
                    name = f"adaptive_{kind}_pool{n}d"
                    if n < 3 or sizes[0] < 5:
                        rec(name, lambda t, sizes: getattr(F, name)(t, sizes * n), x, sizes=sizes)
    for mode in ["reflect", "replicate", "circular"]:
        for shape, around in [([5], [[2, 1]]), ([5], [[4, 4]]), ([4, 3], [[1, 0], [2, 2]]), ([2, 3, 4], [[0, 0], [1, 2], [3, 0]]), ([1], [[2, 3]] if mode == "replicate" else [[0, 0]]), ([3], [[0, 0]])]:
            how = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
            for dtype in [torch.float32, torch.int64]:
                rec("pad", lambda t, around, mode: np.pad(t.numpy(), around, how), data(shape, dtype), around=around, mode=mode)
    for dtype in FLOATS:
        for shape, sizes in [([1, 2, 4], [8]), ([1, 1, 5], [3]), ([1, 1, 4], [1]), ([1, 1, 1], [3]), ([1, 2, 3, 4], [6, 8]), ([1, 1, 5, 3], [3, 7]), ([1, 1, 2, 3, 2], [4, 2, 3])]:
            n = len(sizes)
            x = data(shape, dtype)
            rec("interpolate", lambda t, sizes, mode: F.interpolate(t, sizes), x, sizes=sizes, mode="nearest")
            rec("interpolate", lambda t, sizes, mode: F.interpolate(t, sizes, mode="area"), x, sizes=sizes, mode="area")
            for align in [False, True]:
                linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[n]
                rec("interpolate", lambda t, sizes, mode, align: F.interpolate(t, sizes, mode=linear, align_corners=align), x, sizes=sizes, mode="linear", align=align)
                if n == 2:
                    rec("interpolate", lambda t, sizes, mode, align: F.interpolate(t, sizes, mode="bicubic", align_corners=align), x, sizes=sizes, mode="cubic", align=align)
        for mode in ["nearest", "bilinear"]:
            for align in [False, True]:
                for border in [False, True]:
                    rec("grid_sample", lambda t, g, mode, align, border: F.grid_sample(t, g, mode, "border" if border else "zeros", align),
                        data([2, 2, 3, 4], dtype), data([2, 3, 2, 2], dtype, 5, 0.11), mode=mode, align=align, border=border)
    for dtype in [torch.float32, torch.float64, torch.int64]:
        for n, m in [(5, 3), (3, 5), (4, 4), (6, 2), (2, 6), (1, 3), (7, 1), (5, 4), (4, 5)]:
            for mode in ["full", "same", "valid"]:
                for name in ["convolve", "correlate"]:
                    rec(name, lambda a, b, mode: getattr(np, name)(a.numpy(), b.numpy(), mode), data([n], dtype), data([m], dtype, 1), mode=mode)


def products(rec):
    equations = [("ij,jk->ik", [2, 3], [3, 4]), ("ij,jk", [2, 3], [3, 4]), ("ba,cb", [3, 2], [4, 3]), ("ii", [3, 3]), ("ii->i", [3, 3]), ("ij->ji", [2, 3]), ("ij", [2, 3]),
                 ("ba", [2, 3]), ("ij->", [2, 3]), ("ij->j", [2, 3]), ("i,j->ij", [2], [3]), ("i,i->", [4], [4]), ("i,i", [4], [4]), ("i,i->i", [4], [4]),
                 ("bhqd,bhkd->bhqk", [2, 2, 3, 4], [2, 2, 5, 4]), ("bij,bjk->bik", [2, 2, 3], [2, 3, 2]), ("...ij,...jk->...ik", [2, 1, 2, 3], [3, 3, 2]),
                 ("...ij,...jk", [2, 2, 3], [3, 2]), ("i...,i...->...", [3, 2], [3, 2]), ("...,...->...", [2, 3], [3]), ("...->...", [2, 3]), ("i...->...", [3, 2, 2]),
                 ("iij->ij", [2, 2, 3]), ("iji->j", [2, 3, 2]), ("iii->i", [3, 3, 3]), ("iii", [2, 2, 2]), ("ij,ij,ij->i", [2, 3], [2, 3], [2, 3]),
                 ("ij,jk,kl->il", [2, 3], [3, 4], [4, 2]), ("ij,jk,kl,lm->im", [2, 3], [3, 4], [4, 2], [2, 5]), ("i,ij,j->", [3], [3, 4], [4]), ("bn,anm,bm->ba", [2, 3], [4, 3, 2], [2, 2]),
                 ("aB,Bc->ac", [2, 3], [3, 2]), ("Ab,bC", [2, 3], [3, 2]), ("i j , j k -> i k", [2, 3], [3, 4]), ("ij,kl->", [2, 3], [2, 2]), ("ij,jk->ijk", [2, 3], [3, 2]),
                 ("ij,jk->ik", [0, 3], [3, 2]), ("ij,jk->ik", [2, 0], [0, 3]), ("ij,ij->ij", [1, 3], [2, 1]), (",ij->ij", [], [2, 3]), (",->", [], []), ("abcd,ebfd->aecf", [2, 3, 2, 2], [3, 3, 2, 2]),
                 ("ii,ii->", [3, 3], [3, 3]), ("ijk,ilm,njm,nlk,abc->", [2, 2, 2], [2, 2, 2], [2, 2, 2], [2, 2, 2], [2, 1, 2])]
    for dtype in [*FLOATS, torch.int64]:
        for equation, *shapes in equations:
            rec("einsum", lambda *t, equation: torch.einsum(equation, *t), *[data(shape, dtype, k) for k, shape in enumerate(shapes)], equation=equation)
        matrices = [([2, 3], [3, 4]), ([1, 3], [3, 1]), ([0, 3], [3, 2]), ([2, 0], [0, 3])]
        for k, (a, b) in enumerate(matrices):
            x, y = data(a, dtype), data(b, dtype, 1)
            rec("bmm", torch.bmm, x.expand(2, *a), torch.stack([y, y + 1]))
            rec("mv", torch.mv, x, y[:, 0])
            for c in [[a[0], b[1]], [1, b[1]], [b[1]], [], [a[0], 1]]:
                for beta, alpha in [(1, 1), (2, -3), (0, 1)]:
                    rec("addmm", lambda c, a, b, beta, alpha: torch.addmm(c, a, b, beta=beta, alpha=alpha), data(c, dtype, 2), x, y, beta=beta, alpha=alpha)
            w = y.T.contiguous()
            rec("linear", F.linear, x, w)
            rec("linear", F.linear, x, w, data([b[1]], dtype, 2))
        rec("linear", F.linear, data([2, 2, 3], dtype), data([4, 3], dtype, 1), data([4], dtype, 2))
        rec("linear", F.linear, data([3], dtype), data([4, 3], dtype, 1), data([4], dtype, 2))
        rec("linear", F.linear, data([2, 3], dtype), data([3], dtype, 1))
        for n, m in [(3, 3), (1, 1), (0, 0), (3, 2), (0, 2)]:
            for name in ["dot", "vdot", "outer"]:
                rec(name, getattr(torch, name), data([n], dtype), data([m], dtype, 1))
        for a, b in [([3], [3]), ([2, 3], [3]), ([2, 3], [4, 3]), ([], [2, 3]), ([2], []), ([2, 2, 3], [2, 3])]:
            rec("inner", torch.inner, data(a, dtype), data(b, dtype, 1))
        for a, b, axis in [([3], [3], -1), ([3, 2], [3, 2], 0), ([2, 3], [2, 3], 1), ([1, 3], [4, 3], -1), ([2, 3, 2], [3, 1], -2)]:
            rec("cross", lambda a, b, axis: torch.linalg.cross(a, b, dim=axis), data(a, dtype), data(b, dtype, 1), axis=axis)
        for a, b, count in [([2, 3], [3, 4], 1), ([2, 3, 4], [3, 4, 2], 2), ([2, 3], [2, 3], 0), ([2, 3], [2, 3], 2), ([0, 2], [2, 1], 1)]:
            rec("tensordot", lambda a, b, count: torch.tensordot(a, b, count), data(a, dtype), data(b, dtype, 1), count=count)
        for a, b, i, j in [([2, 3, 4], [4, 3, 5], [1, 2], [1, 0]), ([2, 3], [3, 2], [0], [1]), ([2, 3], [3, 2], [-1, 0], [0, -1]), ([2, 3], [4], [], [])]:
            rec("tensordot_axes", lambda a, b, i, j: torch.tensordot(a, b, (i, j)), data(a, dtype), data(b, dtype, 1), i=i, j=j)
        for a, b in [([2, 2], [2, 3]), ([2], [3]), ([2, 2], [3]), ([3], [2, 1, 2]), ([], [2]), ([0, 2], [2, 2])]:
            rec("kron", torch.kron, data(a, dtype), data(b, dtype, 1))


def statistics(rec):
    spiked = data([3, 4])
    spiked[0, 1], spiked[1], spiked[2, 3] = NAN, NAN, INF
    for x in [spiked, spiked.double(), data([3, 4], torch.int64), data([2, 0]), data([]), torch.tensor(NAN), data([2, 3, 2]), data([4], torch.bool)]:
        for axes in [None, 0, -1] if x.dim() else [None]:
            for keep in [False, True]:
                where = axes if axes is not None else list(range(x.dim()))
                if x.dtype != torch.bool or axes is None:
                    rec("nansum", lambda t, axes, keepdim: torch.nansum(t, where, keepdim), x, axes=axes, keepdim=keep)
                if x.dtype in FLOATS:
                    rec("nanmean", lambda t, axes, keepdim: torch.nanmean(t, where, keepdim), x, axes=axes, keepdim=keep)
                if x.numel() and x.dtype != torch.bool:
                    for name in ["nanmax", "nanmin", "nanprod"]:
                        rec(name, lambda t, axes, keepdim: getattr(np, name)(t.numpy(), axes, keepdims=keepdim), x, axes=axes, keepdim=keep)
    for x in [data([3, 5]), data([2, 4], torch.float64), data([4]), data([1, 3]), data([3, 1]), data([2, 3], torch.int64), data([])]:
        for correction in [0, 1]:
            if x.shape[-1:] != (1,) and x.dim():
                rec("cov", lambda t, correction: torch.cov(t, correction=correction), x, correction=correction)
        if x.dim():
            rec("corrcoef", torch.corrcoef, x)
    for dtype in FLOATS:
        for shape in [[2, 4, 3], [3, 4], [2, 4, 3, 2], [1, 4, 1, 2, 2]]:
            x, w, b = data(shape, dtype), data([4], dtype, 1), data([4], dtype, 2)
            mean, variance = data([4], dtype, 3), data([4], dtype, 4).abs() + 0.5
            rec("batch_norm", lambda x, m, v, eps: F.batch_norm(x, m, v, eps=eps), x, mean, variance, eps=1e-5)
            rec("batch_norm", lambda x, m, v, w, b, eps: F.batch_norm(x, m, v, w, b, eps=eps), x, mean, variance, w, b, eps=0.125)

            def train(x, m, v, w, b, eps, momentum):
                m, v = m.clone(), v.clone()
                return [F.batch_norm(x, m, v, w, b, True, momentum, eps), m, v]
            rec("batch_norm_training", train, x, mean, variance, w, b, eps=1e-5, momentum=0.25)
            for groups in [1, 2, 4]:
                rec("group_norm", lambda x, w, b, groups, eps: F.group_norm(x, groups, w, b, eps), x, w, b, groups=groups, eps=1e-3)
            rec("group_norm", lambda x, groups, eps: F.group_norm(x, groups, eps=eps), x, groups=2, eps=1e-5)
            if len(shape) > 2:
                rec("instance_norm", lambda x, w, b, eps: F.instance_norm(x, weight=w, bias=b, eps=eps), x, w, b, eps=1e-3)
        rec("rms_norm", lambda x, w, eps: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w, data([2, 3, 4], dtype), data([4], dtype, 1), eps=1e-3)

        def attention(q, k, v, *mask, causal, scale):
            if q.dim() > 2 and q.shape[-3] != k.shape[-3] and k.shape[-3] > 1:
                k, v = (t.repeat_interleave(q.shape[-3] // k.shape[-3], -3) for t in (k, v))
            scores = q @ k.transpose(-2, -1) * (scale or q.shape[-1] ** -0.5)
            if mask:
                scores = scores.masked_fill(~mask[0], -INF) if mask[0].dtype == torch.bool else scores + mask[0]
            if causal:
                scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -INF)
            return torch.softmax(scores, -1) @ v
        for q, k, v in [([3, 4], [5, 4], [5, 2]), ([2, 3, 4], [2, 5, 4], [2, 5, 4]), ([1, 4, 3, 2], [1, 2, 3, 2], [1, 2, 3, 3]), ([2, 4, 3, 2], [2, 1, 4, 2], [2, 1, 4, 2])]:
            tensors = [data(q, dtype), data(k, dtype, 1), data(v, dtype, 2)]
            rows, columns = q[-2], k[-2]
            seen = data([rows, columns], torch.bool)
            seen[:, 0] = True
            for mask in [[], [seen], [data([rows, columns], dtype, 5)], [data(q[:-1] + [columns], dtype, 6)]]:
                rec("attention", attention, *tensors, *mask, causal=False, scale=0)
            rec("attention", attention, *tensors, causal=True, scale=0.5)


def losses(rec):
    reductions = ["none", "mean", "sum"]
    for dtype in FLOATS:
        for shape in [[5], [2, 3], [], [0, 2]]:
            x, y = data(shape, dtype), data(shape, dtype, 1)
            p = (x + 3) / 6
            target = data(shape, torch.bool, 2).to(dtype) * 0.75
            for r in reductions:
                for name in ["mse_loss", "l1_loss"]:
                    rec(name, lambda x, y, reduction: getattr(F, name)(x, y, reduction=reduction), x, y, reduction=r)
                for beta in [0.0, 0.5, 1.0]:
                    rec("smooth_l1_loss", lambda x, y, beta, reduction: F.smooth_l1_loss(x, y, beta=beta, reduction=reduction), x, y, beta=beta, reduction=r)
                rec("huber_loss", lambda x, y, delta, reduction: F.huber_loss(x, y, delta=delta, reduction=reduction), x, y, delta=0.75, reduction=r)
                rec("binary_cross_entropy", lambda x, y, reduction: F.binary_cross_entropy(x, y, reduction=reduction), p, target, reduction=r)
                rec("binary_cross_entropy_with_logits", lambda x, y, reduction: F.binary_cross_entropy_with_logits(x, y, reduction=reduction), x * 9, target, reduction=r)
                for log_target in [False, True]:
                    rec("kl_div", lambda x, y, log_target, reduction: F.kl_div(x, y, reduction="batchmean" if reduction == "batch_mean" else reduction, log_target=log_target),
                        x, y if log_target else target, log_target=log_target, reduction=r)
        x = data([2, 3], dtype)
        rec("kl_div", lambda x, y, log_target, reduction: F.kl_div(x, y, reduction="batchmean"), x, x.abs(), log_target=False, reduction="batch_mean")
        rec("binary_cross_entropy_with_logits", lambda x, y, w, reduction: F.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction=reduction),
            x, data([2, 3], torch.bool, 2).to(dtype), data([3], dtype, 1).abs(), reduction="mean")
        rec("binary_cross_entropy", lambda x, y, reduction: F.binary_cross_entropy(x, y, reduction=reduction), torch.tensor([0, 1, 0, 1, 0.5], dtype=dtype), torch.tensor([0, 0, 1, 1, 1], dtype=dtype), reduction="none")
        for shape in [[4, 3], [3], [2, 3, 2], [1, 3, 2, 2], [0, 3]]:
            x = data(shape, dtype)
            rest = shape[1:] if len(shape) == 1 else shape[:1] + shape[2:]
            t = data(rest, torch.int64, 3).abs() % 3
            w = data([3], dtype, 1).abs() + 0.25
            for r in reductions:
                for weights in [[], [w]]:
                    for ignore in [-100, 1]:
                        rec("nll_loss", lambda x, t, *w, ignore, reduction: F.nll_loss(x, t, *w, ignore_index=ignore, reduction=reduction), F.log_softmax(x, 0 if len(shape) == 1 else 1), t, *weights, ignore=ignore, reduction=r)
                        for smoothing in [0.0, 0.2]:
                            rec("cross_entropy", lambda x, t, *w, ignore, smoothing, reduction: F.cross_entropy(
                                x, t, *w, ignore_index=ignore, label_smoothing=smoothing, reduction=reduction), x, t, *weights, ignore=ignore, smoothing=smoothing, reduction=r)
                    rec("cross_entropy", lambda x, t, *w, smoothing, reduction: F.cross_entropy(x, t, *w, label_smoothing=smoothing, reduction=reduction),
                        x, data(shape, dtype, 4).abs(), *weights, smoothing=0.1, reduction=r)


def order(rec):
    tied = torch.tensor([3, 1, 2, 3, 1, 1, 7, 2], dtype=torch.float32)
    odd = torch.tensor([[2, NAN, 1, 5], [INF, -INF, 0, 0], [NAN, NAN, NAN, NAN], [4, 3, 2, 1]], dtype=torch.float32)
    inputs = [tied, tied.double(), tied.long(), odd, odd.T.contiguous(), data([2, 3, 4]), data([2, 5], torch.int64), data([1]), data([2, 1, 3]), data([])]
    twice = lambda r: [r[0], r[0]]  # the test gathers the second one by positions
    for x in inputs:
        for axis in list(range(x.dim())) + [-1]:
            n = x.shape[axis] if x.dim() else 1
            for k in sorted({0, 1, n // 2, n} if x.dim() else {1}):
                for largest in [True, False]:
                    if not torch.isnan(x.float()).any() or largest or k in (0, n):
                        rec("topk", lambda t, k, axis, largest: twice(torch.topk(t, k, axis, largest)), x, k=k, axis=axis, largest=largest)
                for keep in [False, True]:
                    if k and not torch.isnan(x.float()).any():
                        rec("kthvalue", lambda t, k, axis, keepdim: twice(torch.kthvalue(t, k, axis, keepdim)), x, k=k, axis=axis, keepdim=keep)
            for keep in [False, True]:
                for name in ["median", "nanmedian"]:
                    rec(name, lambda t, axis, keepdim: twice(getattr(torch, name)(t, axis, keepdim)), x, axis=axis, keepdim=keep)
                if not torch.isnan(x.float()).any():
                    rec("mode", lambda t, axis, keepdim: torch.mode(t, axis, keepdim)[0], x, axis=axis, keepdim=keep)
                if x.dtype in FLOATS:
                    for between in ["linear", "lower", "higher", "nearest", "midpoint"]:
                        finite = torch.where(torch.isinf(x), torch.sign(x) * 9, x)
                        rec("quantile", lambda t, q, axis, keepdim, between: torch.quantile(t, q, axis, keepdim, interpolation=between), finite, q=0.3, axis=axis, keepdim=keep, between=between)
                    rec("quantiles", lambda t, q, axis, keepdim: torch.quantile(t, torch.tensor(q, dtype=t.dtype), axis, keepdim), finite, q=[0.0, 0.25, 0.5, 1.0], axis=axis, keepdim=keep)
        for name in ["median_of_all", "nanmedian_of_all"]:
            rec(name, lambda t: getattr(torch, name[:-7])(t), x)
    rec("median_of_all", torch.median, torch.zeros(0))
    for dtype in [torch.float32, torch.int64]:
        for n in [0, 1, 2, 3, 5, 8, 9]:
            line = torch.sort(data([n], dtype) // 1).values
            for values in [data([3, 4], dtype, 2), data([], dtype), data([0], dtype), line]:
                for right in [False, True]:
                    rec("searchsorted", lambda s, v, right: torch.searchsorted(s, v, right=right), line, values, right=right)
                    rec("bucketize", lambda v, s, right: torch.bucketize(v, s, right=right), values, line, right=right)
        rows = torch.sort(data([2, 3, 5], dtype), -1).values
        for right in [False, True]:
            rec("searchsorted", lambda s, v, right: torch.searchsorted(s, v, right=right), rows, data([2, 3, 4], dtype, 3), right=right)
    line = torch.tensor([1.0, 2.0, 2.0, INF, NAN])
    for right in [False, True]:
        rec("searchsorted", lambda s, v, right: np.searchsorted(s.numpy(), v.numpy(), "right" if right else "left"), line, torch.tensor([NAN, INF, -INF, 2.0, 3.0]), right=right)
    for x, elements in [(data([3, 4]), data([5], seed=1)), (data([3], torch.int64), data([2, 2], torch.int64, 1)), (data([4]), data([0])), (odd, torch.tensor([NAN, 1.0, INF])), (data([2], torch.int64), data([6], torch.float32))]:
        rec("isin", torch.isin, x, elements)
    for xp, fp in [([1.0, 2.0, 4.0], [3.0, -1.0, 5.0]), ([0.5], [2.0]), ([-3.0, -1.0, 0.0, 2.5, 9.0], [1.0, 1.0, 0.0, -4.0, 2.0])]:
        rec("interp", lambda x, a, b: np.interp(x.numpy(), a.numpy(), b.numpy()), torch.tensor(([NAN] if len(xp) > 1 else []) + [-INF, INF, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0], dtype=torch.float64),
            torch.tensor(xp, dtype=torch.float64), torch.tensor(fp, dtype=torch.float64))


FAMILIES = {"order": order, "statistics": statistics, "losses": losses, "products": products, "elementwise": elementwise, "shaping": shaping, "windows": windows}


def main():
    for name in sys.argv[2:] or FAMILIES:
        rec = Recorder()
        FAMILIES[name](rec)
        producer = f"PyTorch {torch.__version__} (Debian, CPU), NumPy {np.__version__}"
        with open(f"{sys.argv[1]}/torch_functions_{name}.json", "w") as out:
            out.write(json.dumps({"producer": producer, "generator": "tests/data/torch_functions.py"})[:-1] + ', "cases": [\n')
            out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in rec.cases))
            out.write("\n]}\n")
        print(name, len(rec.cases), "cases")


if __name__ == "__main__":
    main()
