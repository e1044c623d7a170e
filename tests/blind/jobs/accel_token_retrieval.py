"""Late-interaction retriever (token level embeddings) trained with accelerate.

    accelerate launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision bf16 --dynamo_backend no accel_token_retrieval.py
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertModel


class PairDataset(Dataset):
    """A document and a query made of a shuffled piece of it."""

    def __init__(self, size, doc_len, query_len, vocab, offset=0):
        self.size, self.doc_len, self.query_len = size, doc_len, query_len
        self.vocab, self.offset = vocab, offset

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.offset + i)
        doc = torch.randint(5, self.vocab, (self.doc_len,), generator=g)
        start = int(torch.randint(0, self.doc_len - self.query_len, (1,), generator=g))
        perm = torch.randperm(self.query_len, generator=g)
        return doc, doc[start:start + self.query_len][perm]


class Retriever(nn.Module):
    def __init__(self, cfg, dim):
        super().__init__()
        self.encoder = BertModel(cfg, add_pooling_layer=False)
        self.proj = nn.Linear(cfg.hidden_size, dim, bias=False)

    def encode(self, ids):
        h = self.encoder(input_ids=ids).last_hidden_state
        return F.normalize(self.proj(h).float(), dim=-1)

    def forward(self, docs, queries):
        return self.encode(docs), self.encode(queries)


def late_interaction(q, d):
    # q: [n, tq, c]  d: [m, td, c]  ->  [n, m]
    rows = []
    for one in q.split(8):
        sim = torch.einsum("ntc,msc->nmts", one, d)
        rows.append(sim.amax(-1).sum(-1))
    return torch.cat(rows)


class RetrievalEvaluator:
    def __init__(self, accelerator, loader):
        self.accelerator = accelerator
        self.loader = loader
        self.doc_bank = []
        self.query_bank = []
        self.history = []

    @torch.no_grad()
    def run(self, model):
        model.eval()
        n_batches = 0
        for docs, queries in self.loader:
            d, q = model(docs, queries)
            d, q = self.accelerator.gather_for_metrics((d, q))
            self.doc_bank.append(d)
            self.query_bank.append(q)
            n_batches += 1
        hits, total = 0, 0
        # in-batch recall@1 over the batches of this round
        for d, q in zip(self.doc_bank[-n_batches:], self.query_bank[-n_batches:]):
            pred = late_interaction(q, d).argmax(1)
            hits += (pred == torch.arange(len(q), device=q.device)).sum().item()
            total += len(q)
        model.train()
        self.history.append(hits / total)
        return hits / total


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=8)
    p.add_argument("--steps-per-round", type=int, default=30)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--eval-size", type=int, default=1024)
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--hidden", type=int, default=768)
    p.add_argument("--doc-len", type=int, default=256)
    p.add_argument("--query-len", type=int, default=32)
    p.add_argument("--dim", type=int, default=256)
    p.add_argument("--lr", type=float, default=1e-4)
    return p.parse_args()


def main():
    args = parse()
    accelerator = Accelerator()
    set_seed(7)
    vocab = 20000
    cfg = BertConfig(
        vocab_size=vocab,
        hidden_size=args.hidden,
        num_hidden_layers=args.layers,
        num_attention_heads=max(1, args.hidden // 64),
        intermediate_size=4 * args.hidden,
        max_position_embeddings=args.doc_len,
    )
    model = Retriever(cfg, args.dim)
    steps = args.rounds * args.steps_per_round
    train = PairDataset(steps * args.batch * accelerator.num_processes, args.doc_len, args.query_len, vocab)
    held_out = PairDataset(args.eval_size, args.doc_len, args.query_len, vocab, offset=10_000_000)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    model, optimizer, train_loader, eval_loader = accelerator.prepare(
        model,
        optimizer,
        DataLoader(train, batch_size=args.batch, shuffle=True, num_workers=2, drop_last=True),
        DataLoader(held_out, batch_size=args.batch),
    )
    evaluator = RetrievalEvaluator(accelerator, eval_loader)

    model.train()
    for step, (docs, queries) in enumerate(train_loader, 1):
        d, q = model(docs, queries)
        scores = late_interaction(q, d)
        loss = F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))
        optimizer.zero_grad(set_to_none=True)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % args.steps_per_round == 0:
            recall = evaluator.run(model)
            accelerator.print(f"step {step} loss {loss.item():.3f} recall@1 {recall:.3f}")
    accelerator.print("recall history", [round(r, 3) for r in evaluator.history])
    accelerator.end_training()


if __name__ == "__main__":
    main()
