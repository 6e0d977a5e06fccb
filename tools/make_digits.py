#!/usr/bin/python3
"""Makes models/data/digits.npz from the copy of the UCI optical digits that scikit-learn ships.

    apt-get install python3-sklearn && /usr/bin/python3 tools/make_digits.py

1,797 images of 8x8 pixels (values 0..16), permuted once with a fixed seed: the file order is grouped by writer, so a
split by position would test on other writers than it trains on. 80 % of the permuted rows are marked "train", the rest "test".
"""
import pathlib

import numpy as np
from sklearn.datasets import load_digits

SEED = 0
TRAIN = 0.8
OUT = pathlib.Path(__file__).resolve().parent.parent / "models" / "data" / "digits.npz"


def main():
    digits = load_digits()
    order = np.random.RandomState(SEED).permutation(len(digits.target))
    images = digits.data[order].astype(np.uint8)
    labels = digits.target[order].astype(np.int32)
    n_train = int(len(order) * TRAIN)
    split = np.array(["train"] * n_train + ["test"] * (len(order) - n_train), dtype="S5")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(OUT, images=images, labels=labels, split=split)
    print(f"{OUT}: {len(order)} rows, {n_train} train, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
