# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Teaches a small language model to write crossword clues with a PPO loop: it samples clues, scores them with a
reward model and stays close to the reference model with a divergence over the whole vocabulary."""

import copy
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel, GPT2Model

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class ClueConfig:
    vocab: int = 200 if SMALL else 20000
    hidden: int = 32 if SMALL else 768
    layers: int = 2 if SMALL else 4
    heads: int = 4 if SMALL else 12
    prompt_tokens: int = 6 if SMALL else 24
    clue_tokens: tuple[int, ...] = (2, 3, 4, 4) if SMALL else (8, 16, 24, 32, 40, 48, 48, 48)
    batch: int = 4 if SMALL else 48
    rollouts: int = 3 if SMALL else 5
    epochs: int = 2
    rate: float = 1e-5
    clip: float = 0.2
    kl_weight: float = 0.05
    temperature: float = 1.0
    seed: int = 5
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Rollout:
    sequence: torch.Tensor
    log_probs: torch.Tensor
    reference: torch.Tensor
    reward: torch.Tensor


class RewardModel(nn.Module):
    """Scores a clue from the hidden state at its last token."""

    def __init__(self, config: GPT2Config):
        super().__init__()
        self.body = GPT2Model(config)
        self.head = nn.Linear(config.n_embd, 1)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        states = self.body(input_ids=sequence, use_cache=False).last_hidden_state
        return self.head(states[:, -1]).squeeze(-1)


def gpt_config(cfg: ClueConfig) -> GPT2Config:
    return GPT2Config(
        vocab_size=cfg.vocab,
        n_embd=cfg.hidden,
        n_layer=cfg.layers,
        n_head=cfg.heads,
        n_positions=cfg.prompt_tokens + max(cfg.clue_tokens),
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=1,
        eos_token_id=2,
    )


class CluePPO:
    def __init__(self, cfg: ClueConfig):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        with torch.device(cfg.device):
            self.policy = GPT2LMHeadModel(gpt_config(cfg))
            self.reward_model = RewardModel(gpt_config(cfg)).eval().requires_grad_(False)
        self.reference_model = copy.deepcopy(self.policy).eval().requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=cfg.rate)
        self.rollouts: list[Rollout] = []
        self.reward_mean = 0.0

    @torch.no_grad()
    def sample(self, prompt: torch.Tensor, count: int) -> torch.Tensor:
        self.policy.eval()
        cache = DynamicCache(config=self.policy.config)
        pieces, step_input = [prompt], prompt
        for _ in range(count):
            out = self.policy(input_ids=step_input, past_key_values=cache, use_cache=True, logits_to_keep=1)
            chances = torch.softmax(out.logits[:, -1].float() / self.cfg.temperature, dim=-1)
            step_input = torch.multinomial(chances, 1)
            pieces.append(step_input)
        return torch.cat(pieces, dim=1)

    def clue_log_probs(self, model: GPT2LMHeadModel, sequence: torch.Tensor) -> torch.Tensor:
        count = sequence.shape[1] - self.cfg.prompt_tokens
        logits = model(input_ids=sequence, use_cache=False, logits_to_keep=count + 1).logits[:, :-1]
        return F.log_softmax(logits.float(), dim=-1)

    @torch.no_grad()
    def collect(self, prompt: torch.Tensor, count: int) -> float:
        sequence = self.sample(prompt, count)
        chosen = sequence[:, self.cfg.prompt_tokens :].unsqueeze(-1)
        log_probs = self.clue_log_probs(self.policy, sequence).gather(-1, chosen).squeeze(-1)
        reference = self.clue_log_probs(self.reference_model, sequence)
        reward = self.reward_model(sequence)
        self.rollouts.append(Rollout(sequence, log_probs, reference, reward))
        return reward.mean().item()

    def loss(self, rollout: Rollout, advantage: torch.Tensor) -> torch.Tensor:
        chosen = rollout.sequence[:, self.cfg.prompt_tokens :].unsqueeze(-1)
        current = self.clue_log_probs(self.policy, rollout.sequence)
        ratio = (current.gather(-1, chosen).squeeze(-1) - rollout.log_probs).exp()
        clipped = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip)
        gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
        divergence = (current.exp() * (current - rollout.reference)).sum(dim=-1).mean()
        return self.cfg.kl_weight * divergence - gain

    def update(self) -> float:
        self.policy.train()
        rewards = torch.cat([rollout.reward for rollout in self.rollouts])
        centre, spread = rewards.mean(), rewards.std() + 1e-6
        self.reward_mean = 0.9 * self.reward_mean + 0.1 * centre.item()
        total = 0.0
        for _ in range(self.cfg.epochs):
            for rollout in self.rollouts:
                advantage = ((rollout.reward - centre) / spread).unsqueeze(-1)
                loss = self.loss(rollout, advantage)
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                total += loss.item()
        self.rollouts.clear()
        return total / (self.cfg.epochs * self.cfg.rollouts)


def allocated() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def main() -> None:
    cfg = ClueConfig()
    levels: list[int] = []
    try:
        trainer = CluePPO(cfg)
        words = torch.Generator().manual_seed(cfg.seed)
        for phase, count in enumerate(cfg.clue_tokens):
            for _ in range(cfg.rollouts):
                prompt = torch.randint(3, cfg.vocab, (cfg.batch, cfg.prompt_tokens), generator=words)
                reward = trainer.collect(prompt.to(cfg.device), count)
                levels.append(allocated())
            loss = trainer.update()
            print(f"phase {phase}: clues of {count} tokens, reward {reward:.4f}, loss {loss:.5f}")
        print(f"running reward {trainer.reward_mean:.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": levels, "rounds": len(levels)}), file=sys.stderr)


if __name__ == "__main__":
    main()
