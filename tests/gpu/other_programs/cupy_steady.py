# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every round of the filter frees its result."""

import time

import cupy


def blur(image):
    return cupy.fft.ifft2(cupy.fft.fft2(image)).real


total = 0.0
for _number in range(40):
    image = cupy.random.rand(1024, 1024)
    total += float(blur(image).sum())
    time.sleep(0.02)
print(total)
