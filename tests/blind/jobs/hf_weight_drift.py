"""Pretrain a small GPT-2 with the HF Trainer and follow how fast the embeddings move.

    torchrun --nproc-per-node 2 hf_weight_drift.py
"""
import math
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

VOCAB = 32000
SEQ_LEN = 512
N_LAYER = 12
N_EMBD = 768
N_HEAD = 12
MAX_STEPS = 160
BATCH = 12


class MarkovText(Dataset):
    """Token sequences from a sparse random bigram table (no download needed)."""

    def __init__(self, n_samples, seq_len, vocab, branch=8, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.table = torch.randint(0, vocab, (vocab, branch), generator=g)
        self.n_samples = n_samples
        self.seq_len = seq_len
        self.vocab = vocab
        self.branch = branch

    def __len__(self):
        return self.n_samples

    def __getitem__(self, idx):
        g = torch.Generator().manual_seed(idx)
        choice = torch.randint(0, self.branch, (self.seq_len,), generator=g).tolist()
        tok = int(torch.randint(0, self.vocab, (1,), generator=g))
        out = []
        for c in choice:
            out.append(tok)
            tok = int(self.table[tok, c])
        ids = torch.tensor(out)
        return {"input_ids": ids, "labels": ids.clone()}


class EmbeddingDriftCallback(TrainerCallback):
    """Measures the relative change of the token embedding every few steps.

    Only the main process reports, the weights are identical on the others.
    """

    def __init__(self, every=2):
        self.every = every
        self.snapshots = []
        self.drift = []

    def on_train_begin(self, args, state, control, model=None, **kwargs):
        if state.is_world_process_zero:
            n = sum(p.numel() for p in model.parameters())
            print(f"model has {n / 1e6:.1f}M parameters")

    def on_step_end(self, args, state, control, model=None, **kwargs):
        if not state.is_world_process_zero or state.global_step % self.every:
            return
        weight = model.get_input_embeddings().weight.detach().clone()
        if self.snapshots:
            prev = self.snapshots[-1]
            rel = (weight - prev).norm() / prev.norm()
            cos = F.cosine_similarity(weight, prev, dim=1).mean()
            self.drift.append((state.global_step, rel.item(), cos.item()))
        self.snapshots.append(weight)

    def on_log(self, args, state, control, logs=None, **kwargs):
        if state.is_world_process_zero and self.drift and logs and "loss" in logs:
            step, rel, cos = self.drift[-1]
            print(f"step {step:4d} loss {logs['loss']} embedding drift {rel:.5f} cos {cos:.5f}")


class PerplexityCallback(TrainerCallback):
    def __init__(self):
        self.best = math.inf

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            self.best = min(self.best, math.exp(min(float(logs["loss"]), 20.0)))

    def on_train_end(self, args, state, control, **kwargs):
        if state.is_world_process_zero:
            print(f"best running perplexity {self.best:.1f}")


def main():
    set_seed(1234)
    config = GPT2Config(
        vocab_size=VOCAB,
        n_positions=SEQ_LEN,
        n_layer=N_LAYER,
        n_embd=N_EMBD,
        n_head=N_HEAD,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    model = GPT2LMHeadModel(config)
    train_set = MarkovText(BATCH * MAX_STEPS * 2, SEQ_LEN, VOCAB)

    args = TrainingArguments(
        output_dir=os.path.join(tempfile.gettempdir(), "hf_weight_drift_out"),
        per_device_train_batch_size=BATCH,
        max_steps=MAX_STEPS,
        learning_rate=3e-4,
        weight_decay=0.01,
        lr_scheduler_type="cosine",
        warmup_steps=20,
        bf16=torch.cuda.is_available(),
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_num_workers=4,
        ddp_find_unused_parameters=False,
        seed=1234,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train_set,
        callbacks=[EmbeddingDriftCallback(every=2), PerplexityCallback()],
    )
    result = trainer.train()
    if trainer.is_world_process_zero():
        print("train loss", round(result.training_loss, 4))


if __name__ == "__main__":
    main()
