# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""A language model over two pipeline stages: torchrun --nproc-per-node 2 pipeline_two.py"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

CUDA = torch.cuda.is_available()
VOCAB = 50304 if CUDA else 64
DIM = 1024 if CUDA else 32
HEADS = 16 if CUDA else 2
LAYERS = 12 if CUDA else 4
SEQ = 512 if CUDA else 8
MICROBATCH = 2
MICROBATCHES = 8 if CUDA else 4
STEPS = 30


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn_norm, self.mlp_norm = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.fc1, self.fc2 = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(self.attn_norm(x)).view(b, s, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, d)
        x = x + self.proj(attended)
        return x + self.fc2(F.gelu(self.fc1(self.mlp_norm(x))))


class FirstStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, DIM), nn.Embedding(SEQ, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS // 2))

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return x


class LastStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS // 2))
        self.norm, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def lm_loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local_rank) if CUDA else torch.device("cpu")
    if CUDA:
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    else:
        dist.init_process_group("gloo")
    rank, stages = dist.get_rank(), dist.get_world_size()
    assert stages == 2, "this model has two stages"

    torch.manual_seed(rank)
    module = (FirstStage() if rank == 0 else LastStage()).to(device)
    stage = PipelineStage(module, rank, stages, device)
    schedule = ScheduleGPipe(stage, n_microbatches=MICROBATCHES, loss_fn=lm_loss)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-4)

    generator = torch.Generator(device="cpu").manual_seed(7)
    for step in range(1, STEPS + 1):
        tokens = torch.randint(VOCAB, (MICROBATCH * MICROBATCHES, SEQ + 1), generator=generator).to(device)
        optimizer.zero_grad()
        if rank == 0:
            schedule.step(tokens[:, :-1].contiguous())
        else:
            losses = []
            schedule.step(target=tokens[:, 1:].contiguous(), losses=losses)
            if step % 10 == 0:
                print(f"step {step}: loss {torch.stack(losses).mean().item():.4f}", flush=True)
        optimizer.step()

    if CUDA:
        print(f"stage {rank}: peak {torch.cuda.max_memory_allocated() >> 20} MiB", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
