"""PyTorch's eager views under `oriel fuzz reshape --external 'python3 torch_views.py'`. Needs torch."""
import array_views


class Words(array_views.Words):
    head = ["import torch"]
    np = "torch"

    def permute(self, x, order):
        return f"{x}.permute({order})"

    def expand(self, x, shape):
        return f"{x}.expand({shape})"

    def pad(self, x, ends):
        return f"torch.nn.functional.pad({x}, {[n for pair in reversed(ends) for n in pair]})" if ends else x

    def flip(self, x, axes):
        return f"{x}.flip({list(axes)})"

    def shares(self, x, base):
        return f"{x}.untyped_storage().data_ptr() == {base}.untyped_storage().data_ptr()"


if __name__ == "__main__":
    array_views.serve(Words())
