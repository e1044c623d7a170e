# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Continual training of per-dialect LoRA adapters over one frozen language model, as new recordings come in."""
import json
import os
import random
import sys
import time
import warnings
from collections import Counter, OrderedDict
from dataclasses import dataclass

import torch
from peft import LoraConfig, TaskType, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers import LlamaConfig, LlamaForCausalLM

warnings.filterwarnings("ignore", category=UserWarning)
SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class DialectConfig:
    dialects: int = 5 if SMALL else 14
    visits: int = 10 if SMALL else 26
    resident: int = 2 if SMALL else 6
    steps: int = 2 if SMALL else 6
    batch: int = 2 if SMALL else 8
    tokens: int = 16 if SMALL else 256
    vocab: int = 64 if SMALL else 4000
    hidden: int = 16 if SMALL else 1024
    layers: int = 2 if SMALL else 12
    rank: int = 4 if SMALL else 128
    lr: float = 3e-4
    feed_wait: float = 0.001 if SMALL else 0.06


def base_model(cfg):
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=cfg.hidden * 11 // 4,
        num_hidden_layers=cfg.layers, num_attention_heads=cfg.hidden // 8 if SMALL else cfg.hidden // 64,
        num_key_value_heads=cfg.hidden // 8 if SMALL else cfg.hidden // 64, max_position_embeddings=cfg.tokens,
        use_cache=False, bos_token_id=1, eos_token_id=2, pad_token_id=0))
    return model.to(DEVICE)


class Transcripts:
    """Token streams; each dialect is a Markov chain with its own stride."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(41)

    def batch(self, dialect):
        cfg = self.cfg
        time.sleep(cfg.feed_wait)
        stride = 3 + 2 * dialect
        start = torch.randint(3, cfg.vocab, (cfg.batch, 1), generator=self.gen)
        jump = (torch.rand(cfg.batch, cfg.tokens, generator=self.gen) < 0.1).long().cumsum(1) * 7
        ids = 3 + (start + stride * torch.arange(cfg.tokens) + jump) % (cfg.vocab - 3)
        return ids.to(DEVICE)


class AdapterPool:
    """Adapters of recent dialects, each with its optimizer; the others wait in host memory."""

    def __init__(self, cfg, base):
        self.cfg = cfg
        self.model = base
        self.ready = OrderedDict()
        self.parked = {}
        self.swaps = Counter()
        self.lora = LoraConfig(task_type=TaskType.CAUSAL_LM, r=cfg.rank, lora_alpha=2 * cfg.rank, lora_dropout=0.0,
                               target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                                               "down_proj"])

    def acquire(self, name):
        if name in self.ready:
            self.ready.move_to_end(name)
            self.model.set_adapter(name)
            return self.ready[name]
        if len(self.ready) == self.cfg.resident:
            self.park(next(iter(self.ready)))
        if not self.ready and not self.parked:
            self.model = get_peft_model(self.model, self.lora, adapter_name=name)
        else:
            self.model.add_adapter(name, self.lora)
        if name in self.parked:
            set_peft_model_state_dict(self.model, self.parked.pop(name), adapter_name=name)
            self.swaps["in"] += 1
        self.model.set_adapter(name)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.ready[name] = torch.optim.AdamW(trained, lr=self.cfg.lr, weight_decay=0.0)
        return self.ready[name]

    def park(self, name):
        weights = get_peft_model_state_dict(self.model, adapter_name=name)
        self.parked[name] = {key: value.cpu().clone() for key, value in weights.items()}
        self.model.delete_adapter(name)
        del self.ready[name]
        self.swaps["out"] += 1


def visit(pool, transcripts, dialect):
    optimizer = pool.acquire(f"dialect_{dialect}")
    model = pool.model
    model.train()
    first = last = None
    for _ in range(pool.cfg.steps):
        ids = transcripts.batch(dialect)
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        last = loss.item()
        first = last if first is None else first
    return first, last


def main():
    cfg = DialectConfig()
    torch.manual_seed(6)
    rng = random.Random(12)
    weights = [1 / (rank + 1) ** 0.5 for rank in range(cfg.dialects)]
    queue = rng.choices(range(cfg.dialects), weights, k=cfg.visits)
    pool, transcripts = AdapterPool(cfg, base_model(cfg)), Transcripts(cfg)
    allocated = []

    for number, dialect in enumerate(queue):
        first, last = visit(pool, transcripts, dialect)
        print(json.dumps({"visit": number, "dialect": dialect, "loss": [round(first, 4), round(last, 4)],
                          "resident": len(pool.ready), "parked": len(pool.parked), **pool.swaps}))
        allocated.append(torch.cuda.memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.visits}), file=sys.stderr)


if __name__ == "__main__":
    main()
