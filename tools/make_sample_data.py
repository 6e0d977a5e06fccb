#!/usr/bin/python3
"""Makes small data sets for trying models out, into a folder that is given.

    /usr/bin/python3 tools/make_sample_data.py FOLDER

    series.csv           date and 7 columns: hourly sums of sines with noise, in the layout of ETTh1.csv
    irregular.npz        values f32[n, 7], elapsed f32[n, 1]: the same series with 30 % of its rows left out
    book.npz             book f32[n, 40], label i32[n], day i32[n] of 8 or 9: an order book of a random walk; the label says
                         where the price goes: 0 up, 1 about the same, 2 down
    images.npz           images u8[n, 28, 28], labels i32[n], train and test bool[n]: bright squares at 10 places
    prompt.txt           the beginning of a text

Everything is synthetic, drawn with one fixed seed, and so free of rights.
"""
import csv
import datetime
import pathlib
import sys

import numpy as np

ROWS = 4000


def series(rng):
    t = np.arange(ROWS)[:, None]
    period = np.array([24, 12, 24, 168, 24, 8, 168])
    level = np.array([8.0, 2, 5, 1, 3, 1, 17])
    wave = np.sin(2 * np.pi * t / period + np.arange(7))
    return (level + 0.3 * level * wave + 0.1 * level * rng.standard_normal((ROWS, 7))).astype(np.float32)


def write_series(folder, values):
    start = datetime.datetime(2016, 7, 1)
    with open(folder / "series.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["date", "HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"])
        for i, row in enumerate(values):
            out.writerow([start + datetime.timedelta(hours=i)] + [f"{x:.4f}" for x in row])


def write_irregular(folder, rng, values):
    kept = np.flatnonzero(rng.random(ROWS) >= 0.3)
    elapsed = np.diff(kept, prepend=kept[0] - 1).astype(np.float32)[:, None]
    np.savez_compressed(folder / "irregular.npz", values=values[kept], elapsed=elapsed)


def write_book(folder, rng):
    price = 100 + np.cumsum(rng.standard_normal(ROWS) * 0.02)
    levels = np.arange(1, 11) * 0.01
    size = rng.gamma(2.0, 50.0, (ROWS, 20))
    ask, bid = price[:, None] + levels, price[:, None] - levels
    book = np.stack([ask, size[:, :10], bid, size[:, 10:]], axis=-1).reshape(ROWS, 40).astype(np.float32)
    ahead = np.concatenate([price[20:], np.full(20, price[-1])]) - price
    label = np.where(ahead > 0.03, 0, np.where(ahead < -0.03, 2, 1)).astype(np.int32)
    day = np.where(np.arange(ROWS) < ROWS * 3 // 4, 8, 9).astype(np.int32)
    np.savez_compressed(folder / "book.npz", book=book, label=label, day=day)


def write_images(folder, rng):
    n = 1000
    labels = rng.integers(0, 10, n).astype(np.int32)
    images = rng.integers(0, 40, (n, 28, 28)).astype(np.uint8)
    for i, k in enumerate(labels):
        y, x = 3 + 12 * (k // 5), 5 * (k % 5)
        images[i, y:y + 10, x:x + 5] = rng.integers(180, 256, (10, 5))
    train = np.arange(n) < 800
    np.savez_compressed(folder / "images.npz", images=images, labels=labels, train=train, test=~train)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    values = series(rng)
    write_series(folder, values)
    write_irregular(folder, rng, values)
    write_book(folder, rng)
    write_images(folder, rng)
    (folder / "prompt.txt").write_text("The quick brown fox jumps over the lazy dog, and then it sleeps.\n", encoding="utf-8")


if __name__ == "__main__":
    main()
