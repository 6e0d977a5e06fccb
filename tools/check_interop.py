#!/usr/bin/python3
"""Checks safetensors and npz both ways against their reference libraries, bit for bit.

  python3 tools/check_interop.py BUILD      BUILD: a build folder with bin/array_convert

The reference writes a file, array_convert reads it and writes it anew, the reference reads that: every array must
have its name, type, shape and bits again. Needs NumPy; PyTorch and its safetensors package when they are there.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

convert = os.path.join(sys.argv[1], "bin", "array_convert")
folder = tempfile.mkdtemp()
random = np.random.default_rng(7)
bad = 0


def path(name):
    return os.path.join(folder, name)


def run(out, *inputs):
    subprocess.run([convert, path(out)] + [path(i) for i in inputs], check=True)


def report(what, wanted, got):
    """Both: name -> (type, shape, bytes)."""
    global bad
    wrong = sorted(k for k in set(wanted) | set(got) if wanted.get(k) != got.get(k))
    bad += bool(wrong)
    print(f"{'FAILED' if wrong else 'ok':6} {what}: {len(wanted)} arrays{' - ' + ', '.join(wrong) if wrong else ''}")


def bits(shape, size):
    """Random bits, so that NaNs with payloads, subnormals and infinities are among the floats."""
    return random.integers(0, 256, int(np.prod(shape)) * size, dtype=np.uint8).tobytes()


shapes = {"scalar": (), "row": (7,), "matrix": (3, 5), "empty": (0, 4), "deep": (1, 2, 1, 3, 1, 2)}
types = ["bool", "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8"]
arrays = {}
for t in types:
    for s, shape in shapes.items():
        size = np.dtype(t).itemsize
        a = np.frombuffer(bits(shape, size), np.dtype(t) if t != "bool" else np.uint8).reshape(shape)
        arrays[f"{np.dtype(t).name}.{s}"] = (a % 2).astype(bool) if t == "bool" else a


def facts(all_arrays):
    return {k: (a.dtype.str, a.shape, a.tobytes()) for k, a in all_arrays.items()}


# -- npz and npy with NumPy
text = dict(arrays, names=np.array(["a", "t\u00e9st"]), raw=np.array([b"ab", b""]))
for save, name in ((np.savez, "npz, stored"), (np.savez_compressed, "npz, deflated")):
    save(path("a.npz"), **text)
    run("b.npz", "a.npz")
    with np.load(path("b.npz")) as back:
        report(f"{name}, with NumPy {np.__version__}", facts(text), facts(dict(back)))
single = {}
for k, a in arrays.items():
    np.save(path("a.npy"), a)
    subprocess.run([convert, path("b.npy"), "x=" + path("a.npy")], check=True)
    single[k] = np.load(path("b.npy"))
report("npy, with NumPy", facts(arrays), facts(single))


# -- safetensors with an own reader of its published format
def read_tensors(name):
    with open(path(name), "rb") as f:
        data = f.read()
    (n,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + n])
    head.pop("__metadata__", None)
    body, end, out = data[8 + n:], 0, {}
    for k, e in sorted(head.items(), key=lambda item: item[1]["data_offsets"]):
        assert e["data_offsets"][0] == end, "a hole"
        end = e["data_offsets"][1]
        out[k] = (e["dtype"], tuple(e["shape"]), body[e["data_offsets"][0]:end])
    assert end == len(body), "bytes after the last tensor"
    return out


np.savez(path("a.npz"), **arrays)
run("b.safetensors", "a.npz")
name_of = {"b": "BOOL", "u": "U", "i": "I", "f": "F"}
wanted = {k: ("BOOL" if a.dtype.kind == "b" else f"{name_of[a.dtype.kind]}{a.itemsize * 8}", a.shape, a.tobytes())
          for k, a in arrays.items()}
report("safetensors, with a reader in Python", wanted, read_tensors("b.safetensors"))

# -- safetensors with PyTorch's package
try:
    import safetensors
    import safetensors.torch
    import torch
except ImportError as e:
    print(f"absent PyTorch's safetensors package: {e}")
    sys.exit(bad != 0)

kinds = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
         torch.float32, torch.float64]
tensors = {}
for t in kinds:
    for s, shape in shapes.items():
        size = torch.empty((), dtype=t).element_size()
        raw = bytearray(bits(shape, size) or b"")
        if t == torch.bool:
            raw = bytearray(b & 1 for b in raw)
        made = torch.frombuffer(raw, dtype=t).reshape(shape) if raw else torch.empty(shape, dtype=t)
        tensors[f"{str(t)[6:]}.{s}"] = made.clone()


def torch_facts(all_tensors):
    return {k: (str(t.dtype), tuple(t.shape), t.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
                if t.numel() and t.dtype != torch.bool else t.numpy().tobytes() if t.dtype == torch.bool else b"")
            for k, t in all_tensors.items()}


safetensors.torch.save_file(tensors, path("a.safetensors"), metadata={"format": "pt"})
run("b.safetensors", "a.safetensors")
back = safetensors.torch.load_file(path("b.safetensors"))
report(f"safetensors, with safetensors {safetensors.__version__} and PyTorch {torch.__version__}",
       torch_facts(tensors), torch_facts(back))
sys.exit(bad != 0)
