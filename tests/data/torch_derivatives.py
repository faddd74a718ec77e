#!/usr/bin/env python3
"""Records derivatives that PyTorch computes for its own sample inputs: torch_derivatives.json.

    python3 tests/data/torch_derivatives.py tests/data

The samples are those of op_db (torch.testing._internal.common_methods_invocations), in float64, where Oriel has the operation
with these arguments and no element is beside a kink. A case is [op, inputs, arguments, result, vjp, jvp, hvp]: the cotangent of
element i of the result and the tangent of element i of an input are factor(i); hvp is the derivative, by the inputs, of the
product of the cotangents with the jvp. A tensor is [shape, elements in row-major order]."""
import json
import math
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
MOST_ELEMENTS, MOST_CASES = 110, 3


def factor(i):
    return (i * 7 + 3) % 11 / 4 - 1.25


def factors(like):
    return torch.tensor([factor(i) for i in range(like.numel())], dtype=torch.float64).reshape(like.shape)


def number(x):
    return "nan" if math.isnan(x) else ("inf" if x > 0 else "-inf") if math.isinf(x) else float(f"{x:.13g}")


def tensor(t):
    return [list(t.shape), [number(x) for x in t.reshape(-1).tolist()]]


def plain(s):
    """No arguments but tensors."""
    return {} if not s.kwargs and all(isinstance(a, torch.Tensor) for a in s.args) else None


def dim(*names, last=False):
    """The arguments dim and keepdim, by position or name."""
    def of(s):
        args = {}
        for name, value in [*zip(names, s.args), *s.kwargs.items()]:
            if name not in names or isinstance(value, torch.Tensor):
                return None
            args[name] = value
        if "dtype" in args and args.pop("dtype") is not None:
            return None
        d = args.get("dim")
        if d is None and last:
            return None
        if isinstance(d, (list, tuple)):
            args["dim"] = list(d)
        return args
    return of


def named(**defaults):
    """Numbers by position or name, in this order."""
    def of(s):
        args = dict(defaults)
        rest = [a for a in s.args if not isinstance(a, torch.Tensor)]
        if len(rest) > len(args):
            return None
        args.update(zip(args, rest))
        for name, value in s.kwargs.items():
            if name not in args or isinstance(value, torch.Tensor):
                return None
            args[name] = value
        return {k: list(v) if isinstance(v, (tuple, torch.Size)) else v for k, v in args.items()}
    return of


UNARY = """neg abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan tanh erf erfc asin acos atan sinh cosh asinh acosh
atanh sigmoid square relu trunc floor ceil sign frac lgamma digamma erfinv sinc logit deg2rad trace i0 cumsum""".split()
BINARY = "add sub mul div pow atan2 hypot fmod remainder maximum minimum copysign logaddexp xlogy fmax fmin".split()
PRODUCTS = "matmul bmm mv dot outer inner kron".split()
OPS = {name: plain for name in [*UNARY, *BINARY, *PRODUCTS]}
OPS.update({
    "sum": dim("dim", "keepdim", "dtype"), "mean": dim("dim", "keepdim", "dtype"), "amax": dim("dim", "keepdim"),
    "amin": dim("dim", "keepdim"), "prod": dim("dim", "keepdim", "dtype"), "logsumexp": dim("dim", "keepdim", last=True),
    "softmax": dim("dim", "dtype", last=True), "log_softmax": dim("dim", "dtype", last=True), "cumsum": dim("dim", "dtype", last=True),
    "cumprod": dim("dim", "dtype", last=True), "flip": dim("dims"), "tril": named(diagonal=0), "triu": named(diagonal=0),
    "diagonal": named(offset=0, dim1=0, dim2=1), "transpose": named(dim0=0, dim1=1), "unfold": named(dimension=0, size=1, step=1),
    "roll": named(shifts=0, dims=None), "clamp": lambda s: None, "linalg.inv": plain, "linalg.det": plain, "linalg.cholesky": plain,
    "linalg.svdvals": plain, "linalg.solve": plain, "nn.functional.relu6": plain, "nn.functional.softsign": plain,
    "nn.functional.gelu": plain, "nn.functional.silu": plain, "nn.functional.mish": plain, "nn.functional.logsigmoid": plain,
    "nn.functional.hardsigmoid": plain, "nn.functional.hardswish": plain, "nn.functional.tanhshrink": plain,
    "nn.functional.selu": plain, "nn.functional.softplus": plain, "nn.functional.max_pool2d": lambda s: None,
    "nn.functional.conv2d": named(stride=1, padding=0, dilation=1, groups=1), "where": plain, "gather": lambda s: None,
    "index_select": lambda s: None, "median": lambda s: None, "sort": lambda s: None,
})


def cases_of(op, arguments):
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        args = arguments(sample)
        if args is None or not isinstance(sample.input, torch.Tensor):
            continue
        inputs = [sample.input, *[a for a in sample.args if isinstance(a, torch.Tensor)]]
        if any(x.numel() > MOST_ELEMENTS or x.numel() == 0 for x in inputs):
            continue
        if any(isinstance(v, str) for v in args.values()):
            continue
        others = [a for a in sample.args if not isinstance(a, torch.Tensor)]
        floats = [k for k, x in enumerate(inputs) if x.dtype == torch.float64]

        def f(*by):
            all_inputs = list(inputs)
            for k, x in zip(floats, by):
                all_inputs[k] = x
            return op.op(*all_inputs, *others, **sample.kwargs)

        by = tuple(inputs[k].detach().clone().contiguous() for k in floats)
        out = f(*by)
        if not isinstance(out, torch.Tensor) or out.dtype != torch.float64 or out.numel() > 4 * MOST_ELEMENTS:
            continue
        g, tangents = factors(out), tuple(factors(x) for x in by)

        def product(*x):
            value, pulled = torch.func.vjp(f, *x)
            return sum((p * t).sum() for p, t in zip(pulled(g), tangents))

        try:
            pulled = torch.func.vjp(f, *by)[1](g)
            pushed = torch.func.jvp(f, by, tangents)[1]
            second = torch.func.grad(product, argnums=tuple(range(len(by))))(*by)
        except (RuntimeError, NotImplementedError, ValueError):
            continue
        every = [out, *pulled, pushed, *second]
        if not all(torch.isfinite(x).all() for x in every):
            continue
        yield [op.name, [[*tensor(x.detach()), str(x.dtype)[6:]] for x in inputs], args, tensor(out), [tensor(x) for x in pulled],
               tensor(pushed), [tensor(x) for x in second]]


def main():
    torch.manual_seed(7)
    cases = []
    for op in op_db:
        arguments = OPS.get(op.name)
        if arguments is None or op.variant_test_name:
            continue
        found = []
        for case in cases_of(op, arguments):
            found.append(case)
            if len(found) == MOST_CASES:
                break
        cases += found
    path = f"{sys.argv[1]}/torch_derivatives.json"
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'{{"producer": "PyTorch {torch.__version__}, CPU", "generator": "tests/data/torch_derivatives.py", "cases": [\n')
        out.write(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]}\n")
    print(len(cases), "cases of", len({case[0] for case in cases}), "operations")


main()
