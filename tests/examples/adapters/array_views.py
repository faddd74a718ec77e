"""Answers view questions with another library's arrays: what the adapters beside this file share.

A question becomes a program in the library's own words. The program is what runs, and what a failure prints. An array
holds the position of each index plus 1, and 0 where the index is invalid. `Words` are NumPy's; an adapter replaces what
its library writes differently. Beside the table, a program's sum along one axis is compared with the table's, and, where
the library's views share memory, a write through the result with what the base holds then.
"""
import math

import eager_views


class Words:
    head = ["import numpy as np"]
    np = "np"

    def numbers(self, n):
        return f"{self.np}.arange({n})"

    def reshape(self, x, shape):
        return f"{x}.reshape({shape})"

    def permute(self, x, order):
        return f"{self.np}.transpose({x}, {order})"

    def expand(self, x, shape):
        return f"{self.np}.broadcast_to({x}, {shape})"

    def shrink(self, x, ranges):
        return f"{x}[{', '.join(f'{low}:{high}' for low, high in ranges)}]" if ranges else x

    def pad(self, x, ends):
        return f"{self.np}.pad({x}, {[tuple(pair) for pair in ends]})" if ends else x

    def flip(self, x, axes):
        return f"{self.np}.flip({x}, {tuple(axes)})"

    def take(self, x, index):
        return f"{self.np}.take({x}, {index})"

    def where(self, condition, x, y):
        return f"{self.np}.where({condition}, {x}, {y})"

    def sum(self, x, axis):
        return f"{x}.sum({axis})"

    def shares(self, x, base):
        """An expression: whether x is a view of base that may be written; empty: views share nothing."""
        return ""

    def step(self, op, argument):
        """The statement that applies one movement to x."""
        return "x = " + getattr(self, op)("x", argument)

    def moves(self, lines):
        """The statements that apply the movements to x, which `lines` do."""
        return lines


def start(words, question):
    """Statements that make x."""
    if "base_shape" in question:
        shape = question["base_shape"]
        return ["base = " + words.numbers(math.prod(shape)) + " + 1", "x = " + words.reshape("base", shape)]
    lines, below = [], None
    for view in question["start_views"]:
        shape = view["shape"]
        lines.append("at = " + words.expand(words.reshape(words.numbers(1), [1] * len(shape)), shape) + f" + {view['offset']}")
        for d, (extent, stride) in enumerate(zip(shape, view["strides"])):
            along = [extent if k == d else 1 for k in range(len(shape))]
            lines += [f"i{d} = " + words.reshape(words.numbers(extent), along), f"at = at + i{d} * {stride}"]
        lines.append("at = at + 1")
        for d, (low, high) in enumerate(view["mask"] or []):
            lines.append("at = " + words.where(f"(i{d} >= {low}) & (i{d} < {high})", "at", "0"))
        if below is None:
            lines.append("x = at")
        elif math.prod(below) == 0:
            lines.append("x = at * 0")
        else:
            found = words.take(words.reshape("x", [math.prod(below)]), words.where("at > 0", "at - 1", "0"))
            lines.append("x = " + words.where("at > 0", found, "0"))
        below = shape
    return lines


def program(words, question):
    """The statements that make the question's x."""
    moves = [words.step(op, argument) for op, argument in question.get("ops", [])]
    return start(words, question) + (words.moves(moves) if moves else [])


def flat(x):
    """All elements of an array of any of the libraries, as a list."""
    found = x.tolist()
    for _ in range(len(x.shape) - 1):
        found = [element for row in found for element in row]
    return found if len(x.shape) else [found]


def sums(shape, table, axis):
    inner = math.prod(shape[axis + 1:])
    return [sum(table[(o * shape[axis] + k) * inner + i] for k in range(shape[axis]))
            for o in range(math.prod(shape[:axis])) for i in range(inner)]


def checked(words, names, table):
    """What is wrong beside the table, or None."""
    shape = tuple(names["x"].shape)
    if shape:
        axis = sum(shape) % len(shape)
        line = "total = " + words.sum("x", axis)
        exec(line, names)
        if flat(names["total"]) != sums(shape, table, axis):
            return f"{line} is {flat(names['total'])}, not {sums(shape, table, axis)}"
    if "base" in names and words.shares("x", "base") and len(set(table)) == len(table) and 0 not in table:
        exec("shared = " + words.shares("x", "base"), names)
        if names["shared"]:
            exec("x[...] = -" + words.reshape(words.numbers(len(table)), list(shape)), names)
            base = flat(names["base"])
            if any(base[n - 1] != -k for k, n in enumerate(table)):
                return f"after x[...] = -arange, base is {base}"
    return None


def answer(words, question):
    lines = program(words, question)
    if question.get("program"):
        expected = eager_views.answer(question)["table"]
        return {"program": "\n".join(words.head + lines + ["print(x - 1)"] + [f"# should be {expected}"] * (len(expected) < 100))}
    names = dict(words.names)
    exec("\n".join(lines), names)
    table = flat(names["x"]) if math.prod(names["x"].shape) else []
    wrong = checked(words, names, table)
    return {"error": wrong} if wrong else {"table": [n - 1 for n in table]}


def serve(words):
    words.names = {}
    exec("\n".join(words.head), words.names)
    eager_views.serve(lambda question: answer(words, question))
