# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Pretrain a small Qwen-style decoder on clinical shorthand with the HF Trainer, logging next-token probes."""
import json
import os
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import PrinterCallback, Qwen2Config, Qwen2ForCausalLM, Trainer, TrainerCallback, TrainingArguments

SMALL = os.environ.get("SMALL") == "1"
VOCAB = 512 if SMALL else 32000
LENGTH = 16 if SMALL else 384
BATCH = 2 if SMALL else 8
STEPS = 12 if SMALL else 60
PROBE_EVERY = 3
WATCHED = {"stat": 17, "bid": 101, "prn": 202, "npo": 303}


class ShorthandNotes(Dataset):
    """Token streams from a Markov-like generator: each note follows one of a few templates with noise."""

    def __init__(self, notes, seed, read_seconds):
        gen = torch.Generator().manual_seed(seed)
        self.templates = torch.randint(0, VOCAB, (24, LENGTH), generator=gen)
        self.notes, self.seed, self.read_seconds = notes, seed, read_seconds

    def __len__(self):
        return self.notes

    def __getitem__(self, index):
        time.sleep(self.read_seconds)
        gen = torch.Generator().manual_seed(self.seed * 7919 + index)
        ids = self.templates[index % len(self.templates)].clone()
        noisy = torch.rand(LENGTH, generator=gen) < 0.15
        ids[noisy] = torch.randint(0, VOCAB, (int(noisy.sum()),), generator=gen)
        return {"input_ids": ids, "labels": ids.clone()}


class ProbeTrainer(Trainer):
    """Next-token loss with z-regularisation; every few steps the scores of watched abbreviations are logged."""

    z_weight = 1e-4

    def __init__(self, *args, watched=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.watched = watched or {}
        self.micro_step = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"])
        logits = outputs.logits
        flat, target = logits[:, :-1].reshape(-1, logits.size(-1)), labels[:, 1:].reshape(-1)
        ce = F.cross_entropy(flat, target)
        z = torch.logsumexp(flat, dim=-1).pow(2).mean()
        loss = ce + self.z_weight * z

        self.micro_step += 1
        if model.training and self.micro_step % PROBE_EVERY == 0:
            last = logits.detach()[0, -1]
            self.log({"ce": ce.item(), "z": z.item(),
                      **{f"probe_{name}": last[token] for name, token in self.watched.items()}})
        return (loss, outputs) if return_outputs else loss


class Gauge(TrainerCallback):
    """Keeps the console quiet and the numbers for the run sheet."""

    def __init__(self):
        self.allocated = []
        self.lines = 0

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % PROBE_EVERY == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "ce" in logs:
            self.lines += 1
            if self.lines % 4 == 1:
                print(f"step {state.global_step}: ce {logs['ce']:.3f} "
                      + " ".join(f"{k[6:]}={float(v):+.2f}" for k, v in logs.items() if k.startswith("probe_")))


def build_model():
    config = Qwen2Config(
        vocab_size=VOCAB, hidden_size=32 if SMALL else 768, intermediate_size=64 if SMALL else 2048,
        num_hidden_layers=2 if SMALL else 6, num_attention_heads=2 if SMALL else 12,
        num_key_value_heads=1 if SMALL else 4, max_position_embeddings=1024, tie_word_embeddings=True, use_cache=False)
    return Qwen2ForCausalLM(config)


def arguments(folder):
    return TrainingArguments(
        output_dir=folder, max_steps=STEPS, per_device_train_batch_size=BATCH, learning_rate=3e-4, warmup_steps=10,
        lr_scheduler_type="cosine", weight_decay=0.1, max_grad_norm=1.0, logging_strategy="no", save_strategy="no",
        eval_strategy="no", report_to=[], disable_tqdm=True, dataloader_num_workers=0, seed=13,
        remove_unused_columns=False)


def main():
    torch.manual_seed(13)
    gauge = Gauge()
    notes = ShorthandNotes(64 if SMALL else 2000, seed=4, read_seconds=0.0 if SMALL else 0.03)
    with tempfile.TemporaryDirectory() as folder:
        trainer = ProbeTrainer(model=build_model(), args=arguments(folder), train_dataset=notes, callbacks=[gauge],
                               watched=WATCHED)
        trainer.remove_callback(PrinterCallback)
        try:
            result = trainer.train()
            probes = [row for row in trainer.state.log_history if "ce" in row]
            trend = float(probes[-1]["probe_stat"]) - float(probes[0]["probe_stat"])
            print(f"train loss {result.training_loss:.3f}; 'stat' moved by {trend:+.3f} over {len(probes)} probes")
        finally:
            print("TRUTH " + json.dumps({"allocated": gauge.allocated, "rounds": len(gauge.allocated)}),
                  file=sys.stderr)


if __name__ == "__main__":
    main()
