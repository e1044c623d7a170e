# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Speech encoder for a low-resource language: masked self-distillation first, then CTC fine-tuning."""
import copy
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Recipe:
    mels: int = 8 if SMALL else 80
    frames: int = 32 if SMALL else 800
    dim: int = 16 if SMALL else 1024
    layers: int = 2 if SMALL else 12
    heads: int = 2 if SMALL else 16
    batch: int = 2 if SMALL else 8
    vocab: int = 12 if SMALL else 64
    unlabelled_steps: int = 4 if SMALL else 18
    labelled_steps: int = 6 if SMALL else 30
    mask_share: float = 0.4
    ema: float = 0.996
    shard_seconds: float = 0.0 if SMALL else 0.3
    seed: int = 6


class SpeechEncoder(nn.Module):
    def __init__(self, r):
        super().__init__()
        self.front = nn.Conv1d(r.mels, r.dim, 5, stride=4, padding=2)
        self.position = nn.Parameter(torch.zeros(1, r.frames // 4, r.dim))
        layer = nn.TransformerEncoderLayer(r.dim, r.heads, 4 * r.dim, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, r.layers, norm=nn.LayerNorm(r.dim), enable_nested_tensor=False)

    def features(self, mel):
        return F.gelu(self.front(mel)).transpose(1, 2) + self.position

    def forward(self, mel, mask=None, filler=None):
        x = self.features(mel)
        if mask is not None:
            x = torch.where(mask.unsqueeze(-1), filler, x)
        return self.body(x)


class Recordings:
    def __init__(self, r, seed):
        self.r = r
        self.gen = torch.Generator().manual_seed(seed)

    def audio(self):
        time.sleep(self.r.shard_seconds)
        shape = (self.r.batch, self.r.mels, self.r.frames)
        return torch.randn(shape, generator=self.gen).cumsum(-1).mul_(0.05).to(DEVICE)

    def labelled(self):
        length = self.r.frames // 16
        text = torch.randint(1, self.r.vocab, (self.r.batch, length), generator=self.gen)
        return self.audio(), text.to(DEVICE), torch.full((self.r.batch,), length)


class SelfDistillation:
    """The student sees masked audio and predicts what the slowly moving teacher makes of the whole."""

    def __init__(self, encoder, recipe):
        self.recipe = recipe
        self.student = encoder
        self.teacher = copy.deepcopy(encoder).requires_grad_(False)
        self.filler = nn.Parameter(torch.randn(recipe.dim, device=DEVICE) * 0.02)
        self.predictor = nn.Sequential(nn.Linear(recipe.dim, recipe.dim), nn.GELU(),
                                       nn.Linear(recipe.dim, recipe.dim)).to(DEVICE)
        weights = [*encoder.parameters(), *self.predictor.parameters(), self.filler]
        self.optimizer = torch.optim.AdamW(weights, lr=5e-5, betas=(0.9, 0.98), weight_decay=0.01)

    @torch.no_grad()
    def follow(self):
        torch._foreach_lerp_(list(self.teacher.parameters()), list(self.student.parameters()), 1 - self.recipe.ema)

    def step(self, mel):
        mask = torch.rand(mel.shape[0], self.recipe.frames // 4, device=DEVICE) < self.recipe.mask_share
        with torch.no_grad():
            goal = F.layer_norm(self.teacher(mel), (self.recipe.dim,))
        guess = self.predictor(self.student(mel, mask, self.filler))
        loss = F.smooth_l1_loss(guess[mask], goal[mask])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.follow()
        return loss.item()


class CtcTuning:
    def __init__(self, encoder, recipe):
        self.encoder = encoder
        self.head = nn.Linear(recipe.dim, recipe.vocab).to(DEVICE)
        self.weights = [*encoder.parameters(), *self.head.parameters()]
        self.optimizer = torch.optim.SGD(self.weights, lr=0.01, momentum=0.9, nesterov=True)

    def step(self, mel, text, lengths):
        log_probs = self.head(self.encoder(mel)).log_softmax(-1).transpose(0, 1)
        frames = torch.full((mel.shape[0],), log_probs.shape[0])
        loss = F.ctc_loss(log_probs, text, frames, lengths, zero_infinity=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights, 5.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()


def main():
    recipe = Recipe()
    torch.manual_seed(recipe.seed)
    allocated = []
    encoder = SpeechEncoder(recipe).to(DEVICE)
    recordings = Recordings(recipe, seed=21)
    try:
        pretraining = SelfDistillation(encoder, recipe)
        for step in range(recipe.unlabelled_steps):
            loss = pretraining.step(recordings.audio())
            allocated.append(torch.cuda.memory_allocated())
            if step % 6 == 0:
                print(f"[distil] step {step:3d} loss {loss:.4f}")

        tuning = CtcTuning(encoder, recipe)
        best = float("inf")
        for step in range(recipe.labelled_steps):
            loss = tuning.step(*recordings.labelled())
            best = min(best, loss)
            allocated.append(torch.cuda.memory_allocated())
            if step % 6 == 0:
                print(f"[ctc]    step {step:3d} loss {loss:.4f} best {best:.4f}")
    finally:
        print('TRUTH {"allocated": %s, "rounds": %d}' % (allocated, len(allocated)), file=sys.stderr)


if __name__ == "__main__":
    main()
