# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every round frees its copy of the field."""

import time

import numpy
from numba import cuda

host = numpy.ones(1 << 20, dtype=numpy.float64)
total = 0.0
for number in range(40):
    field = cuda.to_device(host + number)
    total += field.copy_to_host()[0]
    del field
    time.sleep(0.02)
print(total)
