# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Language model for lighthouse keepers' logs, trained with the Trainer on longer and longer passages; recent snapshots
vote at every validation."""

import json
import os
import sys
import tempfile
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch.func import functional_call
from torch.utils.data import Dataset, SequentialSampler
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments, set_seed

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class LogConfig:
    steps: int = 24 if SMALL else 320
    batch_size: int = 2 if SMALL else 8
    report_every: int = 2 if SMALL else 8
    snapshot_every: int = 4 if SMALL else 16
    validate_every: int = 6 if SMALL else 32
    snapshots: int = 3 if SMALL else 8
    shortest: int = 6 if SMALL else 64
    longest: int = 20 if SMALL else 448
    stages: int = 4 if SMALL else 7
    validation_passages: int = 2 if SMALL else 5
    vocab_size: int = 150 if SMALL else 12000
    hidden_size: int = 32 if SMALL else 768
    mlp_size: int = 64 if SMALL else 2048
    layers: int = 2 if SMALL else 10
    heads: int = 4 if SMALL else 12
    learning_rate: float = 3e-4
    seed: int = 1811

    def passage_length(self, step: int) -> int:
        stage = min(self.stages - 1, step * self.stages // self.steps)
        return self.shortest + (self.longest - self.shortest) * stage // (self.stages - 1)


class LogBook(Dataset):
    """Passages in the order of the curriculum: all of one batch have the same length."""

    def __init__(self, cfg: LogConfig):
        self.cfg = cfg

    def __len__(self) -> int:
        return self.cfg.steps * self.cfg.batch_size

    def passage(self, seed: int, length: int) -> torch.Tensor:
        gen = torch.Generator().manual_seed(seed)
        weather = torch.randint(1, self.cfg.vocab_size, (24,), generator=gen)
        words = torch.randint(1, self.cfg.vocab_size, (length,), generator=gen)
        return torch.where(
            torch.rand(length, generator=gen) < 0.6, weather[torch.randint(0, 24, (length,), generator=gen)], words
        )

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        ids = self.passage(self.cfg.seed + index, self.cfg.passage_length(index // self.cfg.batch_size))
        return {"input_ids": ids, "labels": ids.clone()}

    def validation(self) -> torch.Tensor:
        rows = [self.passage(-1 - i, self.cfg.longest) for i in range(self.cfg.validation_passages)]
        return torch.stack(rows)


class SnapshotVote(TrainerCallback):
    """Keeps the latest snapshots of the weights and averages their predictions on the validation passages."""

    def __init__(self, cfg: LogConfig, passages: torch.Tensor):
        self.cfg = cfg
        self.passages = passages
        self.snapshots: deque[dict[str, torch.Tensor]] = deque(maxlen=cfg.snapshots)
        self.history: list[tuple[int, float]] = []

    @torch.no_grad()
    def take(self, model: torch.nn.Module) -> None:
        self.snapshots.append({name: p.detach().clone() for name, p in model.named_parameters()})

    @torch.no_grad()
    def validate(self, model: torch.nn.Module) -> float:
        device = next(model.parameters()).device
        was_training = model.training
        model.eval()
        losses = []
        for row in self.passages:
            ids = row.to(device).unsqueeze(0)
            votes = None
            for weights in self.snapshots:
                logits = functional_call(model, weights, args=(), kwargs={"input_ids": ids, "use_cache": False}).logits
                probs = F.softmax(logits[0, :-1].float(), dim=-1)
                votes = probs if votes is None else votes.add_(probs)
            picked = votes.gather(1, ids[0, 1:, None]) / len(self.snapshots)
            losses.append(-picked.clamp_min(1e-9).log().mean().item())
        model.train(was_training)
        return sum(losses) / len(losses)

    def on_step_end(self, args, state, control, model=None, **kwargs):
        if state.global_step % self.cfg.snapshot_every == 0:
            self.take(model)
        if state.global_step % self.cfg.validate_every == 0 and self.snapshots:
            self.history.append((state.global_step, self.validate(model)))

    def on_train_end(self, args, state, control, model=None, **kwargs):
        self.history.append((state.global_step, self.validate(model)))
        self.snapshots.clear()


class DeviceReport(TrainerCallback):
    def __init__(self, every: int):
        self.every = every
        self.allocated: list[int] = []

    def note(self) -> None:
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self.every == 0:
            self.note()

    def on_train_end(self, args, state, control, **kwargs):
        self.note()


class CurriculumTrainer(Trainer):
    """The order of the data set is the curriculum, so it is not shuffled."""

    def _get_train_sampler(self, *args, **kwargs):
        return SequentialSampler(self.train_dataset)


def build_model(cfg: LogConfig) -> LlamaForCausalLM:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=cfg.vocab_size,
            hidden_size=cfg.hidden_size,
            intermediate_size=cfg.mlp_size,
            num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads,
            num_key_value_heads=cfg.heads,
            max_position_embeddings=cfg.longest,
            tie_word_embeddings=False,
            use_cache=False,
        )
    )


def training_arguments(cfg: LogConfig, folder: str) -> TrainingArguments:
    return TrainingArguments(
        output_dir=folder,
        max_steps=cfg.steps,
        per_device_train_batch_size=cfg.batch_size,
        learning_rate=cfg.learning_rate,
        optim="adamw_torch",
        max_grad_norm=1.0,
        logging_strategy="no",
        save_strategy="no",
        eval_strategy="no",
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        seed=cfg.seed,
    )


def main() -> None:
    cfg = LogConfig()
    set_seed(cfg.seed)
    book = LogBook(cfg)
    vote = SnapshotVote(cfg, book.validation())
    report = DeviceReport(cfg.report_every)
    try:
        with tempfile.TemporaryDirectory() as folder:
            trainer = CurriculumTrainer(
                model=build_model(cfg),
                args=training_arguments(cfg, folder),
                train_dataset=book,
                callbacks=[vote, report],
            )
            trainer.train()
        for step, loss in vote.history:
            print(f"step {step:4d}: validation loss of the vote {loss:.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": report.allocated, "rounds": len(report.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
