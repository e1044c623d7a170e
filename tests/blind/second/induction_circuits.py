# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""When do induction circuits form? Trains a small GPT-2 on repeated sequences and scores its blocks along the way."""
import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from transformers import GPT2Config, GPT2LMHeadModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class CircuitConfig:
    vocab: int = 64 if SMALL else 2048
    period: int = 8 if SMALL else 128
    batch: int = 2 if SMALL else 16
    layers: int = 2 if SMALL else 8
    heads: int = 2 if SMALL else 8
    width: int = 16 if SMALL else 512
    rounds: int = 4 if SMALL else 26
    steps_per_round: int = 2 if SMALL else 5
    lr: float = 6e-4
    warmup: int = 20
    tokenizer_latency: float = 0.06
    seed: int = 17


def repeated_sequences(cfg, gen):
    """A random string followed by itself: the second half is predictable by copying."""
    half = torch.randint(0, cfg.vocab, (cfg.batch, cfg.period), generator=gen)
    time.sleep(cfg.tokenizer_latency)
    return torch.cat([half, half], dim=1).to(DEVICE)


class BlockProbe:
    """Collects what the attention and MLP sublayers write into the residual stream."""

    def __init__(self, model):
        self.blocks = model.transformer.h
        self.handles = {}
        self.written = {}

    def _keep(self, kind, index):
        def hook(module, inputs, output):
            value = output[0] if isinstance(output, tuple) else output
            self.written[kind, index] = value.detach().float()
        return hook

    def __enter__(self):
        for index, block in enumerate(self.blocks):
            self.handles[index] = block.attn.register_forward_hook(self._keep("attn", index))
            self.handles[index] = block.mlp.register_forward_hook(self._keep("mlp", index))
        return self

    def __exit__(self, *exc):
        for handle in self.handles.values():
            handle.remove()
        self.handles.clear()
        return False

    def copy_scores(self, period):
        """Similarity of the write at each position in the second half to the write one period before."""
        scores = {}
        for (kind, index), value in self.written.items():
            first, second = value[:, :period], value[:, period:]
            centred = second - second.mean(dim=(0, 1))
            before = first.roll(-1, dims=1) - first.mean(dim=(0, 1))
            scores[f"{kind}{index}"] = F.cosine_similarity(centred, before, dim=-1).mean().item()
        return scores

    def write_norms(self):
        return {f"{kind}{index}": value.norm(dim=-1).mean().item() for (kind, index), value in self.written.items()}


@dataclass
class Development:
    """One row per round: losses of both halves and the strongest sublayers."""
    rows: list = field(default_factory=list)

    def add(self, round_index, novel, copied, scores, norms):
        top = sorted(scores, key=scores.get, reverse=True)[:3]
        self.rows.append({"round": round_index, "novel": novel, "copied": copied, "top": top,
                          "best": scores[top[0]], "norm": sum(norms.values()) / len(norms)})
        return self.rows[-1]

    def onset(self, threshold=0.8):
        for row in self.rows:
            if row["copied"] < threshold * row["novel"]:
                return row["round"]
        return None


def half_losses(model, tokens, period):
    logits = model(tokens).logits[:, :-1].float()
    losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    return losses[:, : period - 1].mean(), losses[:, period:].mean()


def examine(model, tokens, cfg):
    model.eval()
    with torch.no_grad(), torch.autocast(DEVICE.type, dtype=torch.bfloat16), BlockProbe(model) as probe:
        novel, copied = half_losses(model, tokens, cfg.period)
        scores, norms = probe.copy_scores(cfg.period), probe.write_norms()
    model.train()
    return novel.item(), copied.item(), scores, norms


def main():
    cfg = CircuitConfig()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    gpt = GPT2Config(vocab_size=cfg.vocab, n_positions=2 * cfg.period, n_embd=cfg.width, n_layer=cfg.layers,
                     n_head=cfg.heads, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
                     bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(gpt).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.98), weight_decay=0.01)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / cfg.warmup))
    held_out = repeated_sequences(cfg, torch.Generator().manual_seed(99))
    development, allocated = Development(), []

    model.train()
    for round_index in range(cfg.rounds):
        for _ in range(cfg.steps_per_round):
            tokens = repeated_sequences(cfg, gen)
            with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
                novel, copied = half_losses(model, tokens, cfg.period)
                loss = 0.5 * (novel + copied)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            warmup.step()
        row = development.add(round_index, *examine(model, held_out, cfg))
        print(f"round {round_index:2d} novel {row['novel']:.3f} copied {row['copied']:.3f} "
              f"top {','.join(row['top'])} best {row['best']:+.3f}")
        allocated.append(torch.cuda.memory_allocated())

    print(f"onset of copying: round {development.onset()}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.rounds,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
