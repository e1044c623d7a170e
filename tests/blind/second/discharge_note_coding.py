# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""ICD chapter coding of discharge notes: BERT trained from scratch, with a chapter-group loss on an early layer."""
import json
import os
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments,
                          default_data_collator, set_seed)

SMALL = os.environ.get("SMALL") == "1"
CHAPTERS = 22
GROUPS = 6
VOCAB = 200 if SMALL else 12000
TOKENS = 32 if SMALL else 256
CARD_GB = 9.0


class DischargeNotes(Dataset):
    """Notes of generic words, with terms of the chapter sprinkled in (the last token ids belong to the chapters)."""

    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        terms = 4 if SMALL else 60
        self.chapter = rng.integers(0, CHAPTERS, count)
        self.ids = rng.integers(5, VOCAB - CHAPTERS * terms, (count, TOKENS))
        for row, chapter in enumerate(self.chapter):
            where = rng.choice(np.arange(1, TOKENS), TOKENS // 16, replace=False)
            self.ids[row, where] = VOCAB - (chapter + 1) * terms + rng.integers(0, terms, len(where))
        self.ids[:, 0] = 2
        self.length = rng.integers(TOKENS // 2, TOKENS + 1, count)

    def __len__(self):
        return len(self.chapter)

    def __getitem__(self, i):
        mask = (np.arange(TOKENS) < self.length[i]).astype(np.int64)
        return {"input_ids": self.ids[i] * mask, "attention_mask": mask, "labels": int(self.chapter[i])}


def collate(rows):
    time.sleep(0.002 if SMALL else 0.1)
    return default_data_collator(rows)


class CodingTrainer(Trainer):
    """Adds a coarse loss: the chapter group has to be readable from the first token of a lower layer."""

    def __init__(self, *args, group_layer=4, group_weight=0.3, **kwargs):
        super().__init__(*args, **kwargs)
        self.group_layer = group_layer
        self.group_weight = group_weight
        self.group_of = torch.arange(CHAPTERS, device=self.args.device) * GROUPS // CHAPTERS

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        loss = outputs.loss
        if model.training:
            early = outputs.hidden_states[self.group_layer][:, 0]
            loss = loss + self.group_weight * F.cross_entropy(model.group_head(early), self.group_of[inputs["labels"]])
        return (loss, outputs) if return_outputs else loss


class Bookkeeping(TrainerCallback):
    def __init__(self):
        self.allocated = []

    def on_prediction_step(self, args, state, control, **kwargs):
        self.allocated.append(torch.cuda.memory_allocated())

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs or "eval_loss" in logs:
            print(json.dumps({"step": state.global_step, **{k: round(float(v), 4) for k, v in logs.items()}}))


def coding_metrics(prediction):
    scores = prediction.predictions
    scores = scores[0] if isinstance(scores, tuple) else scores
    order = np.argsort(-scores, axis=1)
    truth = prediction.label_ids[:, None]
    return {"top1": float((order[:, :1] == truth).mean()), "top3": float((order[:, :3] == truth).any(1).mean())}


def build_model():
    config = BertConfig(vocab_size=VOCAB, hidden_size=32 if SMALL else 768, num_hidden_layers=5 if SMALL else 12,
                        num_attention_heads=4 if SMALL else 12, intermediate_size=64 if SMALL else 3072,
                        max_position_embeddings=TOKENS, num_labels=CHAPTERS, output_hidden_states=True)
    model = BertForSequenceClassification(config)
    model.group_head = nn.Linear(config.hidden_size, GROUPS)
    return model


def main():
    set_seed(31)
    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(CARD_GB * 2**30 / torch.cuda.mem_get_info()[1])
    book = Bookkeeping()
    try:
        with tempfile.TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                output_dir=folder, max_steps=8 if SMALL else 240, per_device_train_batch_size=4 if SMALL else 16,
                per_device_eval_batch_size=4 if SMALL else 32, eval_strategy="steps", eval_steps=4 if SMALL else 60,
                logging_steps=4 if SMALL else 20, save_strategy="no", learning_rate=1e-4, warmup_steps=20,
                report_to="none", disable_tqdm=True, dataloader_pin_memory=False)
            trainer = CodingTrainer(
                model=build_model(), args=arguments, data_collator=collate, compute_metrics=coding_metrics,
                train_dataset=DischargeNotes(64 if SMALL else 6000, seed=1),
                eval_dataset=DischargeNotes(16 if SMALL else 2400, seed=2), callbacks=[book])
            trainer.train()
            print(json.dumps(trainer.evaluate()))
    finally:
        print("TRUTH " + json.dumps({"allocated": book.allocated, "rounds": len(book.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
