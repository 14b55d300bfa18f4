"""The library in a process of its own: loading, forks, the environment, memory, a device.

Usage: process_test.py LIBTESSERA [unittest options]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import torch

LIBRARY = os.path.abspath(sys.argv.pop(1))


class Process(unittest.TestCase):
    def run_python(self, text, **environment):
        run = subprocess.run(
            [sys.executable, "-c", f"import torch\nlibrary = {LIBRARY!r}\n{text}"],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.strip(), run.stderr

    def check_child(self, text):
        """`text` sets `good` in a child that is forked after the library has run an operator."""
        body = "".join(f"\n    {line}" for line in text.splitlines())
        out, _ = self.run_python(
            f"""
import os
torch.ops.load_library(library)
torch.ops.tessera.linear(torch.ones(2, 3), torch.ones(4, 3))
child = os.fork()
if child == 0:{body}
    os._exit(0 if good else 1)
print(os.waitpid(child, 0)[1])"""
        )
        self.assertEqual(out, "0")


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device on this machine")
class OnTheGpu(Process):
    def test_B99_a_child_uses_the_device(self):
        self.check_child(
            """x, q = torch.ones(4, 4, device="cuda"), torch.ones(1, 2, 4, 8, device="cuda")
ops = torch.ops.tessera
results = ops.add(x, x), ops.linear(x, x), ops.linear_gelu(x, x), ops.softmax(x, 0), ops.flash_attention(q, q, q)[0]
good = all(bool(torch.isfinite(result).all()) for result in results)"""
        )

    def test_B114_a_second_process_gives_the_same(self):
        text = """
import hashlib
torch.ops.load_library(library)
ops = torch.ops.tessera
torch.manual_seed(0)
x, w, b = (torch.randn(*sizes).half().cuda() for sizes in ((70, 72), (80, 72), (80,)))
q = torch.randn(2, 4, 100, 64).half().cuda()
results = ops.add(x, x), ops.linear(x, w, b), ops.linear_gelu(x, w, b), ops.softmax(x, 1), ops.flash_attention(q, q, q, True)[0]
print(hashlib.sha256(b"".join(result.cpu().numpy().tobytes() for result in results)).hexdigest())"""
        with tempfile.TemporaryDirectory() as folder:
            first, second = (self.run_python(text, TESSERA_CACHE_DIR=folder, TESSERA_POLICY="tile")[0] for _ in range(2))
            unused = self.run_python(text, TESSERA_CACHE_DIR=folder, TESSERA_POLICY="tile", TESSERA_JIT="off")[0]
        self.assertEqual({first, second, unused}, {first})


class Memory(Process):
    def test_only_what_the_gradients_need_is_kept(self):
        text = """
torch.ops.load_library(library)
ops = torch.ops.tessera
for wanted in range(3):
    x, w, b = torch.randn(10, 4), torch.randn(3, 4), torch.randn(3)
    (x, w, b)[wanted].requires_grad_()
    for op in ops.linear, ops.linear_gelu:
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(tuple(t.shape)) or t, lambda t: t):
            op(x, w, b)
        print(kept)"""
        out, _ = self.run_python(text, TESSERA_POLICY="tile")
        expected = [(3, 4)], [(3, 4), (10, 3)], [(10, 4)], [(10, 4), (10, 3)], [], [(10, 3)]
        self.assertEqual(out.splitlines(), [str(kept) for kept in expected])


class Loading(Process):
    def test_B99_B122_no_cuda_at_load(self):
        text = """
def opened():
    maps = open('/proc/self/maps').read()
    return [name for name in ('libcuda.so', 'libnvrtc.so') if name in maps]
before = opened()  # what importing torch alone opens
torch.ops.load_library(library)
print(torch.ops.tessera.add(torch.ones(2), torch.ones(2)).tolist(), torch.cuda.is_initialized())
print(opened() == before)"""
        out, _ = self.run_python(text, CUDA_VISIBLE_DEVICES="")
        self.assertEqual(out, "[2.0, 2.0] False\nTrue")

    def test_B99_fork(self):
        self.check_child("good = torch.ops.tessera.softmax(torch.zeros(4), 0).tolist() == [0.25] * 4")

    def test_B124_before_the_library(self):
        text = """
try:
    torch.ops.tessera.add
except AttributeError as error:
    print(error)
torch.ops.load_library(library)
torch.ops.load_library(library)
print(torch.ops.tessera.add(torch.ones(1), torch.ones(1)).item())"""
        out, _ = self.run_python(text)
        self.assertEqual(out, "'_OpNamespace' 'tessera' object has no attribute 'add'\n2.0")

    def test_B126_a_second_copy(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "libcopy.so")
            shutil.copy(LIBRARY, copy)
            text = f"""
torch.ops.load_library(library)
torch.ops.load_library({copy!r})
print(torch.ops.tessera.add(torch.ones(1), torch.ones(1)).item())"""
            out, err = self.run_python(text)
        self.assertEqual(out, "2.0")
        self.assertIn("another copy of libtessera.so is loaded in this process: this one registers nothing", err)

    def test_the_policy_is_asked_for_by_every_call(self):
        text = """
import os
torch.ops.load_library(library)
ops = torch.ops.tessera
x, q = torch.ones(2, 3), torch.ones(1, 1, 2, 4, requires_grad=True)
calls = (
    lambda: torch.func.vmap(lambda t: ops.softmax(t, 0))(x),
    lambda: torch.func.grad(lambda t: ops.linear(t, x).sum())(x),
    lambda: ops.add(x.to('meta'), x.to('meta')),
    lambda: torch.compile(lambda t: ops.scaled_dot_product_attention(t, t, t, None, 0.5), backend='aot_eager')(q),
)
for policy in 'fast', 'tile':
    os.environ['TESSERA_POLICY'] = policy
    for call in calls:
        try:
            call()
            print('no error')
        except Exception as error:
            line = next(line for line in str(error).splitlines() if 'polic' in line or 'POLICY' in line)
            print(line[line.find('TESSERA_POLICY' if policy == 'fast' else 'scaled_dot_product_attention():'):].rstrip("')"))"""
        out, _ = self.run_python(text)
        wrong = "TESSERA_POLICY=fast is not legal: expected one of auto, tile, native;"
        refused = "scaled_dot_product_attention(): the policy is tile, but no tile kernel supports dropout_p = 0.5. Policy auto runs ATen here"
        lines = out.splitlines()
        self.assertEqual([line.startswith(wrong) for line in lines[:4]], [True] * 4, out)
        self.assertEqual(lines[4:], ["no error"] * 3 + [refused])

    def test_mistakes_in_the_environment(self):
        text = """
import os
torch.ops.load_library(library)
for setting in (
    "TESSERA_POLICY=fast",
    "TESSERA_JIT=fast",
    "TESSERA_LOG=all",
    "TESSERA_DUMP=asm",
    "TESSERA_CACHE_MAX_MB=-1",
    "TESSERA_PLANS=/no/plans.json",
    "TESSERA_RECORDS=/no/records.json",
):
    name, value = setting.split("=")
    os.environ[name] = value
    try:
        torch.ops.tessera.add(torch.ones(1), torch.ones(1))
        print("no error")
    except RuntimeError as error:
        print(str(error).splitlines()[0])
    del os.environ[name]"""
        out, err = self.run_python(text)
        expected = (
            "TESSERA_POLICY=fast is not legal: expected one of auto, tile, native;",
            "TESSERA_JIT=fast is not legal: expected one of block, background, off;",
            "TESSERA_LOG=all is not legal: expected a list, separated by commas, of dispatch, compile, cache;",
            "TESSERA_DUMP=asm is not legal: expected a list, separated by commas, of pass, cuda, ptx, sass;",
            "TESSERA_CACHE_MAX_MB=-1 is not legal: expected a whole number of megabytes from 0 to 17592186044415;",
            "TESSERA_PLANS=/no/plans.json: ",
            "no error",
        )
        lines = out.splitlines()
        self.assertEqual(len(lines), len(expected), out)
        for line, start in zip(lines, expected):
            self.assertTrue(line.startswith(start), line)
        self.assertIn("tessera: warning: TESSERA_RECORDS=/no/records.json: ", err)


if __name__ == "__main__":
    unittest.main(verbosity=1)
