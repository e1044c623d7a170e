"""GPT-2 small on random tokens, seeded: batch 4, lengths 64 to 511, AdamW. Prints the losses' digest and step times.

python gpt2.py [--steps N] [--warm-up N] [--layers N] [--device cuda] [--deterministic]
"""

import argparse
import hashlib
import json
import os
import struct
import time

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.c_attn(x).split(width, dim=2)
        )
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.act = nn.GELU(approximate="tanh")
        self.c_proj = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = MLP(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, vocabulary=50257, longest=1024):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(longest, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.wte(tokens) + self.wpe(positions)
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def train(steps, warm_up, layers=12, device="cuda", at_step=lambda step, loss: None):
    """Returns the losses and the seconds of the steps after the warm-up."""
    torch.manual_seed(1)
    lengths = torch.Generator().manual_seed(2)
    model = GPT2(layers=layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses, started = [], 0.0
    for step in range(warm_up + steps):
        if step == warm_up:
            torch.cuda.synchronize()
            started = time.perf_counter()
        length = int(torch.randint(64, 512, (1,), generator=lengths))
        tokens = torch.randint(0, 50257, (4, length), generator=lengths).to(device)
        optimizer.zero_grad()
        loss = model(tokens)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        at_step(step, loss)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    return [float(loss) for loss in losses], seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--deterministic", action="store_true", help="the same losses in every run, bit for bit")
    options = parser.parse_args()
    if options.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    losses, seconds = train(options.steps, options.warm_up, options.layers, options.device)
    digest = hashlib.sha256(struct.pack(f"{len(losses)}d", *losses)).hexdigest()
    print(json.dumps({"step_ms": 1000 * seconds / options.steps, "losses": digest, "last_loss": losses[-1]}))


if __name__ == "__main__":
    main()
