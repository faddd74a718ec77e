"""JAX under `oriel fuzz reshape --external 'python3 jax_views.py'`. Needs jax (CPU)."""
import array_views


class Words(array_views.Words):
    head = ["import jax.numpy as jnp"]
    np = "jnp"


if __name__ == "__main__":
    array_views.serve(Words())
