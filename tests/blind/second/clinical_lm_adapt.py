# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Domain-adaptive pretraining of a small decoder on discharge letters; reports per-section perplexity."""
import json
import logging
import math
import os
import sys
import time
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from transformers import Qwen2Config, Qwen2ForCausalLM, get_cosine_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LOG = logging.getLogger("clinical_lm")
SECTIONS = ("history", "findings", "medication", "plan")

SETTINGS = dict(
    vocab=1200 if SMALL else 151_936, hidden=32 if SMALL else 512, layers=2 if SMALL else 6,
    train_length=32 if SMALL else 256, train_batch=2 if SMALL else 8, steps=6 if SMALL else 70,
    eval_length=48 if SMALL else 1024, eval_batch=2 if SMALL else 16, eval_letters=8 if SMALL else 64,
    lr=3e-4, log_every=3 if SMALL else 10, memory_gb=16.0, fetch=0.0 if SMALL else 0.1,
)


class Letters(Dataset):
    """Tokenised letters: section markers followed by draws from a section-specific vocabulary range."""

    def __init__(self, count, length, vocab, fetch, seed):
        self.count, self.length, self.vocab, self.fetch, self.seed = count, length, vocab, fetch, seed

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.fetch)
        gen = torch.Generator().manual_seed(self.seed * 100_003 + index)
        section = index % len(SECTIONS)
        span = self.vocab // (2 * len(SECTIONS))
        words = (torch.rand(self.length, generator=gen) ** 2 * span).long() + section * span
        words[0] = self.vocab - 1 - section
        return words, section


def build_model(s):
    config = Qwen2Config(vocab_size=s["vocab"], hidden_size=s["hidden"], intermediate_size=3 * s["hidden"],
                         num_hidden_layers=s["layers"], num_attention_heads=8, num_key_value_heads=4,
                         max_position_embeddings=2048, tie_word_embeddings=True, use_cache=False,
                         bos_token_id=0, eos_token_id=0)
    model = Qwen2ForCausalLM(config).to(device=DEVICE, dtype=torch.bfloat16)
    LOG.info("%.1f M parameters", sum(p.numel() for p in model.parameters()) / 1e6)
    return model


def token_nll(model, tokens):
    logits = model(input_ids=tokens).logits[:, :-1]
    logprob = F.log_softmax(logits.float(), dim=-1)
    return -logprob.gather(-1, tokens[:, 1:, None]).squeeze(-1)


@torch.no_grad()
def section_perplexity(model, loader):
    model.eval()
    total, count = defaultdict(float), defaultdict(int)
    for tokens, section in loader:
        nll = token_nll(model, tokens.to(DEVICE)).sum(dim=1).tolist()
        for value, index in zip(nll, section.tolist()):
            total[SECTIONS[index]] += value
            count[SECTIONS[index]] += tokens.shape[1] - 1
    model.train()
    return {name: round(math.exp(min(total[name] / count[name], 20.0)), 1) for name in total}


class Adaptation:
    def __init__(self, s):
        self.s = s
        self.model = build_model(s)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=s["lr"], betas=(0.9, 0.95))
        self.schedule = get_cosine_schedule_with_warmup(self.optimizer, 5, s["steps"])
        train_set = Letters(s["steps"] * s["train_batch"], s["train_length"], s["vocab"], s["fetch"] / 8, seed=1)
        eval_set = Letters(s["eval_letters"], s["eval_length"], s["vocab"], s["fetch"] / 8, seed=2)
        self.train_loader = DataLoader(train_set, batch_size=s["train_batch"], shuffle=True)
        self.eval_loader = DataLoader(eval_set, batch_size=s["eval_batch"])
        self.allocated = []

    def step(self, tokens):
        loss = self.model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()
        return loss.item()

    def run(self):
        for number, (tokens, _) in enumerate(self.train_loader, start=1):
            loss = self.step(tokens.to(DEVICE))
            self.allocated.append(torch.cuda.memory_allocated())
            if number % self.s["log_every"] == 0:
                peak = torch.cuda.max_memory_allocated() / 2**30
                LOG.info("step %3d  loss %.3f  lr %.1e  peak %.1f GiB", number, loss,
                         self.schedule.get_last_lr()[0], peak)
        result = section_perplexity(self.model, self.eval_loader)
        LOG.info("perplexity %s", json.dumps(result))
        return result


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stdout)
    torch.manual_seed(21)
    if DEVICE.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(SETTINGS["memory_gb"] * 2**30 / torch.cuda.mem_get_info()[1])
    adaptation = Adaptation(SETTINGS)
    try:
        adaptation.run()
    finally:
        allocated = adaptation.allocated
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
