# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every round keeps its copy of the field on the GPU."""

import time

import numpy
from numba import cuda

host = numpy.ones(1 << 20, dtype=numpy.float64)
fields = []


def upload(number):
    return cuda.to_device(host + number)  # the site


for number in range(40):
    fields.append(upload(number))
    time.sleep(0.02)
print(len(fields))
