# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A cache without a limit keeps an array per distance. All other arrays are temporary."""

import functools
import time

import cupy


@functools.cache
def transfer(distance):
    frequency = cupy.fft.fftfreq(1024)
    squares = frequency[:, None] ** 2 + frequency[None, :] ** 2
    return cupy.exp(2j * cupy.pi * distance * cupy.sqrt(squares)).astype(cupy.complex64)


def propagate(field, distance):
    return cupy.fft.ifft2(cupy.fft.fft2(field) * transfer(distance))


field = cupy.ones((1024, 1024), dtype=cupy.complex64)
total = 0.0
for number in range(80):
    total += float(cupy.abs(propagate(field, number * 1e-3)).mean())
    time.sleep(0.05)
print(total)
