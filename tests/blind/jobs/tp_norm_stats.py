"""Tensor parallel + sequence parallel training with activation statistics per block.

    torchrun --nproc-per-node 2 tp_norm_stats.py
"""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)


class SelfAttention(nn.Module):
    def __init__(self, dim, head_dim):
        super().__init__()
        self.head_dim = head_dim
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, -1, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class FeedForward(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1 = nn.Linear(dim, 4 * dim, bias=False)
        self.w2 = nn.Linear(4 * dim, dim, bias=False)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class Block(nn.Module):
    def __init__(self, dim, head_dim):
        super().__init__()
        self.attn_norm, self.ffn_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn, self.ffn = SelfAttention(dim, head_dim), FeedForward(dim)

    def forward(self, x):
        x = x + self.attn(self.attn_norm(x))
        return x + self.ffn(self.ffn_norm(x))


class Decoder(nn.Module):
    def __init__(self, vocab, dim, layers, head_dim):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, head_dim) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        x = self.tok(ids)
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x))


def shard_model(model, mesh):
    model = parallelize_module(model, mesh, {
        "tok": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
    })
    for blk in model.blocks:
        parallelize_module(blk, mesh, {
            "attn_norm": SequenceParallel(),
            "attn": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate()),
            "attn.wq": ColwiseParallel(),
            "attn.wk": ColwiseParallel(),
            "attn.wv": ColwiseParallel(),
            "attn.wo": RowwiseParallel(output_layouts=Shard(1)),
            "ffn_norm": SequenceParallel(),
            "ffn": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate()),
            "ffn.w1": ColwiseParallel(),
            "ffn.w2": RowwiseParallel(output_layouts=Shard(1)),
        })
    return model


class NormStats:
    """Collects what leaves the norms so that outlier channels can be reported."""

    def __init__(self, model, which):
        self.records = {i: [] for i in which}
        for i in which:
            model.blocks[i].ffn_norm.register_forward_hook(self._make_hook(i))

    def _make_hook(self, index):
        def hook(module, inputs, output):
            self.records[index].append(output)
        return hook

    def report(self):
        stats = {}
        for i, acts in self.records.items():
            last = acts[-1].detach()
            local = (last.to_local() if isinstance(last, DTensor) else last).float()
            stats[i] = (local.abs().amax().item() / local.std().item(), len(acts))
        return stats


def run(a):
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(dev)
    mesh = init_device_mesh(dev.type, (world,), mesh_dim_names=("tp",))
    torch.manual_seed(3)
    model = Decoder(a.vocab, a.dim, a.layers, a.head_dim).to(dev, torch.bfloat16)
    model = shard_model(model, mesh)
    stats = NormStats(model, [0, a.layers // 2, a.layers - 1])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
    gen = torch.Generator(dev).manual_seed(17)  # every tp rank sees the same batch
    for step in range(1, a.steps + 1):
        base = torch.randint(0, a.vocab, (a.batch, 32), generator=gen, device=dev)
        ids = base.repeat(1, a.seq // 32 + 1)
        logits = model(ids[:, : a.seq])
        loss = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1 : a.seq + 1].flatten())
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % a.log_every == 0:
            peaks = {i: round(v, 1) for i, (v, n) in stats.report().items()}
            if rank == 0:
                print(f"step {step} loss {loss.item():.3f} max/std per block {peaks}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--vocab", type=int, default=16384)
    p.add_argument("--dim", type=int, default=2048)
    p.add_argument("--head-dim", type=int, default=128)
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--batch", type=int, default=6)
    p.add_argument("--seq", type=int, default=1024)
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--log-every", type=int, default=25)
    run(p.parse_args())
