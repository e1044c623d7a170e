# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Train a sparse crosscoder on the MLP outputs of three layers of a language model.

Forward hooks collect the activations of several batches of text. As soon as enough tokens are there, the crosscoder is
fitted on minibatches that mix tokens of all collected batches, so that one document does not dominate a gradient.
Explained variance, sparsity and the share of features that never fire are printed after each fit.
"""

import json
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GPT2Config, GPT2Model

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class CrosscoderConfig:
    vocab: int = 8192
    width: int = 1024
    layers: int = 6
    heads: int = 16
    hook_layers: tuple = (1, 3, 5)
    sequences: int = 64
    context: int = 256
    rounds: int = 48
    batches_per_fit: int = 8
    features: int = 4096
    minibatch: int = 4096
    sparsity: float = 2e-3
    lr: float = 3e-4
    text_latency: float = 0.2

    @classmethod
    def from_env(cls):
        if os.environ.get("SMALL") == "1":
            return cls(vocab=128, width=32, layers=3, heads=2, hook_layers=(0, 1, 2), sequences=4, context=16,
                       rounds=16, batches_per_fit=4, features=64, minibatch=64, text_latency=0.0)
        return cls()


class Subject:
    """The language model under study; its weights stay fixed."""

    def __init__(self, cfg: CrosscoderConfig):
        self.model = GPT2Model(GPT2Config(vocab_size=cfg.vocab, n_positions=cfg.context, n_embd=cfg.width,
                                          n_layer=cfg.layers, n_head=cfg.heads)).to(DEVICE).eval()
        self.hook_layers = cfg.hook_layers

    @contextmanager
    def recording(self, sink):
        handles = []
        for layer in self.hook_layers:
            def record(module, inputs, output, layer=layer):
                sink[layer] = output.flatten(0, 1)
            handles.append(self.model.h[layer].mlp.register_forward_hook(record))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    @torch.no_grad()
    def activations(self, tokens):
        sink = {}
        with self.recording(sink):
            self.model(input_ids=tokens, use_cache=False)
        return torch.stack([sink[layer] for layer in self.hook_layers], dim=1)


class ActivationStore:
    def __init__(self):
        self.chunks = []

    def add(self, activations):
        self.chunks.append(activations)

    def tokens(self):
        return sum(chunk.shape[0] for chunk in self.chunks)

    def minibatches(self, size):
        share = size // len(self.chunks)
        orders = [torch.randperm(chunk.shape[0], device=DEVICE) for chunk in self.chunks]
        for start in range(0, self.chunks[0].shape[0] - share + 1, share):
            rows = [chunk[order[start:start + share]] for chunk, order in zip(self.chunks, orders)]
            yield torch.cat(rows)

    def scale(self):
        mean_norm = sum(chunk.norm(dim=-1).mean().item() for chunk in self.chunks) / len(self.chunks)
        return self.chunks[0].shape[-1] ** 0.5 / max(mean_norm, 1e-6)

    def reset(self):
        self.chunks.clear()


class Crosscoder(nn.Module):
    def __init__(self, layers, width, features):
        super().__init__()
        self.encoder = nn.Linear(layers * width, features)
        self.decoder = nn.Linear(features, layers * width)
        with torch.no_grad():
            self.decoder.weight.copy_(F.normalize(self.encoder.weight.t(), dim=0) * 0.1)

    def forward(self, activations):
        flat = activations.flatten(1)
        code = F.relu(self.encoder(flat))
        return self.decoder(code), code, flat


class CrosscoderTrainer:
    def __init__(self, cfg: CrosscoderConfig):
        self.cfg = cfg
        self.subject = Subject(cfg)
        self.store = ActivationStore()
        self.coder = Crosscoder(len(cfg.hook_layers), cfg.width, cfg.features).to(DEVICE)
        self.optimizer = torch.optim.Adam(self.coder.parameters(), lr=cfg.lr)
        self.fired = torch.zeros(cfg.features, dtype=torch.bool, device=DEVICE)

    def collect(self):
        tokens = torch.randint(0, self.cfg.vocab, (self.cfg.sequences, self.cfg.context), device=DEVICE)
        self.store.add(self.subject.activations(tokens))

    def ready(self):
        return len(self.store.chunks) >= self.cfg.batches_per_fit

    def fit(self):
        self.fired.zero_()
        scale = self.store.scale()
        error, power, active, seen = 0.0, 0.0, 0.0, 0
        for batch in self.store.minibatches(self.cfg.minibatch):
            guess, code, flat = self.coder(batch * scale)
            mse = (guess - flat).square().sum(dim=1).mean()
            norms = self.coder.decoder.weight.norm(dim=0)
            loss = mse + self.cfg.sparsity * (code * norms).sum(dim=1).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.fired |= (code > 0).any(dim=0)
            error += mse.item()
            power += flat.var(dim=0).sum().item()
            active += (code > 0).sum(dim=1).float().mean().item()
            seen += 1
        self.store.reset()
        dead = 1.0 - self.fired.float().mean().item()
        return {"explained": 1 - error / power, "active": active / seen, "dead": dead}


def main():
    torch.manual_seed(1)
    cfg = CrosscoderConfig.from_env()
    trainer = CrosscoderTrainer(cfg)
    allocated = []
    try:
        for index in range(cfg.rounds):
            trainer.collect()
            if trainer.ready():
                tokens = trainer.store.tokens()
                report = trainer.fit()
                print(f"round {index:3d}  {tokens} tokens  " + "  ".join(f"{k} {v:.3f}" for k, v in report.items()))
            time.sleep(cfg.text_latency)
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
