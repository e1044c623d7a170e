# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Held-out evaluation of a contract-clause language model with the HF Trainer and token-level metrics."""
import json
import os
import sys
import tempfile
import time

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

SMALL = os.environ.get("SMALL") == "1"
CUDA = torch.cuda.is_available()
BUDGET_GIB = 9.0

SIZES = {
    "vocab": 300 if SMALL else 30000,
    "length": 16 if SMALL else 512,
    "hidden": 32 if SMALL else 512,
    "layers": 2 if SMALL else 6,
    "heads": 2 if SMALL else 8,
    "train_steps": 2 if SMALL else 12,
    "train_batch": 2 if SMALL else 4,
    "eval_batch": 2 if SMALL else 6,
    "held_out": 12 if SMALL else 180,
    "read": 0.0 if SMALL else 0.09,
}


class Clauses(Dataset):
    """Clauses assembled from boilerplate sentences with a few changed words; every item is one padded block."""

    def __init__(self, count, seed, sizes):
        gen = torch.Generator().manual_seed(seed)
        self.boilerplate = torch.randint(5, sizes["vocab"], (40, sizes["length"] // 4), generator=gen)
        self.count, self.seed, self.sizes = count, seed, sizes

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.sizes["read"])
        gen = torch.Generator().manual_seed(self.seed + 31 * index)
        picks = torch.randint(0, len(self.boilerplate), (4,), generator=gen)
        ids = self.boilerplate[picks].flatten().clone()
        changed = torch.rand(ids.shape, generator=gen) < 0.08
        ids[changed] = torch.randint(5, self.sizes["vocab"], (int(changed.sum()),), generator=gen)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}


def clause_metrics(prediction):
    """Next-token accuracy, and accuracy within the first quarter, where definitions are."""
    scores, labels = prediction
    guesses = scores[:, :-1].argmax(-1)
    truth = labels[:, 1:]
    right = guesses == truth
    quarter = truth.shape[1] // 4
    return {"accuracy": float(np.mean(right)), "definition_accuracy": float(np.mean(right[:, :quarter])),
            "blocks": len(truth)}


class MemoryLog(TrainerCallback):
    def __init__(self):
        self.evaluation = []

    def on_prediction_step(self, args, state, control, **kwargs):
        self.evaluation.append(torch.cuda.memory_allocated())

    def on_log(self, args, state, control, logs=None, **kwargs):
        print(json.dumps({k: v for k, v in (logs or {}).items() if isinstance(v, (int, float))}))


def clause_model(sizes):
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=sizes["vocab"], n_positions=sizes["length"], n_embd=sizes["hidden"], n_layer=sizes["layers"],
        n_head=sizes["heads"], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
        bos_token_id=1, eos_token_id=2))


def training_arguments(folder, sizes):
    return TrainingArguments(
        output_dir=folder,
        max_steps=sizes["train_steps"],
        per_device_train_batch_size=sizes["train_batch"],
        per_device_eval_batch_size=sizes["eval_batch"],
        learning_rate=2e-4,
        lr_scheduler_type="linear",
        logging_steps=6,
        eval_strategy="no",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        seed=19,
    )


def limit_memory():
    """The evaluation host is shared; every job has a fixed share of the card."""
    if CUDA:
        torch.cuda.set_per_process_memory_fraction(BUDGET_GIB * 2 ** 30 / torch.cuda.mem_get_info()[1])


def main():
    limit_memory()
    torch.manual_seed(19)
    log = MemoryLog()
    train_set = Clauses(400, seed=10_000, sizes=SIZES)
    held_out = Clauses(SIZES["held_out"], seed=5_000_000, sizes=SIZES)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=clause_model(SIZES),
            args=training_arguments(folder, SIZES),
            train_dataset=train_set,
            eval_dataset=held_out,
            compute_metrics=clause_metrics,
            callbacks=[log],
        )
        try:
            trainer.train()
            report = trainer.evaluate(metric_key_prefix="held_out")
            print(f"accuracy {report['held_out_accuracy']:.4f} on {report['held_out_blocks']} blocks")
        finally:
            print("TRUTH " + json.dumps({"allocated": log.evaluation, "rounds": len(log.evaluation)}),
                  file=sys.stderr)


if __name__ == "__main__":
    main()
