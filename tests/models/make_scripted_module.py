"""Writes tests/models/scripted.pt and corners.pt, small TorchScript modules for swap_test.cpp. Needs torch 2.11."""
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


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Tail(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weight)


class Corners(nn.Module):
    """A submodule that is known by an interface, and a linear whose gelu is inside a `with`."""

    tail: Step

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.tail = Tail()

    def forward(self, x):
        x = self.first(x)
        with torch.no_grad():
            y = functional.gelu(x)
        return self.tail.forward(y)


def save(module, name):
    """As torch.jit.save, but without the positions in the sources of whoever runs this."""
    path = pathlib.Path(__file__).with_name(name)
    torch.jit.script(module).save(str(path))
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in kept.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def main():
    torch.manual_seed(1)
    save(Scripted(), "scripted.pt")
    save(Corners(), "corners.pt")


if __name__ == "__main__":
    main()
