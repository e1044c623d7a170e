# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Trains a small BERT with the Trainer of transformers (and so accelerate), gradient accumulation and a scheduler."""

import tempfile

import torch
from digest import digest
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(torch.utils.data.Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(3)
        self.tokens = torch.randint(0, 500, (160, 48), generator=generator)
        self.labels = torch.randint(0, 2, (160,), generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.labels[index]}


config = BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=3, num_attention_heads=2, intermediate_size=128)
model = BertForSequenceClassification(config)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, max_steps=50, per_device_train_batch_size=8, gradient_accumulation_steps=2, report_to=[],
        disable_tqdm=True, logging_steps=10, save_strategy="no", seed=5, dataloader_num_workers=2,
    )  # fmt: skip
    trainer = Trainer(model, arguments, train_dataset=Sentences())
    trainer.train()
print(digest(model, [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]))
