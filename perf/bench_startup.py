#!/usr/bin/env python3
"""What a process pays once: loading the library, and the first call of each operator on the GPU.

    python3 perf/bench_startup.py build/default/lib/libtessera.so --out perf/results/NVIDIA_H200

Every measurement is a process of its own under TESSERA_POLICY=tile: with an empty cache (the kernel is compiled), with the
one that the process before has filled, and the same call of native torch. Writes startup.json.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

CALLS = {
    "add": ("add 4096x4096 --dtype bf16", "t.add(n(4096, 4096), n(4096, 4096))"),
    "linear": ("linear 4096x768x3072 --dtype bf16", "t.linear(n(4096, 768), n(3072, 768), n(3072))"),
    "linear_gelu": ("linear_gelu 4096x768x3072 --dtype bf16", "t.linear_gelu(n(4096, 768), n(3072, 768), n(3072))"),
    "softmax": ("softmax 4096x4096 --dtype bf16", "t.softmax(n(4096, 4096), -1)"),
    "attention": ("scaled_dot_product_attention 4x16x1024x64 --dtype bf16",
                  "t.scaled_dot_product_attention(*(n(4, 16, 1024, 64) for _ in range(3)))"),
    "causal attention": ("flash_attention 4x16x1024x64 --causal --dtype bf16",
                         "t.flash_attention(*(n(4, 16, 1024, 64) for _ in range(3)), is_causal=True)"),
}

CHILD = """
import json, sys, time
import torch
n = lambda *sizes: torch.randn(*sizes, device="cuda").to(torch.bfloat16)
n(64, 64) @ n(64, 64)  # the context and cuBLAS
begin = time.perf_counter()
torch.ops.load_library(sys.argv[1])
loaded = time.perf_counter()
t = torch.ops.tessera
torch.cuda.synchronize()
times = []
for _ in range(3):
    begin_call = time.perf_counter()
    {call}
    torch.cuda.synchronize()
    times.append(1e3 * (time.perf_counter() - begin_call))
print(json.dumps({{"load_ms": 1e3 * (loaded - begin), "first_ms": times[0], "next_ms": min(times[1:])}}))
"""


def run(library, call, cache, policy):
    words = ["env", f"TESSERA_CACHE_DIR={cache}", f"TESSERA_POLICY={policy}", sys.executable, "-c", CHILD.format(call=call)]
    child = subprocess.run([*words, library], text=True, capture_output=True, timeout=300)
    if child.returncode != 0:
        sys.exit(f"bench_startup.py: {call} failed:\n{child.stderr}")
    return json.loads(child.stdout.splitlines()[-1])


def measure(library, words, call):
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = run(library, call, cache, "tile"), run(library, call, cache, "tile")
        kernels = sum(1 for path in pathlib.Path(cache).rglob("*") if path.is_file())
    native = run(library, call, "/dev/null", "native")
    return {"call": words, "cache_files": kernels, "cold_first_ms": cold["first_ms"], "cached_first_ms": warm["first_ms"],
            "next_ms": warm["next_ms"], "native_first_ms": native["first_ms"],
            "load_ms": [measured["load_ms"] for measured in (cold, warm, native)]}


def write(path, rows):
    import torch
    loads = [load for row in rows for load in row["load_ms"]]
    result = {"family": "startup", "rows": rows, "failures": [], "library_load_ms": statistics.median(loads),
              "device": torch.cuda.get_device_name(), "driver": torch.version.cuda, "torch": torch.__version__,
              "date": datetime.date.today().isoformat()}
    path.write_text(json.dumps(result, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libtessera.so")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the results")
    arguments = parser.parse_args()
    import torch  # after the words: --help needs none
    if not torch.cuda.is_available():
        parser.error("it needs an NVIDIA GPU, and torch sees none")
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for words, call in CALLS.values():
        rows.append(measure(arguments.library, words, call))
        print(f"{words:<60} first call {rows[-1]['cold_first_ms']:7.0f} ms with an empty cache, "
              f"{rows[-1]['cached_first_ms']:5.0f} ms with it filled, native {rows[-1]['native_first_ms']:5.0f} ms", flush=True)
        write(arguments.out / "startup.json", rows)  # what is measured is kept where a later call fails


if __name__ == "__main__":
    main()
