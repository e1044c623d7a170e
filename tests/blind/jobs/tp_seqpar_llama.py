# Llama-like blocks, tensor parallel over 2 GPUs with sequence parallel norms.
# torchrun --nproc-per-node 2 tp_seqpar_llama.py
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

VOCAB, DIM, HEADS, KV_HEADS, LAYERS = 32000, 2048, 16, 8, 10
SEQ, BATCH, STEPS, WARMUP = 1024, 6, 120, 15
HEAD_DIM = DIM // HEADS


def rotary(t, device):
    inv = 1.0 / 10000 ** (torch.arange(0, HEAD_DIM, 2, device=device) / HEAD_DIM)
    ang = torch.outer(torch.arange(t, device=device), inv)
    return torch.cos(ang), torch.sin(ang)


def rotate(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).type_as(x)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, HEADS * HEAD_DIM, bias=False)
        self.wk = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.wv = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.wo = nn.Linear(HEADS * HEAD_DIM, DIM, bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, -1, HEAD_DIM).transpose(1, 2)
        k = self.wk(x).view(b, t, -1, HEAD_DIM).transpose(1, 2)
        v = self.wv(x).view(b, t, -1, HEAD_DIM).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        rep = HEADS // KV_HEADS
        k, v = k.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class SwiGLU(nn.Module):
    def __init__(self):
        super().__init__()
        hidden = DIM * 3
        self.w1, self.w3 = nn.Linear(DIM, hidden, bias=False), nn.Linear(DIM, hidden, bias=False)
        self.w2 = nn.Linear(hidden, DIM, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(DIM), nn.RMSNorm(DIM)
        self.attention, self.mlp = Attention(), SwiGLU()

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.RMSNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, ids, cos, sin):
        h = self.embed(ids)
        for block in self.blocks:
            h = block(h, cos, sin)
        return self.head(self.norm(h))


on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
device = torch.device(f"cuda:{os.environ['LOCAL_RANK']}" if on_gpu else "cpu")
if on_gpu:
    torch.cuda.set_device(device)
tp = init_device_mesh(device.type, (world,))

torch.manual_seed(42)
with torch.device(device):
    model = Llama()
model.to(torch.bfloat16)
parallelize_module(model, tp, {
    "embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
    "norm": SequenceParallel(),
    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
})
plan = {
    "norm1": SequenceParallel(),
    "norm2": SequenceParallel(),
    "attention": PrepareModuleInput(
        input_layouts=(Shard(1), None, None), desired_input_layouts=(Replicate(), None, None)),
    "attention.wq": ColwiseParallel(),
    "attention.wk": ColwiseParallel(),
    "attention.wv": ColwiseParallel(),
    "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
    "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
    "mlp.w1": ColwiseParallel(),
    "mlp.w3": ColwiseParallel(),
    "mlp.w2": RowwiseParallel(output_layouts=Shard(1)),
}
for block in model.blocks:
    parallelize_module(block, tp, plan)

optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, betas=(0.9, 0.95), foreach=False)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / WARMUP))
cos, sin = rotary(SEQ, device)
gen = torch.Generator(device).manual_seed(8)
loss_window = []
start = time.time()
for step in range(1, STEPS + 1):
    phrase = torch.randint(0, VOCAB, (BATCH, 48), generator=gen, device=device)
    ids = phrase.repeat(1, SEQ // 48 + 2)[:, : SEQ + 1]
    logits = model(ids[:, :-1], cos, sin)
    loss = F.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    schedule.step()
    optimizer.zero_grad(set_to_none=True)
    loss_window.append(loss.detach())
    if step % 20 == 0:
        mean = torch.stack(loss_window).mean().item()
        loss_window.clear()
        if rank == 0:
            print(f"step {step:4d} loss {mean:.3f} tokens/s {step * BATCH * SEQ / (time.time() - start):.0f}", flush=True)

dist.barrier()
dist.destroy_process_group()
