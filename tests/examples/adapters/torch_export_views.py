"""torch.export with sizes that may vary, under `oriel fuzz reshape --external 'python3 torch_export_views.py' --timeout 60`. Needs
torch."""
import array_views
import torch_views


class Words(torch_views.Words):
    def moves(self, lines):
        return ["class Moved(torch.nn.Module):", "    def forward(self, x):"] + ["        " + line for line in lines] + [
            "        return x",
            "sizes = {d: torch.export.Dim.AUTO for d in range(x.dim())}",
            "x = torch.export.export(Moved(), (x,), dynamic_shapes=(sizes,)).module()(x)"]

    def shares(self, x, base):
        return ""


if __name__ == "__main__":
    array_views.serve(Words())
