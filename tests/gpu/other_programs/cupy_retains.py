# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every round of the filter keeps its result."""

import time

import cupy

results = []


def blur(image):
    return cupy.fft.ifft2(cupy.fft.fft2(image)).real


for number in range(40):
    image = cupy.random.rand(1024, 1024)
    results.append(blur(image) + number)
    time.sleep(0.02)
print(len(results), cupy.get_default_memory_pool().used_bytes())
