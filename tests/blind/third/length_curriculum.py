# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Decoder pretraining with a sequence-length warm-up and averaged weights for the report (Accelerate)."""
import json
import os
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import MistralConfig, MistralForCausalLM, get_constant_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Run:
    vocab: int = 128 if SMALL else 24000
    hidden: int = 32 if SMALL else 768
    mlp: int = 64 if SMALL else 2048
    layers: int = 2 if SMALL else 6
    heads: int = 4 if SMALL else 12
    kv_heads: int = 2 if SMALL else 4
    shortest: int = 4 if SMALL else 96
    longest: int = 24 if SMALL else 1152
    stages: int = 6 if SMALL else 12
    steps_per_stage: int = 2 if SMALL else 3
    steps: int = 20 if SMALL else 62
    batch: int = 2 if SMALL else 6
    lr: float = 3e-4
    ema_decay: float = 0.98
    ema_margin: int = 2 if SMALL else 4
    report_every: int = 5 if SMALL else 10
    report_batches: int = 2
    shard_seconds: float = 0.0 if SMALL else 0.18
    seed: int = 23

    @property
    def warm_steps(self):
        return self.stages * self.steps_per_stage

    def length(self, step):
        stage = min(step // self.steps_per_stage, self.stages - 1)
        return self.shortest + stage * (self.longest - self.shortest) // (self.stages - 1)


class Corpus:
    """A second-order toy grammar: the next token mostly follows from the last two."""

    def __init__(self, run, seed):
        self.run = run
        self.rng = np.random.default_rng(seed)
        self.a, self.b = 31, 17

    def block(self, length):
        run = self.run
        time.sleep(run.shard_seconds)
        noise = self.rng.random((run.batch, length))
        ids = self.rng.integers(0, run.vocab, (run.batch, length))
        for t in range(2, length):
            follow = (self.a * ids[:, t - 1] + self.b * ids[:, t - 2] + 7) % run.vocab
            ids[:, t] = np.where(noise[:, t] < 0.8, follow, ids[:, t])
        return torch.from_numpy(ids)


def decoder(run):
    return MistralForCausalLM(MistralConfig(
        vocab_size=run.vocab, hidden_size=run.hidden, intermediate_size=run.mlp, num_hidden_layers=run.layers,
        num_attention_heads=run.heads, num_key_value_heads=run.kv_heads, head_dim=run.hidden // run.heads,
        max_position_embeddings=2 * run.longest, sliding_window=None, use_cache=False))


def next_token_loss(logits, tokens):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


class Pretraining:
    def __init__(self, run):
        self.run = run
        self.accelerator = Accelerator(cpu=not torch.cuda.is_available())
        model = decoder(run)
        decay = [p for p in model.parameters() if p.ndim > 1]
        plain = [p for p in model.parameters() if p.ndim <= 1]
        optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}],
                                      lr=run.lr, betas=(0.9, 0.95))
        schedule = get_constant_schedule_with_warmup(optimizer, num_warmup_steps=5)
        self.model, self.optimizer, self.schedule = self.accelerator.prepare(model, optimizer, schedule)
        self.corpus, self.held_out = Corpus(run, run.seed), Corpus(run, run.seed + 1)
        self.averaged = None
        self.allocated = []

    def update(self, tokens):
        output = self.model(input_ids=tokens)
        loss = next_token_loss(output.logits, tokens)
        self.accelerator.backward(loss)
        self.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()
        confidence = output.logits.detach()[:, -1].softmax(-1).max(-1).values.mean()
        return loss.item(), confidence.item()

    def average(self, step):
        if step < self.run.warm_steps + self.run.ema_margin:
            return
        if self.averaged is None:
            self.averaged = AveragedModel(self.accelerator.unwrap_model(self.model),
                                          multi_avg_fn=get_ema_multi_avg_fn(self.run.ema_decay))
        self.averaged.update_parameters(self.accelerator.unwrap_model(self.model))

    @torch.no_grad()
    def report(self, length):
        model = self.averaged or self.model
        model.eval()
        losses = []
        for _ in range(self.run.report_batches):
            tokens = self.held_out.block(length).to(self.accelerator.device)
            losses.append(next_token_loss(model(input_ids=tokens).logits, tokens).item())
        self.model.train()
        return sum(losses) / len(losses)

    def fit(self):
        run = self.run
        self.model.train()
        for step in range(run.steps):
            length = run.length(step)
            if step and length != run.length(step - 1) and torch.cuda.is_available():
                torch.cuda.empty_cache()
            tokens = self.corpus.block(length).to(self.accelerator.device)
            loss, confidence = self.update(tokens)
            self.average(step)
            self.allocated.append(torch.cuda.memory_allocated())
            if (step + 1) % run.report_every == 0:
                print(json.dumps({"step": step + 1, "length": length, "loss": round(loss, 4),
                                  "held_out": round(self.report(length), 4), "confidence": round(confidence, 4)}))


def main():
    run = Run()
    set_seed(run.seed)
    pretraining = Pretraining(run)
    try:
        pretraining.fit()
    finally:
        print("TRUTH " + json.dumps({"allocated": pretraining.allocated, "rounds": len(pretraining.allocated)}),
              file=sys.stderr)


if __name__ == "__main__":
    main()
