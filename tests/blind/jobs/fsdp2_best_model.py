"""FSDP2 training of a byte-level model with 'restore the best weights' at the end.

    torchrun --nproc-per-node 2 fsdp2_best_model.py
"""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    set_model_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

WIDTH = 2048
LAYERS = 14
HEADS = 16
VOCAB = 1024
SEQ = 1024
BATCH = 4
STEPS = 160
EVAL_EVERY = 20


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(WIDTH)
        self.ln2 = nn.LayerNorm(WIDTH)
        self.wqkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)
        self.w1 = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.w2 = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.wqkv(self.ln1(x)).view(b, t, 3, HEADS, c // HEADS)
        q, k, v = (z.transpose(1, 2) for z in qkv.unbind(2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.wo(a.transpose(1, 2).reshape(b, t, c))
        return x + self.w2(F.relu(self.w1(self.ln2(x))).square())


class ByteModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x))


class BigramSource:
    def __init__(self, seed, device):
        g = torch.Generator().manual_seed(5)
        self.next = torch.randint(0, VOCAB, (VOCAB, 4), generator=g).to(device)
        self.gen = torch.Generator(device).manual_seed(seed)
        self.device = device

    def batch(self):
        cur = torch.randint(0, VOCAB, (BATCH,), generator=self.gen, device=self.device)
        pick = torch.randint(0, 4, (BATCH, SEQ + 1), generator=self.gen, device=self.device)
        seq = []
        for t in range(SEQ + 1):
            seq.append(cur)
            cur = self.next[cur, pick[:, t]]
        ids = torch.stack(seq, 1)
        return ids[:, :-1], ids[:, 1:]


class Trainer:
    def __init__(self, device, mesh):
        self.device, self.rank = device, dist.get_rank()
        torch.manual_seed(0)
        self.model = ByteModel().to(device)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for layer in self.model.layers:
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        fully_shard(self.model, mesh=mesh, mp_policy=policy)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=2e-4)
        self.train_data = BigramSource(100 + self.rank, device)
        self.best_loss, self.best_weights, self.best_step = float("inf"), None, 0

    def loss(self, ids, targets):
        return F.cross_entropy(self.model(ids).float().flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def validate(self):
        data = BigramSource(9000, self.device)
        total = sum(self.loss(*data.batch()) for _ in range(2)) / 2
        dist.all_reduce(total)
        return total.item() / dist.get_world_size()

    def remember_best(self, step, val):
        if val >= self.best_loss:
            return
        options = StateDictOptions(full_state_dict=True)
        self.best_weights = get_model_state_dict(self.model, options=options)
        self.best_loss, self.best_step = val, step

    def restore_best(self):
        options = StateDictOptions(full_state_dict=True)
        set_model_state_dict(self.model, self.best_weights, options=options)

    def fit(self):
        for step in range(1, STEPS + 1):
            loss = self.loss(*self.train_data.batch())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.opt.zero_grad()
            if step % EVAL_EVERY == 0:
                val = self.validate()
                self.remember_best(step, val)
                if self.rank == 0:
                    print(f"step {step} train {loss.item():.3f} val {val:.3f} best@{self.best_step}", flush=True)
        self.restore_best()
        final = self.validate()
        if self.rank == 0:
            print(f"restored step {self.best_step}: val {final:.3f}")


cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
local = int(os.environ.get("LOCAL_RANK", 0))
dev = torch.device("cuda", local) if cuda else torch.device("cpu")
if cuda:
    torch.cuda.set_device(dev)
trainer = Trainer(dev, init_device_mesh(dev.type, (dist.get_world_size(),)))
trainer.fit()
dist.destroy_process_group()
