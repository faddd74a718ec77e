#!/usr/bin/env python3
"""Records what SciPy and NumPy answer for special functions, parts of floats and whole numbers, as scipy_special.json.

    python3 tests/data/scipy_special.py tests/data

A case is [function, inputs, results]; a tensor is [dtype, elements], where nan, inf and -inf are texts."""
import json
import sys

import numpy as np
from scipy import special

np.seterr(all="ignore")


def tensor(x):
    x = np.asarray(x)
    text = lambda v: "nan" if v != v else "inf" if v == np.inf else "-inf" if v == -np.inf else v
    return [str(x.dtype), [text(v) for v in x.tolist()]]


def main(folder):
    rng = np.random.default_rng(20261126)
    cases = []

    def case(name, inputs, *results):
        cases.append([name, [tensor(x) for x in inputs], [tensor(y) for y in results]])

    ends = [0.0, -0.0, np.inf, np.nan, 1.0, 2.0, 0.5, -0.5, -1.0, -2.0, 8.0, 7.999, 1e-300, 1e300, 171.0, 1e15]
    x = np.concatenate([ends, rng.normal(size=40) * 6, rng.uniform(0.5, 2.5, 20)])
    case("lgamma", [x], special.gammaln(x))
    case("digamma", [x], special.digamma(x))
    y = np.concatenate([[0.0, -0.0, np.nan, 1e-8, -3.0, 20.0, 20.1, 700.0, 714.0, -709.0], rng.normal(size=30) * 15])
    case("i0", [y], special.i0(y))
    u = np.concatenate([[0.0, -0.0, 1.0, -1.0, 1.5, np.nan, 1e-300, 0.5, -0.5], 1 - 10.0 ** -np.arange(1, 16), rng.uniform(-1, 1, 30)])
    case("erfinv", [u], special.erfinv(u))
    for dtype, low, high in [("float64", -320, 308), ("float32", -44, 38)]:
        e = np.concatenate([[0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -0.5], rng.normal(size=60) * 10.0 ** rng.integers(low, high, 60)]).astype(dtype)
        mantissa, exponent = np.frexp(e)
        case("frexp", [e], mantissa, exponent)
        k = np.concatenate([rng.integers(-2200, 2200, 30), rng.integers(-40, 40, e.size - 30)]).astype(np.int32)
        case("ldexp", [e, k], np.ldexp(e, k))
    for dtype in ["int8", "int16", "int32", "int64", "uint8"]:
        ends = np.iinfo(dtype)
        fibonacci = [1, 1]
        while fibonacci[-1] + fibonacci[-2] <= ends.max:
            fibonacci.append(fibonacci[-1] + fibonacci[-2])
        draw = lambda: np.concatenate([rng.integers(ends.min, ends.max, 20, dtype=dtype), rng.integers(0, 100, 20).astype(dtype)])
        a = np.concatenate([np.array([0, 0, 7, fibonacci[-1], fibonacci[-2], ends.min, ends.min, ends.max], dtype), draw()])
        b = np.concatenate([np.array([0, 5, 0, fibonacci[-2], fibonacci[-1], 6, 0, ends.max], dtype), draw()])
        case("gcd", [a, b], np.gcd(a, b))
        case("lcm", [a, b], np.lcm(a, b))
        case("bitwise_count", [a], np.bitwise_count(a))
    with open(f"{folder}/scipy_special.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main(sys.argv[1])
