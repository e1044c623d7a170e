# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Every frame's arrays stay in a list of tuples, beside other objects."""

import time

import numpy
from numba import cuda


class Denoiser:
    def __init__(self):
        self.in_flight = []

    def submit(self, number, frame):
        source = cuda.to_device(frame)  # the site
        self.in_flight.append((number, source[100:]))


def main():
    denoiser = Denoiser()
    for number in range(60):
        denoiser.submit(number, numpy.ones((1024, 1024), dtype=numpy.float64))
        time.sleep(0.05)
    print(len(denoiser.in_flight))


main()
