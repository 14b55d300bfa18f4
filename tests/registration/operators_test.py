"""The operators from Python: opcheck, torch.compile, torch.export, torch.func, gradcheck, TorchScript.

Usage: operators_test.py LIBTESSERA [unittest options]
"""

import contextlib
import os
import sys
import tempfile
import unittest
import warnings

import torch
import torch.nn.functional as F
from torch.func import grad, jacrev, vmap
from torch.library import opcheck
from torch.utils._python_dispatch import TorchDispatchMode

LIBRARY = os.path.abspath(sys.argv.pop(1))
torch.ops.load_library(LIBRARY)
ops = torch.ops.tessera


def leaf(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, dtype=dtype, requires_grad=True)


def attention_inputs(dtype=torch.float32):
    return leaf(2, 4, 5, 8, dtype=dtype), leaf(2, 2, 6, 8, dtype=dtype), leaf(2, 2, 6, 8, dtype=dtype)


def calls():
    """(name, operator, arguments, keyword arguments) of every operator that is differentiable."""
    x, w, b = leaf(2, 3, 4), leaf(5, 4), leaf(5)
    q, k, v = attention_inputs()
    yield "add", ops.add, (x, leaf(3, 1)), {}
    yield "linear", ops.linear, (x, w, b), {}
    yield "linear without bias", ops.linear, (x, w), {}
    for approximate in "none", "tanh":
        yield "linear_gelu " + approximate, ops.linear_gelu, (x, w, b), {"approximate": approximate}
    yield "softmax", ops.softmax, (x, 1), {}
    yield "softmax to fp32", ops.softmax, (leaf(3, 4, dtype=torch.half), 0, torch.float32), {}
    yield "sdpa", ops.scaled_dot_product_attention, (q, k, v), {"enable_gqa": True}
    yield "causal sdpa", ops.scaled_dot_product_attention, (q, k, v, None, 0.0, True), {"enable_gqa": True, "scale": 0.3}
    yield "sdpa with a mask", ops.scaled_dot_product_attention, (q, k, v, leaf(5, 6)), {"enable_gqa": True}
    yield "sdpa of a view", ops.scaled_dot_product_attention, (leaf(2, 5, 4, 8).transpose(1, 2), k, v), {"enable_gqa": True}
    for causal, diagonal in (False, 0), (True, 0), (True, 1), (True, -2):
        yield f"flash_attention {causal} {diagonal}", ops.flash_attention, (q, k, v, causal), {"diagonal": diagonal}


def first(result):
    return result[0] if isinstance(result, tuple) else result


class Opcheck(unittest.TestCase):
    def test_every_operator(self):
        for name, op, arguments, keywords in calls():
            with self.subTest(name):
                opcheck(op.default, arguments, keywords)

    def test_private_operators(self):
        plain = [t.detach() for t in (leaf(2, 3, 4), leaf(5, 4), leaf(5))]
        opcheck(ops._linear_gelu_with_preactivation.default, tuple(plain), {"approximate": "tanh"})
        q, k, v = (t.detach() for t in attention_inputs())
        output, logsumexp = ops.flash_attention(q, k, v, True)
        opcheck(ops.flash_attention_backward.default, (torch.randn_like(output), q, k, v, output, logsumexp, True))


class Compile(unittest.TestCase):
    def check(self, dynamic):
        for name, op, arguments, keywords in calls():
            with self.subTest(name):
                torch._dynamo.reset()
                pairs = []
                for run in (lambda f: f, lambda f: torch.compile(f, fullgraph=True, dynamic=dynamic, backend="aot_eager")):
                    copies = [
                        a.detach().clone(memory_format=torch.preserve_format).requires_grad_() if torch.is_tensor(a) else a
                        for a in arguments
                    ]
                    result = run(lambda *a: first(op(*a, **keywords)) * 2)(*copies)
                    result.backward(torch.cos(torch.arange(result.numel())).view(result.shape).to(result.dtype))
                    pairs.append((result, [c.grad for c in copies if torch.is_tensor(c)]))
                (eager, eager_grads), (compiled, compiled_grads) = pairs
                self.assertEqual(eager.stride(), compiled.stride())
                torch.testing.assert_close(compiled, eager)
                for ours, theirs in zip(compiled_grads, eager_grads):
                    torch.testing.assert_close(ours, theirs)

    def test_static(self):
        self.check(dynamic=False)

    def test_dynamic(self):
        self.check(dynamic=True)

    def test_export_keeps_the_operators(self):
        class Model(torch.nn.Module):
            def forward(self, x, w, b, q, k):
                attended = ops.flash_attention(q, k, k, True)[0]
                return ops.add(ops.linear_gelu(x, w, b), b), attended, ops.softmax(ops.linear(x, w), -1)

        q, k, _ = attention_inputs()
        inputs = tuple(t.detach() for t in (leaf(2, 3, 4), leaf(5, 4), leaf(5), q, k))
        program = torch.export.export(Model(), inputs)
        called = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
        for name in "add", "linear_gelu", "flash_attention", "softmax", "linear":
            self.assertIn(f"tessera.{name}.default", called)
        for ours, theirs in zip(program.module()(*inputs), Model()(*inputs)):
            torch.testing.assert_close(ours, theirs)


    def test_dropout(self):
        """Whose values are random: sizes, strides and a gradient for every input."""
        attend = lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, None, 0.5, enable_gqa=True)
        for view in False, True:
            q, k, v = attention_inputs()
            q = q.transpose(1, 2).contiguous().detach().requires_grad_().transpose(1, 2) if view else q
            for dynamic in False, True:
                torch._dynamo.reset()
                result = torch.compile(attend, fullgraph=True, dynamic=dynamic, backend="aot_eager")(q, k, v)
                self.assertEqual((result.shape, result.stride()), (attend(q, k, v).shape, attend(q, k, v).stride()))
                for gradient in torch.autograd.grad(result.sum(), (q, k, v)):
                    self.assertTrue(gradient.isfinite().all())

        class Model(torch.nn.Module):
            def forward(self, q):
                return ops.scaled_dot_product_attention(q, q, q, None, 0.5)

        program = torch.export.export(Model(), (leaf(2, 4, 5, 8),), dynamic_shapes={"q": {2: torch.export.Dim("s", min=2, max=1000)}})
        self.assertEqual(program.module()(leaf(2, 4, 9, 8)).shape, (2, 4, 9, 8))


class Watching(TorchDispatchMode):
    """Sees what runs, and changes nothing."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.seen.append(str(function))
        return function(*arguments, **(keywords or {}))


class Graphs(unittest.TestCase):
    def test_a_mode_that_watches_changes_no_graph(self):
        names = []
        for mode in contextlib.nullcontext(), Watching():
            with mode:
                x, w = leaf(3, 4), leaf(5, 4)
                names.append([f.grad_fn.name() for f in (ops.add(x, x), ops.linear(x, w), ops.linear_gelu(x, w), ops.softmax(x, 1))])
        self.assertEqual(*names)
        self.assertEqual((names[0][0], names[0][2:]), ("AddBackward0", ["GeluBackward0", "SoftmaxBackward0"]))
        self.assertIn("aten._softmax.default", mode.seen)


class Transforms(unittest.TestCase):
    def test_vmap(self):
        x, w, b = torch.randn(6, 3, 4), torch.randn(5, 4), torch.randn(5)
        torch.testing.assert_close(vmap(lambda t: ops.linear_gelu(t, w, b))(x), F.gelu(F.linear(x, w, b)))
        torch.testing.assert_close(vmap(lambda t: ops.linear(x[0], t, b), in_dims=2, out_dims=1)(torch.randn(5, 4, 3)).shape, torch.Size([3, 3, 5]))
        torch.testing.assert_close(vmap(lambda t: ops.softmax(t, 1))(x), torch.softmax(x, 2))
        torch.testing.assert_close(vmap(ops.add)(x, x), 2 * x)
        q = torch.randn(3, 2, 4, 5, 8)
        expected = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ATen's operator has no batching rule of its own
            torch.testing.assert_close(vmap(lambda t: ops.scaled_dot_product_attention(t, t, t, is_causal=True))(q), expected)
        torch.testing.assert_close(vmap(lambda t: ops.flash_attention(t, t, t, True)[0])(q), expected)

    def test_grad_and_jacobian(self):
        x, w, b = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5)
        ours = vmap(grad(lambda t: ops.linear_gelu(t, w, b).sum()))(x)
        torch.testing.assert_close(ours, vmap(grad(lambda t: F.gelu(F.linear(t, w, b)).sum()))(x))
        torch.testing.assert_close(jacrev(lambda t: ops.softmax(t, -1))(x), jacrev(lambda t: torch.softmax(t, -1))(x))
        q = torch.randn(2, 4, 5, 8)
        ours = grad(lambda t: ops.flash_attention(t, t, t, True)[0].square().sum())(q)
        torch.testing.assert_close(ours, grad(lambda t: F.scaled_dot_product_attention(t, t, t, is_causal=True).square().sum())(q))

    def test_forward_mode(self):
        import torch.autograd.forward_ad as forward

        x, w = torch.randn(3, 4), torch.randn(5, 4)
        with forward.dual_level(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dual = forward.make_dual(x, torch.ones_like(x))
            ours = forward.unpack_dual(ops.linear_gelu(dual, w)).tangent
            torch.testing.assert_close(ours, forward.unpack_dual(F.gelu(F.linear(dual, w))).tangent)

        def tangent(attend, q, step):
            with forward.dual_level():
                return forward.unpack_dual(attend(forward.make_dual(q, step))).tangent

        q, step = torch.randn(1, 2, 5, 8, dtype=torch.double), torch.randn(1, 2, 5, 8, dtype=torch.double)
        for attend in (  # composed of products, with a node of our own where nothing is forward
            lambda t: ops.flash_attention(t, t, t, True, diagonal=1)[0],
            lambda t: ops.scaled_dot_product_attention(t, t, t, is_causal=True, scale=-1.0),
        ):
            difference = (attend(q + 1e-6 * step) - attend(q - 1e-6 * step)) / 2e-6
            torch.testing.assert_close(tangent(attend, q, step), difference, atol=1e-6, rtol=1e-6)


class Gradcheck(unittest.TestCase):
    def test_B89_fp64(self):
        double = lambda *sizes: leaf(*sizes, dtype=torch.double)
        x, w, b = double(3, 2, 4), double(5, 4), double(5)
        q, k, v = (t.detach()[..., :3].double().requires_grad_() for t in attention_inputs())
        both = [
            (ops.add, (x, double(2, 1))),
            (ops.linear, (x, w, b)),
            (lambda *a: ops.linear_gelu(*a), (x, w, b)),
            (lambda *a: ops.linear_gelu(*a, approximate="tanh"), (x, w, b)),
            (lambda t: ops.softmax(t, 1), (x,)),
            (lambda *a: ops.flash_attention(*a, True, diagonal=1)[0], (q, k, v)),
        ]
        for f, inputs in both:
            self.assertTrue(torch.autograd.gradcheck(f, inputs))
            self.assertTrue(torch.autograd.gradgradcheck(f, inputs))
        for causal in False, True:
            self.assertTrue(torch.autograd.gradcheck(lambda *a: ops.flash_attention(*a, causal)[0], (q, k, v)))


class TorchScript(unittest.TestCase):
    def test_B129_scripted_and_traced(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TorchScript is deprecated

            class Model(torch.nn.Module):
                def forward(self, x, w, q):
                    y = torch.ops.tessera.linear_gelu(x, w) + torch.ops.tessera.linear_gelu(x, w, None, approximate="tanh")
                    return y, torch.ops.tessera.scaled_dot_product_attention(q, q, q, None, 0.0, True, scale=1.0)

            inputs = torch.randn(3, 4), torch.randn(5, 4), torch.randn(1, 2, 3, 4)
            for module in torch.jit.script(Model()), torch.jit.trace(Model(), inputs):
                for ours, theirs in zip(module(*inputs), Model()(*inputs)):
                    torch.testing.assert_close(ours, theirs)
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "model.pt")
                    module.save(path)
                    for ours, theirs in zip(torch.jit.load(path)(*inputs), Model()(*inputs)):
                        torch.testing.assert_close(ours, theirs)


if __name__ == "__main__":
    torch.manual_seed(0)
    unittest.main(verbosity=1)
