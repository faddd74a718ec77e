#!/usr/bin/env python3
"""The workloads of scripts/bench in whatever of NumPy, PyTorch (eager and compiled), JAX and tinygrad can be imported.

    peers.py [--threads N] [--peers numpy,torch,compile,jax,tinygrad] [--only SUBSTRING]

Float32, medians after warm-up, in milliseconds. Peers are never dependencies: install what you want to compare with into a
virtual environment of your own and run this next to scripts/bench, on the same machine, at the same time of day.
"""
import argparse
import os
import statistics
import time
from types import SimpleNamespace

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--peers", default="numpy,torch,compile,jax,tinygrad")
parser.add_argument("--only", default="", help="workloads whose name holds this")
options = parser.parse_args()
# Set before any import, because each library reads its variable once.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

N = 16 << 20


def median_ms(run, seconds=1.5, runs=9):
    """The median of at most `runs` runs, of fewer where these would take longer than `seconds`; two to warm up."""
    run()
    run()
    times = []
    while len(times) < runs and (len(times) < 3 or sum(times) < seconds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def report(peer, what, f):
    if options.only not in what:
        return
    try:
        print(f"{peer:10s} {what:28s} {median_ms(f):10.3f} ms", flush=True)
    except Exception as error:  # a peer that cannot run the workload still gets a row
        print(f"{peer:10s} {what:28s} {type(error).__name__}: {str(error)[:120]}", flush=True)


def numpy_inputs():
    import numpy as np

    def some(*shape, period=1013):
        count = int(np.prod(shape))
        return ((np.arange(count) % period) / period - 0.5).astype(np.float32).reshape(shape)

    return some


def movement(x, pad, flip):
    """Pad, shrink, flip, transpose, reshape, scale, row sum of a 2048x2048 matrix."""
    return ((flip(pad(x)[1:-1, 1:-1]).T.reshape(1024, 4096) + 1) * 2).sum(1)


def numpy_peer():
    import numpy as np

    some = numpy_inputs()
    a, b, c = some(N), some(N, period=2027), some(N, period=3041)
    x = a.reshape(4096, 4096)
    p, q = some(1024, 1024), some(1024, 1024, period=2027)

    def softmax():
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    report("numpy", "chain_16m", lambda: (a * b + c) * 2 - a)
    report("numpy", "sum_all_4096", x.sum)
    report("numpy", "sum_rows_4096", lambda: x.sum(1))
    report("numpy", "sum_columns_4096", lambda: x.sum(0))
    report("numpy", "max_columns_4096", lambda: x.max(0))
    report("numpy", "softmax_4096", softmax)
    report("numpy", "matmul_1024", lambda: p @ q)
    for equation, ranks, sizes in (("ijk,jl,kl->il", (3, 2, 2), (16, 32, 64, 96)),
                                   ("ij,jk,kl->il", (2, 2, 2), (64, 128, 256)), ("ij,jk,k->i", (2, 2, 1), (64, 256))):
        for n in sizes:
            factors = [some(*(n,) * rank) for rank in ranks]
            report("numpy", f"{equation} {n}", lambda: np.einsum(equation, *factors, optimize=True))
    report("numpy", "transposing_copy_4096", lambda: np.ascontiguousarray(x.T))
    report("numpy", "movement_chain_2048", lambda: movement(x[:2048, :2048], lambda t: np.pad(t, 1), np.flipud))
    rng = np.random.default_rng(1)

    def some_complex(batch, n, bits):
        pairs = rng.standard_normal((batch, n, 2)).astype(np.float64 if bits == 64 else np.float32)
        return pairs.view(np.complex128 if bits == 64 else np.complex64)[..., 0]

    for name, run in complex_workloads(SimpleNamespace(fft=np.fft, some_complex=some_complex)):
        report("numpy", name, run)


# As fft_bench has them: batches, length, bits of a part.
FFT_ROWS = [(4096, 16, 32), (4096, 64, 32), (4096, 256, 32), (4096, 1024, 32), (1024, 4096, 32), (4096, 1024, 64), (4096, 1000, 32),
            (1024, 1009, 32), (1024, 1021, 64), (1, 1024, 32), (1, 65536, 32), (1, 1048576, 32)]


def complex_workloads(np):
    """Name and call for each workload on complex arrays; np: its `fft`, and `some_complex`."""
    for batch, n, bits in FFT_ROWS:
        z = np.some_complex(batch, n, bits)
        yield f"fft_rows/{batch}/{n}/{bits}", lambda z=z: np.fft.fft(z)
    for batch, n in ((4096, 1024), (4096, 1000), (1, 1024)):
        x = np.some_complex(batch, n, 32).real + 0
        yield f"rfft_rows/{batch}/{n}", lambda x=x: np.fft.rfft(x)
    for n in (256, 1024):
        z = np.some_complex(n, n, 32)
        yield f"fft2_square/{n}", lambda z=z: np.fft.fft2(z)
    a, b = np.some_complex(1, 4 << 20, 32), np.some_complex(1, 4 << 20, 32)
    yield "complex_chain", lambda: abs(a * b + a.conj() * 2)
    p, q = np.some_complex(512, 512, 32), np.some_complex(512, 512, 32)
    yield "complex_matmul/512", lambda: p @ q


def torch_workloads(torch, wrap):
    """Name and call for each workload; wrap: what makes a function ready to be timed."""
    F = torch.nn.functional
    some = lambda *shape, **how: torch.from_numpy(numpy_inputs()(*shape, **how))
    a, b, c = some(N), some(N, period=2027), some(N, period=3041)
    x = a.reshape(4096, 4096)
    chain = lambda a, b, c: (a * b + c) * 2 - a
    curved = lambda a, b, c: torch.relu(a * b + c) * torch.exp(-a.abs()) + 0.5 * torch.tanh(b)
    yield "chain_16m", wrap(chain, a, b, c)
    yield "transcendental_chain_16m", wrap(curved, a, b, c)
    yield "transcendental_chain_64k", wrap(curved, a[:65536], b[:65536], c[:65536])
    yield "sum_all_4096", wrap(lambda x: x.sum(), x)
    yield "sum_rows_4096", wrap(lambda x: x.sum(1), x)
    yield "sum_columns_4096", wrap(lambda x: x.sum(0), x)
    yield "max_columns_4096", wrap(lambda x: x.amax(0), x)
    yield "softmax_4096", wrap(lambda x: torch.softmax(x, 1), x)
    rows = some(8192, 1024)
    yield "layer_norm_8192x1024", wrap(lambda r: F.layer_norm(r, (1024,)), rows)
    for n in (512, 1024, 2048):
        p, q = some(n, n), some(n, n, period=2027)
        yield f"matmul_{n}", wrap(lambda p, q: p @ q, p, q)
        yield f"matmul_{n}_left_transposed", wrap(lambda p, q: p.T @ q, p, q)
        yield f"matmul_{n}_right_transposed", wrap(lambda p, q: p @ q.T, p, q)
    p, q = some(64, 128, 128), some(64, 128, 128, period=2027)
    yield "batched_64_of_128", wrap(lambda p, q: p @ q, p, q)
    yield "vector_matrix_4096", wrap(lambda v, x: v @ x, some(1, 4096), x)
    image, weight, bias = some(8, 64, 56, 56), some(64, 64, 3, 3), some(64)
    yield "conv_3x3_bias_relu", wrap(lambda i, w, b: F.relu(F.conv2d(i, w, b, padding=1)), image, weight, bias)
    yield "depthwise_3x3", wrap(lambda i, w: F.conv2d(i, w, padding=1, groups=64), image, some(64, 1, 3, 3))
    yield "transposing_copy_4096", wrap(lambda x: x.T.contiguous(), x)
    square = x[:2048, :2048].contiguous()
    yield "movement_chain_2048", wrap(lambda s: movement(s, lambda t: F.pad(t, (1, 1, 1, 1)), torch.flipud), square)
    q, k, v = (some(4, 8, 512, 64, period=m) for m in (1013, 2027, 3041))
    written = lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v
    yield "attention_b4_h8_s512_d64", wrap(written, q, k, v)
    yield "attention_named_op", wrap(F.scaled_dot_product_attention, q, k, v)


def torch_steps(torch, wrap):
    """The rows of derivatives_bench."""
    F = torch.nn.functional
    sizes = [784, 512, 512, 10]
    model = torch.nn.Sequential(*[m for k in range(3) for m in (torch.nn.Linear(sizes[k], sizes[k + 1]), torch.nn.ReLU())][:-1])
    x, labels = torch.rand(256, 784), torch.arange(256) % 10
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    called = wrap(model)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(called(x), labels).backward()
        optimizer.step()

    yield "derivative: mlp_step", step
    image, weight = torch.rand(8, 64, 28, 28, requires_grad=True), torch.rand(64, 64, 3, 3, requires_grad=True)
    out = F.conv2d(image, weight, padding=1)
    g = torch.rand_like(out)
    yield "derivative: conv_by_input", lambda: torch.autograd.grad(out, image, g, retain_graph=True)
    yield "derivative: conv_by_weights", lambda: torch.autograd.grad(out, weight, g, retain_graph=True)
    x4 = torch.rand(4, 256, 256)
    weights = [(0.06 * (torch.rand(*shape) * 2 - 1)).requires_grad_() for shape in ((256, 768), (256, 256), (256, 1024), (1024, 256))]

    def encoder(x, to_heads, to_out, up, down):
        q, k, v = (x @ to_heads).reshape(4, 256, 3, 4, 64).permute(2, 0, 3, 1, 4)
        mixed = torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v
        y = F.layer_norm(x + mixed.transpose(1, 2).reshape(4, 256, 256) @ to_out, (256,))
        return F.layer_norm(y + F.gelu(y @ up) @ down, (256,))

    block = wrap(encoder)
    yield "derivative: encoder_step", lambda: torch.autograd.grad(block(x4, *weights).square().mean(), weights)
    gru = torch.nn.GRU(128, 128)
    steps = torch.rand(64, 32, 128)
    run = wrap(gru)

    def gru_step():
        gru.zero_grad()
        run(steps)[0][-1].square().mean().backward()

    yield "derivative: gru_step", gru_step


def torch_peer():
    import torch

    torch.set_num_threads(options.threads)
    for name, run in torch_steps(torch, lambda f: f):
        report("torch", name, run)
    with torch.inference_mode():
        for name, run in torch_workloads(torch, lambda f, *args: lambda: f(*args)):
            report("torch", name, run)
        some_complex = lambda batch, n, bits: torch.randn(batch, n, dtype=torch.complex128 if bits == 64 else torch.complex64)
        for name, run in complex_workloads(SimpleNamespace(fft=torch.fft, some_complex=some_complex)):
            report("torch", name, run)


def compile_peer():
    import torch

    torch.set_num_threads(options.threads)

    def wrap(f, *args):
        compiled = torch.compile(f, dynamic=False)
        return lambda: compiled(*args)

    for name, run in torch_steps(torch, lambda f: torch.compile(f, dynamic=False)):
        report("compile", name, run)
    with torch.inference_mode():
        for name, run in torch_workloads(torch, wrap):
            torch.compiler.reset()
            report("compile", name, run)


def jax_peer():
    import jax
    import jax.numpy as jnp

    some = lambda *shape, **how: jnp.asarray(numpy_inputs()(*shape, **how))
    a, b, c = some(N), some(N, period=2027), some(N, period=3041)
    x = a.reshape(4096, 4096)

    def timed(name, f, *args):
        f = jax.jit(f)
        report("jax", name, lambda: f(*args).block_until_ready())

    def layer_norm(r):
        centred = r - r.mean(1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(1, keepdims=True) + 1e-5)

    def convolve(image, weight, groups):
        return jax.lax.conv_general_dilated(image, weight, (1, 1), "SAME", feature_group_count=groups)

    curved = lambda a, b, c: jax.nn.relu(a * b + c) * jnp.exp(-jnp.abs(a)) + 0.5 * jnp.tanh(b)
    timed("chain_16m", lambda a, b, c: (a * b + c) * 2 - a, a, b, c)
    timed("transcendental_chain_16m", curved, a, b, c)
    timed("transcendental_chain_64k", curved, a[:65536], b[:65536], c[:65536])
    timed("sum_all_4096", lambda x: x.sum(), x)
    timed("sum_rows_4096", lambda x: x.sum(1), x)
    timed("sum_columns_4096", lambda x: x.sum(0), x)
    timed("max_columns_4096", lambda x: x.max(0), x)
    timed("softmax_4096", lambda x: jax.nn.softmax(x, axis=1), x)
    timed("layer_norm_8192x1024", layer_norm, some(8192, 1024))
    for n in (512, 1024, 2048):
        p, q = some(n, n), some(n, n, period=2027)
        timed(f"matmul_{n}", lambda p, q: p @ q, p, q)
        timed(f"matmul_{n}_left_transposed", lambda p, q: p.T @ q, p, q)
        timed(f"matmul_{n}_right_transposed", lambda p, q: p @ q.T, p, q)
    timed("batched_64_of_128", lambda p, q: p @ q, some(64, 128, 128), some(64, 128, 128, period=2027))
    timed("vector_matrix_4096", lambda v, x: v @ x, some(1, 4096), x)
    image, bias = some(8, 64, 56, 56), some(64)
    timed("conv_3x3_bias_relu", lambda i, w, b: jax.nn.relu(convolve(i, w, 1) + b[:, None, None]), image, some(64, 64, 3, 3), bias)
    timed("depthwise_3x3", lambda i, w: convolve(i, w, 64), image, some(64, 1, 3, 3))
    timed("transposing_copy_4096", lambda x: x.T.copy(), x)
    timed("movement_chain_2048", lambda s: movement(s, lambda t: jnp.pad(t, 1), jnp.flipud), x[:2048, :2048])
    q, k, v = (some(4, 8, 512, 64, period=m) for m in (1013, 2027, 3041))
    timed("attention_b4_h8_s512_d64", lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2) * 0.125) @ v, q, k, v)
    y = jnp.ones(16)

    def tiny():
        t = y
        for _ in range(1000):
            t = t + y
        t.block_until_ready()

    report("jax", "1000_tiny_ops_one_by_one", tiny)


def tinygrad_peer():
    from tinygrad import Device, Tensor, TinyJit

    some = lambda *shape, **how: Tensor(numpy_inputs()(*shape, **how)).realize()
    a, b, c = some(N), some(N, period=2027), some(N, period=3041)
    x = a.reshape(4096, 4096)

    def timed(name, f, *args):
        jitted = TinyJit(lambda *t: f(*t).realize())

        def run():
            Device[jitted(*args).device].synchronize()

        report("tinygrad", name, run)

    timed("chain_16m", lambda a, b, c: (a * b + c) * 2 - a, a, b, c)
    timed("transcendental_chain_16m", lambda a, b, c: (a * b + c).relu() * (-a.abs()).exp() + 0.5 * b.tanh(), a, b, c)
    timed("sum_all_4096", lambda x: x.sum(), x)
    timed("sum_rows_4096", lambda x: x.sum(1), x)
    timed("sum_columns_4096", lambda x: x.sum(0), x)
    timed("max_columns_4096", lambda x: x.max(0), x)
    timed("softmax_4096", lambda x: x.softmax(1), x)
    timed("layer_norm_8192x1024", lambda r: r.layernorm(), some(8192, 1024))
    timed("matmul_1024", lambda p, q: p @ q, some(1024, 1024), some(1024, 1024, period=2027))
    timed("transposing_copy_4096", lambda x: x.T.contiguous(), x)
    timed("movement_chain_2048", lambda s: movement(s, lambda t: t.pad(((1, 1), (1, 1))), lambda t: t.flip(0)), some(2048, 2048))
    q, k, v = (some(4, 8, 512, 64, period=m) for m in (1013, 2027, 3041))
    timed("attention_b4_h8_s512_d64", lambda q, k, v: (q @ k.transpose(-1, -2) * 0.125).softmax(-1) @ v, q, k, v)


if __name__ == "__main__":
    peers = {"numpy": numpy_peer, "torch": torch_peer, "compile": compile_peer, "jax": jax_peer, "tinygrad": tinygrad_peer}
    for name in options.peers.split(","):
        try:
            peers[name]()
        except ImportError as missing:
            print(f"{name}: {missing}")
