#!/usr/bin/env python3
"""Records what numpy.fft, scipy.fft, scipy.signal.fftconvolve and torch.stft answer, as numpy_fft.json.

    python3 tests/data/numpy_fft.py tests/data

A case is [function, inputs, options, results]. A tensor is [shape, elements in row-major order], in which a complex element
is two numbers, and has a third entry, "complex", then. PyTorch is asked for stft and istft."""
import json
import sys

import numpy as np
import scipy.fft
import scipy.signal
import torch


def tensor(x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        pairs = np.stack([x.real, x.imag], -1).ravel()
        return [list(x.shape), [float(f"{v:.9g}") for v in pairs], "complex"]
    return [list(x.shape), [float(f"{v:.9g}") for v in x.ravel()]]


def main(folder):
    rng = np.random.default_rng(385)
    real = lambda *shape: np.round(rng.standard_normal(shape), 2)
    pair = lambda *shape: real(*shape) + 1j * real(*shape)
    cases = []

    def case(name, inputs, options, result):
        cases.append([name, [tensor(x) for x in inputs], options, tensor(result)])

    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 20, 25, 29, 30, 49, 97]:
        case("fft", [z := pair(n)], {}, np.fft.fft(z))
        case("rfft", [x := real(n)], {}, np.fft.rfft(x))
        case("irfft", [z := pair(n // 2 + 1)], {"n": n}, np.fft.irfft(z, n))
    for name in ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft"]:
        f = getattr(np.fft, name)
        draw = real if name in ["rfft", "ihfft"] else pair
        for norm in ["backward", "ortho", "forward"]:
            for n, axis in [(None, -1), (None, 0), (3, -2), (6, 1), (7, 0)]:
                x = draw(4, 5)
                options = {"norm": norm, "axis": axis} | ({"n": n} if n else {})
                case(name, [x], options, f(x, n, axis, norm))
        case(name, [x := real(2, 7)], {}, f(x))
    for name in ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]:
        f = getattr(np.fft, name)
        draw = real if name[0] == "r" else pair
        for options in [{}, {"axes": [-1, 0]}, {"axes": [1, 2]}, {"s": [3, 4], "axes": [0, 1]}, {"s": [4, 5], "axes": [-2, -1], "norm": "ortho"},
                        {"s": [2, 5], "axes": [2, 1], "norm": "forward"}]:
            x = draw(2, 3, 4)
            case(name, [x], options, f(x, **options))
    for n in [1, 4, 5]:
        case("fftfreq", [], {"n": n, "d": 0.5}, np.fft.fftfreq(n, 0.5))
        case("rfftfreq", [], {"n": n, "d": 0.25}, np.fft.rfftfreq(n, 0.25))
    for axes in [None, [0], [1, -1]]:
        x = real(3, 4, 5)
        options = {} if axes is None else {"axes": axes}
        case("fftshift", [x], options, np.fft.fftshift(x, axes))
        case("ifftshift", [x], options, np.fft.ifftshift(x, axes))
    for kind in [1, 2, 3, 4]:
        for norm in ["backward", "ortho", "forward"]:
            for n in [2, 5, 8]:
                x = real(2, n)
                case("dct", [x], {"type": kind, "norm": norm}, scipy.fft.dct(x, kind, norm=norm))
                case("idct", [x], {"type": kind, "norm": norm}, scipy.fft.idct(x, kind, norm=norm))
        x = real(6, 3)
        case("dct", [x], {"type": kind, "n": 4, "axis": 0}, scipy.fft.dct(x, kind, 4, axis=0))
        case("dct", [x], {"type": kind, "n": 8, "axis": 0}, scipy.fft.dct(x, kind, 8, axis=0))
    for overlap in ["full", "same", "valid"]:
        case("fftconvolve", [a := real(9), b := real(4)], {"overlap": overlap}, scipy.signal.fftconvolve(a, b, overlap))
        case("fftconvolve", [a := real(6, 7), b := real(3, 2)], {"overlap": overlap}, scipy.signal.fftconvolve(a, b, overlap))
        case("fftconvolve", [a := pair(5, 8), b := pair(5, 3)], {"overlap": overlap, "axes": [1]},
             scipy.signal.fftconvolve(a, b, overlap, axes=1))
        case("fftconvolve", [a := real(2, 8), b := pair(1, 3)], {"overlap": overlap, "axes": [-1]},
             scipy.signal.fftconvolve(a, b, overlap, axes=1))
    for n, hop, length, width in [(8, 2, 24, 8), (8, 3, 25, 6), (6, 2, 12, 5), (5, 2, 16, 5)]:
        window = np.round(np.hanning(width + 2)[1:-1], 3)
        for center in [True, False]:
            for normalized in [False, True]:
                options = {"n": n, "hop": hop, "center": center, "normalized": normalized}
                torch_options = {"n_fft": n, "hop_length": hop, "win_length": width, "window": torch.from_numpy(window), "center": center,
                                 "normalized": normalized}
                x = real(2, length)
                z = torch.stft(torch.from_numpy(x), return_complex=True, **torch_options)
                case("stft", [x, window], options, z.numpy())
                if center:
                    z = pair(2, n // 2 + 1, 7)
                    case("istft", [z, window], options, torch.istft(torch.from_numpy(z), **torch_options).numpy())
                    case("istft", [z, window], options | {"length": 9}, torch.istft(torch.from_numpy(z), length=9, **torch_options).numpy())
    x = pair(20)
    ones = torch.ones(4, dtype=torch.float64)
    case("stft", [x, np.ones(4)], {"n": 4, "hop": 1, "center": True, "normalized": False},
         torch.stft(torch.from_numpy(x), 4, 1, window=ones, return_complex=True, onesided=False).numpy())
    with open(f"{folder}/numpy_fft.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
