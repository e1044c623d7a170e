# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Masked language model for antibody heavy chains (ESM architecture from scratch) with the Hugging Face Trainer."""
import json
import os
import random
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import EsmConfig, EsmForMaskedLM, Trainer, TrainerCallback, TrainingArguments, set_seed

SMALL = os.environ.get("SMALL") == "1"
LENGTH = 32 if SMALL else 128
CLS, PAD, EOS, MASK = 0, 1, 2, 32
RESIDUES = list(range(4, 24))
CDRS = [(0.21, 0.28), (0.41, 0.48), (0.80, 0.92)]


def loops(length):
    position = torch.arange(length) / length
    inside = torch.zeros(length, dtype=torch.bool)
    for begin, end in CDRS:
        inside |= (position >= begin) & (position < end)
    return inside


class HeavyChains(Dataset):
    """Germline frameworks with a few substitutions; the loops are drawn at random."""

    def __init__(self, count, seed):
        self.rng = random.Random(seed)
        germline = random.Random(4)
        self.germlines = [[germline.choice(RESIDUES) for _ in range(LENGTH - 2)] for _ in range(6)]
        self.inside = loops(LENGTH - 2).tolist()
        self.chains = [self.mutate(self.rng.choice(self.germlines)) for _ in range(count)]

    def mutate(self, germline):
        rate = [0.9 if loop else 0.06 for loop in self.inside]
        return [self.rng.choice(RESIDUES) if self.rng.random() < r else g for g, r in zip(germline, rate)]

    def __len__(self):
        return len(self.chains)

    def __getitem__(self, i):
        return {"input_ids": [CLS] + self.chains[i] + [EOS]}


class SpanMasker:
    """BERT-style masking, with short spans so that neighbouring residues do not give the answer away."""

    def __init__(self, rate=0.15, span=3, wait=0.0):
        self.rate, self.span, self.wait = rate, span, wait

    def __call__(self, rows):
        time.sleep(self.wait)
        ids = torch.tensor([row["input_ids"] for row in rows])
        start = torch.rand(ids.shape) < self.rate / self.span
        hidden = start.clone()
        for shift in range(1, self.span):
            hidden[:, shift:] |= start[:, :-shift]
        hidden &= (ids != CLS) & (ids != EOS)
        hidden[:, 1] |= ~hidden.any(1)
        return {"input_ids": ids.masked_fill(hidden, MASK), "attention_mask": torch.ones_like(ids),
                "labels": ids.masked_fill(~hidden, -100)}


class RegionCurve(TrainerCallback):
    """Follows framework and CDR perplexity on a fixed panel of therapeutic antibodies."""

    def __init__(self, panel):
        self.batch = SpanMasker(rate=0.3)([panel[i] for i in range(len(panel))])
        inside = F.pad(loops(LENGTH - 2), (1, 1))
        self.is_loop = inside.expand_as(self.batch["labels"])
        self.points = []

    def on_evaluate(self, args, state, control, model=None, **kwargs):
        model.eval()
        batch = {k: v.to(args.device) for k, v in self.batch.items()}
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        nll = F.cross_entropy(logits.transpose(1, 2), batch["labels"], ignore_index=-100, reduction="none")
        hidden = (batch["labels"] != -100)
        is_loop = self.is_loop.to(args.device)
        self.points.append((state.global_step, nll[hidden & ~is_loop].mean(), nll[hidden & is_loop].mean()))

    def on_train_end(self, args, state, control, **kwargs):
        for step, framework, loop in self.points:
            print(json.dumps({"step": step, "fr_ppl": round(framework.exp().item(), 3),
                              "cdr_ppl": round(loop.exp().item(), 3)}))


class Journal(TrainerCallback):
    def __init__(self):
        self.allocated = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        print(json.dumps({"step": state.global_step, **{k: v for k, v in logs.items() if "per_second" not in k}}))

    def on_evaluate(self, args, state, control, **kwargs):
        self.allocated.append(torch.cuda.memory_allocated())


def token_accuracy(prediction):
    known = prediction.label_ids != -100
    return {"acc": float(np.mean(prediction.predictions[known] == prediction.label_ids[known]))}


def main():
    set_seed(13)
    config = EsmConfig(vocab_size=33, mask_token_id=MASK, pad_token_id=PAD, hidden_size=32 if SMALL else 480,
                       num_hidden_layers=2 if SMALL else 12, num_attention_heads=4 if SMALL else 20,
                       intermediate_size=64 if SMALL else 1920, max_position_embeddings=LENGTH + 2,
                       position_embedding_type="rotary", token_dropout=True, emb_layer_norm_before=False)
    journal = Journal()
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=8 if SMALL else 160, per_device_train_batch_size=4 if SMALL else 24,
            per_device_eval_batch_size=8 if SMALL else 32, eval_strategy="steps", eval_steps=2 if SMALL else 10,
            logging_steps=4 if SMALL else 40, save_strategy="no", learning_rate=4e-4, warmup_steps=10, weight_decay=0.01,
            report_to="none", disable_tqdm=True, remove_unused_columns=False, dataloader_pin_memory=False)
        trainer = Trainer(
            model=EsmForMaskedLM(config), args=arguments, data_collator=SpanMasker(wait=0.002 if SMALL else 0.05),
            train_dataset=HeavyChains(64 if SMALL else 2000, seed=1), eval_dataset=HeavyChains(16 if SMALL else 128, 2),
            compute_metrics=token_accuracy, preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
            callbacks=[RegionCurve(HeavyChains(4 if SMALL else 8, seed=3)), journal])
        trainer.train()
    print("TRUTH " + json.dumps({"allocated": journal.allocated, "rounds": len(journal.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
