"""Decoder-only LM with FSDP (FullyShardedDataParallel), bf16 mixed precision.

    torchrun --nproc-per-node 2 fsdp1_lm.py
"""
import functools
import math
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.fsdp import (
    BackwardPrefetch,
    FullyShardedDataParallel as FSDP,
    MixedPrecision,
    ShardingStrategy,
)
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy

DIM = 1536
HEADS = 12
LAYERS = 16
VOCAB = 32000
SEQ = 1024
BATCH = 6
STEPS = 220
EVAL_EVERY = 44
EVAL_BATCHES = 4


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)
        self.attn = Attention(dim, heads)
        self.up = nn.Linear(dim, 4 * dim, bias=False)
        self.down = nn.Linear(4 * dim, dim, bias=False)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(SEQ, DIM)
        self.blocks = nn.ModuleList(Block(DIM, HEADS) for _ in range(LAYERS))
        self.norm = RMSNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)

    def forward(self, ids, targets):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.float().view(-1, VOCAB), targets.reshape(-1))


def make_batch(gen, device):
    """Noisy arithmetic progressions modulo the vocabulary."""
    start = torch.randint(0, VOCAB, (BATCH, 1), generator=gen)
    stride = torch.randint(1, 7, (BATCH, 1), generator=gen)
    ids = (start + stride * torch.arange(SEQ + 1)) % VOCAB
    return ids[:, :-1].to(device, non_blocking=True), ids[:, 1:].to(device, non_blocking=True)


def lr_at(step, peak=3e-4, warmup=20):
    if step < warmup:
        return peak * (step + 1) / warmup
    return 0.1 * peak + 0.45 * peak * (1 + math.cos(math.pi * (step - warmup) / (STEPS - warmup)))


@torch.no_grad()
def evaluate(model, device):
    model.eval()
    gen = torch.Generator().manual_seed(99 + dist.get_rank())
    total = torch.zeros((), device=device)
    for _ in range(EVAL_BATCHES):
        total += model(*make_batch(gen, device))
    dist.all_reduce(total)
    model.train()
    return total.item() / EVAL_BATCHES / dist.get_world_size()


def main():
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    torch.manual_seed(0)

    model = FSDP(
        LM(),
        auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}),
        mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32),
        sharding_strategy=ShardingStrategy.FULL_SHARD,
        backward_prefetch=BackwardPrefetch.BACKWARD_PRE,
        device_id=device,
        limit_all_gathers=True,
        use_orig_params=True,
    )
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    gen = torch.Generator().manual_seed(rank)
    losses, t0 = [], time.time()
    for step in range(STEPS):
        for group in opt.param_groups:
            group["lr"] = lr_at(step)
        loss = model(*make_batch(gen, device))
        loss.backward()
        norm = model.clip_grad_norm_(1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if (step + 1) % EVAL_EVERY == 0:
            val = evaluate(model, device)
            if rank == 0:
                print(f"step {step + 1} train {sum(losses[-EVAL_EVERY:]) / EVAL_EVERY:.3f} "
                      f"val {val:.3f} norm {norm.item():.2f} {time.time() - t0:.1f}s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
