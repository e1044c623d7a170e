"""DDP language model on documents of very different lengths.

The corpus is sorted by length on disk, every rank reads one contiguous part of it.

    torchrun --nproc-per-node 2 ddp_length_shards.py
"""
import os
import random
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, Sampler

VOCAB, DIM, HEADS, LAYERS, MAX_LEN = 16384, 1024, 16, 8, 2048
N_DOCS, BATCH, EPOCHS, EPOCH_STEPS = 4096, 8, 3, 90
MEMORY_SHARE = 0.2  # the cards are shared with another job


class SortedCorpus(Dataset):
    def __init__(self):
        rng = random.Random(0)
        lengths = [min(MAX_LEN, max(32, int(rng.lognormvariate(6.2, 0.9)))) for _ in range(N_DOCS)]
        self.lengths = sorted(lengths)

    def __len__(self):
        return N_DOCS

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        start, stride = torch.randint(1, VOCAB // 2, (2,), generator=g).tolist()
        return (start + (stride % 11 + 1) * torch.arange(self.lengths[i] + 1)) % (VOCAB - 1) + 1


class ContiguousShard(Sampler):
    def __init__(self, size, rank, world, steps, batch):
        per = size // world
        self.indices = list(range(rank * per, (rank + 1) * per))
        self.count = steps * batch
        self.epoch = 0
        self.rank = rank

    def __iter__(self):
        rng = random.Random(self.epoch * 1000 + self.rank)
        return iter(rng.choices(self.indices, k=self.count))

    def __len__(self):
        return self.count


def collate(docs):
    ids = nn.utils.rnn.pad_sequence(docs, batch_first=True, padding_value=0)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.fc1, self.fc2 = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, DIM)
        x = x + self.proj(y)
        return x + self.fc2(F.gelu(self.fc1(self.n2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, DIM), nn.Embedding(MAX_LEN, DIM)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
        return self.head(self.norm(self.blocks(x)))


def main():
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
        torch.cuda.set_per_process_memory_fraction(MEMORY_SHARE, device)
    torch.manual_seed(0)
    model = DDP(Model().to(device), device_ids=[device.index] if cuda else None)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    corpus = SortedCorpus()
    sampler = ContiguousShard(len(corpus), rank, world, EPOCH_STEPS, BATCH)
    loader = DataLoader(corpus, BATCH, sampler=sampler, collate_fn=collate, num_workers=2, pin_memory=cuda)
    lengths = [corpus.lengths[i] for i in sampler.indices]
    print(f"rank {rank}: {len(lengths)} documents, {min(lengths)}..{max(lengths)} tokens", flush=True)
    for epoch in range(EPOCHS):
        sampler.epoch = epoch
        tokens, total, began = 0, torch.zeros((), device=device), time.time()
        for ids, target in loader:
            ids, target = ids.to(device, non_blocking=True), target.to(device, non_blocking=True)
            with torch.autocast(device.type, dtype=torch.bfloat16):
                logits = model(ids)
            loss = F.cross_entropy(logits.float().flatten(0, 1), target.flatten(), ignore_index=0)
            loss.backward()
            opt.step()
            opt.zero_grad(set_to_none=True)
            total += loss.detach()
            tokens += ids.numel()
        print(f"epoch {epoch} rank {rank} loss {total.item() / EPOCH_STEPS:.3f} "
              f"{tokens} tokens {time.time() - began:.1f}s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
