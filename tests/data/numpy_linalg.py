#!/usr/bin/env python3
"""Records what numpy.linalg answers, as numpy_linalg.json.

    python3 tests/data/numpy_linalg.py tests/data

A case is [function, inputs, results]; a tensor is [shape, elements in row-major order] in float64. Of singular vectors and
eigenvectors, whose signs are any, only what does not depend on them is recorded."""
import json
import sys

import numpy as np


def tensor(x):
    x = np.asarray(x, dtype=np.float64)
    return [list(x.shape), [float(v) for v in x.ravel()]]


def main(folder):
    rng = np.random.default_rng(20261126)
    draw = lambda *shape: np.round(rng.standard_normal(shape), 3)
    cases = []

    def case(name, inputs, *results):
        cases.append([name, [tensor(x) for x in inputs], [tensor(y) for y in results]])

    for shape in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (8, 8), (3, 3, 3), (2, 3, 6, 6)]:
        a = draw(*shape)
        n = shape[-1]
        spd = np.round(a @ np.swapaxes(a, -1, -2) + n * np.eye(n), 3)
        b = draw(*shape[:-1], 2)
        case("solve", [a, b], np.linalg.solve(a, b))
        v = draw(n)
        case("solve", [a, v], np.linalg.solve(a, np.broadcast_to(v, shape[:-1])[..., None])[..., 0])
        case("inverse", [a], np.linalg.inv(a))
        case("det", [a], np.linalg.det(a))
        case("slogdet", [a], *np.linalg.slogdet(a))
        case("cholesky", [spd], np.linalg.cholesky(spd))
        case("eigvalsh", [spd], np.linalg.eigvalsh(spd))
        case("matrix_power", [a], np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, -2))
        values = np.linalg.eigvals(a)
        case("eig_sums", [a], np.sum(values, -1).real, np.sum(values**2, -1).real, np.sort(np.abs(values), -1))
    for shape in [(3, 5), (5, 3), (4, 4), (2, 4, 3), (1, 6), (6, 1)]:
        a = draw(*shape)
        b = draw(*shape[:-1], 2)
        case("svdvals", [a], np.linalg.svd(a, compute_uv=False))
        case("abs_r", [a], np.abs(np.linalg.qr(a)[1]))
        case("pinv", [a], np.linalg.pinv(a))
        case("lstsq", [a, b], np.linalg.pinv(a) @ b)
        case("matrix_rank", [a], np.linalg.matrix_rank(a))
        case("norms", [a], *[np.linalg.norm(a, order, (-2, -1)) for order in ["fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf]])
    low = draw(5, 2) @ draw(2, 4)
    case("matrix_rank", [low], np.linalg.matrix_rank(low))
    case("pinv", [low], np.linalg.pinv(low))
    case("lstsq", [low, b := draw(5, 2)], np.linalg.lstsq(low, b, rcond=None)[0])
    a = draw(4, 4)
    case("cond", [a], *[np.linalg.cond(a, order) for order in [2, -2, 1, np.inf, "fro"]])
    with open(f"{folder}/numpy_linalg.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
