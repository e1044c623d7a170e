# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A training loop keeps the metrics of each step, with the features. JAX allocates its pool at the start."""

import time

import jax
import jax.numpy as jnp


@jax.jit
def train_step(weights, batch):
    features = jnp.tanh(batch @ weights)
    return weights * 0.999, {"loss": features.mean(), "features": features}


class Run:
    def __init__(self):
        self.weights = jnp.ones((256, 1024))
        self.metrics_history = []

    def step(self, batch):
        self.weights, metrics = train_step(self.weights, batch)  # the site
        self.metrics_history.append(metrics)


def main():
    run = Run()
    for number in range(200):
        run.step(jnp.full((1024, 256), number * 1e-3))
        time.sleep(0.06)
    print(float(run.metrics_history[-1]["loss"]))


main()
