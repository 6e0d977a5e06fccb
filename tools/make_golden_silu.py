#!/usr/bin/python3
"""Makes tests/golden/silu_{weights.safetensors,losses.json}: 100 AdamW steps of a SiLU network in float64, by PyTorch.

    apt-get install python3-torch && /usr/bin/python3 tools/make_golden_silu.py

The twin in gml is tests/golden/silu.gml: digits, widths 64-48-32-10, batch 128 in file order (no shuffle), no dropout, AdamW with decay 0.01 on
weights and none on biases, cosine schedule with 20 steps of warm-up over the 100 steps. The epoch has 11 full batches; its tail is dropped.
"""
import json
import math
import pathlib
import struct

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS, BATCH, WARM, LR = 100, 128, 20, 1e-3
WIDTHS = [64, 48, 32, 10]
KEYS = ["net.fc.0.lin", "net.fc.1.lin", "net.head"]


def save_safetensors(path, tensors):
    """The format is small enough to write by hand: length, JSON header, bytes."""
    header, blob = {}, b""
    for key, x in tensors.items():
        raw = np.ascontiguousarray(x).tobytes()
        header[key] = {"dtype": "F64", "shape": list(x.shape), "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def rate(step):
    if step < WARM:
        return LR * min(1.0, (step + 1) / WARM)
    return LR * 0.5 * (1 + math.cos(math.pi * (step - WARM) / (STEPS - WARM)))


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(7)
    data = np.load(ROOT / "models/data/digits.npz")
    train = data["split"] == b"train"
    x = torch.tensor(data["images"][train].astype(np.float64) / 16)
    y = torch.tensor(data["labels"][train].astype(np.int64))
    layers = [torch.nn.Linear(a, b) for a, b in zip(WIDTHS, WIDTHS[1:])]
    save_safetensors(ROOT / "tests/golden/silu_weights.safetensors",
                     {k: v for key, lin in zip(KEYS, layers)
                      for k, v in ((key + ".b", lin.bias.detach().numpy()), (key + ".w", lin.weight.detach().numpy().T))})
    groups = [{"params": [lin.weight for lin in layers], "weight_decay": 0.01},
              {"params": [lin.bias for lin in layers], "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=LR, betas=(0.9, 0.999), eps=1e-8)
    losses, per_epoch = [], len(x) // BATCH
    for step in range(STEPS):
        for group in opt.param_groups:
            group["lr"] = rate(step)
        at = (step % per_epoch) * BATCH
        h = x[at:at + BATCH]
        for lin in layers[:-1]:
            h = torch.nn.functional.silu(lin(h))
        loss = torch.nn.functional.cross_entropy(layers[-1](h), y[at:at + BATCH])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    (ROOT / "tests/golden/silu_losses.json").write_text(json.dumps(losses, indent=0) + "\n")
    print("first", losses[0], "last", losses[-1])


if __name__ == "__main__":
    main()
