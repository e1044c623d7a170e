# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Probing study of a small BERT encoder: at which layer can the donor language of a loanword be read off linearly?"""

import gc
import json
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

SMALL = os.environ.get("SMALL") == "1"
DONORS = ("french", "low_german", "arabic", "malay", "nahuatl", "hindi")


@dataclass
class StudyConfig:
    vocab_size: int = 512 if SMALL else 8192
    hidden_size: int = 32 if SMALL else 512
    num_layers: int = 4 if SMALL else 8
    num_heads: int = 4 if SMALL else 8
    max_length: int = 16 if SMALL else 160
    batch_size: int = 8 if SMALL else 64
    adaptation_steps: int = 4 if SMALL else 160
    corpus_batches: int = 12 if SMALL else 48
    probe_layers: tuple = (0, 1, 2, 4) if SMALL else (0, 2, 4, 6, 8)
    probe_epochs: int = 5 if SMALL else 200
    held_out: float = 0.2
    seed: int = 17
    donors: tuple = field(default=DONORS)


class SentenceSource:
    """Random sentences; a few marker tokens per donor language make the task solvable."""

    def __init__(self, cfg: StudyConfig, device: torch.device):
        self.cfg = cfg
        self.device = device
        self.generator = torch.Generator(device=device).manual_seed(cfg.seed)
        markers = torch.randint(10, cfg.vocab_size, (len(cfg.donors), 4), generator=self.generator, device=device)
        self.markers = markers

    def batch(self):
        cfg = self.cfg
        shape = (cfg.batch_size, cfg.max_length)
        tokens = torch.randint(10, cfg.vocab_size, shape, generator=self.generator, device=self.device)
        donors = torch.randint(0, len(cfg.donors), (cfg.batch_size,), generator=self.generator, device=self.device)
        tokens[:, 0] = 2
        tokens[:, 3:7] = self.markers[donors]
        return tokens, donors


class LoanwordEncoder(nn.Module):
    def __init__(self, cfg: StudyConfig):
        super().__init__()
        bert = BertConfig(
            vocab_size=cfg.vocab_size,
            hidden_size=cfg.hidden_size,
            num_hidden_layers=cfg.num_layers,
            num_attention_heads=cfg.num_heads,
            intermediate_size=4 * cfg.hidden_size,
            max_position_embeddings=cfg.max_length,
        )
        self.bert = BertModel(bert, add_pooling_layer=False)
        self.decoder = nn.Linear(cfg.hidden_size, cfg.vocab_size)

    def forward(self, tokens, every_layer=False):
        return self.bert(input_ids=tokens, output_hidden_states=every_layer)


def adapt(model: LoanwordEncoder, source: SentenceSource, cfg: StudyConfig) -> float:
    """Short masked-token training, so that the layers are not purely random."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    model.train()
    for _ in range(cfg.adaptation_steps):
        tokens, _ = source.batch()
        masked = torch.rand(tokens.shape, device=tokens.device) < 0.15
        hidden = model(tokens.masked_fill(masked, 3)).last_hidden_state
        loss = F.cross_entropy(model.decoder(hidden[masked]), tokens[masked])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return loss.item()


class ProbeBank:
    """Sentence vectors of the chosen layers, with the label of each sentence."""

    def __init__(self, layers):
        self.layers = layers
        self.vectors = defaultdict(list)
        self.labels = []

    def add(self, hidden_states, donors):
        for layer in self.layers:
            sentence = hidden_states[layer][:, 0].detach().float()
            self.vectors[layer].append(sentence)
        self.labels.append(donors)

    def dataset(self, layer):
        return torch.cat(self.vectors[layer]), torch.cat(self.labels)


@torch.no_grad()
def collect(model: LoanwordEncoder, source: SentenceSource, cfg: StudyConfig, bank: ProbeBank, allocated: list):
    model.eval()
    for index in range(cfg.corpus_batches):
        tokens, donors = source.batch()
        outputs = model(tokens, every_layer=True)
        bank.add(outputs.hidden_states, donors)
        del outputs
        allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
        if index % 12 == 0:
            print(f"  {index + 1}/{cfg.corpus_batches} batches, {(index + 1) * cfg.batch_size} sentences")


def fit_probe(vectors, labels, cfg: StudyConfig):
    split = int(len(vectors) * (1 - cfg.held_out))
    mean, std = vectors[:split].mean(0), vectors[:split].std(0) + 1e-5
    vectors = (vectors - mean) / std
    probe = nn.Linear(vectors.shape[1], len(cfg.donors)).to(vectors.device)
    optimizer = torch.optim.AdamW(probe.parameters(), lr=3e-3, weight_decay=0.05)
    for _ in range(cfg.probe_epochs):
        optimizer.zero_grad()
        F.cross_entropy(probe(vectors[:split]), labels[:split]).backward()
        optimizer.step()
    with torch.no_grad():
        hits = probe(vectors[split:]).argmax(-1) == labels[split:]
    return hits.float().mean().item()


def main():
    cfg = StudyConfig()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    source = SentenceSource(cfg, device)
    model = LoanwordEncoder(cfg).to(device)
    allocated = []
    started = time.perf_counter()
    try:
        print(f"adaptation: final loss {adapt(model, source, cfg):.3f}")
        gc.collect()
        bank = ProbeBank(cfg.probe_layers)
        print("collecting sentence vectors")
        collect(model, source, cfg, bank, allocated)
        for layer in cfg.probe_layers:
            vectors, labels = bank.dataset(layer)
            print(f"layer {layer}: accuracy {fit_probe(vectors, labels, cfg):.3f} on {tuple(vectors.shape)}")
        print(f"done in {time.perf_counter() - started:.1f} s")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
