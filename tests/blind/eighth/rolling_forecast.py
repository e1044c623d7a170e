# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Walk-forward backtest of a small forecaster in JAX: refit on every window, score on the next one."""
import functools
import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
if os.environ.get("DEVICE", "cuda") == "cpu":
    os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import optax

TINY = os.environ.get("DEVICE", "cuda") == "cpu"
CFG = dict(
    n_series=64 if TINY else 2048,
    window=64 if TINY else 256,
    n_lags=8 if TINY else 64,
    hidden=32 if TINY else 512,
    windows=8 if TINY else 14,
    stride=24,
    steps_per_window=12,
    batch=64 if TINY else 8192,
    lr=1e-3,
    seed=0,
    max_seconds=17.0,
)


def make_panel(cfg):
    rng = np.random.default_rng(cfg["seed"])
    length = cfg["window"] + cfg["stride"] * (cfg["windows"] + 2)
    walk = rng.normal(size=(cfg["n_series"], length)).cumsum(1)
    season = np.sin(np.arange(length) / 12.0)[None] * rng.uniform(0.5, 3, size=(cfg["n_series"], 1))
    return (walk + season).astype(np.float32)


def lag_matrix(panel, n_lags):
    """All (lags -> next value) pairs of a window, series by series."""
    view = np.lib.stride_tricks.sliding_window_view(panel, n_lags + 1, axis=1)
    flat = view.reshape(-1, n_lags + 1)
    flat = flat - flat[:, :1]
    return np.ascontiguousarray(flat[:, :-1]), np.ascontiguousarray(flat[:, -1:])


def init_params(key, sizes):
    params = []
    for k, (m, n) in zip(jax.random.split(key, len(sizes) - 1), zip(sizes[:-1], sizes[1:])):
        params.append({"w": jax.random.normal(k, (m, n)) / np.sqrt(m), "b": jnp.zeros((n,))})
    return params


def mlp(params, x):
    for layer in params[:-1]:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


class RollingForecaster:
    def __init__(self, cfg, panel):
        self.cfg = cfg
        x, y = lag_matrix(panel, cfg["n_lags"])
        self.scale = float(x.std()) + 1e-6
        self.features = jnp.asarray(x / self.scale)
        self.targets = jnp.asarray(y / self.scale)
        self.tx = optax.adamw(cfg["lr"], weight_decay=1e-4)
        self.params = init_params(jax.random.PRNGKey(cfg["seed"]), [cfg["n_lags"], cfg["hidden"], cfg["hidden"], 1])
        self.opt_state = self.tx.init(self.params)

    @functools.partial(jax.jit, static_argnums=0)
    def _update(self, params, opt_state, x, y):
        def loss_fn(p):
            return jnp.mean(optax.huber_loss(mlp(p, x), y))

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    def fit(self, rng):
        loss = 0.0
        for _ in range(self.cfg["steps_per_window"]):
            idx = rng.integers(0, len(self.features), self.cfg["batch"])
            self.params, self.opt_state, loss = self._update(
                self.params, self.opt_state, self.features[idx], self.targets[idx])
        return float(loss)

    def score(self, panel):
        x, y = lag_matrix(panel, self.cfg["n_lags"])
        pred = mlp(self.params, jnp.asarray(x[:20000] / self.scale))
        return float(jnp.mean(jnp.abs(pred - y[:20000] / self.scale)))


def backtest(cfg):
    panel = make_panel(cfg)
    rng = np.random.default_rng(cfg["seed"] + 1)
    start, rows = time.time(), []
    for w in range(cfg["windows"]):
        lo = w * cfg["stride"]
        hi = lo + cfg["window"]
        model = RollingForecaster(cfg, panel[:, lo:hi])
        loss = model.fit(rng)
        mae = model.score(panel[:, hi - cfg["n_lags"]:hi + cfg["stride"]])
        rows.append((w, loss, mae))
        print(f"window {w:2d} [{lo}:{hi}] loss {loss:.4f} next-window MAE {mae:.4f} {time.time() - start:.1f}s",
              flush=True)
        del model
        if time.time() - start > cfg["max_seconds"]:
            break
    return rows


def main():
    print("devices:", jax.devices())
    rows = backtest(CFG)
    print(f"{len(rows)} windows, mean MAE {np.mean([r[2] for r in rows]):.4f}")


if __name__ == "__main__":
    main()
