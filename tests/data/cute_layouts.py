"""Random questions about CuTe layouts, with the answers of tensor-layouts (PyPI): writes cute_layouts.jsonl.

    python3 cute_layouts.py SEED COUNT > cute_layouts.jsonl

Each line: op, a, b or n, and "is", the answer as a layout, or for equal "first", the first index at which the maps differ
(null if none does). Answers are checked by tables first, and those that contradict the definition are left out:
tensor-layouts moves the copies of a blocked product behind the gaps of its block, where CuTe fills them, and lets some
compositions through that do not divide. A composition that it refuses or gets wrong has a "table" instead: what the
composition is by definition. Complements, divisions and products that CuTe refuses, and tensor-layouts lets through, are
"refused".
"""
import json
import random
import sys

from tensor_layouts import (Layout, LayoutError, blocked_product, coalesce, complement, compose, cosize, flatten,
                            left_inverse, logical_divide, logical_product, raked_product, rank, right_inverse, size,
                            zipped_divide)

EXTENTS = [1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16]
ONE = {"coalesce": coalesce, "flatten": flatten, "right_inverse": right_inverse, "left_inverse": left_inverse}
TWO = {"compose": compose, "logical_divide": logical_divide, "zipped_divide": zipped_divide,
       "logical_product": logical_product, "blocked_product": blocked_product, "raked_product": raked_product}
draw = random.Random(int(sys.argv[1]))


def text(tree):
    return "(" + ",".join(map(text, tree)) + ")" if isinstance(tree, tuple) else str(tree)


def said(layout):
    return text(layout.shape) + ":" + text(layout.stride)


def table(layout):
    return [layout(i) for i in range(size(layout))]


def nested(numbers, depth=0):
    if len(numbers) == 1 and draw.random() < 0.6:
        return numbers[0]
    if len(numbers) > 1 and draw.random() < 0.4 and depth < 2:
        k = draw.randrange(1, len(numbers))
        return nested(numbers[:k], depth + 1), nested(numbers[k:], depth + 1)
    return tuple(numbers)


def like(shape, numbers):
    return tuple(like(part, numbers) for part in shape) if isinstance(shape, tuple) else next(numbers)


def random_layout(kinds=("compact", "permuted", "padded", "any")):
    while True:
        extents = [draw.choice(EXTENTS) for _ in range(draw.choice([1, 1, 2, 2, 3, 4]))]
        if size(tuple(extents)) <= 512:
            break
    kind = draw.choice(kinds)
    order = list(range(len(extents)))
    if kind != "compact":
        draw.shuffle(order)
    strides, step = [0] * len(extents), 1
    for k in order:
        if kind == "padded" and draw.random() < 0.4:
            step *= draw.choice([2, 3])
        strides[k] = step
        step *= extents[k]
    if kind == "any":
        strides = [draw.choice([0, 1, 1, 2, 3, 4, 5, 8, 12, 16, 24]) for _ in extents]
    shape = nested(extents)
    return Layout(shape, like(shape, iter(strides)))


def has_complement(layout):
    """CuTe's condition: by rising strides, each stride is at least the extent times the stride of the mode before."""
    modes, reached = flatten(layout), 1
    for stride, extent in sorted(zip(as_list(modes.stride), as_list(modes.shape))):
        if extent == 1 or stride == 0:
            continue
        if stride < reached:
            return False
        reached = extent * stride
    return True


def as_list(numbers):
    return list(numbers) if isinstance(numbers, tuple) else [numbers]


def inside(n):
    """A layout whose positions lie below n."""
    for _ in range(50):
        layout = random_layout()
        if cosize(layout) <= n:
            return layout
    return Layout(1, 0)


def flat(layout, number):
    """The position of a number; beyond the size the last mode of the coalesced layout goes on."""
    return coalesce(layout)(number)


def defined(op, a, b):
    """The table of a division or product, by its definition."""
    if op in ("logical_divide", "zipped_divide"):
        rest = complement(b, size(a))
        return [flat(a, b(i) + rest(j)) for j in range(size(rest)) for i in range(size(b))]
    gaps = complement(a, size(a) * cosize(b))
    return [a(i) + flat(gaps, b(j)) for j in range(size(b)) for i in range(size(a))]


def question():
    op = draw.choice([*ONE, *TWO, "complement", "equal"])
    a = random_layout()
    row = {"op": op, "a": said(a)}
    if op == "equal":
        b = coalesce(a) if draw.random() < 0.4 else random_layout()
        shorter = min(size(a), size(b))
        differ = [i for i in range(shorter) if a(i) != b(i)]
        return {**row, "b": said(b), "first": differ[0] if differ else None if size(a) == size(b) else shorter}
    try:
        if op in ONE:
            r = ONE[op](a)
            if op == "right_inverse" and any(a(r(i)) != i for i in range(size(r))):
                return None
            if op == "left_inverse" and any(a(r(a(i))) != a(i) for i in range(size(a))):
                return None
        elif op == "complement":
            row["n"] = draw.choice([cosize(a), 2 * cosize(a), 64, 256])
            if not has_complement(a):
                return {**row, "refused": True}
            r = complement(a, row["n"])
        else:
            divides = op in ("compose", "logical_divide", "zipped_divide")
            b = inside(size(a)) if divides else random_layout(("compact", "permuted", "padded"))
            row["b"] = said(b)
            if op != "compose" and not has_complement(b if divides else a):
                return {**row, "refused": True}
            if op == "compose":
                wanted = [a(b(i)) for i in range(size(b))]
                try:
                    r = compose(a, b)
                    if table(r) != wanted:
                        r = None
                except (LayoutError, ValueError):
                    r = None
                if r is None:
                    return {**row, "table": wanted} if len(wanted) <= 64 else None
            else:
                if size(a) * size(b) > 2000:
                    return None
                r = TWO[op](a, b)
                if sorted(table(r)) != sorted(defined(op, a, b)):
                    return None
        row["is"] = said(r)
        if op == "coalesce":
            row["rank"] = rank(r)
        return row
    except (LayoutError, ValueError):
        return None


written = 0
while written < int(sys.argv[2]):
    row = question()
    if row:
        print(json.dumps(row, separators=(",", ":")))
        written += 1
