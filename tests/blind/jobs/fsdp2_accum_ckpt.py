import argparse
import os
import shutil
import tempfile
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.stateful import Stateful
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

parser = argparse.ArgumentParser(description="FSDP2, gradient accumulation, resumable checkpoints")
parser.add_argument("--dim", type=int, default=1280)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--heads", type=int, default=10)
parser.add_argument("--vocab", type=int, default=16384)
parser.add_argument("--seq", type=int, default=768)
parser.add_argument("--micro-batch", type=int, default=8)
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--updates", type=int, default=100)
parser.add_argument("--save-every", type=int, default=50)


class Mixer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm_a, self.norm_m = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.q, self.kv = nn.Linear(dim, dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.gate, self.up = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, 3 * dim, bias=False)
        self.down = nn.Linear(3 * dim, dim, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        h = self.norm_a(x)
        shape = (b, t, self.heads, c // self.heads)
        k, v = self.kv(h).chunk(2, -1)
        q, k, v = (z.reshape(shape).transpose(1, 2) for z in (self.q(h), k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.o(y)
        h = self.norm_m(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Net(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.emb = nn.Embedding(a.vocab, a.dim)
        self.blocks = nn.ModuleList(Mixer(a.dim, a.heads) for _ in range(a.layers))
        self.norm = nn.RMSNorm(a.dim)
        self.lm_head = nn.Linear(a.dim, a.vocab, bias=False)

    def forward(self, ids):
        x = self.emb(ids)
        for blk in self.blocks:
            x = blk(x)
        return self.lm_head(self.norm(x))


class TrainState(Stateful):
    def __init__(self, model, optim):
        self.model, self.optim, self.update = model, optim, 0

    def state_dict(self):
        m, o = get_state_dict(self.model, self.optim)
        return {"model": m, "optim": o, "update": self.update}

    def load_state_dict(self, sd):
        set_state_dict(self.model, self.optim, model_state_dict=sd["model"], optim_state_dict=sd["optim"])
        self.update = sd["update"]


def export_weights(model, path):
    """Consolidated bf16 weights for inference, written by rank 0."""
    out = {}
    for name, p in model.state_dict().items():
        full = p.full_tensor() if isinstance(p, DTensor) else p
        if dist.get_rank() == 0:
            out[name] = full.to("cpu", torch.bfloat16)
        del full
    if dist.get_rank() == 0:
        torch.save(out, path)
        print(f"exported {len(out)} tensors, {os.path.getsize(path) / 2**20:.0f} MiB", flush=True)
    dist.barrier()


def batches(a, device, seed):
    gen = torch.Generator(device).manual_seed(seed)
    while True:
        base = torch.randint(0, a.vocab, (a.micro_batch, 64), generator=gen, device=device)
        ids = base.repeat(1, a.seq // 64 + 2)[:, : a.seq + 1]
        yield ids[:, :-1], ids[:, 1:]


def train(a, device, folder):
    rank = dist.get_rank()
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    torch.manual_seed(11)
    model = Net(a).to(device)
    mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for blk in model.blocks:
        fully_shard(blk, mesh=mesh, mp_policy=mp)
    fully_shard(model, mesh=mesh, mp_policy=mp)
    optim = torch.optim.AdamW(model.parameters(), lr=3e-4)
    state = TrainState(model, optim)
    data = batches(a, device, 1000 + rank)
    began = time.time()
    while state.update < a.updates:
        running = torch.zeros((), device=device)
        for micro in range(a.accumulate):
            last = micro == a.accumulate - 1
            model.set_requires_gradient_sync(last)
            ids, target = next(data)
            loss = F.cross_entropy(model(ids).float().flatten(0, 1), target.flatten()) / a.accumulate
            loss.backward()
            running += loss.detach()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        optim.zero_grad(set_to_none=True)
        state.update += 1
        if state.update % 10 == 0 and rank == 0:
            print(f"update {state.update} loss {running.item():.3f} {time.time() - began:.1f}s", flush=True)
        if state.update == a.save_every:
            target_dir = os.path.join(folder, f"update{state.update:05d}")
            dcp.save({"app": state}, checkpoint_id=target_dir)
            export_weights(model, os.path.join(folder, "weights.pt"))
            dcp.load({"app": state}, checkpoint_id=target_dir)  # check that it can be resumed
            if rank == 0:
                print("checkpoint written and read back", flush=True)


if __name__ == "__main__":
    args = parser.parse_args()
    use_cuda = torch.cuda.is_available()
    dist.init_process_group("cuda:nccl,cpu:gloo" if use_cuda else "gloo")
    dev = torch.device("cpu")
    if use_cuda:
        dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(dev)
    work = os.path.join(tempfile.gettempdir(), f"fsdp2_accum_{os.environ.get('TORCHELASTIC_RUN_ID', '0')}")
    os.makedirs(work, exist_ok=True)
    train(args, dev, work)
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(work, ignore_errors=True)
    dist.destroy_process_group()
