#!/usr/bin/python3
"""Writes the files of tests/format/files with NumPy, so that the readers are tested against its writers."""
import gzip
import os
import struct
import sys

import numpy as np

out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "files")
x = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
np.save(f"{out}/float.npy", x)
np.save(f"{out}/scalar.npy", np.float64(-2.5))
np.save(f"{out}/empty.npy", np.zeros((0, 3), np.int32))
np.save(f"{out}/fortran.npy", np.asfortranarray(x))
np.save(f"{out}/big_endian.npy", x.astype(">f4"))
np.save(f"{out}/complex.npy", x.astype(np.complex64))
np.save(f"{out}/object.npy", np.array([1, "a"], dtype=object), allow_pickle=True)
np.save(f"{out}/record.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
kinds = {
    "b1": np.array([True, False]), "u1": np.array([0, 255], np.uint8), "i1": np.array([-128, 127], np.int8),
    "u2": np.array([0, 65535], np.uint16), "i2": np.array([-32768, 32767], np.int16),
    "u4": np.array([0, 2**32 - 1], np.uint32), "i4": np.array([-2**31, 2**31 - 1], np.int32),
    "u8": np.array([0, 2**53], np.uint64), "i8": np.array([-2**53, 2**53], np.int64),
    "f2": np.array([-0.5, 6.1e-5], np.float16), "f4": np.array([0.1, -np.inf], np.float32),
    "f8": np.array([0.1, 1e300]), "text": np.array(["train", "t\u00e9st \U0001f600"]), "bytes": np.array([b"ab", b""]),
}
np.savez(f"{out}/kinds.npz", **kinds)
np.savez_compressed(f"{out}/packed.npz", x=np.zeros((40, 40), np.float32), y=np.arange(40, dtype=np.int32))


def idx(code, a):
    """a as an idx file, as in http://yann.lecun.com/exdb/mnist (description of the format)."""
    big = a.astype(a.dtype.newbyteorder(">"))
    return bytes([0, 0, code, a.ndim]) + struct.pack(f">{a.ndim}I", *a.shape) + big.tobytes()


def write(name, data):
    with open(f"{out}/{name}", "wb") as f:
        f.write(data)


for name, code, t in (("u8", 8, np.uint8), ("i8", 9, np.int8), ("i16", 11, np.int16), ("i32", 12, np.int32),
                      ("f32", 13, np.float32), ("f64", 14, np.float64)):
    write(f"{name}-idx2-ubyte", idx(code, np.arange(6).reshape(2, 3).astype(t) * 20 - (0 if t == np.uint8 else 50)))
labels = idx(8, np.arange(40, dtype=np.uint8) % 10)
write("labels-idx1-ubyte.gz", gzip.compress(labels, mtime=0))
write("bomb-idx1-ubyte.gz", gzip.compress(labels[:4] + b"\x7f\xff\xff\xff" + labels[8:], mtime=0))
write("text.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0))
