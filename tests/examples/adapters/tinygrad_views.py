"""tinygrad's ShapeTracker, which merges views: `oriel fuzz reshape --external 'python3 tinygrad_views.py'`. Needs tinygrad==0.10.0,
the last release with ShapeTracker in this form. The answer has its views, so completeness is asked of it too."""
from tinygrad.shape.shapetracker import ShapeTracker
from tinygrad.shape.view import View

import eager_views


def view_text(view):
    mask = tuple(map(tuple, view["mask"])) if view["mask"] else None
    return f"View.create({tuple(view['shape'])}, {tuple(view['strides'])}, {view['offset']}, {mask})"


def program(question):
    """The statements that make the question's tracker t."""
    if "base_shape" in question:
        lines = [f"t = ShapeTracker.from_shape({tuple(question['base_shape'])})"]
    else:
        lines = ["t = ShapeTracker((" + "".join(view_text(v) + ", " for v in question["start_views"]) + "))"]
    for op, argument in question.get("ops", []):
        if op == "flip":
            lines.append(f"t = t.stride(tuple(-1 if d in {list(argument)} else 1 for d in range(len(t.shape))))")
        else:
            pairs = op in ("shrink", "pad")
            lines.append(f"t = t.{op}({tuple(map(tuple, argument)) if pairs else tuple(argument)})")
    return lines


def answer(question):
    lines = program(question) + ["t = t.simplify()"]
    if question.get("program"):
        head = ["from tinygrad.shape.shapetracker import ShapeTracker", "from tinygrad.shape.view import View"]
        return {"program": "\n".join(head + lines + ["print(t)"])}
    names = {"ShapeTracker": ShapeTracker, "View": View}
    exec("\n".join(lines), names)
    tracker = names["t"]
    return {"views": [{"shape": list(v.shape), "strides": list(v.strides), "offset": v.offset,
                       "mask": [list(r) for r in v.mask] if v.mask else None} for v in tracker.views],
            "contiguous": tracker.contiguous}


if __name__ == "__main__":
    eager_views.serve(answer)
