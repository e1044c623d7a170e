# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Fine-tune a BERT clause classifier from the top layer downwards with the transformers Trainer."""
import json
import os
import sys
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments,
                          set_seed)

SMALL = os.environ.get("SMALL") == "1"
ON_GPU = torch.cuda.is_available()
torch.set_float32_matmul_precision("high")

CLAUSES = 16
VOCAB = 300 if SMALL else 12000
LENGTH = 12 if SMALL else 128
BATCH = 4 if SMALL else 32
LAYERS = 3 if SMALL else 12
STEPS_PER_LAYER = 5 if SMALL else 14
STEPS = (LAYERS + 3) * STEPS_PER_LAYER
READ_DELAY = 0.0 if SMALL else 0.03


class Clauses(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        gen = torch.Generator().manual_seed(i)
        label = int(torch.randint(0, CLAUSES, (1,), generator=gen))
        ids = torch.randint(5, VOCAB, (LENGTH,), generator=gen)
        ids[1:4] = 5 + label
        return {"input_ids": ids, "labels": label}


def collate(items):
    time.sleep(READ_DELAY)
    ids = torch.stack([x["input_ids"] for x in items])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids),
            "labels": torch.tensor([x["labels"] for x in items])}


def build_model():
    size = dict(hidden_size=32, num_attention_heads=4, intermediate_size=64) if SMALL else \
        dict(hidden_size=1024, num_attention_heads=16, intermediate_size=4096)
    config = BertConfig(vocab_size=VOCAB, num_hidden_layers=LAYERS, num_labels=CLAUSES,
                        max_position_embeddings=max(16, LENGTH), **size)
    return BertForSequenceClassification(config)


class LayerSchedule(TrainerCallback):
    """Opens one more encoder layer every few steps, beginning at the top."""

    def __init__(self, every):
        self.every = every
        self.open = 0
        self.milestones = []

    def on_train_begin(self, args, state, control, model=None, **kwargs):
        model.bert.embeddings.requires_grad_(False)
        model.bert.encoder.requires_grad_(False)

    def on_step_begin(self, args, state, control, model=None, **kwargs):
        layers = model.bert.encoder.layer
        while self.open < len(layers) and state.global_step >= self.every * self.open:
            self.open += 1
            layers[-self.open].requires_grad_(True)
            self.milestones.append((state.global_step, self.open))


class Journal(TrainerCallback):
    """Rolling loss and memory readings."""

    def __init__(self, every):
        self.every = every
        self.losses = []
        self.allocated = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            self.losses.append((state.global_step, logs["loss"]))

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self.every == 0:
            self.allocated.append(torch.cuda.memory_allocated())


def main():
    set_seed(43)
    schedule, journal = LayerSchedule(STEPS_PER_LAYER), Journal(STEPS_PER_LAYER)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, per_device_train_batch_size=BATCH, max_steps=STEPS, learning_rate=5e-5,
            lr_scheduler_type="constant", weight_decay=0.01, logging_steps=STEPS_PER_LAYER, save_strategy="no",
            report_to="none", disable_tqdm=True, dataloader_num_workers=0, use_cpu=not ON_GPU, seed=43)
        trainer = Trainer(model=build_model(), args=args, data_collator=collate,
                          train_dataset=Clauses(STEPS * BATCH), callbacks=[schedule, journal])
        trainer.train()
    print(f"opened {schedule.open} layers at {schedule.milestones}; loss {journal.losses[0]} -> {journal.losses[-1]}")
    print("TRUTH " + json.dumps({"allocated": journal.allocated, "rounds": STEPS,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
