# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Document classification service.

Requests are scored one by one; documents that the model is not sure about or
that carry a language it does not know are turned down with a reason. The
collector is switched off after warm-up to keep the tail latency flat.
"""
import gc
import logging
import os
import random
import statistics
import time
from collections import Counter, deque
from dataclasses import dataclass

import torch
import torch.nn as nn

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("classify")


@dataclass
class Settings:
    vocab: int = 500 if SMOKE else 50000
    dim: int = 32 if SMOKE else 1024
    layers: int = 2 if SMOKE else 12
    heads: int = 4 if SMOKE else 16
    classes: int = 20
    chunk: int = 16 if SMOKE else 512
    max_chunks: int = 3 if SMOKE else 8
    requests: int = 200 if SMOKE else 2600
    seconds: float = 17.0


class RequestRejected(Exception):
    def __init__(self, reason, request_id):
        super().__init__(f"{reason} (request {request_id})")
        self.reason = reason


class Classifier(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.emb = nn.Embedding(s.vocab, s.dim)
        layer = nn.TransformerEncoderLayer(s.dim, s.heads, 4 * s.dim, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, s.layers, enable_nested_tensor=False)
        self.head = nn.Linear(s.dim, s.classes)
        self.language = nn.Linear(s.dim, 2)

    def encode(self, ids):
        return self.encoder(self.emb(ids))


class Request:
    __slots__ = ("id", "ids", "language")

    def __init__(self, id, ids, language):
        self.id, self.ids, self.language = id, ids, language


def traffic(s, seed=3):
    rng = random.Random(seed)
    for i in range(s.requests):
        chunks = rng.randint(1, s.max_chunks)
        gen = torch.Generator().manual_seed(i)
        ids = torch.randint(0, s.vocab, (chunks, s.chunk), generator=gen)
        yield Request(i, ids, "xx" if rng.random() < 0.05 else "en")


class Service:
    def __init__(self, s):
        self.s = s
        self.model = Classifier(s).to(DEVICE, torch.bfloat16 if not SMOKE else torch.float32).eval()
        self.latency = deque(maxlen=500)
        self.counts = Counter()

    def warm_up(self):
        for chunks in range(1, self.s.max_chunks + 1):
            ids = torch.zeros(chunks, self.s.chunk, dtype=torch.long)
            self.handle(Request(-1, ids, "en"))
        gc.collect()
        gc.freeze()
        gc.disable()

    def score(self, request):
        with torch.inference_mode():
            ids = request.ids.to(DEVICE)
            hidden = self.model.encode(ids)
            pooled = hidden.float().mean(dim=(0, 1))
            probs = self.model.head(pooled.to(hidden.dtype)).float().softmax(-1)
            top, label = probs.max(-1)
            if request.language != "en":
                raise RequestRejected("unsupported language", request.id)
            return {"label": int(label), "score": float(top)}

    def handle(self, request):
        began = time.perf_counter()
        problem = None
        try:
            answer = self.score(request)
        except RequestRejected as exc:
            problem = exc
            answer = {"error": str(exc)}
        self.counts["ok" if problem is None else problem.reason] += 1
        self.latency.append(time.perf_counter() - began)
        return answer


def main():
    torch.manual_seed(0)
    s = Settings()
    service = Service(s)
    service.warm_up()
    began = time.time()
    for n, request in enumerate(traffic(s)):
        answer = service.handle(request)
        if n % 200 == 0:
            log.info("request %d p50 %.1f ms max %.1f ms %s last %s", n,
                     1e3 * statistics.median(service.latency), 1e3 * max(service.latency),
                     dict(service.counts), answer)
        if n > 100 and time.time() - began > s.seconds:
            break
    log.info("done: %s", dict(service.counts))


if __name__ == "__main__":
    main()
