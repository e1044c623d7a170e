# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-tune a decoder with FSDP2: torchrun --nproc-per-node 2 fsdp_no_reshard.py"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

CUDA = torch.cuda.is_available()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dim", type=int, default=2048 if CUDA else 32)
    parser.add_argument("--layers", type=int, default=12 if CUDA else 2)
    parser.add_argument("--heads", type=int, default=16 if CUDA else 2)
    parser.add_argument("--vocab", type=int, default=8192 if CUDA else 64)
    parser.add_argument("--seq-len", type=int, default=256 if CUDA else 8)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40)
    return parser.parse_args()


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.input_norm, self.post_norm = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.gate, self.up = nn.Linear(dim, 4 * dim, bias=False), nn.Linear(dim, 4 * dim, bias=False)
        self.down = nn.Linear(4 * dim, dim, bias=False)

    def attention(self, x):
        b, s, d = x.shape
        q, k, v = (p(x).view(b, s, self.heads, d // self.heads).transpose(1, 2) for p in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, d))

    def forward(self, x):
        x = x + self.attention(self.input_norm(x))
        h = self.post_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embed = nn.Embedding(args.vocab, args.dim)
        self.layers = nn.ModuleList(DecoderLayer(args.dim, args.heads) for _ in range(args.layers))
        self.norm, self.lm_head = nn.RMSNorm(args.dim), nn.Linear(args.dim, args.vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def wrap(model):
    mesh = init_device_mesh("cuda" if CUDA else "cpu", (dist.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, reshard_after_forward=False)
    return fully_shard(model, mesh=mesh, reshard_after_forward=False)


def main():
    args = arguments()
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local_rank) if CUDA else torch.device("cpu")
    if CUDA:
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    else:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    with device:
        model = Decoder(args)
    wrap(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    torch.manual_seed(dist.get_rank())
    for step in range(1, args.steps + 1):
        ids = torch.randint(args.vocab, (args.batch_size, args.seq_len + 1), device=device)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0 and dist.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
    if CUDA:
        print(f"rank {dist.get_rank()}: {torch.cuda.memory_allocated() >> 20} MiB now, "
              f"{torch.cuda.max_memory_allocated() >> 20} MiB at most", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
