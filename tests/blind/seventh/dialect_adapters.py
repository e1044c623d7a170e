# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Adapts a small language model to the dialects of a folklore archive, one after the other.

For each village a LoRA adapter is trained on its transcripts, scored on held-out lines, and thrown away; the archive
keeps the perplexities as a map of how far the dialects are from the standard language.
"""
import json
import logging
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("dialects")


@dataclass
class SurveyConfig:
    vocab: int = 300 if SMALL else 24_000
    hidden: int = 48 if SMALL else 768
    layers: int = 2 if SMALL else 8
    heads: int = 4 if SMALL else 12
    rank: int = 4
    villages: int = 32
    steps: int = 2 if SMALL else 16
    batch: int = 2 if SMALL else 16
    length: int = 16 if SMALL else 256
    lr: float = 5e-4


class Transcripts:
    """Synthetic transcripts: a village prefers its own part of the vocabulary."""

    def __init__(self, cfg):
        self.cfg = cfg

    def batches(self, village, count, split):
        rng = torch.Generator().manual_seed(1000 * village + (7 if split == "heldout" else 0))
        low = (village * 37) % (self.cfg.vocab // 2)
        for _ in range(count):
            lines = torch.randint(low, low + self.cfg.vocab // 2, (self.cfg.batch, self.cfg.length), generator=rng)
            yield lines.to(DEVICE)


def build_model(cfg):
    config = GPT2Config(
        vocab_size=cfg.vocab, n_positions=cfg.length, n_embd=cfg.hidden, n_layer=cfg.layers, n_head=cfg.heads,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    base = GPT2LMHeadModel(config).to(DEVICE)
    return get_peft_model(base, lora_config(cfg), adapter_name="standard")


def lora_config(cfg):
    return LoraConfig(r=cfg.rank, lora_alpha=2 * cfg.rank, target_modules=["c_attn"], fan_in_fan_out=True,
                      task_type="CAUSAL_LM")


class DialectSurvey:
    def __init__(self, cfg):
        self.cfg = cfg
        self.data = Transcripts(cfg)
        self.model = build_model(cfg)
        self.optimizer = torch.optim.AdamW(self.trainable(), lr=cfg.lr, weight_decay=0.0)
        self.map = {}
        self.allocated = []

    def trainable(self):
        return [p for p in self.model.parameters() if p.requires_grad]

    def open_adapter(self, name):
        self.model.add_adapter(name, lora_config(self.cfg))
        self.model.set_adapter(name)
        self.optimizer.add_param_group({"params": self.trainable(), "lr": self.cfg.lr})

    def close_adapter(self, name):
        self.optimizer.zero_grad(set_to_none=True)
        self.model.set_adapter("standard")
        self.model.delete_adapter(name)

    def fit(self, village):
        self.model.train()
        total = 0.0
        for lines in self.data.batches(village, self.cfg.steps, "train"):
            loss = self.model(input_ids=lines, labels=lines).loss
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.trainable(), 1.0)
            self.optimizer.step()
            total += loss.item()
        return total / self.cfg.steps

    @torch.no_grad()
    def heldout(self, village):
        self.model.eval()
        losses = [self.model(input_ids=x, labels=x).loss.item() for x in self.data.batches(village, 2, "heldout")]
        return math.exp(sum(losses) / len(losses))

    def visit(self, village):
        name = f"village{village:03d}"
        self.open_adapter(name)
        train_loss = self.fit(village)
        perplexity = self.heldout(village)
        self.close_adapter(name)
        self.map[name] = (train_loss, perplexity)
        return train_loss, perplexity

    def run(self):
        log.info("standard language: loss %.3f", self.fit(0))
        started = time.time()
        for village in range(1, self.cfg.villages + 1):
            train_loss, perplexity = self.visit(village)
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if village % 10 == 0:
                log.info("village %3d  train %.3f  perplexity %.1f  %.1f s each", village, train_loss, perplexity,
                         (time.time() - started) / village)
        far = max(self.map, key=lambda k: self.map[k][1])
        log.info("%d adapters configured at the end; farthest dialect %s", len(self.model.peft_config), far)


def main():
    torch.manual_seed(21)
    survey = DialectSurvey(SurveyConfig())
    log.info("%.1f M parameters, %.2f M in an adapter", sum(p.numel() for p in survey.model.parameters()) / 1e6,
             sum(p.numel() for p in survey.trainable()) / 1e6)
    survey.run()
    print("TRUTH " + json.dumps({"allocated": survey.allocated, "rounds": survey.cfg.villages}), file=sys.stderr)
    return survey


if __name__ == "__main__":
    result = main()
