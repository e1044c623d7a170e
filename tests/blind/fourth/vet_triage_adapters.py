# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Veterinary triage notes: one LoRA adapter is fitted per clinic on a frozen decoder, with a triage head all share."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from peft import LoraConfig, PeftModel, TaskType, get_peft_model, get_peft_model_state_dict
from torch import nn
from transformers import LlamaConfig, LlamaModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class TriageConfig:
    clinics: int = 6 if SMALL else 32
    steps_per_clinic: int = 2 if SMALL else 7
    batch_size: int = 2 if SMALL else 8
    note_tokens: int = 12 if SMALL else 112
    urgency_levels: int = 5
    vocab_size: int = 200 if SMALL else 16384
    hidden_size: int = 32 if SMALL else 1024
    mlp_size: int = 64 if SMALL else 4096
    layers: int = 2 if SMALL else 10
    heads: int = 4 if SMALL else 16
    rank: int = 4 if SMALL else 128
    adapter_lr: float = 2e-4
    head_lr: float = 1e-3
    clip: float = 1.0
    seed: int = 7
    targets: list[str] = field(
        default_factory=lambda: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    )

    def lora(self) -> LoraConfig:
        return LoraConfig(
            r=self.rank,
            lora_alpha=2 * self.rank,
            lora_dropout=0.0,
            target_modules=self.targets,
            task_type=TaskType.FEATURE_EXTRACTION,
        )


class TriageHead(nn.Module):
    """Urgency scores from the last real token of a note."""

    def __init__(self, hidden_size: int, levels: int):
        super().__init__()
        self.norm = nn.LayerNorm(hidden_size)
        self.out = nn.Linear(hidden_size, levels)

    def forward(self, hidden: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(hidden.size(0), device=hidden.device)
        return self.out(self.norm(hidden[rows, lengths - 1]))


def clinic_notes(cfg: TriageConfig, clinic: int, steps: int) -> Iterator[tuple[torch.Tensor, ...]]:
    gen = torch.Generator().manual_seed(cfg.seed * 1000 + clinic)
    for _ in range(steps):
        tokens = torch.randint(1, cfg.vocab_size, (cfg.batch_size, cfg.note_tokens), generator=gen)
        lengths = torch.randint(cfg.note_tokens // 2, cfg.note_tokens + 1, (cfg.batch_size,), generator=gen)
        mask = (torch.arange(cfg.note_tokens)[None, :] < lengths[:, None]).long()
        urgency = (tokens[:, 0] + clinic) % cfg.urgency_levels
        yield tokens.to(DEVICE), mask.to(DEVICE), lengths.to(DEVICE), urgency.to(DEVICE)


def build_backbone(cfg: TriageConfig) -> PeftModel:
    config = LlamaConfig(
        vocab_size=cfg.vocab_size,
        hidden_size=cfg.hidden_size,
        intermediate_size=cfg.mlp_size,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        num_key_value_heads=cfg.heads,
        max_position_embeddings=2 * cfg.note_tokens,
        use_cache=False,
    )
    with torch.device(DEVICE):
        base = LlamaModel(config)
    return get_peft_model(base, cfg.lora(), adapter_name="house")


class AdapterArchive:
    """Adapter weights on the host, ready to be shipped to the clinics."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.checksums: dict[str, float] = {}

    def store(self, name: str, model: PeftModel) -> None:
        state = get_peft_model_state_dict(model, adapter_name=name)
        host = {key: value.detach().to("cpu", torch.float16) for key, value in state.items()}
        self.sizes[name] = sum(value.numel() * value.element_size() for value in host.values())
        self.checksums[name] = float(sum(value.float().abs().mean() for value in host.values()))


class ClinicTuner:
    def __init__(self, cfg: TriageConfig):
        self.cfg = cfg
        self.model = build_backbone(cfg)
        self.head = TriageHead(cfg.hidden_size, cfg.urgency_levels).to(DEVICE)
        self.archive = AdapterArchive()
        self.optimizer = torch.optim.AdamW(self.head.parameters(), lr=cfg.head_lr)

    def adapter_parameters(self, name: str) -> list[nn.Parameter]:
        return [p for key, p in self.model.named_parameters() if f".{name}." in key]

    def open_clinic(self, name: str) -> None:
        self.model.add_adapter(name, self.cfg.lora())
        self.model.set_adapter(name)
        self.optimizer.add_param_group({"params": self.adapter_parameters(name), "lr": self.cfg.adapter_lr})

    def close_clinic(self, name: str) -> None:
        self.archive.store(name, self.model)
        self.model.set_adapter("house")
        self.model.delete_adapter(name)

    def step(self, tokens, mask, lengths, urgency) -> torch.Tensor:
        hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        loss = F.cross_entropy(self.head(hidden, lengths), urgency)
        loss.backward()
        for group in self.optimizer.param_groups:
            nn.utils.clip_grad_norm_(group["params"], self.cfg.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def fit(self, clinic: int) -> float:
        name = f"clinic{clinic:03d}"
        self.open_clinic(name)
        self.model.train()
        losses = torch.zeros((), device=DEVICE)
        for batch in clinic_notes(self.cfg, clinic, self.cfg.steps_per_clinic):
            losses += self.step(*batch)
        self.close_clinic(name)
        return losses.item() / self.cfg.steps_per_clinic

    @torch.no_grad()
    def house_accuracy(self) -> float:
        self.model.eval()
        tokens, mask, lengths, urgency = next(clinic_notes(self.cfg, clinic=0, steps=1))
        hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        return (self.head(hidden, lengths).argmax(dim=-1) == urgency).float().mean().item()


def main() -> None:
    cfg = TriageConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        tuner = ClinicTuner(cfg)
        for clinic in range(cfg.clinics):
            loss = tuner.fit(clinic)
            allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if clinic % 4 == 3:
                accuracy = tuner.house_accuracy()
                print(f"clinic {clinic:3d}: loss {loss:.3f}, house accuracy {accuracy:.2f}", flush=True)
        shipped = sum(tuner.archive.sizes.values()) / 2**20
        print(f"{len(tuner.archive.sizes)} adapters archived, {shipped:.0f} MiB on the host")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
