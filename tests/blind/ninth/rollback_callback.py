# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Language model training with the transformers Trainer.

A callback goes back to the last good checkpoint when the loss explodes.
"""
import functools
import logging
import math
import os
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("lm")

VOCAB = 300 if SMOKE else 16000
LENGTH = 16 if SMOKE else 384
BATCH = 4 if SMOKE else 16


class ArithmeticText(Dataset):
    """Token sequences with a constant stride, plus noise."""

    def __init__(self, size, seed):
        self.size, self.seed = size, seed

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        gen = torch.Generator().manual_seed(self.seed * 1_000_003 + i)
        start, stride = torch.randint(0, VOCAB, (2,), generator=gen).tolist()
        ids = (start + (1 + stride % 9) * torch.arange(LENGTH)) % VOCAB
        noise = torch.rand(LENGTH, generator=gen) < 0.02
        ids = torch.where(noise, torch.randint(0, VOCAB, (LENGTH,), generator=gen), ids)
        return {"input_ids": ids, "labels": ids.clone()}


class TimeLimit(TrainerCallback):
    def __init__(self, seconds, least=60):
        self.seconds, self.least = seconds, least
        self.began = None

    def on_train_begin(self, args, state, control, **kwargs):
        self.began = time.time()

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step >= self.least and time.time() - self.began > self.seconds:
            control.should_training_stop = True


class Rollback(TrainerCallback):
    """Restore the weights of the last checkpoint if the loss jumps."""

    def __init__(self, factor=3.0):
        self.factor = factor
        self.restore = []
        self.average = None
        self.rollbacks = 0

    def on_save(self, args, state, control, model=None, **kwargs):
        weights = {name: value.detach().clone() for name, value in model.state_dict().items()}
        self.restore.append(functools.partial(model.load_state_dict, weights))
        log.info("restore point at step %d", state.global_step)

    def on_log(self, args, state, control, logs=None, **kwargs):
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        loss = float(loss)
        if self.average is not None and (math.isnan(loss) or loss > self.factor * self.average) and self.restore:
            self.restore[-1]()
            self.rollbacks += 1
            log.warning("loss %.3f at step %d: weights restored", loss, state.global_step)
            return
        self.average = loss if self.average is None else 0.8 * self.average + 0.2 * loss


def build_model():
    config = GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=32 if SMOKE else 512,
                        n_layer=2 if SMOKE else 12, n_head=4 if SMOKE else 8,
                        bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    model.config.use_cache = False
    return model


def arguments(folder):
    return TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=BATCH,
        max_steps=70 if SMOKE else 320,
        learning_rate=3e-4,
        lr_scheduler_type="cosine",
        warmup_steps=10,
        weight_decay=0.05,
        logging_steps=10,
        save_strategy="steps",
        save_steps=10 if SMOKE else 20,
        save_total_limit=1,
        save_only_model=True,
        eval_strategy="steps",
        eval_steps=40 if SMOKE else 80,
        prediction_loss_only=True,
        bf16=not SMOKE,
        dataloader_num_workers=0,
        report_to="none",
        disable_tqdm=True,
        use_cpu=SMOKE,
        seed=7,
    )


def main():
    set_seed(7)
    model = build_model()
    log.info("%.1f M parameters", sum(p.numel() for p in model.parameters()) / 1e6)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=arguments(folder),
            train_dataset=ArithmeticText(20000, 1),
            eval_dataset=ArithmeticText(16 if SMOKE else 128, 2),
            callbacks=[TimeLimit(17.0), Rollback()],
        )
        outcome = trainer.train()
        metrics = trainer.evaluate()
        log.info("train loss %.4f eval loss %.4f steps %d", outcome.training_loss,
                 metrics["eval_loss"], trainer.state.global_step)


if __name__ == "__main__":
    main()
