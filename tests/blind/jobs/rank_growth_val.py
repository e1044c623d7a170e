# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Train a next-character model on two GPUs; the second one validates: torchrun --nproc-per-node 2 rank_growth_val.py"""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

cuda = torch.cuda.is_available()
vocab_size = 2048 if cuda else 32
block_size = 256 if cuda else 16
batch_size = 12 if cuda else 2
n_embd = 512 if cuda else 16
n_head = 8 if cuda else 2
n_layer = 6 if cuda else 2
max_iters = 60
eval_interval = 5

eval_results = {}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in self.c_attn(self.ln_1(x)).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        x = x + self.c_proj(y)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(block_size, n_embd)
        self.h = nn.Sequential(*[Block() for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), device=idx.device))
        logits = self.lm_head(self.ln_f(self.h(x)))
        return logits, F.cross_entropy(logits.view(-1, vocab_size), targets.view(-1))


def get_batch(device):
    data = torch.randint(vocab_size, (batch_size, block_size + 1), device=device)
    return data[:, :-1].contiguous(), data[:, 1:].contiguous()


@torch.no_grad()
def evaluate(model, device, it):
    model.eval()
    X, Y = get_batch(device)
    logits, loss = model(X, Y)
    eval_results[it] = {"logits": logits, "targets": Y, "loss": loss.item()}
    model.train()
    accuracy = (logits.argmax(-1) == Y).float().mean().item()
    print(f"iter {it}: val loss {loss.item():.4f}, accuracy {accuracy:.4f}", flush=True)


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device(f"cuda:{local_rank}" if cuda else "cpu")
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group(backend="nccl" if cuda else "gloo")
    rank = dist.get_rank()
    evaluates = rank == dist.get_world_size() - 1
    torch.manual_seed(1337 + rank)

    raw_model = GPT().to(device)
    model = nn.parallel.DistributedDataParallel(raw_model, device_ids=[local_rank] if cuda else None)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95))
    for it in range(max_iters):
        if it % eval_interval == 0 and evaluates:
            evaluate(raw_model, device, it)
        X, Y = get_batch(device)
        _, loss = model(X, Y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    if evaluates:
        best = min(eval_results, key=lambda i: eval_results[i]["loss"])
        print(f"best iteration {best}", flush=True)
    if cuda:
        print(f"rank {rank}: {torch.cuda.memory_allocated() / 2**20:.0f} MiB", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
