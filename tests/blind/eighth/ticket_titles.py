# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a decoder on a dump of support tickets (variable length, padded to the longest in the batch)."""
import argparse
import math
import os
import random
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
PAD = 0


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=90)
    p.add_argument("--batch-size", type=int, default=2 if TINY else 4)
    p.add_argument("--max-len", type=int, default=128 if TINY else 8192)
    p.add_argument("--lr", type=float, default=2e-4)
    p.add_argument("--mem-fraction", type=float, default=0.11, help="the node is shared with the search service")
    p.add_argument("--max-seconds", type=float, default=22)
    p.add_argument("--seed", type=int, default=17)
    return p.parse_args()


class TicketDataset(Dataset):
    """Token ids of tickets. Most are short, a few have whole log files pasted into them."""

    def __init__(self, n, max_len, vocab, seed):
        rng = random.Random(seed)
        self.gen_seed, self.vocab = seed, vocab
        scale = 40 if TINY else 320
        self.lengths = [min(max_len, max(16, int(rng.lognormvariate(math.log(scale), 0.35)))) for _ in range(n)]
        self.lengths[int(n * 0.82)] = int(max_len * 0.9)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        time.sleep(0.002 if TINY else 0.02)
        g = torch.Generator().manual_seed(self.gen_seed * 100003 + i)
        return torch.randint(1, self.vocab, (self.lengths[i],), generator=g)


def collate(batch):
    longest = max(len(x) for x in batch)
    ids = torch.full((len(batch), longest), PAD)
    mask = torch.zeros_like(ids)
    for i, x in enumerate(batch):
        ids[i, : len(x)] = x
        mask[i, : len(x)] = 1
    labels = ids.masked_fill(mask == 0, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def build_model(max_len):
    config = GPT2Config(
        vocab_size=1000 if TINY else 16000, n_positions=max_len, n_embd=64 if TINY else 768,
        n_layer=2 if TINY else 8, n_head=2 if TINY else 12, bos_token_id=1, eos_token_id=2,
        attn_implementation="eager")
    return GPT2LMHeadModel(config)


class Trainer:
    def __init__(self, args, model, loader):
        self.args, self.loader = args, loader
        self.model = model.to(DEVICE)
        self.opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
        self.sched = get_cosine_schedule_with_warmup(self.opt, 10, args.steps)
        self.tokens, self.ema = 0, None

    def step(self, batch):
        batch = {k: v.to(DEVICE) for k, v in batch.items()}
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            out = self.model(**batch)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.sched.step()
        self.opt.zero_grad(set_to_none=True)
        loss = out.loss.item()
        self.ema = loss if self.ema is None else 0.95 * self.ema + 0.05 * loss
        self.tokens += int(batch["attention_mask"].sum())
        return loss

    def fit(self, folder):
        t0 = time.time()
        self.model.train()
        for i, batch in enumerate(self.loader):
            loss = self.step(batch)
            if i % 10 == 0:
                print(f"step {i} loss {loss:.3f} ema {self.ema:.3f} tokens {self.tokens} {time.time() - t0:.1f}s",
                      flush=True)
            if i and i % 40 == 0:
                torch.save(self.model.state_dict(), os.path.join(folder, "last.pt"))
            if time.time() - t0 > self.args.max_seconds:
                break


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    if DEVICE == "cuda":
        torch.cuda.set_per_process_memory_fraction(args.mem_fraction)
    model = build_model(args.max_len)
    data = TicketDataset(args.steps * args.batch_size, args.max_len, model.config.vocab_size, args.seed)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=False, collate_fn=collate)
    with tempfile.TemporaryDirectory() as folder:
        Trainer(args, model, loader).fit(folder)


if __name__ == "__main__":
    main()
