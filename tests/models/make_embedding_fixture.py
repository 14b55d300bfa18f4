"""Writes tests/models/embeddings.json: sentences and their embeddings by all-MiniLM-L6-v2, computed in float64.

    pip install numpy tokenizers==0.23.3 && python3 tests/models/make_embedding_fixture.py FOLDER_OF_THE_MODEL

Nothing of torch is used: this is BERT, mean pooling and normalization written out in numpy, one sentence at a time
and so without padding.
"""
import json
import math
import pathlib
import sys

import numpy as np
from tokenizers import Tokenizer

SENTENCES = [
    "The compiler turns a tile program into a kernel.",
    "A kernel is generated from a program over tiles.",
    "The cat sat on the warm windowsill all afternoon.",
    "Élan vital: naïve façades & 3.14159 – ¿qué?",
    "北京的秋天很美 😀",
    "x",
    "",
    "This sentence is much longer than the others, so that a batch of all of them has rows with a lot of padding, "
    "which neither attention nor the mean over the tokens may ever see; and it goes on for a while, about shared "
    "memory, registers, warps, barriers, pipelines, and everything else that a kernel author has to think about.",
]


def read_safetensors(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(data[start + begin:start + end], "<f4").astype(np.float64)
            tensors[name] = values.reshape(entry["shape"])
    return tensors


def encode(ids, t, config):
    eps, heads = config["layer_norm_eps"], config["num_attention_heads"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * t[name + ".weight"] + t[name + ".bias"]

    def linear(x, name):
        return x @ t[name + ".weight"].T + t[name + ".bias"]

    x = t["embeddings.word_embeddings.weight"][ids] + t["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + t["embeddings.position_embeddings.weight"][:len(ids)], "embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        q, k, v = (linear(x, f"{layer}attention.self.{name}").reshape(len(ids), heads, -1).transpose(1, 0, 2)
                   for name in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        out = (weights / weights.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(x.shape)
        x = norm(x + linear(out, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
        hidden = linear(x, layer + "intermediate.dense")
        hidden = hidden / 2 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
        x = norm(x + linear(hidden, layer + "output.dense"), layer + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def main():
    folder = pathlib.Path(sys.argv[1])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tensors, config = read_safetensors(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    rows = []
    for sentence in SENTENCES:
        embedding = encode(tokenizer.encode(sentence).ids, tensors, config)
        rows.append(json.dumps([sentence, [round(float(v), 9) for v in embedding]]))
    pathlib.Path(__file__).with_name("embeddings.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
