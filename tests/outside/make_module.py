"""make_module.py LIBRARY FILE: saves a TorchScript module whose forward() calls Tessera's operators and whose native() calls
ATen's."""
import sys

import torch
import torch.nn.functional as F

torch.ops.load_library(sys.argv[1])


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(8, 16)
        self.down = torch.nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.ops.tessera.linear_gelu(x, self.up.weight, self.up.bias, approximate="tanh")
        h = torch.ops.tessera.add(torch.ops.tessera.linear(h, self.down.weight, self.down.bias), x)
        h = torch.ops.tessera.scaled_dot_product_attention(h, h, h, is_causal=True)
        h = torch.ops.tessera.flash_attention(h, h, h, False, scale=0.5)[0]
        return torch.ops.tessera.softmax(h, -1)

    @torch.jit.export
    def native(self, x: torch.Tensor) -> torch.Tensor:
        h = F.gelu(self.up(x), approximate="tanh")
        h = self.down(h) + x
        h = F.scaled_dot_product_attention(h, h, h, is_causal=True)
        h = F.scaled_dot_product_attention(h, h, h, scale=0.5)
        return F.softmax(h, -1)


torch.manual_seed(0)
torch.jit.script(Module().eval()).save(sys.argv[2])
