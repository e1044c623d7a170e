# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every step keeps its states. JAX allocates its pool at the start: the arrays lie within it."""

import time

import jax
import jax.numpy as jnp

history = []


def advance(state):
    return state * 1.01 + 1.0


state = jnp.ones((1024, 1024))
for _step in range(40):
    state = advance(state)
    history.append(state)
    jax.block_until_ready(state)
    time.sleep(0.02)
print(len(history), float(state[0, 0]))
