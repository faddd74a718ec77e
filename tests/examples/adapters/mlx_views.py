"""MLX under `oriel fuzz reshape --external 'python3 mlx_views.py'`. Needs mlx (with the extra "cpu" on Linux)."""
import array_views


class Words(array_views.Words):
    head = ["import mlx.core as mx"]
    np = "mx"

    def flip(self, x, axes):
        rank = max(axes) + 1 if axes else 0
        return f"{x}[{', '.join('::-1' if d in axes else ':' for d in range(rank))}]" if axes else x


if __name__ == "__main__":
    array_views.serve(Words())
