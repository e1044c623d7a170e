# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a text encoder on patent classes with the Hugging Face Trainer, then embeds a stream of new
abstracts with it and looks up their nearest classes."""

import json
import os
import sys
import tempfile
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class PatentConfig:
    vocab: int = 300 if SMALL else 30000
    hidden: int = 32 if SMALL else 1024
    layers: int = 2 if SMALL else 18
    heads: int = 4 if SMALL else 16
    classes: int = 6 if SMALL else 128
    length: int = 12 if SMALL else 128
    train_rows: int = 48 if SMALL else 512
    train_batch: int = 8 if SMALL else 32
    train_steps: int = 4 if SMALL else 24
    rate: float = 1e-4
    embed_batches: int = 6 if SMALL else 40
    embed_batch: int = 8 if SMALL else 256
    seed: int = 11


class PatentAbstracts(Dataset):
    """Token ids of abstracts whose second token depends on the class."""

    def __init__(self, cfg: PatentConfig, rows: int, seed: int):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, cfg.classes, (rows,), generator=generator)
        self.ids = torch.randint(200, cfg.vocab, (rows, cfg.length), generator=generator)
        self.ids[:, 0] = 1
        self.ids[:, 1] = 2 + self.labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> dict[str, torch.Tensor]:
        return {
            "input_ids": self.ids[row],
            "attention_mask": torch.ones_like(self.ids[row]),
            "labels": self.labels[row],
        }


class LossLog(TrainerCallback):
    """Prints the training loss in one line for each logging step."""

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step}: loss {float(logs['loss']):.4f}")


def build_encoder(cfg: PatentConfig, device: str) -> BertForSequenceClassification:
    torch.manual_seed(cfg.seed)
    config = BertConfig(
        vocab_size=cfg.vocab,
        hidden_size=cfg.hidden,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        intermediate_size=cfg.hidden * 4,
        max_position_embeddings=cfg.length,
        num_labels=cfg.classes,
    )
    with torch.device(device):
        return BertForSequenceClassification(config)


class PatentIndex:
    """Owns the encoder, from fine-tuning to the embedding of new abstracts."""

    def __init__(self, cfg: PatentConfig, device: str):
        self.cfg = cfg
        self.device = device
        self.model = build_encoder(cfg, device)
        self.vectors: list[torch.Tensor] = []
        self.nearest: list[torch.Tensor] = []

    def fine_tune(self) -> None:
        arguments = TrainingArguments(
            output_dir=tempfile.mkdtemp(prefix="patents_"),
            per_device_train_batch_size=self.cfg.train_batch,
            max_steps=self.cfg.train_steps,
            learning_rate=self.cfg.rate,
            optim="adamw_torch",
            bf16=torch.cuda.is_available(),
            logging_steps=max(self.cfg.train_steps // 4, 1),
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=False,
            seed=self.cfg.seed,
        )
        self.trainer = Trainer(
            model=self.model,
            args=arguments,
            train_dataset=PatentAbstracts(self.cfg, self.cfg.train_rows, self.cfg.seed),
            callbacks=[LossLog()],
        )
        self.trainer.train()
        self.model.eval()

    @torch.inference_mode()
    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        ids = ids.to(self.device)
        with torch.autocast(self.device, dtype=torch.bfloat16):
            states = self.model.bert(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        return F.normalize(states.float().mean(dim=1), dim=-1)

    @torch.inference_mode()
    def add(self, ids: torch.Tensor) -> None:
        vectors = self.embed(ids)
        prototypes = F.normalize(self.model.classifier.weight, dim=-1)
        self.nearest.append((vectors @ prototypes.T).argmax(dim=-1).cpu())
        self.vectors.append(vectors.half().cpu())

    def training_curve(self) -> list[float]:
        return [entry["loss"] for entry in self.trainer.state.log_history if "loss" in entry]


def incoming_batches(cfg: PatentConfig):
    for number in range(cfg.embed_batches):
        yield PatentAbstracts(cfg, cfg.embed_batch, cfg.seed + 100 + number).ids


def allocated() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def main() -> None:
    cfg = PatentConfig()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    levels: list[int] = []
    try:
        index = PatentIndex(cfg, device)
        index.fine_tune()
        for number, ids in enumerate(incoming_batches(cfg)):
            index.add(ids)
            levels.append(allocated())
            if number % 10 == 0:
                print(f"batch {number}: {(number + 1) * cfg.embed_batch} abstracts in the index")
        curve = index.training_curve()
        classes = torch.cat(index.nearest).unique().numel()
        print(f"loss {curve[0]:.3f} -> {curve[-1]:.3f}, abstracts fall into {classes} classes")
    finally:
        print("TRUTH " + json.dumps({"allocated": levels, "rounds": len(levels)}), file=sys.stderr)


if __name__ == "__main__":
    main()
