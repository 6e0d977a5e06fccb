#!/usr/bin/python3
"""Writes the files of tests/format/files with NumPy, so that the readers are tested against its writers."""
import os
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
