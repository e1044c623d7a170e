# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Fits weights with JAX."""

import hashlib
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_deterministic_ops=true")

import jax
import jax.numpy as jnp
import numpy


@jax.jit
def step(weights, data):
    gradient = jax.grad(lambda w: jnp.square(jnp.tanh(data @ w) - data).mean())(weights)
    return weights - 0.1 * gradient


weights = jax.random.normal(jax.random.PRNGKey(0), (128, 128))
for i in range(40):
    weights = step(weights, jax.random.normal(jax.random.PRNGKey(i), (64, 128)))
print(hashlib.sha256(numpy.asarray(weights).tobytes()).hexdigest()[:16])
