# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Fine-tune a RoBERTa-style classifier that routes support tickets, with the transformers Trainer."""
import json
import os
import sys
import tempfile
import time

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (RobertaConfig, RobertaForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

SMALL = os.environ.get("SMALL") == "1"
ON_GPU = torch.cuda.is_available()
torch.set_float32_matmul_precision("high")

QUEUES = 24
VOCAB = 200 if SMALL else 8000
LENGTH = 16 if SMALL else 256
BATCH = 4 if SMALL else 16
TRAIN_STEPS = 20 if SMALL else 100
EVAL_TICKETS = 48 if SMALL else 2560
MEMORY_BUDGET = 8 * 2**30          # share of the card this job may use
TOKENIZER_DELAY = 0.0 if SMALL else 0.035


class Tickets(Dataset):
    def __init__(self, count, offset):
        self.count, self.offset = count, offset

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        gen = torch.Generator().manual_seed(self.offset + i)
        queue = int(torch.randint(0, QUEUES, (1,), generator=gen))
        ids = torch.randint(3, VOCAB, (LENGTH,), generator=gen)
        ids[1:6] = 3 + queue
        ids[0] = 0
        return {"input_ids": ids, "labels": queue}


def collate(tickets):
    time.sleep(TOKENIZER_DELAY)
    ids = torch.stack([t["input_ids"] for t in tickets])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids),
            "labels": torch.tensor([t["labels"] for t in tickets])}


def router_config():
    size = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64) if SMALL else \
        dict(hidden_size=512, num_hidden_layers=8, num_attention_heads=8, intermediate_size=2048)
    return RobertaConfig(
        vocab_size=VOCAB, max_position_embeddings=LENGTH + 2, num_labels=QUEUES, type_vocab_size=1,
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
        classifier_dropout=0.1,
        output_hidden_states=True,
        **size)


class RoutingModel(RobertaForSequenceClassification):
    """Adds a penalty on the norm of the last layers' ticket vectors to the classification loss."""

    def forward(self, input_ids=None, attention_mask=None, labels=None, **kwargs):
        out = super().forward(input_ids=input_ids, attention_mask=attention_mask, labels=labels, **kwargs)
        if out.loss is not None:
            norms = [h[:, 0].pow(2).mean() for h in out.hidden_states[-2:]]
            out.loss = out.loss + 1e-3 * sum(norms)
        return out


def routing_scores(prediction):
    logits = prediction.predictions[0] if isinstance(prediction.predictions, tuple) else prediction.predictions
    guess = logits.argmax(axis=-1)
    top3 = np.argsort(-logits, axis=-1)[:, :3]
    return {"accuracy": float((guess == prediction.label_ids).mean()),
            "top3": float((top3 == prediction.label_ids[:, None]).any(axis=1).mean())}


class UsageCallback(TrainerCallback):
    def __init__(self):
        self.training, self.evaluation = [], []

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % 10 == 0:
            self.training.append(torch.cuda.memory_allocated())

    def on_prediction_step(self, args, state, control, **kwargs):
        self.evaluation.append(torch.cuda.memory_allocated())

    def report(self):
        every = max(1, len(self.evaluation) // 10)
        return {"allocated": self.evaluation[::every], "rounds": len(self.evaluation), "training": self.training}


def main():
    set_seed(31)
    if ON_GPU:
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, MEMORY_BUDGET / total))
    usage = UsageCallback()
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH,
            max_steps=TRAIN_STEPS, learning_rate=2e-4, warmup_steps=10, logging_steps=25, save_strategy="no",
            report_to="none", disable_tqdm=True, dataloader_num_workers=0, use_cpu=not ON_GPU, seed=31)
        trainer = Trainer(model=RoutingModel(router_config()), args=args, data_collator=collate,
                          train_dataset=Tickets(TRAIN_STEPS * BATCH, 0), eval_dataset=Tickets(EVAL_TICKETS, 10**6),
                          compute_metrics=routing_scores, callbacks=[usage])
        try:
            trainer.train()
            print(trainer.evaluate())
        finally:
            print("TRUTH " + json.dumps(usage.report()), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
