# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every step replaces the state. JAX allocates each array from the driver."""

import os
import time

os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"

import jax
import jax.numpy as jnp

state = jnp.ones((1024, 1024))
for _step in range(40):
    state = state * 1.01 + 1.0
    jax.block_until_ready(state)
    time.sleep(0.02)
print(float(state[0, 0]))
