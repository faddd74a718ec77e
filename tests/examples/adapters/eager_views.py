"""Answers view questions by listing positions: an adapter for `oriel fuzz reshape --external` (engine/fuzz/PROTOCOL.md).

Put your own engine's calls in the place of `answer`, and return its views as well if it has any.
"""
import itertools
import json
import sys


def indices(shape):
    return itertools.product(*map(range, shape))


def ravel(index, shape):
    n = 0
    for i, extent in zip(index, shape):
        n = n * extent + i
    return n


def read(view, index):
    """The position of an index, or -1."""
    mask = view["mask"]
    if mask and not all(lo <= i < hi for i, (lo, hi) in zip(index, mask)):
        return -1
    return view["offset"] + sum(i * stride for i, stride in zip(index, view["strides"]))


def start(question):
    """(shape, table) of what the question starts with."""
    if "base_shape" in question:
        shape = question["base_shape"]
        return shape, [ravel(i, shape) for i in indices(shape)]
    table = None
    for view in question["start_views"]:
        positions = [read(view, i) for i in indices(view["shape"])]
        table = positions if table is None else [-1 if n < 0 else table[n] for n in positions]
    return question["start_views"][-1]["shape"], table


def moved(op, argument, shape, table):
    """(shape, table) after one movement."""
    if op == "reshape":
        return argument, table
    if op == "permute":
        new, source = [shape[d] for d in argument], lambda i: [i[argument.index(d)] for d in range(len(i))]
    elif op == "expand":
        new, source = argument, lambda i: [0 if extent == 1 else k for k, extent in zip(i, shape)]
    elif op == "shrink":
        new, source = [hi - lo for lo, hi in argument], lambda i: [k + lo for k, (lo, _) in zip(i, argument)]
    elif op == "pad":
        new = [before + extent + after for extent, (before, after) in zip(shape, argument)]
        source = lambda i: [k - before for k, (before, _) in zip(i, argument)]
    elif op == "flip":
        new, source = shape, lambda i: [shape[d] - 1 - k if d in argument else k for d, k in enumerate(i)]
    else:
        raise ValueError(op)

    def at(index):
        old = source(index)
        return table[ravel(old, shape)] if all(0 <= k < extent for k, extent in zip(old, shape)) else -1

    return new, [at(i) for i in indices(new)]


def answer(question):
    shape, table = start(question)
    for op, argument in question.get("ops", []):
        shape, table = moved(op, argument, shape, table)
    return {"table": table}


def serve(answer):
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve(answer)
