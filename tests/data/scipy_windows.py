#!/usr/bin/env python3
"""Records what SciPy and NumPy answer for median filters, symmetric padding, quantiles without NaN and sorts by several keys, as
scipy_windows.json.

    python3 tests/data/scipy_windows.py tests/data

A case is [function, inputs, arguments, result]; a tensor is [dtype, shape, elements], where NaN is a text."""
import json
import sys
import warnings

import numpy as np
from scipy import ndimage

warnings.filterwarnings("ignore")
MODES = {"symmetric": "reflect", "replicate": "nearest", "reflect": "mirror", "circular": "wrap", "constant": "constant"}


def tensor(x):
    x = np.asarray(x)
    return [str(x.dtype), list(x.shape), ["nan" if v != v else v for v in x.ravel().tolist()]]


def main(folder):
    rng = np.random.default_rng(20261126)
    cases = []

    def case(name, inputs, arguments, result):
        cases.append([name, [tensor(x) for x in inputs], arguments, tensor(result)])

    for shape, window in [((9,), [3]), ((6,), [4]), ((5, 7), [3, 3]), ((6, 5), [2, 5]), ((3, 4, 4), [1, 3, 3]), ((4,), [1])]:
        x = rng.integers(0, 50, shape)
        for mode, theirs in MODES.items():
            case("median_filter", [x], {"window": window, "mode": mode}, ndimage.median_filter(x, window, mode=theirs))
    x = rng.integers(0, 50, (3, 4))
    for widths in [[[1, 2], [4, 0]], [[3, 3], [0, 1]]]:
        case("pad", [x], {"widths": widths}, np.pad(x, widths, "symmetric"))
    holes = rng.integers(0, 20, (5, 6)).astype(float)
    holes[rng.random((5, 6)) < 0.4] = np.nan
    holes[2] = np.nan
    for axis in [0, 1]:
        for between in ["linear", "lower", "higher", "nearest", "midpoint"]:
            for q in [0, 0.3, 0.5, 1]:
                case("nanquantile", [holes], {"axis": axis, "q": q, "between": between}, np.nanquantile(holes, q, axis, method=between))
        case("nanquantiles", [holes], {"axis": axis, "q": [0.25, 0.5]}, np.nanquantile(holes, [0.25, 0.5], axis))
    keys = [rng.integers(0, 3, (4, 7)) for _ in range(3)]
    for axis in [0, 1]:
        case("lexsort", keys, {"axis": axis}, np.lexsort(keys, axis))
    with open(f"{folder}/scipy_windows.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main(sys.argv[1])
