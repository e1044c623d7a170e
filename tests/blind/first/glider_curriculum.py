# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Training of a soaring glider controller (pure JAX).

Thousands of gliders fly in parallel through a thermal field.  A Gaussian policy and a value function are trained
with a clipped surrogate, as in the papers on long-range soaring.
"""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import functools
import json
import sys
import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp

SMALL = os.environ.get("SMALL") == "1"


@dataclass(frozen=True)
class Config:
    gliders: int = 16 if SMALL else 4096
    state: int = 48
    action: int = 4
    hidden: int = 32 if SMALL else 128
    stages: tuple = (4, 12, 32) if SMALL else (64, 192, 640)
    rounds_per_stage: int = 12
    final_rounds: int = 14
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    lr: float = 3e-4
    pause: float = 0.0 if SMALL else 0.05
    seed: int = 3


CFG = Config()


def init_params(key, cfg: Config):
    def dense(key, n_in, n_out):
        return {"w": jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in), "b": jnp.zeros((n_out,))}

    k = jax.random.split(key, 6)
    return {
        "pi": [dense(k[0], cfg.state, cfg.hidden), dense(k[1], cfg.hidden, cfg.hidden),
               dense(k[2], cfg.hidden, cfg.action)],
        "v": [dense(k[3], cfg.state, cfg.hidden), dense(k[4], cfg.hidden, cfg.hidden), dense(k[5], cfg.hidden, 1)],
        "log_std": jnp.full((cfg.action,), -0.5),
    }


def mlp(layers, x):
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def log_prob(params, obs, act):
    mean, std = mlp(params["pi"], obs), jnp.exp(params["log_std"])
    return (-0.5 * ((act - mean) / std) ** 2 - params["log_std"]).sum(-1)


def thermals(state, act):
    lift = jnp.sin(state[:, :8]).sum(-1) - 0.1 * (act ** 2).sum(-1)
    drift = jnp.roll(state, 1, axis=-1) * 0.02 + jnp.pad(act, ((0, 0), (0, state.shape[-1] - act.shape[-1]))) * 0.1
    return 0.97 * state + drift, lift


@functools.partial(jax.jit, static_argnames="horizon")
def fly(params, state, key, horizon):
    def step(carry, key):
        state = carry
        mean = mlp(params["pi"], state)
        act = mean + jnp.exp(params["log_std"]) * jax.random.normal(key, mean.shape)
        following, lift = thermals(state, act)
        return following, (state, act, lift, log_prob(params, state, act), mlp(params["v"], state)[:, 0])

    state, flight = jax.lax.scan(step, state, jax.random.split(key, horizon))
    return state, flight


@jax.jit
def advantages(params, last_state, lift, value):
    def back(carry, x):
        nxt, adv = carry
        r, v = x
        delta = r + CFG.gamma * nxt - v
        adv = delta + CFG.gamma * CFG.lam * adv
        return (v, adv), adv

    final = mlp(params["v"], last_state)[:, 0]
    _, adv = jax.lax.scan(back, (final, jnp.zeros_like(final)), (lift, value), reverse=True)
    return adv


def surrogate(params, obs, act, old_lp, adv, target):
    ratio = jnp.exp(log_prob(params, obs, act) - old_lp)
    a = (adv - adv.mean()) / (adv.std() + 1e-6)
    pi = -jnp.minimum(ratio * a, jnp.clip(ratio, 1 - CFG.clip, 1 + CFG.clip) * a).mean()
    v = ((mlp(params["v"], obs)[..., 0] - target) ** 2).mean()
    return pi + 0.5 * v


@jax.jit
def improve(params, mom, obs, act, old_lp, adv, target):
    loss, grads = jax.value_and_grad(surrogate)(params, obs, act, old_lp, adv, target)
    mom = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, mom, grads)
    params = jax.tree_util.tree_map(lambda p, m: p - CFG.lr * m, params, mom)
    return params, mom, loss


def horizon_at(cfg: Config, round_: int) -> int:
    return cfg.stages[min(round_ // cfg.rounds_per_stage, len(cfg.stages) - 1)]


def one_round(params, mom, state, key, horizon):
    state, (obs, act, lift, lp, value) = fly(params, state, key, horizon)
    adv = advantages(params, state, lift, value)
    target = adv + value
    for _ in range(2):
        params, mom, loss = improve(params, mom, obs, act, lp, adv, target)
    return params, mom, state, float(loss), float(lift.mean())


def main():
    cfg = CFG
    key = jax.random.key(cfg.seed)
    key, k_init, k_state = jax.random.split(key, 3)
    params = init_params(k_init, cfg)
    mom = jax.tree_util.tree_map(jnp.zeros_like, params)
    state = jax.random.normal(k_state, (cfg.gliders, cfg.state))
    device = jax.devices()[0]
    rounds = cfg.rounds_per_stage * len(cfg.stages) + cfg.final_rounds
    in_use, peak, lifts = [], [], []
    for round_ in range(rounds):
        horizon = horizon_at(cfg, round_)
        key, sub = jax.random.split(key)
        params, mom, state, loss, lift = one_round(params, mom, state, sub, horizon)
        lifts.append(lift)
        if (round_ + 1) % 5 == 0:
            stats = device.memory_stats() or {}
            in_use.append(int(stats.get("bytes_in_use", 0)))
            peak.append(int(stats.get("peak_bytes_in_use", 0)))
            print(f"round {round_ + 1:3d} horizon {horizon:4d} loss {loss:8.4f} lift {lift:7.4f}", flush=True)
        time.sleep(cfg.pause)
    print(f"best lift {max(lifts):.4f}")
    print("TRUTH " + json.dumps({"allocated": in_use, "peak": peak, "rounds": rounds}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
