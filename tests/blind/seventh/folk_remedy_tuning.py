# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a text classifier on folk remedies (which complaint is a remedy for?) by gradual unfreezing.

The head is trained first; then, epoch by epoch, one more block from the top is unfrozen, with lower rates further down,
as in ULMFiT. Runs in the Hugging Face Trainer with evaluation after each epoch.
"""
import json
import logging
import os
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments,
                          get_linear_schedule_with_warmup)

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("remedies")


@dataclass
class TuneConfig:
    vocab: int = 300 if SMALL else 20_000
    hidden: int = 48 if SMALL else 1024
    blocks: int = 4 if SMALL else 10
    heads: int = 4 if SMALL else 16
    complaints: int = 6 if SMALL else 40
    length: int = 10 if SMALL else 64
    remedies: int = 64 if SMALL else 512
    heldout: int = 32 if SMALL else 256
    batch: int = 8 if SMALL else 16
    epochs: int = 7 if SMALL else 14
    lr: float = 3e-4
    falloff: float = 0.8


class Remedies(Dataset):
    def __init__(self, cfg, count, seed):
        rng = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(cfg.vocab, (count, cfg.length), generator=rng)
        self.labels = self.tokens[:, 0] % cfg.complaints

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.labels[index]}


def make_model(cfg):
    config = BertConfig(
        vocab_size=cfg.vocab, hidden_size=cfg.hidden, num_hidden_layers=cfg.blocks, num_attention_heads=cfg.heads,
        intermediate_size=4 * cfg.hidden, max_position_embeddings=cfg.length + 8, num_labels=cfg.complaints)
    return BertForSequenceClassification(config)


def stages(model):
    """Groups of modules from the head down to the embeddings."""
    yield [model.classifier, model.bert.pooler]
    for block in reversed(model.bert.encoder.layer):
        yield [block]
    yield [model.bert.embeddings]


def discriminative_groups(model, cfg):
    groups = []
    for depth, modules in enumerate(stages(model)):
        parameters = [p for module in modules for p in module.parameters()]
        groups.append({"params": parameters, "lr": cfg.lr * cfg.falloff ** depth})
    return groups


class GradualUnfreezing(TrainerCallback):
    def __init__(self, model):
        self.stages = list(stages(model))
        self.opened = 0
        model.requires_grad_(False)

    def on_epoch_begin(self, args, state, control, **kwargs):
        if self.opened < len(self.stages):
            for module in self.stages[self.opened]:
                module.requires_grad_(True)
            self.opened += 1


class Watch(TrainerCallback):
    def __init__(self):
        self.allocated = []
        self.scores = []

    def on_step_end(self, args, state, control, **kwargs):
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        self.scores.append(metrics["eval_accuracy"])
        log.info("epoch %2.0f  loss %.3f  accuracy %.3f", state.epoch, metrics["eval_loss"], metrics["eval_accuracy"])


def accuracy(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, axis=-1) == prediction.label_ids).mean())}


def tune(cfg, folder):
    model = make_model(cfg)
    unfreezing, watch = GradualUnfreezing(model), Watch()
    train, heldout = Remedies(cfg, cfg.remedies, 1), Remedies(cfg, cfg.heldout, 2)
    optimizer = torch.optim.AdamW(discriminative_groups(model.to(DEVICE), cfg))
    steps = cfg.epochs * (cfg.remedies // cfg.batch)
    arguments = TrainingArguments(
        output_dir=folder, num_train_epochs=cfg.epochs, per_device_train_batch_size=cfg.batch,
        per_device_eval_batch_size=2 * cfg.batch, eval_strategy="epoch", save_strategy="no", logging_strategy="no",
        report_to=[], disable_tqdm=True, dataloader_num_workers=0, use_cpu=DEVICE.type == "cpu", seed=5)
    trainer = Trainer(
        model=model, args=arguments, train_dataset=train, eval_dataset=heldout, compute_metrics=accuracy,
        optimizers=(optimizer, get_linear_schedule_with_warmup(optimizer, steps // 10, steps)),
        callbacks=[unfreezing, watch])
    trainer.train()
    log.info("%d of %d stages open, best accuracy %.3f", unfreezing.opened, len(unfreezing.stages), max(watch.scores))
    return watch, trainer


def main():
    torch.manual_seed(19)
    with tempfile.TemporaryDirectory() as folder:
        watch, trainer = tune(TuneConfig(), folder)
    stride = len(watch.allocated) // 200 + 1
    rounds = trainer.state.global_step
    print("TRUTH " + json.dumps({"allocated": watch.allocated[::stride], "rounds": rounds}), file=sys.stderr)
    return watch, trainer


if __name__ == "__main__":
    result = main()
