#!/usr/bin/env python3
"""Records what PyTorch, NumPy, SciPy and einops answer for further functions that Oriel composes: torch_functions_further.json,
whose cases are those of torch_functions.py.

    python3 tests/data/torch_further.py tests/data"""
import functools
import json
import sys
import warnings

import einops
import numpy as np
import scipy
import scipy.signal
import torch
import torch.nn.functional as F
from torch_functions import FLOATS, INF, NAN, Recorder, data

warnings.filterwarnings("ignore")
NUMBERS = [torch.float32, torch.float64, torch.int64]


def patterns(rec):
    moves = [("b (h w) c -> b c h w", [2, 12, 3], {"h": 4}), ("a b -> b a", [2, 3], {}), ("a b c -> (c a) b", [2, 3, 4], {}),
             ("... c -> c ...", [2, 3, 4], {}), ("a ... -> a (...)", [2, 3, 4], {}), ("(a b c) -> c b a", [24], {"a": 2, "b": 3}),
             ("a 1 b -> a b", [2, 1, 3], {}), ("a b -> a 1 (b) 1", [2, 3], {}), ("... -> (...)", [], {}), ("(a b) (c d) -> a c b d", [4, 6], {"a": 2, "d": 3}),
             ("long_name x1 -> x1 long_name", [0, 3], {}), ("a () b -> (a b)", [2, 1, 3], {}), ("b (h h1) (w w1) c -> b h w (h1 w1 c)", [1, 4, 6, 2], {"h1": 2, "w1": 3})]
    for pattern, shape, sizes in moves:
        rec("rearrange", lambda t, pattern, sizes: einops.rearrange(t, pattern, **sizes), data(shape), pattern=pattern, sizes=sizes)
    folds = [("b c h w -> b c", [2, 3, 2, 4], {}), ("b c (h 2) (w 2) -> b c h w", [1, 2, 4, 6], {}), ("a b c -> c", [2, 3, 4], {}), ("a ... -> ...", [3, 2, 2], {}),
             ("a b -> ", [2, 3], {}), ("a (b c) -> c 1 a", [2, 6], {"b": 3}), ("... c -> 1 ...", [2, 3], {}), ("a b -> b a", [2, 3], {})]
    for how in ["sum", "mean", "prod", "max", "min"]:
        for pattern, shape, sizes in folds:
            for dtype in NUMBERS if how != "mean" else FLOATS:
                rec("reduce", lambda t, pattern, how, sizes: torch.as_tensor(einops.reduce(t, pattern, how, **sizes)), data(shape, dtype), pattern=pattern, how=how, sizes=sizes)
    repeats = [("h w -> h w c", [2, 3], {"c": 2}), ("h w -> (c h) w", [2, 3], {"c": 3}), ("h w -> h (w 2)", [2, 3], {}), ("a -> b a 1", [3], {"b": 0}), ("... -> ... c", [2, 2], {"c": 2}), ("a b -> b a", [2, 3], {})]
    for pattern, shape, sizes in repeats:
        rec("repeat", lambda t, pattern, sizes: einops.repeat(t, pattern, **sizes), data(shape), pattern=pattern, sizes=sizes)


def picking(rec):
    for dtype in NUMBERS:
        for shape, axis in [([3, 4], 0), ([3, 4], -1), ([2, 3, 4], 1), ([5], 0), ([1], 0), ([2, 0, 3], 0), ([0, 2], 1)]:
            for keepdim in [False, True]:
                for name in ["max", "min"]:
                    rec(f"{name}_with_indices", lambda t, axis, keepdim: list(getattr(torch, name)(t, axis, keepdim)), data(shape, dtype, 3), axis=axis, keepdim=keepdim)
            rec("unbind", lambda t, axis: list(torch.unbind(t, axis)), data(shape, dtype), axis=axis)
            for positions in [[], [1], [1, 2], [2, 1], [-1], [0, 9], [-9, 1]]:
                rec("split_at", lambda t, positions, axis: np.split(t.numpy(), positions, axis), data(shape, dtype), positions=positions, axis=axis)
        x = data([3, 4, 2], dtype)
        for i, j in [([0, 2, 1], [1, -1, 0]), ([0], [1]), ([[0], [2]], [[1, 3]]), ([], [])]:
            rec("at_indices", lambda t, i, j: t[i, j], x, torch.tensor(i, dtype=torch.int64), torch.tensor(j, dtype=torch.int64))
        for a, b in [([3, 1, 3, 2, 5], [5, 3, 7]), ([], [1]), ([1, 2], []), ([4, 4], [4]), ([2, 1], [3])]:
            for name in ["intersect1d", "setdiff1d"]:
                rec(name, lambda a, b: getattr(np, name)(a.numpy(), b.numpy()), torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype))
    spiked = data([3, 5])
    spiked[1, 2] = NAN
    for x in [data([3, 5]), data([4], torch.float64), spiked, data([1, 3])]:
        for q in [0, 12.5, 50, 99, 100]:
            rec("percentile", lambda t, q, axis: np.percentile(t.numpy(), q, axis).astype(t.numpy().dtype), x, q=[q], axis=-1)
    for name, args in [("bartlett", {}), ("hann", {}), ("hamming", {}), ("blackman", {}), ("kaiser", {"beta": 12.0}), ("kaiser", {"beta": 0.5}), ("kaiser", {"beta": 0.0})]:
        for n in [0, 1, 2, 3, 8, 17]:
            for periodic in [False, True]:
                for dtype in FLOATS:
                    rec(name, lambda n, periodic, dtype, **more: getattr(torch, name + "_window")(n, periodic=periodic, dtype=torch.float64, **more).to(getattr(torch, dtype)), n=n, periodic=periodic,
                        dtype=str(dtype)[6:], **args)
    for ord, how in [("fro", 0), ("nuc", 1), (2, 2), (1, 4), (INF, 6)]:
        for axes in [[0, 1], [2, 0], [-1, 1], [-2, -1]]:
            for keepdim in [False, True]:
                rec("matrix_norm", lambda t, axes, keepdim, how: torch.linalg.matrix_norm(t, ord, axes, keepdim), data([2, 3, 4]), axes=axes, keepdim=keepdim, how=how)


def directions(rec):
    def directed(f, identity):
        def compute(t, axis, reverse, exclusive):
            x = t.flip(axis) if reverse else t
            y = f(x, axis)
            if exclusive:
                y = torch.cat([torch.full_like(y.narrow(axis, 0, min(1, y.shape[axis])), identity), y.narrow(axis, 0, max(y.shape[axis] - 1, 0))], axis)
            return y.flip(axis) if reverse else y
        return compute
    for dtype in [*NUMBERS, torch.bool]:
        for shape, axis in [([5], 0), ([3, 4], 0), ([2, 3, 4], 1), ([2, 0], 1), ([0, 2], 1), ([1], -1)]:
            for reverse in [False, True]:
                for exclusive in [False, True]:
                    rec("cumsum", directed(torch.cumsum, 0), data(shape, dtype), axis=axis, reverse=reverse, exclusive=exclusive)
                    rec("cumprod", directed(torch.cumprod, 1), data(shape, dtype), axis=axis, reverse=reverse, exclusive=exclusive)
            if dtype in FLOATS:
                rec("logcumsumexp", lambda t, axis: torch.logcumsumexp(t.flip(axis), axis).flip(axis), data(shape, dtype), axis=axis)
            if dtype != torch.bool:
                for name in ["cummax", "cummin"]:
                    def backwards(t, axis):
                        values, at = getattr(torch, name)(t.flip(axis), axis)
                        return [values.flip(axis), (t.shape[axis] - 1 - at).flip(axis)]
                    rec(name, backwards, data(shape, dtype), axis=axis)


def pools(rec):
    x = {1: data([2, 7]), 2: data([1, 2, 5, 6]), 3: data([1, 1, 4, 3, 4])}
    lowest = torch.full([1, 1, 3, 3], -INF)
    for n in [1, 2, 3]:
        f = getattr(F, f"max_pool{n}d")
        for window, stride, padding, dilation, ceil in [(2, 2, 0, 1, False), (3, 2, 1, 1, False), (3, 1, 1, 1, False), (2, 1, 1, 2, False), (3, 2, 1, 1, True), (2, 1, 0, 2, False)]:
            for t in [x[n], x[n].double()] + ([lowest] if n == 2 else []):
                rec("max_pool_with_indices", lambda t, window, stride, padding, dilation, ceil: list(f(t, window, stride, padding, dilation, ceil, True)), t, window=[window] * n, stride=[stride], padding=[padding],
                    dilation=[dilation], ceil=ceil)
        values, at = f(x[n], 2, 2, 0, 1, False, True)
        unpool = getattr(F, f"max_unpool{n}d")
        rec("max_unpool", lambda v, at, sizes: unpool(v, at, 2, 2, 0, sizes), values, at, sizes=list(x[n].shape[-n:]))
        if n > 1:
            for divisor in [1, 3, -2]:
                rec("avg_pool", lambda t, divisor: getattr(F, f"avg_pool{n}d")(t, 2, 1, 1, divisor_override=divisor), x[n], divisor=divisor)
    for dtype in FLOATS:
        image, grid = data([2, 2, 3, 4], dtype), data([2, 3, 2, 2], dtype, 5, 0.31)
        grid[0, 0, 0, 0] = 7.25
        for mode in ["nearest", "bilinear", "bicubic"]:
            for outside in ["zeros", "border", "reflection"]:
                for align in [False, True]:
                    rec("grid_sample", lambda t, g, mode, outside, align: F.grid_sample(t, g, mode, outside, align), image, grid, mode=mode, outside=outside, align=align)
                    if mode != "nearest":
                        rec("grid_sample", lambda t, g, mode, outside, align: F.grid_sample(t, g, mode, outside, align), image[:, :, :1, :1], grid, mode=mode, outside=outside, align=align)
    for dtype in NUMBERS:
        for a, b in [([4, 5], [2, 3]), ([2, 3], [4, 5]), ([3, 3], [3, 3]), ([4, 2], [1, 2]), ([3, 4, 2], [2, 2, 2]), ([5, 1], [2, 3])]:
            for mode in ["full", "same", "valid"]:
                # SciPy's `same` has the size of the first one, Oriel's and NumPy's that of the longer one.
                if mode == "same" and any(m > n for n, m in zip(a, b)):
                    continue
                for name in ["convolve", "correlate"]:
                    if mode == "valid" and a == [2, 3] and name == "correlate":
                        continue  # SciPy exchanges them, NumPy reverses the result too
                    if mode != "full" and a == [5, 1]:
                        continue  # neither is as long as the other
                    rec(name, lambda x, y, mode: getattr(scipy.signal, name)(x.numpy(), y.numpy(), mode, "direct"), data(a, dtype), data(b, dtype, 1), mode=mode)


def positions(rec):
    """Scatters, groups, counts and scans by any function."""
    index = torch.tensor([2, 0, 2, -1, 1])
    for dtype in NUMBERS:
        x, values = data([4, 3], dtype), data([5, 3], dtype, 1)
        at = index % 4
        rec("index_add", lambda x, at, v: x.index_add(0, at, v), x, at, values)
        for how in ["prod", "mean", "amax", "amin"]:
            for keep in [True, False]:
                rec("index_reduce", lambda x, at, v, how, keep: x.index_reduce(0, at, v, how, include_self=keep), x, at, values, how=how, keep=keep)
        places = data([5, 3], torch.int64, 2) % 4
        for how in ["sum", "prod", "mean", "amax", "amin"]:
            for keep in [True, False]:
                rec("scatter_reduce", lambda x, at, v, how, keep: x.scatter_reduce(0, at, v, how, include_self=keep), x, places, values, how=how, keep=keep)
        rec("scatter_add", lambda x, at, v: x.scatter_add(0, at, v), x, places, values)
        rec("masked_scatter", lambda x, m, v: x.masked_scatter(m, v), x, x > 0, values)
        groups = torch.tensor([0, 2, 0, 3, 2])
        for name, f, empty in [("sum", np.add, 0), ("prod", np.multiply, 1), ("max", np.maximum, None), ("min", np.minimum, None)]:
            def segments(v, at):
                out = np.full([4 if empty is not None else 3, 3], 0 if empty is None else empty, v.numpy().dtype)
                for k in range(len(out)):
                    rows = v.numpy()[at.numpy() == k]
                    if len(rows):
                        out[k] = functools.reduce(f, rows)
                return out
            rec(f"segment_{name}", segments, values, groups if empty is not None else torch.tensor([0, 2, 0, 1, 2]))
        rec("scan_sum", lambda t, axis: torch.cumsum(t, axis), x, axis=0)
        rec("scan_max", lambda t, axis: torch.cummax(t, axis)[0], x, axis=1)
        rec("scan_products", lambda t: np.stack([functools.reduce(np.matmul, t.numpy()[:k + 1]) for k in range(len(t))]), data([7, 2, 2], dtype))
    for x in [torch.tensor([1, 3, 1, 0]), torch.tensor([], dtype=torch.int64), torch.tensor([5])]:
        for least in [0, 4]:
            rec("bincount", lambda t, least: torch.bincount(t, minlength=least), x, least=least)
            if len(x):  # of none PyTorch gives int64, NumPy float64
                rec("bincount", lambda t, w, least: torch.bincount(t, w, least), x, data([len(x)], torch.float64), least=least)


def main():
    rec = Recorder()
    for family in [patterns, picking, directions, pools, positions]:
        family(rec)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in rec.cases)
    producer = f"PyTorch {torch.__version__.split('+')[0]} (CPU), NumPy {np.__version__}, SciPy {scipy.__version__}, einops {einops.__version__}"
    with open(f"{sys.argv[1]}/torch_functions_further.json", "w", encoding="utf-8") as out:
        out.write(f'{{"producer": "{producer}", "generator": "tests/data/torch_further.py", "cases": [\n{lines}\n]}}\n')
    print(len(rec.cases), "cases")


if __name__ == "__main__":
    main()
