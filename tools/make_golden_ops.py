#!/usr/bin/python3
"""Makes tests/golden/ops.{json,npz} and op_counts.tsv: samples of every operator, by NumPy, SciPy and PyTorch in float64.

    apt-get install python3-torch python3-numpy python3-scipy && /usr/bin/python3 tools/make_golden_ops.py

ops.json        for each row of kernels/ops.def and each function of the language: its cases, that is the inputs (element type,
                domain, shape), attributes or the text of a call, and how many samples are drawn
ops.npz         for each row the results of its samples, case after case, and the gradients of sum(w * result): all elements of
                small tensors, else a few chosen ones and one projection on pseudo-random whole numbers
op_counts.tsv   samples by row: against these references, of gradients, and by finite differences (tests/grad)

golden_ops/ has the references. Inputs are not stored: both sides draw them with the same whole-number arithmetic (tests/ops/case.h).
"""
import json
import pathlib
import sys

import numpy as np
import torch

from golden_ops import draws, functions, rows
from golden_ops.samples import ROWS

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests/golden"



def save():
    arrays, table, lines = {}, [], []
    for row in ROWS:
        name = ("text." if row.text else "row.") + row.name
        assert name not in arrays, name
        arrays[name] = np.concatenate(row.values)
        table.append({"name": row.name, "text": row.text, "floor": row.floor, "tolerance": row.tolerance, "loose": row.loose, "cases": row.cases})
        lines.append("\t".join([name, *map(str, row.counts)]))
        if row.counts[0] < 50:
            sys.exit(f"{name}: only {row.counts[0]} samples")
    with open(GOLDEN / "ops.json", "w") as out:
        text = ",\n".join(json.dumps({k: v for k, v in row.items() if k != "cases"})[:-1] + ', "cases": [\n' +
                          ",\n".join(json.dumps(c, separators=(",", ":"), allow_nan=False) for c in row["cases"]) + "]}" for row in table)
        out.write("[" + text + "]\n")
    np.savez_compressed(GOLDEN / "ops.npz", **arrays)
    (GOLDEN / "op_counts.tsv").write_text("name\tsamples\tgradients\tdifferences\n" + "\n".join(lines) + "\n")
    print(len(ROWS), "rows", sum(r.counts[0] for r in ROWS), "samples", sum(len(a) for a in arrays.values()), "numbers")


def main():
    torch.set_default_dtype(torch.float64)
    rows.all_rows()
    functions.all_functions()
    draws.draws()
    save()


if __name__ == "__main__":
    main()
