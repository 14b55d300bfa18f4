"""Writes tests/models/scripted.pt: a small TorchScript module of torch.nn parts, for swap_test.cpp. Needs torch 2.11."""
import pathlib
import zipfile

import torch
from torch import nn
from torch.nn import functional


class Feed(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.steps = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return self.steps(x)


class Scripted(nn.Module):
    """Submodules in containers, a function call, a branch, a fork, dropout that depends on `training`."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.feeds = nn.ModuleList([Feed(width), Feed(width)])
        self.last = nn.Linear(width, width)
        self.dropout = 0.5

    def forward(self, x, deep: bool):
        for feed in self.feeds:
            x = x + feed(x)
        later = torch.jit.fork(self.last, x)
        if deep:
            x = functional.gelu(self.last(x))
        heads = x.unflatten(-1, [2, -1]).transpose(1, 2)
        x = x + functional.softmax(x, dim=-1)
        drop = self.dropout if self.training else 0.0
        out = functional.scaled_dot_product_attention(heads, heads, heads, dropout_p=drop, is_causal=True)
        return x + out.transpose(1, 2).flatten(2) + torch.jit.wait(later)


def main():
    torch.manual_seed(1)
    path = pathlib.Path(__file__).with_name("scripted.pt")
    torch.jit.script(Scripted()).save(str(path))
    with zipfile.ZipFile(path) as archive:  # without the positions in the sources of whoever runs this
        kept = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in kept.items():
            archive.writestr(zipfile.ZipInfo(name), data)


if __name__ == "__main__":
    main()
