# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Indexing service for late-interaction retrieval.

Batches of passages are encoded by a pool of two workers; clients may ask for
the state of a job by its id. Quantised vectors go to the index on the host.
"""
import logging
import os
import random
import tempfile
import threading
import time
import uuid
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("index")


@dataclass
class Config:
    vocab: int = 300 if SMOKE else 30000
    dim: int = 32 if SMOKE else 768
    layers: int = 2 if SMOKE else 12
    heads: int = 4 if SMOKE else 12
    out: int = 16 if SMOKE else 128
    passages: int = 4 if SMOKE else 64
    length: int = 12 if SMOKE else 180
    jobs: int = 100 if SMOKE else 1100
    in_flight: int = 6
    seconds: float = 17.0


class TokenEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Embedding(cfg.length, cfg.dim)
        layer = nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 4 * cfg.dim, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.proj = nn.Linear(cfg.dim, cfg.out, bias=False)

    def forward(self, ids):
        h = self.enc(self.emb(ids) + self.pos.weight[: ids.shape[1]])
        return F.normalize(self.proj(h).float(), dim=-1)


class HostIndex:
    """Int8 codes, kept in a ring on the host."""

    def __init__(self, keep):
        self.keep = keep
        self.codes = []
        self.total = 0

    def add(self, vectors):
        codes = (vectors * 127).round().to(torch.int8).cpu().numpy()
        self.codes.append(codes)
        del self.codes[: -self.keep]
        self.total += len(codes)

    def save(self, path):
        np.save(path, np.concatenate(self.codes[-10:]))


class IndexService:
    def __init__(self, cfg):
        self.cfg = cfg
        dtype = torch.float32 if SMOKE else torch.bfloat16
        self.model = TokenEncoder(cfg).to(DEVICE, dtype).eval()
        self.pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="encode")
        self.index = HostIndex(keep=50)
        self.jobs = {}
        self.lock = threading.Lock()

    @torch.inference_mode()
    def encode(self, ids):
        vectors = self.model(ids.to(DEVICE))
        keep = (ids != 0).to(DEVICE)
        return vectors * keep[..., None]

    def submit(self, ids):
        job = uuid.UUID(int=random.getrandbits(128)).hex
        with self.lock:
            self.jobs[job] = self.pool.submit(self.encode, ids)
        return job

    def state(self, job):
        with self.lock:
            future = self.jobs.get(job)
        if future is None:
            return "unknown"
        return "done" if future.done() else "running" if future.running() else "queued"

    def collect(self, pending):
        """Move the finished jobs among `pending` to the index."""
        with self.lock:
            futures = {self.jobs[job]: job for job in pending}
        finished, _ = wait(futures, return_when=FIRST_COMPLETED)
        for future in finished:
            self.index.add(future.result())
        return {futures[future] for future in finished}

    def close(self):
        self.pool.shutdown(wait=True)


def main():
    torch.manual_seed(0)
    random.seed(0)
    cfg = Config()
    service = IndexService(cfg)
    gen = torch.Generator().manual_seed(2)
    pending, began, done = set(), time.time(), 0
    for n in range(cfg.jobs):
        ids = torch.randint(0, cfg.vocab, (cfg.passages, cfg.length), generator=gen)
        job = service.submit(ids)
        pending.add(job)
        while len(pending) >= cfg.in_flight:
            finished = service.collect(pending)
            done += len(finished)
            pending -= finished
        if n % 100 == 0:
            log.info("submitted %d done %d indexed %d, newest is %s", n + 1, done, service.index.total,
                     service.state(job))
        if n >= 60 and time.time() - began > cfg.seconds:
            break
    while pending:
        pending -= service.collect(pending)
    service.close()
    with tempfile.TemporaryDirectory() as folder:
        service.index.save(os.path.join(folder, "codes.npy"))
    log.info("indexed %d passages", service.index.total)


if __name__ == "__main__":
    main()
