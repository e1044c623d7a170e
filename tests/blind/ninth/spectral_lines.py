# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Seismic shot gathers: band-pass, f-k filter and stack, with CuPy.

Survey lines differ in the number of traces, so the pool is trimmed after each
line; its size is limited. The noise bank stands in for the files of a survey.
"""
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import numpy as np

try:
    import cupy as cp
except ImportError:  # machine without a GPU
    cp = np

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("seismic")
SMOKE = cp is np or os.environ.get("DEVICE", "cuda") == "cpu"


@dataclass
class Survey:
    samples: int = 64 if SMOKE else 4096
    traces: tuple = (8, 16, 32, 12) if SMOKE else (256, 512, 960, 384, 720, 192)
    shots_per_batch: int = 4 if SMOKE else 12
    batches_per_line: int = 20 if SMOKE else 60
    dt: float = 0.002
    dx: float = 12.5
    band: tuple = (5.0, 80.0)
    velocity: float = 1500.0
    pool_limit: int = 10 * 2**30
    line_seconds: float = 2.6


class NoiseBank:
    """A few gathers in host memory which are rolled to make new ones."""

    def __init__(self, survey):
        rng = np.random.default_rng(3)
        self.base = rng.standard_normal((2, max(survey.traces), survey.samples), dtype=np.float32)
        self.rng = rng

    def shot(self, traces):
        which = self.rng.integers(2)
        return self.base[which, :traces]

    def batch(self, shots, traces):
        return np.stack([self.shot(traces) for _ in range(shots)])


class Filters:
    def __init__(self, survey, traces):
        f = cp.fft.rfftfreq(survey.samples, survey.dt).astype(cp.float32)
        k = cp.fft.fftfreq(traces, survey.dx).astype(cp.float32)
        low, high = survey.band
        band = 1.0 / (1.0 + cp.exp(-(f - low))) / (1.0 + cp.exp(f - high))
        slow = cp.abs(f[None, :]) >= survey.velocity * cp.abs(k[:, None])
        self.weight = (band[None, :] * slow).astype(cp.float32)


class Stack:
    """Running sum over offsets for one line."""

    def __init__(self, survey, bins=200):
        self.total = cp.zeros((bins, survey.samples), dtype=cp.float32)
        self.fold = cp.zeros(bins, dtype=cp.float32)
        self.bins = bins

    def add(self, gathers):
        folded = gathers.sum(axis=0)
        n = folded.shape[0]
        where = cp.asarray(np.linspace(0, self.bins - 1, n).astype(np.int32))
        usable = n // max(1, n // self.bins)
        step = max(1, n // self.bins)
        block = folded[: usable * step].reshape(usable, step, -1).sum(axis=1)[: self.bins]
        self.total[: len(block)] += block
        self.fold[: len(block)] += gathers.shape[0] * step
        return float(where[-1])

    def result(self):
        return self.total / cp.maximum(self.fold, 1.0)[:, None]


class Pipeline:
    def __init__(self, survey):
        self.survey = survey
        self.bank = NoiseBank(survey)
        self.pool = None
        if cp is not np:
            self.pool = cp.get_default_memory_pool()
            self.pool.set_limit(size=survey.pool_limit)

    def used(self):
        if self.pool is None:
            return "no pool"
        return f"pool used {self.pool.used_bytes() / 2**20:.0f} MiB of {self.pool.total_bytes() / 2**20:.0f} MiB"

    def trim(self):
        if self.pool is not None:
            self.pool.free_all_blocks()
            cp.fft.config.get_plan_cache().clear()

    def normalise(self, d):
        rms = cp.sqrt((d * d).mean(axis=-1, keepdims=True))
        return d / (rms + 1e-6)

    def process(self, host, filters):
        d = self.normalise(cp.asarray(host))
        spec = cp.fft.fft(cp.fft.rfft(d, axis=-1), axis=1)
        spec *= filters.weight
        clean = cp.fft.irfft(cp.fft.ifft(spec, axis=1), n=self.survey.samples, axis=-1)
        return clean.astype(cp.float32)

    def run_line(self, number, traces):
        s = self.survey
        filters, stack = Filters(s, traces), Stack(s)
        began, energy, done = time.time(), [], 0
        for b in range(s.batches_per_line):
            clean = self.process(self.bank.batch(s.shots_per_batch, traces), filters)
            stack.add(clean)
            energy.append(float((clean * clean).mean()))
            done += 1
            if b % 20 == 0:
                log.info("line %d traces %d batch %d energy %.5f %s", number, traces, b, energy[-1], self.used())
            if b >= 12 and time.time() - began > s.line_seconds:
                break
        image = stack.result()
        return (image if cp is np else cp.asnumpy(image)), float(np.mean(energy)), done


def main():
    survey = Survey()
    pipeline = Pipeline(survey)
    with tempfile.TemporaryDirectory() as folder:
        total = 0
        for number, traces in enumerate(survey.traces):
            image, energy, batches = pipeline.run_line(number, traces)
            np.save(os.path.join(folder, f"line{number}.npy"), image)
            pipeline.trim()
            total += batches
            log.info("line %d done: energy %.5f, image %s, %s", number, energy, image.shape, pipeline.used())
    log.info("%d batches", total)


if __name__ == "__main__":
    main()
