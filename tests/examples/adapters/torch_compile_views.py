"""torch.compile under `oriel fuzz reshape --external 'python3 torch_compile_views.py' --timeout 300`. Needs torch, and g++."""
import array_views
import torch_views


class Words(torch_views.Words):
    def moves(self, lines):
        return ["def moved(x):"] + ["    " + line for line in lines] + [
            "    return x", "torch._dynamo.reset()", "x = torch.compile(moved, dynamic=True)(x)"]

    def shares(self, x, base):
        return ""


if __name__ == "__main__":
    array_views.serve(Words())
