# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Byte-level language model in JAX/flax.

Batches are bucketed by length (three shapes); the train state is donated to
the jitted step.
"""
import functools
import logging
import os
import pickle
import tempfile
import time
from dataclasses import dataclass

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
SMOKE = os.environ.get("DEVICE", "cuda") == "cpu"
if SMOKE:
    os.environ["JAX_PLATFORMS"] = "cpu"

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
logging.getLogger("jax").setLevel(logging.WARNING)
log = logging.getLogger("bytes")


@dataclass(frozen=True)
class Config:
    vocab: int = 256
    dim: int = 32 if SMOKE else 768
    heads: int = 4 if SMOKE else 12
    layers: int = 2 if SMOKE else 4
    buckets: tuple = (8, 16, 24) if SMOKE else (128, 256, 512)
    tokens: int = 64 if SMOKE else 16384
    rounds: int = 8 if SMOKE else 14
    per_round: int = 9 if SMOKE else 30
    lr: float = 3e-4
    seconds: float = 9.0


class Block(nn.Module):
    cfg: Config

    @nn.compact
    def __call__(self, x, mask):
        c = self.cfg
        y = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        y = nn.MultiHeadDotProductAttention(num_heads=c.heads, dtype=jnp.bfloat16)(y, y, mask=mask)
        x = x + y
        y = nn.LayerNorm(dtype=jnp.bfloat16)(x)
        y = nn.Dense(4 * c.dim, dtype=jnp.bfloat16)(y)
        return x + nn.Dense(c.dim, dtype=jnp.bfloat16)(nn.gelu(y))


class ByteLM(nn.Module):
    cfg: Config

    @nn.compact
    def __call__(self, ids):
        c = self.cfg
        x = nn.Embed(c.vocab, c.dim, dtype=jnp.bfloat16)(ids)
        pos = self.param("pos", nn.initializers.normal(0.02), (max(c.buckets), c.dim))
        x = x + pos[: ids.shape[1]].astype(jnp.bfloat16)
        mask = nn.make_causal_mask(ids)
        for _ in range(c.layers):
            x = Block(c)(x, mask)
        return nn.Dense(c.vocab, dtype=jnp.float32)(nn.LayerNorm()(x))


def loss_fn(params, apply_fn, ids):
    logits = apply_fn({"params": params}, ids[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:]).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, ids):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state.apply_fn, ids)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(state, ids):
    return loss_fn(state.params, state.apply_fn, ids)


class BucketedData:
    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.rng = np.random.default_rng(seed)

    def batch(self, length):
        rows = max(2, self.cfg.tokens // length)
        start = self.rng.integers(0, 256, (rows, 1))
        stride = self.rng.integers(1, 5, (rows, 1))
        ids = (start + stride * np.arange(length + 1)) % 256
        noise = self.rng.random(ids.shape) < 0.05
        return np.where(noise, self.rng.integers(0, 256, ids.shape), ids).astype(np.int32)

    def epoch(self, n):
        for _ in range(n):
            yield self.batch(int(self.rng.choice(self.cfg.buckets)))


def create_state(cfg):
    model = ByteLM(cfg)
    params = model.init(jax.random.PRNGKey(0), jnp.zeros((1, min(cfg.buckets)), jnp.int32))["params"]
    schedule = optax.warmup_cosine_decay_schedule(0.0, cfg.lr, 20, cfg.rounds * cfg.per_round)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01))
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)


def evaluate(state, data, cfg, batches=4):
    losses = [eval_step(state, data.batch(max(cfg.buckets))) for _ in range(batches)]
    return float(jnp.stack(losses).mean())


def main():
    cfg = Config()
    state = create_state(cfg)
    count = sum(x.size for x in jax.tree_util.tree_leaves(state.params))
    log.info("%.1f M parameters on %s", count / 1e6, jax.devices()[0])
    train, valid = BucketedData(cfg, 1), BucketedData(cfg, 2)
    for length in cfg.buckets:  # compile every shape first
        state, loss = train_step(state, train.batch(length))
    log.info("compiled, loss %.3f", float(loss))
    began, steps, history = time.time(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(cfg.rounds):
            losses = []
            for ids in train.epoch(cfg.per_round):
                state, loss = train_step(state, ids)
                losses.append(loss)
                steps += 1
            mean = float(jnp.stack(losses).mean())
            history.append({"round": number, "train": mean, "valid": evaluate(state, valid, cfg)})
            log.info("round %d steps %d train %.4f valid %.4f", number, steps, mean, history[-1]["valid"])
            if number % 4 == 3:
                with open(os.path.join(folder, "params.pkl"), "wb") as f:
                    pickle.dump(jax.device_get(state.params), f)
            if steps >= 60 and time.time() - began > cfg.seconds:
                break


if __name__ == "__main__":
    main()
