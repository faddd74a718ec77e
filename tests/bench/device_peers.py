#!/usr/bin/env python3
"""The rows of device_times in PyTorch on a CUDA device, float32 without TF32. Medians after two runs to warm up.

    device_peers.py [SUBSTRING..]
"""
import statistics
import sys
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
F = torch.nn.functional
MANY = 1 << 27


def seconds(run):
    times = []
    while len(times) < 7 or (len(times) < 27 and sum(times[2:]) < 0.3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def row(name, size, flops, run):
    if len(sys.argv) > 1 and not any(part in name for part in sys.argv[1:]):
        return
    try:
        s = seconds(run)
    except Exception as error:  # a row that PyTorch lacks still gets its line
        print(f"{name:34} {type(error).__name__}: {str(error)[:90]}", flush=True)
        return
    line = f"{name:34} {1e3 * s:10.3f} ms"
    if size:
        line += f" {1e-9 * size / s:9.1f} GB/s"
    if flops:
        line += f" {1e-12 * flops / s:8.2f} TFLOP/s"
    print(line, flush=True)


def values(*shape, dtype=torch.float32):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype)


print(torch.__version__, torch.cuda.get_device_name())
a, b, c = values(MANY), values(MANY), values(MANY)
row("copy", 8 * MANY, 0, lambda: a + 1)
row("clone", 8 * MANY, 0, lambda: a.clone())
row("chain of 3 operands", 16 * MANY, 0, lambda: (a * b + c) * 2 - a)
row("exp and tanh", 16 * MANY, 0, lambda: torch.relu(a * b + c) * torch.exp(-abs(a)) + 0.5 * torch.tanh(b))
row("where", 16 * MANY, 0, lambda: torch.where(a > 0, b, c))
row("sum of all", 4 * MANY, 0, lambda: a.sum())
row("dot", 8 * MANY, 0, lambda: a.dot(b))
x = a.reshape(16384, 8192)
r = a.reshape(1 << 17, 1024)
row("sums of rows", 4 * MANY, 0, lambda: x.sum(1))
row("sums of columns", 4 * MANY, 0, lambda: x.sum(0))
row("maxima of columns", 4 * MANY, 0, lambda: x.amax(0))
row("transposed copy", 8 * MANY, 0, lambda: x.T.contiguous())
row("last axis first", 8 * MANY, 0, lambda: a.reshape(256, 512, 1024).permute(2, 0, 1).contiguous())
row("softmax of 1024", 8 * MANY, 0, lambda: r.softmax(1))
row("layer norm of 1024", 8 * MANY, 0, lambda: F.layer_norm(r, (1024,)))
row("softmax of 8192", 8 * MANY, 0, lambda: x.softmax(1))
row("argmax of 1024", 4 * MANY, 0, lambda: r.argmax(1))
row("sums of rows of 16", 4 * MANY, 0, lambda: a.reshape(1 << 23, 16).sum(1))
row("concat of 2", 16 * MANY, 0, lambda: torch.cat([a, b]))
row("cumsum", 8 * MANY, 0, lambda: a.cumsum(0))
row("cumsum of rows", 8 * MANY, 0, lambda: x.cumsum(1))
rows = torch.randint(0, 1 << 17, (1 << 17,), device="cuda")
row("take of rows of 1024", 8 * MANY, 0, lambda: r[rows])
row("add of rows by index", 12 * MANY, 0, lambda: r.index_add(0, rows, r))
for n in (1024, 2048, 4096, 8192):
    m, k = values(n, n), values(n, n)
    row(f"product of {n}", 0, 2 * n**3, lambda: m @ k)
m, k = values(4096, 4096), values(4096, 4096)
row("product of 4096, right transposed", 0, 2 * 4096**3, lambda: m @ k.T)
row("product of 4096, relu, bias", 0, 2 * 4096**3, lambda: torch.relu(m @ k + m[1]))
w = values(8192)
row("matrix x vector of 16384 x 8192", 4 * MANY, 0, lambda: x @ w)
p, q = values(64, 512, 512), values(64, 512, 512)
row("64 products of 512", 0, 64 * 2 * 512**3, lambda: p @ q)
h, g = m.half(), k.half()
row("product of 4096 in float16", 0, 2 * 4096**3, lambda: h @ g)
s, t = values(100000, 4, 4), values(100000, 4, 4)
row("100000 products of 4", 12 * 16 * 100000, 0, lambda: s @ t)
query, key, value = values(16, 2048, 64), values(16, 2048, 64), values(16, 2048, 64)
row("attention, 16 heads of 2048 x 64", 0, 16 * 4 * 2048**2 * 64,
    lambda: F.scaled_dot_product_attention(query[None], key[None], value[None]))
image, weight = values(32, 64, 56, 56), values(64, 64, 3, 3)
row("conv 3x3, 64 to 64, 32 of 56x56", 0, 2 * 32 * 64 * 64 * 9 * 56 * 56, lambda: F.conv2d(image, weight, padding=1))
z = values(1 << 22)
row("argsort of 4M", 0, 0, lambda: z.argsort())
wide = values(4096, 1024)
row("sort of 4096 x 1024", 0, 0, lambda: wide.sort())
large = values(1 << 26)
row("sort of 64M", 0, 0, lambda: large.sort())
row("sort of 4M", 0, 0, lambda: z.sort())
row("masked_select of 4M", 0, 0, lambda: z[z > 0])
row("normal, 64M", 4 * (1 << 26), 0, lambda: torch.randn(1 << 26, device="cuda"))
bins = torch.randint(0, 1000, (1 << 24,), device="cuda")
row("bincount of 16M into 1000", 0, 0, lambda: torch.bincount(bins, minlength=1000))
tiny = values(16)
row("one small kernel", 0, 0, lambda: tiny + 1)
