"""NumPy under `oriel fuzz reshape --external 'python3 numpy_views.py'`. Needs numpy."""
import array_views


class Words(array_views.Words):
    def shares(self, x, base):
        return f"{x}.flags.writeable and np.shares_memory({x}, {base})"


if __name__ == "__main__":
    array_views.serve(Words())
