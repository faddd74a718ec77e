#!/usr/bin/env python3
"""Records how NumPy writes arrays: numpy_text.json.

    python3 tests/data/numpy_text.py tests/data/numpy_text.json

Elements stand as float.hex() or integers, row-major; `options` are numpy.printoptions that differ from the defaults."""
import json
import random
import sys

import numpy as np

rng = random.Random(5)
cases = []


def record(array, rule=None, **options):
    with np.printoptions(**options):
        text = str(array)
    flat = array.reshape(-1)
    if array.dtype.kind == "f":
        elements = [float(x).hex() for x in flat]
    else:
        elements = [int(x) for x in flat]
    if rule is not None:
        elements = rule
    cases.append({"dtype": array.dtype.name, "shape": list(array.shape), "elements": elements, "options": options,
                  "text": text})


def some_shape():
    return [rng.choice([1, 2, 3, 4, 7]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]


def some_floats(count, dtype):
    kind = rng.choice(["small", "whole", "wide", "unit", "special", "edge", "digits"])
    out = []
    for _ in range(count):
        if kind == "small":
            x = rng.gauss(0, 1)
        elif kind == "whole":
            x = float(rng.randrange(-50, 200))
        elif kind == "wide":
            x = rng.gauss(0, 1) * 10.0 ** rng.randrange(-6, 7)
        elif kind == "unit":
            x = rng.random()
        elif kind == "special":
            x = rng.choice([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1.5, -2.25, 3e-5])
        elif kind == "edge":
            x = rng.choice([1e8, 99999999.0, 1e-4, 9.999e-5, 1000.0, 1.0, 0.001, 1e6, 999999.0, 65504.0, 1e5])
        else:
            x = round(rng.random() * 100, rng.randrange(0, 5))
        out.append(x)
    with np.errstate(over="ignore"):
        return np.array(out, dtype=np.float64).astype(dtype)


for k in range(260):
    shape = some_shape()
    count = int(np.prod(shape))
    dtype = rng.choice(["float32", "float32", "float64", "float64", "float16", "int64", "int32", "uint8", "bool"])
    if dtype.startswith("float"):
        array = some_floats(count, dtype).reshape(shape)
    elif dtype == "bool":
        array = np.array([rng.random() < 0.5 for _ in range(count)], dtype=bool).reshape(shape)
    else:
        array = np.array([rng.randrange(0, 200) * rng.choice([1, 1, 7]) % 256 for _ in range(count)]).astype(dtype)
        if dtype.startswith("int") and rng.random() < 0.5:
            array = -array * rng.choice([1, 1000])
        array = array.reshape(shape)
    options = {}
    if rng.random() < 0.5:
        options = rng.choice([{"precision": 3}, {"precision": 0}, {"suppress": True}, {"linewidth": 30}, {"sign": "+"},
                              {"sign": " "}, {"floatmode": "fixed", "precision": 2}, {"floatmode": "unique"},
                              {"floatmode": "maxprec_equal"}, {"threshold": 5, "edgeitems": 1},
                              {"threshold": 3, "edgeitems": 2, "precision": 2}, {"nanstr": "none", "infstr": "endless"},
                              {"suppress": True, "precision": 4}, {"floatmode": "fixed"}])
    record(array, **options)
record(np.arange(1200).astype(np.float32), 1)
record(np.arange(1001), 1)
record(np.arange(40 * 50, dtype=np.float64).reshape(40, 50) / 8, 0.125)
record(np.arange(12 * 12 * 12, dtype=np.int32).reshape(12, 12, 12), 1)
record(np.arange(1000, dtype=np.int16), 1)
record(np.zeros((0, 3), np.float32))
record(np.zeros((0,), np.int64))
record(np.array([2**63 - 1, -2**63], np.int64))
record(np.array([2**64 - 1, 0], np.uint64))
record(np.array([1e300, 1e-300, 0.0]))
record(np.array([1e300, 1e200]), suppress=True)
record(np.array([16777216.0, 33554432.0], np.float32))
for x in (0.1, 1e16, 1e15, 1e-4, 1e-5, 123456789.0, 0.0, -0.0, 3.4e38, float("nan"), -float("inf"), 2.0):
    for dtype in (np.float16, np.float32, np.float64):
        with np.errstate(over="ignore"):
            record(np.array(x).astype(dtype))

meta = {"producer": f"NumPy {np.__version__}", "generator": "tests/data/numpy_text.py",
        "fields": "text is str(array) under numpy.printoptions(**options). Floats are recorded by float.hex(). A number in place of the elements: 0, 1, 2, .. times it."}
with open(sys.argv[1], "w") as out:
    out.write('{"meta": ' + json.dumps(meta) + ', "cases": [\n')
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
    out.write("\n]}\n")
