"""Layouts in the notations of NumPy, PyTorch, tinygrad 0.10 and ISL, written by those libraries: writes layout_notations.jsonl.

    python3 layout_notations.py SEED COUNT > layout_notations.jsonl

Each line: "notation", "text" as the library prints it, and "table", the positions in row-major order (-1 where the map is
not defined). NumPy and PyTorch say what an array with these strides is and where its elements lie; tinygrad evaluates
its index expressions; ISL (islpy) evaluates the map at each point. Needs numpy, torch, tinygrad==0.10.0 and islpy.

    python3 layout_notations.py SEED COUNT ORIEL

asks the command ORIEL for the ISL text of random views and compares its table with islpy's.
"""
import itertools
import json
import random
import subprocess
import sys

import islpy
import numpy as np

draw = random.Random(int(sys.argv[1]))
count = int(sys.argv[2])


def box(shape):
    return itertools.product(*(range(n) for n in shape))


def strided(negative):
    """A shape, strides and an offset within 4096 elements."""
    while True:
        shape = tuple(draw.choice([1, 2, 3, 4, 5, 6, 8]) for _ in range(draw.choice([1, 2, 2, 3, 3, 4])))
        strides, step = [0] * len(shape), 1
        for k in draw.sample(range(len(shape)), len(shape)):
            step *= draw.choice([1, 1, 1, 2, 3])
            strides[k] = draw.choice([0, 5]) if draw.random() < 0.1 else step
            step *= shape[k]
        if negative:
            strides = [-s if draw.random() < 0.2 else s for s in strides]
        lowest = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape))
        offset = -lowest + draw.choice([0, 0, 0, 1, 7])
        if np.prod(shape) <= 200 and offset + sum(abs(s) * (n - 1) for s, n in zip(strides, shape)) < 4096:
            return shape, tuple(strides), offset


def numpy_row():
    shape, strides, offset = strided(True)
    kind = draw.choice(["<f4", "<f8", "|u1", "<i2"])
    size = np.dtype(kind).itemsize
    base = np.zeros(4096, kind)
    array = np.lib.stride_tricks.as_strided(base[offset:], shape, [s * size for s in strides])
    interface = dict(array.__array_interface__)
    first = (interface.pop("data")[0] - base.__array_interface__["data"][0]) // size
    interface.pop("descr")
    interface["offset"] = first * size
    numbers = np.arange(4096)
    table = np.lib.stride_tricks.as_strided(numbers[offset:], shape, [s * 8 for s in strides]).ravel().tolist()
    return repr(interface), table


def torch_row():
    import torch
    shape, strides, offset = strided(False)
    view = torch.arange(4096).as_strided(shape, strides, offset)
    text = f"size={view.size()}, stride={view.stride()}, storage_offset={view.storage_offset()}"
    return text, view.reshape(-1).tolist()


def tinygrad_row():
    from tinygrad.shape.shapetracker import ShapeTracker
    shape = tuple(draw.choice([2, 3, 4, 6]) for _ in range(draw.choice([1, 2, 3])))
    tracker = ShapeTracker.from_shape(shape)
    for _ in range(draw.randrange(1, 5)):
        shape = tracker.shape
        kind = draw.choice(["permute", "pad", "shrink", "flip", "reshape", "expand"])
        if kind == "permute":
            tracker = tracker.permute(tuple(draw.sample(range(len(shape)), len(shape))))
        elif kind == "pad":
            tracker = tracker.pad(tuple((draw.choice([0, 0, 1]), draw.choice([0, 0, 1])) for _ in shape))
        elif kind == "shrink":
            cuts = [sorted(draw.sample(range(n + 1), 2)) if draw.random() < 0.5 else [0, n] for n in shape]
            tracker = tracker.shrink(tuple(map(tuple, cuts)))
        elif kind == "flip":
            steps = tuple(draw.choice([1, -1]) for _ in shape)
            tracker = tracker.stride(steps) if hasattr(tracker, "stride") else tracker.flip(tuple(s < 0 for s in steps))
        elif kind == "reshape":
            numbers = int(np.prod(shape))
            divisors = [d for d in range(1, numbers + 1) if numbers % d == 0]
            first = draw.choice(divisors)
            tracker = tracker.reshape((first, numbers // first))
        else:
            tracker = tracker.reshape((*shape, 1)).expand((*shape, 2))
    if np.prod(tracker.shape) > 200:
        return None
    table = []
    for index in box(tracker.shape):
        position, number = None, index
        for view in reversed(tracker.views):
            if position is not None:
                number = []
                for n in reversed(view.shape):
                    number.append(position % n)
                    position //= n
                number = number[::-1]
            if view.mask and not all(lo <= i < hi for i, (lo, hi) in zip(number, view.mask)):
                position = -1
                break
            position = view.offset + sum(i * s for i, s in zip(number, view.strides))
        table.append(position)
    return repr(tracker), table


def isl_table(text, shape):
    relation = islpy.Map(text)
    table = []
    for index in box(shape):
        point = ", ".join(map(str, index))
        image = islpy.Set(f"{{ [{point}] }}").apply(relation)
        table.append(-1 if image.is_empty() else image.sample_point().get_coordinate_val(islpy.dim_type.set, 0).to_python())
    return table


def isl_row():
    shape, strides, offset = strided(True)
    low = [draw.choice([0, 0, 0, 1]) if n > 1 else 0 for n in shape]
    names = [f"i{k}" for k in range(len(shape))]
    terms = " + ".join([f"{s}{n}" for s, n in zip(strides, names)] + [str(offset)])
    bounds = " and ".join(f"{lo} <= {name} < {n}" for lo, name, n in zip(low, names, shape))
    text = str(islpy.Map(f"{{ [{', '.join(names)}] -> [{terms}] : {bounds} }}"))
    return text, isl_table(text, shape)


def check_isl(oriel):
    rows = [row for row in (tinygrad_row() for _ in range(count)) if row]
    asked = "".join(json.dumps({"op": "print", "a": text, "as": "isl"}) + "\n" for text, _ in rows)
    answers = subprocess.run([oriel, "layout", "--json"], input=asked, capture_output=True, text=True, check=True).stdout
    wrong = 0
    for (text, table), line in zip(rows, answers.splitlines()):
        views = eval(text, {"ShapeTracker": lambda views: views, "View": lambda shape, **_: shape})
        said = json.loads(line)
        if "layout" not in said or isl_table(said["layout"], views[-1]) != table:
            wrong += 1
            print("differs:", text, line)
    print(f"{len(rows)} maps, {wrong} differ")


if len(sys.argv) > 3:
    check_isl(sys.argv[3])
    sys.exit()
for notation, make in {"numpy": numpy_row, "torch": torch_row, "tinygrad": tinygrad_row, "isl": isl_row}.items():
    written = 0
    while written < count:
        row = make()
        if row:
            print(json.dumps({"notation": notation, "text": row[0], "table": row[1]}, separators=(",", ":")))
            written += 1
