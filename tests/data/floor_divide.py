"""Records floor_divide.jsonl: one quotient a line, of float64 by Python's own // and of float32 by NumPy's."""
import json, random, re, struct, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
random.seed(14)
special = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 5.5, -5.5, 3.0, -3.0, 0.5, 2.0**24, -2.0**53, 1e300, 5e-324, -5e-324, 2.2250738585072014e-308, float("inf"), float("-inf"), float("nan")]
def f32(x): return float(np.float32(x))
def text(x):
    if x != x: return "nan"
    s = x.hex()
    return s if "." not in s else re.sub(r"\.?0*p", "p", s)
out = []
def wide(x, y):
    q = x // y if y != 0 else float(np.float64(x) / np.float64(y))
    out.append(["float64", text(x), text(y), text(q)])
def narrow(x, y):
    out.append(["float32", text(f32(x)), text(f32(y)), text(float(np.floor_divide(np.float32(x), np.float32(y))))])
for x in special:
    for y in special:
        wide(x, y)
narrow_special = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 5.5, -5.5, 3.0, 2.0**24, 1e38, 1e-45, -1e-45, float("inf"), float("-inf"), float("nan")]
for x in narrow_special:
    for y in narrow_special:
        narrow(x, y)
def bits64(): return struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0]
def bits32(): return struct.unpack("<f", struct.pack("<I", random.getrandbits(32)))[0]
for i in range(120):
    wide(random.uniform(-100, 100), random.uniform(-3, 3))
    n, y = random.randint(-1000, 1000), random.choice([0.1, 0.3, 0.7, 1e-3, 1 / 3])
    wide(n * y, y)
    wide(round(random.uniform(-9, 9), 1), random.choice([0.1, 0.2, -0.1, 0.7]))
    narrow(random.uniform(-100, 100), random.uniform(-3, 3))
    narrow(np.float32(n) * np.float32(y), y)
    if i % 2 == 0:
        wide(bits64(), bits64()); narrow(bits32(), bits32())
with open(sys.argv[1], "w") as f:
    for row in out: f.write(json.dumps(row) + "\n")
print(len(out))
