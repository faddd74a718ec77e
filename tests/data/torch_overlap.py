#!/usr/bin/env python3
"""Records what PyTorch answers where an output shares memory with an input: torch_overlap.json.

    python3 tests/data/torch_overlap.py tests/data/torch_overlap.json

Each case is one elementwise call with out=, all operands in one storage of int64 but for those of storage 1."""
import itertools
import json
import sys

import torch

ELEMENTS = 64
INTERNAL = "more than one element of the written-to tensor refers to a single memory location"
PARTIAL = "some elements of the input tensor and the written-to tensor refer to a single memory location"

# shape, and strides that lay it out: dense in each order, with gaps, repeating an element, windows that overlap.
LAYOUTS = {
    (6,): [(1,), (2,), (0,)],
    (3, 4): [(4, 1), (1, 3), (8, 1), (8, 2), (5, 1), (4, 0), (0, 1), (1, 1), (2, 1), (1, 0)],
    (2, 3, 2): [(6, 2, 1), (1, 2, 6), (6, 1, 3), (12, 4, 2), (6, 2, 0), (2, 2, 1), (0, 2, 1)],
    (1, 4): [(4, 1), (0, 1), (7, 1), (4, 2), (1, 0)],
    (3, 1): [(1, 1), (1, 0), (2, 1), (0, 5)],
    (0, 4): [(4, 1), (4, 0)],
    (): [()],
}


def ask(shape, out, inputs):
    storages = [torch.zeros(ELEMENTS, dtype=torch.int64) for _ in range(2)]
    make = lambda place: storages[place["storage"]].as_strided(shape, place["strides"], place["offset"])
    output = make(out)
    operands = [output if place.get("same_tensor") else make(place) for place in inputs]
    try:
        torch.neg(*operands, out=output) if len(operands) == 1 else torch.add(*operands, out=output)
    except RuntimeError as error:
        for kind, text in (("internal", INTERNAL), ("partial", PARTIAL)):
            if text in str(error):
                return kind
        raise
    return "ok"


def cases():
    for shape, layouts in LAYOUTS.items():
        for to, (of, shift) in itertools.product(layouts, itertools.product(layouts, (0, 1, -1, 4, 12, 30))):
            yield shape, to, [(of, shift, 0)]
        for to in layouts:
            yield shape, to, ["same"]
            yield shape, to, [(to, 0, 1)]
            yield shape, to, ["same", (to, 1, 0)]
            yield shape, to, [(to, 0, 1), (layouts[0], 0, 0)]
            yield shape, to, [(layouts[-1], 3, 0), (to, 0, 0)]


def main():
    first = 2  # where outputs lie, so that inputs can lie before them
    recorded = []
    for shape, to, given in cases():
        out = {"storage": 0, "offset": first, "strides": to}
        inputs = []
        for place in given:
            if place == "same":
                inputs.append({**out, "same_tensor": True})
            else:
                inputs.append({"storage": place[2], "offset": first + place[1], "strides": place[0]})
        recorded.append({"shape": shape, "out": out, "inputs": inputs, "expect": ask(shape, out, inputs)})
    # Of the many of one kind, a part: the file stays readable.
    every = {"ok": 3, "internal": 4, "partial": 1}
    kept = [c for n, c in enumerate(recorded) if n % every[c["expect"]] == 0]
    meta = {
        "producer": f"PyTorch {torch.__version__} (CPU)",
        "generator": "tests/data/torch_overlap.py",
        "fields": "One call with out=: torch.neg of one input, torch.add of two. Offsets and strides count elements; "
                  "operands of one storage share memory; same_tensor: the input is the output tensor itself. expect: ok, "
                  "internal (the output holds an element twice), partial (an input overlaps the output in part).",
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(json.dumps({"meta": meta})[:-1] + ', "cases": [\n')
        file.write(",\n".join(json.dumps(case) for case in kept) + "\n]}\n")


if __name__ == "__main__":
    main()
