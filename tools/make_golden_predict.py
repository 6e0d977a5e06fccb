#!/usr/bin/python3
"""Makes tests/golden/predict_{weights.safetensors,probs.npy}: class probabilities of the digits' test rows by PyTorch.

    apt-get install python3-torch && /usr/bin/python3 tools/make_golden_predict.py

The twin in gml is tests/golden/predict.gml: convolution, attention, layer norm, GELU. PyTorch's initial weights, scaled up so that the
probabilities are far from equal, rounded to f32 and written as safetensors; the probabilities are computed from those in float64.
"""
import json
import pathlib
import struct

import numpy as np
import torch
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent
C, D, CLASSES = 4, 16, 10


def save_safetensors(path, tensors):
    """The format is small enough to write by hand: length, JSON header, bytes."""
    header, blob = {}, b""
    for key, x in tensors.items():
        raw = np.ascontiguousarray(x, dtype=np.float32).tobytes()
        header[key] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, C, 3, padding=1)
        self.norm = torch.nn.LayerNorm(D)
        for name, i, o in (("embed", 8 * C, D), ("q", D, D), ("k", D, D), ("v", D, D), ("o", D, D), ("up", D, 2 * D),
                           ("down", 2 * D, D), ("head", D, CLASSES)):
            setattr(self, name, torch.nn.Linear(i, o))

    def forward(self, x):
        h = F.relu(self.conv(x[:, None]))                               # [N, C, 8, 8]
        t = self.norm(self.embed(h.permute(0, 2, 3, 1).reshape(-1, 8, 8 * C)))
        q, k, v = self.q(t), self.k(t), self.v(t)
        a = t + self.o(torch.softmax(q @ k.transpose(1, 2) / D**0.5, -1) @ v)
        m = a + self.down(F.gelu(self.up(a)))
        return self.head(m.mean(1))


def keys(net):
    """gml stores a product's weight as [inputs, outputs] and a convolution's as [height, width, inputs, outputs]."""
    out = {"net.k": net.conv.weight.permute(2, 3, 1, 0), "net.kb": net.conv.bias,
           "net.norm.g": net.norm.weight, "net.norm.b": net.norm.bias}
    for name, layer in net.named_children():
        if isinstance(layer, torch.nn.Linear):
            out[f"net.{name}.w"], out[f"net.{name}.b"] = layer.weight.T, layer.bias
    return {k: v.detach().numpy() for k, v in out.items()}


def main():
    torch.manual_seed(11)
    data = np.load(ROOT / "models/data/digits.npz")
    x = data["images"][data["split"] == b"test"].astype(np.float64) / 16
    net = Net()
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(1.75).add_(0.05 * torch.randn(p.shape))
    save_safetensors(ROOT / "tests/golden/predict_weights.safetensors", keys(net))
    with torch.no_grad():
        probs = torch.softmax(net.double()(torch.tensor(x).reshape(-1, 8, 8)), -1).numpy()
        single = torch.softmax(net.float()(torch.tensor(x, dtype=torch.float32).reshape(-1, 8, 8)), -1).numpy()
    np.save(ROOT / "tests/golden/predict_probs.npy", probs.astype(np.float32))
    print("rows", len(x), "probabilities", probs.min(), "to", probs.max(), "torch f32 differs by", np.abs(single - probs).max())


if __name__ == "__main__":
    main()
