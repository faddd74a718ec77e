"""The adapter beside this one with a fault, such as one that keeps a mask may have: a padded tensor that is flipped has its padding
on the side where it was. The fuzzer must find it."""
import eager_views


def answer(question):
    shape, table = eager_views.start(question)
    padded = False
    for op, argument in question.get("ops", []):
        shape, table = eager_views.moved(op, argument, shape, table)
        if op == "flip" and padded and len(shape) - 1 in argument:
            table = table[1:] + table[:1]
        padded = op == "pad" and shape and argument[-1][0] != argument[-1][1]
    return {"table": table}


if __name__ == "__main__":
    eager_views.serve(answer)
