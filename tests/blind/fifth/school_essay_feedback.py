# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Serves feedback on school essays: one base language model, and for each school a LoRA adapter with the tone
and the curriculum of that school, brought onto the device when an essay of the school arrives."""

import json
import os
import random
import sys
from collections import Counter, OrderedDict
from dataclasses import dataclass

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class ServiceConfig:
    vocab: int = 256 if SMALL else 16000
    hidden: int = 32 if SMALL else 1024
    layers: int = 2 if SMALL else 10
    heads: int = 4 if SMALL else 16
    rank: int = 4 if SMALL else 96
    schools: int = 8 if SMALL else 40
    on_device: int = 3 if SMALL else 14
    essays: int = 12 if SMALL else 44
    paragraphs: int = 2 if SMALL else 8
    essay_tokens: int = 8 if SMALL else 384
    feedback_tokens: int = 3 if SMALL else 6
    seed: int = 23
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    dtype: torch.dtype = torch.bfloat16


@dataclass
class Essay:
    number: int
    school: int
    tokens: torch.Tensor


def lora_config(cfg: ServiceConfig) -> LoraConfig:
    return LoraConfig(
        r=cfg.rank,
        lora_alpha=2 * cfg.rank,
        lora_dropout=0.0,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        task_type="CAUSAL_LM",
        inference_mode=True,
    )


def build_base(cfg: ServiceConfig) -> LlamaForCausalLM:
    torch.manual_seed(cfg.seed)
    config = LlamaConfig(
        vocab_size=cfg.vocab,
        hidden_size=cfg.hidden,
        intermediate_size=cfg.hidden * 3,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        num_key_value_heads=cfg.heads,
        max_position_embeddings=1024,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    with torch.device(cfg.device):
        model = LlamaForCausalLM(config)
    return model.to(cfg.dtype).eval()


class AdapterShelf:
    """Brings the adapters of the schools onto the device and keeps those that were used last."""

    def __init__(self, base: LlamaForCausalLM, cfg: ServiceConfig):
        self.cfg = cfg
        self.model: PeftModel = get_peft_model(base, lora_config(cfg), adapter_name="general")
        self.model.eval()
        self.loaded: OrderedDict[str, int] = OrderedDict()
        self.counts: Counter[str] = Counter()

    @torch.no_grad()
    def _restore(self, name: str, school: int) -> None:
        generator = torch.Generator(device=self.cfg.device).manual_seed(self.cfg.seed + school)
        for key, parameter in self.model.named_parameters():
            if f".{name}." in key:
                parameter.normal_(0.0, 0.01, generator=generator)

    def activate(self, school: int) -> None:
        name = f"school_{school:03d}"
        if name in self.loaded:
            self.counts["hits"] += 1
            self.loaded.move_to_end(name)
            self.model.set_adapter(name)
            return
        self.counts["misses"] += 1
        if len(self.loaded) >= self.cfg.on_device:
            oldest, _ = self.loaded.popitem(last=False)
            self.model.set_adapter("general")
            self.model.delete_adapter(oldest)
            self.counts["removed"] += 1
        with torch.device(self.cfg.device):
            self.model.add_adapter(name, lora_config(self.cfg))
        self._restore(name, school)
        self.loaded[name] = school
        self.model.set_adapter(name)


class FeedbackService:
    def __init__(self, cfg: ServiceConfig):
        self.cfg = cfg
        self.shelf = AdapterShelf(build_base(cfg), cfg)
        self.lengths: list[int] = []

    def answer(self, essay: Essay) -> list[int]:
        self.shelf.activate(essay.school)
        ids = essay.tokens.to(self.cfg.device)
        out = self.shelf.model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=self.cfg.feedback_tokens,
            do_sample=False,
            use_cache=True,
        )
        feedback = out[:, ids.shape[1] :].cpu()
        self.lengths.append(feedback.shape[1])
        return feedback[0].tolist()


def essay_stream(cfg: ServiceConfig):
    """A few schools send many essays, most send few."""
    rng = random.Random(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    weights = [1.0 / (1 + rank) ** 0.5 for rank in range(cfg.schools)]
    for number in range(cfg.essays):
        school = rng.choices(range(cfg.schools), weights)[0]
        tokens = torch.randint(3, cfg.vocab, (cfg.paragraphs, cfg.essay_tokens), generator=generator)
        yield Essay(number, school, tokens)


def main() -> None:
    cfg = ServiceConfig()
    levels: list[int] = []
    try:
        service = FeedbackService(cfg)
        for essay in essay_stream(cfg):
            feedback = service.answer(essay)
            levels.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if essay.number % 10 == 0:
                print(f"essay {essay.number} of school {essay.school}: feedback starts {feedback[:3]}")
        print(f"{len(service.lengths)} essays, adapters {dict(service.shelf.counts)}")
    finally:
        print("TRUTH " + json.dumps({"allocated": levels, "rounds": len(levels)}), file=sys.stderr)


if __name__ == "__main__":
    main()
