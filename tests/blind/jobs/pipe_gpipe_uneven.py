"""Two pipeline stages with torch.distributed.pipelining, split where the profile said.

    torchrun --nproc-per-node 2 pipe_gpipe_uneven.py
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.n2(x))


class FirstStage(nn.Module):
    def __init__(self, vocab, seq, dim, heads, layers):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.zeros(seq, dim))
        self.blocks = nn.Sequential(*[EncoderBlock(dim, heads) for _ in range(layers)])

    def forward(self, ids):
        return self.blocks(self.tok(ids) + self.pos[: ids.shape[1]])


class LastStage(nn.Module):
    def __init__(self, vocab, dim, heads, layers):
        super().__init__()
        self.blocks = nn.Sequential(*[EncoderBlock(dim, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, h):
        return self.head(self.norm(self.blocks(h)))


def token_loss(logits, target):
    return F.cross_entropy(logits.float().flatten(0, 1), target.flatten())


def build(a, rank, device):
    torch.manual_seed(21 + rank)
    if rank == 0:
        part = FirstStage(a.vocab, a.seq, a.dim, a.heads, a.first_layers)
    else:
        part = LastStage(a.vocab, a.dim, a.heads, a.last_layers)
    part = part.to(device, torch.bfloat16)
    stage = PipelineStage(part, rank, 2, device)
    schedule = ScheduleGPipe(stage, n_microbatches=a.micro, loss_fn=token_loss)
    return part, schedule


def train(a):
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    part, schedule = build(a, rank, device)
    opt = torch.optim.AdamW(part.parameters(), lr=1e-4)
    count = sum(p.numel() for p in part.parameters())
    print(f"stage {rank}: {count / 1e6:.0f}M parameters", flush=True)

    gen = torch.Generator(device).manual_seed(4)
    window, began = [], time.time()
    for step in range(1, a.steps + 1):
        motif = torch.randint(0, a.vocab, (a.batch, 40), generator=gen, device=device)
        ids = motif.repeat(1, a.seq // 40 + 2)[:, : a.seq + 1]
        inputs, target = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
        if rank == 0:
            schedule.step(inputs)
        else:
            losses = []
            schedule.step(target=target, losses=losses)
            window.append(torch.stack([loss.detach() for loss in losses]).mean().item())
        torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        if step % 20 == 0 and rank == 1:
            print(f"step {step} loss {sum(window[-20:]) / 20:.3f} {time.time() - began:.1f}s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--vocab", type=int, default=32000)
    p.add_argument("--seq", type=int, default=1024)
    p.add_argument("--dim", type=int, default=2048)
    p.add_argument("--heads", type=int, default=16)
    p.add_argument("--first-layers", type=int, default=4)
    p.add_argument("--last-layers", type=int, default=7)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--micro", type=int, default=4)
    p.add_argument("--steps", type=int, default=180)
    train(p.parse_args())
