#!/usr/bin/env python3
"""The workloads of elementwise_bench and graph_bench in whatever of NumPy, JAX and tinygrad can be imported.

Prints the median of several runs after two warm-ups. Peers are never dependencies: install what you want to compare with
into a virtual environment of your own and run this next to scripts/bench, on the same machine, at the same time of day.
"""
import statistics
import time

N = 16 << 20


def median_ms(run, runs=9):
    run()
    run()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def report(peer, what, ms):
    print(f"{peer:10s} {what:28s} {ms:10.3f} ms", flush=True)


def numpy_peer():
    import numpy as np

    a, b, c = (np.arange(N, dtype=np.float32) % m / m - 0.5 for m in (1013, 2027, 3041))
    x = a.reshape(4096, 4096)
    report("numpy", "chain_16m", median_ms(lambda: (a * b + c) * 2 - a))
    report("numpy", "sum_all_4096", median_ms(lambda: x.sum()))
    report("numpy", "sum_rows_4096", median_ms(lambda: x.sum(1)))
    report("numpy", "sum_columns_4096", median_ms(lambda: x.sum(0)))

    def softmax():
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    report("numpy", "softmax_4096", median_ms(softmax))


def jax_peer():
    import jax
    import jax.numpy as jnp

    a, b, c = (jnp.arange(N, dtype=jnp.float32) % m / m - 0.5 for m in (1013, 2027, 3041))
    x = a.reshape(4096, 4096)

    def timed(name, f, *args):
        f = jax.jit(f)
        report("jax", name, median_ms(lambda: f(*args).block_until_ready()))

    timed("chain_16m", lambda a, b, c: (a * b + c) * 2 - a, a, b, c)
    timed("transcendental_chain_16m", lambda a, b, c: jax.nn.relu(a * b + c) * jnp.exp(-jnp.abs(a)) + 0.5 * jnp.tanh(b), a, b, c)
    timed("sum_all_4096", lambda x: x.sum(), x)
    timed("sum_rows_4096", lambda x: x.sum(1), x)
    timed("sum_columns_4096", lambda x: x.sum(0), x)
    timed("softmax_4096", lambda x: jax.nn.softmax(x, axis=1), x)
    y = jnp.ones(16)

    def tiny():
        t = y
        for _ in range(1000):
            t = t + y
        t.block_until_ready()

    report("jax", "1000 tiny ops, one by one", median_ms(tiny))
    start = time.perf_counter()
    f = jax.jit(lambda a, b: jnp.maximum(a * b + 1.5, 0) * jnp.exp(-jnp.abs(a)) + jnp.tanh(b) * 0.5 - a)
    f(jnp.ones(256), jnp.ones(256)).block_until_ready()
    report("jax", "first result of ten ops", (time.perf_counter() - start) * 1e3)


def tinygrad_peer():
    from tinygrad import Tensor, TinyJit

    a, b, c = (((Tensor.arange(N).float() % m) / m - 0.5).realize() for m in (1013, 2027, 3041))
    x = a.reshape(4096, 4096)

    def timed(name, f, *args):
        jitted = TinyJit(lambda *t: f(*t).realize())

        def run():
            out = jitted(*args)
            from tinygrad import Device

            Device[out.device].synchronize()

        report("tinygrad", name, median_ms(run))

    timed("chain_16m", lambda a, b, c: (a * b + c) * 2 - a, a, b, c)
    timed("sum_all_4096", lambda x: x.sum(), x)
    timed("sum_rows_4096", lambda x: x.sum(1), x)
    timed("sum_columns_4096", lambda x: x.sum(0), x)
    timed("softmax_4096", lambda x: x.softmax(1), x)


if __name__ == "__main__":
    for peer in (numpy_peer, jax_peer, tinygrad_peer):
        try:
            peer()
        except ImportError as missing:
            print(f"{peer.__name__}: {missing}")
        except Exception as error:  # a peer that fails is a row too
            print(f"{peer.__name__}: {type(error).__name__}: {str(error)[:200]}")
