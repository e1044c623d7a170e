# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Museum label writing from visitor feedback: REINFORCE on a small GPT-2, its reward model refreshed as it goes."""

import copy
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class LabelConfig:
    iterations: int = 5 if SMALL else 36
    labels_per_iteration: int = 2 if SMALL else 16
    prompt_tokens: int = 4 if SMALL else 16
    label_tokens: int = 6 if SMALL else 48
    pairs_per_refresh: int = 2 if SMALL else 6
    vocab_size: int = 120 if SMALL else 8000
    hidden_size: int = 32 if SMALL else 512
    layers: int = 2 if SMALL else 6
    heads: int = 4 if SMALL else 8
    policy_lr: float = 1e-5
    reward_lr: float = 3e-5
    kl_weight: float = 0.05
    baseline_decay: float = 0.95
    temperature: float = 1.0
    seed: int = 31

    def transformer(self) -> GPT2Config:
        return GPT2Config(
            vocab_size=self.vocab_size,
            n_positions=self.prompt_tokens + self.label_tokens,
            n_embd=self.hidden_size,
            n_layer=self.layers,
            n_head=self.heads,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=0,
            attn_implementation="eager",
        )


class RewardModel(nn.Module):
    """Scores a whole label by its last token."""

    def __init__(self, cfg: LabelConfig):
        super().__init__()
        self.backbone = GPT2Model(cfg.transformer())
        self.score = nn.Linear(cfg.hidden_size, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.backbone(input_ids=tokens, use_cache=False).last_hidden_state
        return self.score(hidden[:, -1]).squeeze(-1)


class RewardScaler:
    """Centres rewards with a slowly moving average and clips them."""

    def __init__(self, decay: float, limit: float = 5.0):
        self.decay = decay
        self.limit = limit
        self.mean = torch.zeros((), device=DEVICE)
        self.updates = 0

    def centre(self, rewards: torch.Tensor) -> torch.Tensor:
        return (rewards - self.mean).clamp(-self.limit, self.limit).detach()

    def update(self, rewards: torch.Tensor) -> None:
        decay = min(self.decay, self.updates / (self.updates + 1.0))
        self.mean = decay * self.mean + (1.0 - decay) * rewards.mean()
        self.updates += 1


class VisitorPanel:
    """Stands in for visitors: they like labels that reuse words of the exhibit prompt."""

    def __init__(self, cfg: LabelConfig):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def prompts(self, count: int) -> torch.Tensor:
        shape = (count, self.cfg.prompt_tokens)
        return torch.randint(1, self.cfg.vocab_size, shape, generator=self.gen).to(DEVICE)

    def preference_pairs(self) -> tuple[torch.Tensor, torch.Tensor]:
        prompts = self.prompts(self.cfg.pairs_per_refresh)
        shape = (self.cfg.pairs_per_refresh, self.cfg.label_tokens)
        pick = torch.randint(0, self.cfg.prompt_tokens, shape, generator=self.gen).to(DEVICE)
        liked = torch.gather(prompts, 1, pick)
        other = torch.randint(1, self.cfg.vocab_size, shape, generator=self.gen).to(DEVICE)
        return torch.cat([prompts, liked], dim=1), torch.cat([prompts, other], dim=1)


def label_log_probs(model: GPT2LMHeadModel, sequences: torch.Tensor, prompt_tokens: int) -> torch.Tensor:
    logits = model(input_ids=sequences, use_cache=False).logits[:, prompt_tokens - 1 : -1]
    targets = sequences[:, prompt_tokens:]
    return torch.gather(F.log_softmax(logits.float(), dim=-1), 2, targets.unsqueeze(-1)).squeeze(-1)


class LabelTrainer:
    def __init__(self, cfg: LabelConfig):
        self.cfg = cfg
        self.panel = VisitorPanel(cfg)
        self.policy = GPT2LMHeadModel(cfg.transformer()).to(DEVICE)
        self.reference = copy.deepcopy(self.policy).eval().requires_grad_(False)
        self.reward_model = RewardModel(cfg).to(DEVICE)
        self.policy_optimizer = torch.optim.AdamW(self.policy.parameters(), lr=cfg.policy_lr)
        self.reward_optimizer = torch.optim.AdamW(self.reward_model.parameters(), lr=cfg.reward_lr)
        self.scaler = RewardScaler(cfg.baseline_decay)

    @torch.no_grad()
    def write_labels(self) -> torch.Tensor:
        self.policy.eval()
        prompts = self.panel.prompts(self.cfg.labels_per_iteration)
        return self.policy.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            max_new_tokens=self.cfg.label_tokens,
            do_sample=True,
            top_k=50,
            temperature=self.cfg.temperature,
        )

    def refresh_reward_model(self) -> float:
        self.reward_model.train()
        liked, other = self.panel.preference_pairs()
        loss = -F.logsigmoid(self.reward_model(liked) - self.reward_model(other)).mean()
        self.reward_optimizer.zero_grad()
        loss.backward()
        self.reward_optimizer.step()
        self.reward_optimizer.zero_grad()
        return loss.item()

    def improve_policy(self, labels: torch.Tensor, advantages: torch.Tensor) -> float:
        self.policy.train()
        log_probs = label_log_probs(self.policy, labels, self.cfg.prompt_tokens)
        with torch.no_grad():
            anchor = label_log_probs(self.reference, labels, self.cfg.prompt_tokens)
        kl = (log_probs - anchor).mean()
        loss = -(advantages.unsqueeze(1) * log_probs).mean() + self.cfg.kl_weight * kl
        self.policy_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.policy_optimizer.step()
        self.policy_optimizer.zero_grad()
        return loss.item()

    def iterate(self) -> dict[str, float]:
        reward_loss = self.refresh_reward_model()
        labels = self.write_labels()
        self.reward_model.eval()
        rewards = self.reward_model(labels)
        advantages = self.scaler.centre(rewards)
        self.scaler.update(rewards)
        policy_loss = self.improve_policy(labels, advantages)
        return {"reward": rewards.mean().item(), "reward_loss": reward_loss, "policy_loss": policy_loss}


def main() -> None:
    cfg = LabelConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        trainer = LabelTrainer(cfg)
        for iteration in range(cfg.iterations):
            stats = trainer.iterate()
            allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if iteration % 6 == 0:
                print(f"iteration {iteration:3d} " + " ".join(f"{k}={v:.4f}" for k, v in stats.items()), flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
