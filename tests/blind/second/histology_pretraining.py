# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Masked autoencoder pretraining on unlabelled histology tiles, then tissue typing with the pretrained encoder."""
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification,
                          ViTMAEConfig, ViTMAEForPreTraining, default_data_collator, set_seed)

SMALL = os.environ.get("SMALL") == "1"
TISSUES = ["adipose", "background", "debris", "lymphocytes", "mucus", "muscle", "normal", "stroma", "tumour"]
SIDE = 32 if SMALL else 224
ENCODER = dict(image_size=SIDE, patch_size=16, hidden_size=32 if SMALL else 1024, num_hidden_layers=2 if SMALL else 12,
               num_attention_heads=4 if SMALL else 16, intermediate_size=64 if SMALL else 4096)
DECODER = dict(decoder_hidden_size=16 if SMALL else 512, decoder_num_hidden_layers=1 if SMALL else 8,
               decoder_num_attention_heads=4 if SMALL else 16, decoder_intermediate_size=32 if SMALL else 2048)


class Tiles(Dataset):
    """Stain texture whose grain and hue depend on the tissue."""

    def __init__(self, count, seed, labelled):
        rng = np.random.default_rng(seed)
        self.tissue = rng.integers(0, len(TISSUES), count)
        self.seeds = rng.integers(0, 2**31, count)
        self.labelled = labelled

    def __len__(self):
        return len(self.tissue)

    def __getitem__(self, i):
        rng = np.random.default_rng(self.seeds[i])
        tissue = int(self.tissue[i])
        grain = 2 ** (tissue % 4)
        cells = rng.random((3, SIDE // grain, SIDE // grain), dtype=np.float32)
        image = cells.repeat(grain, axis=1).repeat(grain, axis=2)
        image[tissue % 3] += 0.1 * tissue
        item = {"pixel_values": torch.from_numpy(image - 0.5)}
        return {**item, "labels": tissue} if self.labelled else item


def from_slide_store(rows):
    time.sleep(0.002 if SMALL else 0.06)
    return default_data_collator(rows)


class Journal(TrainerCallback):
    def __init__(self, stage):
        self.stage = stage
        self.allocated = []

    def on_epoch_end(self, args, state, control, **kwargs):
        self.allocated.append(torch.cuda.memory_allocated())

    def on_log(self, args, state, control, logs=None, **kwargs):
        kept = {k: round(float(v), 5) for k, v in logs.items() if k in ("loss", "eval_loss", "eval_accuracy")}
        if kept:
            print(json.dumps({"stage": self.stage, "step": state.global_step, **kept}))


def arguments(folder, name, **extra):
    return TrainingArguments(
        output_dir=str(Path(folder) / name), per_device_train_batch_size=4 if SMALL else 24,
        per_device_eval_batch_size=4 if SMALL else 48, save_strategy="no", weight_decay=0.05, warmup_steps=5,
        logging_steps=2 if SMALL else 10, report_to="none", disable_tqdm=True, dataloader_pin_memory=False, **extra)


def pretrain(folder):
    model = ViTMAEForPreTraining(ViTMAEConfig(mask_ratio=0.75, norm_pix_loss=True, **ENCODER, **DECODER))
    trainer = Trainer(
        model=model, data_collator=from_slide_store, train_dataset=Tiles(16 if SMALL else 480, seed=1, labelled=False),
        args=arguments(folder, "mae", num_train_epochs=2 if SMALL else 4, learning_rate=1.5e-4),
        callbacks=[Journal("pretrain")])
    trainer.train()
    return trainer


def make_classifier(encoder_weights, tuned_blocks=2):
    config = ViTConfig(num_labels=len(TISSUES), id2label=dict(enumerate(TISSUES)), **ENCODER)
    classifier = ViTForImageClassification(config)
    report = classifier.vit.load_state_dict(encoder_weights, strict=False)
    print(json.dumps({"missing": len(report.missing_keys), "unexpected": len(report.unexpected_keys)}))
    trained = [f".{ENCODER['num_hidden_layers'] - 1 - i}." for i in range(tuned_blocks if not SMALL else 1)]
    for name, parameter in classifier.vit.named_parameters():
        parameter.requires_grad = any(block in name for block in trained)
    return classifier


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def main():
    set_seed(17)
    with tempfile.TemporaryDirectory() as folder:
        pretrainer = pretrain(folder)
        classifier = make_classifier(pretrainer.model.vit.state_dict())
        journal = Journal("typing")
        trainer = Trainer(
            model=classifier, data_collator=from_slide_store, compute_metrics=accuracy, callbacks=[journal],
            train_dataset=Tiles(16 if SMALL else 360, seed=2, labelled=True),
            eval_dataset=Tiles(8 if SMALL else 96, seed=3, labelled=True),
            args=arguments(folder, "typing", num_train_epochs=3 if SMALL else 6, learning_rate=3e-4,
                           eval_strategy="epoch"))
        trainer.train()
        final = trainer.evaluate()

    reconstruction = [row["loss"] for row in pretrainer.state.log_history if "loss" in row]
    print(json.dumps({"mae_first": reconstruction[0], "mae_last": reconstruction[-1],
                      "accuracy": round(final["eval_accuracy"], 4)}))
    print("TRUTH " + json.dumps({"allocated": journal.allocated, "rounds": len(journal.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
