#!/usr/bin/env python3
"""Records the strides that PyTorch gives along random programs of movements and operations: torch_programs.json.

    python3 tests/data/torch_programs.py tests/data/torch_programs.json [PROGRAMS] [SEED]

A program is a list of steps. Each makes a value from earlier ones, named by their places in the list, or is refused."""
import json
import random
import sys

import torch

EXTENTS = [1, 1, 1, 2, 2, 3, 3, 4, 5]


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.values = []
        self.steps = []

    def put(self, step, value):
        self.values.append(value)
        self.steps.append({**step, "shape": list(value.shape), "strides": list(value.stride())})

    def leaf(self, shape=None):
        rank = self.rng.choice([1, 2, 3, 3, 4, 4, 4, 5])
        shape = shape or [self.rng.choice(EXTENTS) for _ in range(rank)]
        kind = self.rng.choice(["data", "data", "data", "zeros", "ones"])
        count = 1
        for n in shape:
            count *= n
        value = {"data": lambda: torch.arange(count, dtype=torch.float32).reshape(shape).clone(),
                 "zeros": lambda: torch.zeros(shape), "ones": lambda: torch.ones(shape)}[kind]()
        self.put({"op": kind, "args": list(shape)}, value)

    def pick(self):
        return self.rng.randrange(max(0, len(self.values) - 3), len(self.values))

    def step(self):
        k = self.pick()
        x = self.values[k]
        name = self.rng.choice(MOVES)
        try:
            made = getattr(self, name)(k, x)
        except (RuntimeError, IndexError) as error:
            made = None
            if name == "view":
                self.steps.append({"op": "view", "of": [k], "args": self.asked, "refused": True})
                self.values.append(x)  # stands for nothing; its place is kept
                self.steps[-1].update({"shape": list(x.shape), "strides": list(x.stride())})
        return made

    def axis(self, x):
        return self.rng.randrange(x.dim())

    def permute(self, k, x):
        order = list(range(x.dim()))
        self.rng.shuffle(order)
        self.put({"op": "permute", "of": [k], "args": order}, x.permute(order))

    def transpose(self, k, x):
        a, b = self.axis(x), self.axis(x)
        self.put({"op": "transpose", "of": [k], "args": [a, b]}, x.transpose(a, b))

    def expand(self, k, x):
        shape = [self.rng.choice([1, 2, 3]) if n == 1 else n for n in x.shape]
        shape = [self.rng.choice([1, 1, 2]) for _ in range(self.rng.choice([0, 0, 1, 1, 2]))] + shape
        if len(shape) > 6:
            return
        self.put({"op": "expand", "of": [k], "args": shape}, x.expand(shape))

    def unsqueeze(self, k, x):
        if x.dim() > 5:
            return
        at = self.rng.randrange(x.dim() + 1)
        self.put({"op": "unsqueeze", "of": [k], "args": [at]}, x.unsqueeze(at))

    def squeeze(self, k, x):
        ones = [d for d, n in enumerate(x.shape) if n == 1]
        if not ones or x.dim() < 2:
            return
        if self.rng.random() < 0.3 and len(ones) < x.dim():
            self.put({"op": "squeeze", "of": [k], "args": []}, x.squeeze())
        else:
            at = self.rng.choice(ones)
            self.put({"op": "squeeze", "of": [k], "args": [at]}, x.squeeze(at))

    def slice(self, k, x):
        d = self.axis(x)
        n = x.shape[d]
        start = self.rng.randrange(n)
        stop = self.rng.randrange(start + 1, n + 1)
        step = self.rng.choice([1, 2, 2, 3])
        index = (slice(None),) * d + (slice(start, stop, step),)
        self.put({"op": "slice", "of": [k], "args": [d, start, stop, step]}, x[index])

    def select(self, k, x):
        if x.dim() < 2:
            return
        d = self.axis(x)
        at = self.rng.randrange(x.shape[d])
        self.put({"op": "select", "of": [k], "args": [d, at]}, x.select(d, at))

    def diagonal(self, k, x):
        if x.dim() < 2:
            return
        a, b = self.rng.sample(range(x.dim()), 2)
        offset = self.rng.choice([0, 0, 1, -1])
        value = x.diagonal(offset, a, b)
        if value.numel():
            self.put({"op": "diagonal", "of": [k], "args": [offset, a, b]}, value)

    def unfold(self, k, x):
        if x.dim() > 5:
            return
        d = self.axis(x)
        size = self.rng.randrange(1, x.shape[d] + 1)
        step = self.rng.choice([1, 2, 3])
        self.put({"op": "unfold", "of": [k], "args": [d, size, step]}, x.unfold(d, size, step))

    def other_shape(self, x):
        shape = [n for n in x.shape]
        for _ in range(self.rng.choice([1, 2])):
            if self.rng.random() < 0.7 and len(shape) > 1:
                d = self.rng.randrange(len(shape) - 1)
                shape[d:d + 2] = [shape[d] * shape[d + 1]]
            else:
                d = self.rng.randrange(len(shape))
                for f in (2, 3):
                    if shape[d] % f == 0:
                        shape[d:d + 1] = self.rng.choice([[f, shape[d] // f], [shape[d] // f, f]])
                        break
                else:
                    shape.insert(d, 1)
        return shape if len(shape) <= 6 else [x.numel()]

    def reshape(self, k, x):
        shape = self.other_shape(x)
        self.put({"op": "reshape", "of": [k], "args": shape}, x.reshape(shape))

    def view(self, k, x):
        self.asked = self.other_shape(x)
        self.put({"op": "view", "of": [k], "args": self.asked}, x.view(self.asked))

    def channels_last(self, k, x):
        if x.dim() != 4:
            return
        self.put({"op": "channels_last", "of": [k], "args": []}, x.to(memory_format=torch.channels_last))

    def contiguous(self, k, x):
        self.put({"op": "contiguous", "of": [k], "args": []}, x.contiguous())

    def neg(self, k, x):
        self.put({"op": "neg", "of": [k], "args": []}, -x)

    def add_number(self, k, x):
        self.put({"op": "add_number", "of": [k], "args": []}, x + 1)

    def add(self, k, x):
        j = self.rng.randrange(len(self.values))
        value = x + self.values[j]
        if value.numel() < 5000:
            self.put({"op": "add", "of": [k, j], "args": []}, value)

    def add_leaf(self, k, x):
        shape = [n if self.rng.random() < 0.6 else 1 for n in x.shape][self.rng.randrange(x.dim()):]
        self.leaf(shape or [1])
        j = len(self.values) - 1
        a, b = (k, j) if self.rng.random() < 0.5 else (j, k)
        self.put({"op": "add", "of": [a, b], "args": []}, self.values[a] + self.values[b])

    def where(self, k, x):
        i, j = (self.rng.randrange(len(self.values)) for _ in range(2))
        value = torch.where(self.values[i] > 1, x, self.values[j])
        if value.numel() < 5000:
            self.put({"op": "where", "of": [i, k, j], "args": []}, value)

    def sum(self, k, x):
        axes = sorted(self.rng.sample(range(x.dim()), self.rng.randrange(1, x.dim() + 1)))
        keep = self.rng.random() < 0.5
        value = x.sum(axes, keepdim=keep)
        if value.dim():
            self.put({"op": "sum", "of": [k], "args": [int(keep)] + axes}, value)

    def sort(self, k, x):
        d = self.axis(x)
        self.put({"op": "sort", "of": [k], "args": [d]}, x.sort(d)[0])

    def zeros_like(self, k, x):
        self.put({"op": "zeros_like", "of": [k], "args": []}, torch.zeros_like(x))


MOVES = ["permute", "transpose", "expand", "expand", "unsqueeze", "squeeze", "slice", "slice", "select", "diagonal",
         "unfold", "reshape", "view", "view", "view", "channels_last", "contiguous", "neg", "add_number", "add", "add", "add_leaf",
         "add_leaf", "where", "sum", "sort", "zeros_like"]


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    programs = []
    while len(programs) < count:
        program = Program(rng)
        program.leaf()
        for _ in range(rng.randrange(3, 9)):
            program.step()
            if program.values[-1].numel() > 2000:
                break
        programs.append(program.steps)
    meta = {"producer": f"PyTorch {torch.__version__} (CPU)", "generator": "tests/data/torch_programs.py",
            "fields": "A program is a list of steps; `of` names the places of the operands, `args` what the step takes: "
                      "shapes, axes, slice: axis start stop step, diagonal: offset a b, unfold: axis size step, sum: "
                      "keepdim axes. shape and strides are the result's; a step with `refused` throws, and its place "
                      "stands for its operand."}
    with open(sys.argv[1], "w") as out:
        out.write('{"meta": ' + json.dumps(meta) + ', "programs": [\n')
        out.write(",\n".join(json.dumps(p, separators=(",", ":")) for p in programs))
        out.write("\n]}\n")


main()
